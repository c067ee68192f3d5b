/*
 * test_partial.c - messages that are received from their first frame on: what the receiver sees, what comes beside
 * them, and what peers that break the rules lose.
 */
#include "core/log.h"
#include "tests/unit/unit.h"
#include "core/error.h"
#include "core/message/dsig.h"
#include "core/message/partial.h"
#include "libpvm/base/task.h"
#include "libpvm/calls/wiring.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/peer.h"
#include "pvm3.h"

#define FROM 0x40001u
#define OPEN PVMC_FRAME_LENGTH_OPEN

enum { TAG_STREAM = 1, TAG_OTHER = 2 };

static uint32_t next_seq; /* of the sender */

static struct pvmi_peer *peer(void)
{
    struct pvmi_peer *p = pvmi_peer_get(FROM);
    p->had_link = true;
    return p;
}

static uint8_t byte_of(int tag, uint64_t offset)
{
    return (uint8_t)((uint64_t)tag * 31 + offset * 7);
}

static struct pvmc_frame_header part(uint32_t length, uint64_t offset, uint64_t body)
{
    return (struct pvmc_frame_header){.flags = PVMC_FRAME_STREAM,
                                      .src = FROM,
                                      .dst = 0x40002,
                                      .seq = next_seq++,
                                      .tag = TAG_STREAM,
                                      .length = length,
                                      .offset = offset,
                                      .body_length = body,
                                      .dsig = pvmc_dsig_own(),
                                      .enc = PVMC_ENC_DEFAULT};
}

static struct pvmc_frame_header other(uint32_t length, uint64_t offset, uint64_t body)
{
    struct pvmc_frame_header h = part(length, offset, body);
    h.flags = 0;
    h.tag = TAG_OTHER;
    return h;
}

/* Receives a frame; returns the status of pvmi_peer_place(). */
static int arrives(struct pvmc_frame_header h)
{
    struct pvmi_arrival a = {0};
    int status;
    ck_assert_int_eq(pvmc_frame_check(&h), 0);
    uint8_t *place = pvmi_peer_place(&a, peer(), &h, true, &status);
    for (uint32_t i = 0; place && i < h.length; i++)
        place[i] = byte_of(h.tag, h.offset + i);
    if (place)
        pvmi_peer_placed(&a, &h);
    return status;
}

static void check_bytes(const struct pvmc_message *m, uint64_t length)
{
    ck_assert_uint_eq(m->length, length);
    for (uint64_t i = 0; i < length; i++)
        ck_assert_uint_eq(m->mem->data[i], byte_of(m->tag, i));
}

/* The next message, which has `length` bytes so far. */
static struct pvmc_message *next(int tag, uint64_t length, int partial)
{
    struct pvmc_message *m = pvmi_arrivals_pop();
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->tag, tag);
    ck_assert_int_eq(m->partial, partial);
    check_bytes(m, length);
    return m;
}

static void check_whole(int tag, uint64_t length)
{
    pvmc_message_unref(next(tag, length, 0));
}

static void abort_at(uint64_t offset)
{
    struct pvmc_frame_header h = part(0, offset, OPEN);
    h.flags |= PVMC_FRAME_ABORT;
    ck_assert_int_eq(arrives(h), 0);
}

START_TEST(it_is_there_with_its_first_frame_and_grows)
{
    for (int known = 0; known < 2; known++) {
        uint64_t body = known ? 5000 : OPEN;
        arrives(part(10, 0, body));
        struct pvmc_message *m = next(TAG_STREAM, 10, PVMC_PARTIAL_GROWS);
        arrives(part(3990, 10, body));
        check_bytes(m, 4000);
        ck_assert_int_eq(m->partial, PVMC_PARTIAL_GROWS);
        arrives(part(1000, 4000, 5000));
        check_bytes(m, 5000);
        ck_assert_int_eq(m->partial, 0);
        ck_assert_uint_eq(m->refs, 1);
        pvmc_message_unref(m);
    }
}
END_TEST

START_TEST(an_empty_frame_may_end_it)
{
    arrives(part(10, 0, OPEN));
    arrives(part(0, 10, 10));
    check_whole(TAG_STREAM, 10);
    arrives(other(4, 0, 4));
    check_whole(TAG_OTHER, 4);
}
END_TEST

START_TEST(other_messages_pass_beside_it_in_the_order_of_first_frames)
{
    arrives(other(5, 0, 5));
    arrives(part(10, 0, OPEN));
    arrives(other(6, 0, 6));
    arrives(other(100, 0, 200)); /* in two frames, with one of the stream between them */
    arrives(part(10, 10, OPEN));
    arrives(other(100, 100, 200));
    check_whole(TAG_OTHER, 5);
    struct pvmc_message *m = next(TAG_STREAM, 20, PVMC_PARTIAL_GROWS);
    check_whole(TAG_OTHER, 6);
    check_whole(TAG_OTHER, 200);
    uint8_t bytes[4];
    struct pvmc_frame_header whole = other(4, 0, 4);
    for (int i = 0; i < 4; i++)
        bytes[i] = byte_of(TAG_OTHER, (uint64_t)i);
    ck_assert_int_eq(pvmi_peer_whole(peer(), &whole, NULL, bytes), 0);
    check_whole(TAG_OTHER, 4);
    arrives(part(5, 20, 25));
    check_bytes(m, 25);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(its_frames_may_come_out_of_order)
{
    struct pvmc_frame_header frames[] = {part(10, 0, OPEN), other(4, 0, 4), part(10, 10, OPEN), part(0, 20, 20),
                                         other(5, 0, 5)};
    static const int order[] = {3, 2, 4, 1, 0};
    for (int i = 0; i < 5; i++)
        arrives(frames[order[i]]);
    check_whole(TAG_STREAM, 20);
    check_whole(TAG_OTHER, 4);
    check_whole(TAG_OTHER, 5);
    ck_assert_ptr_null(peer()->reorder);
}
END_TEST

START_TEST(given_up_before_anybody_knows_it_vanishes)
{
    arrives(part(10, 0, OPEN));
    abort_at(10);
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
    arrives(other(4, 0, 4));
    arrives(part(10, 0, OPEN));
    pvmi_arrivals_take_in_all();
    ck_assert_uint_eq(pvmi_inbox_count, 2);
    abort_at(10);
    ck_assert_uint_eq(pvmi_inbox_count, 1);
    ck_assert_ptr_null(pvmi_inbox_find(-1, TAG_STREAM, -1));
    arrives(other(4, 0, 4));
    check_whole(TAG_OTHER, 4);
}
END_TEST

START_TEST(lost_for_lack_of_memory_the_next_receive_says_so)
{
    uint64_t far = SIZE_MAX / 2; /* no memory has so many bytes */
    unit_log_start();
    for (int taken_in = 0; taken_in < 2; taken_in++) {
        arrives(part(10, 0, OPEN));
        if (taken_in)
            pvmi_arrivals_take_in_all();
        peer()->stream.placed = far;
        arrives(part(10, far, OPEN));
        ck_assert_uint_eq(pvmi_arrivals_count + pvmi_inbox_count, 0);
        ck_assert(pvmi_inbox_take_loss());
        arrives(part(0, far + 10, far + 10));
        ck_assert(!pvmi_inbox_take_loss());
        ck_assert(!peer()->stream.open);
    }
}
END_TEST

START_TEST(given_up_while_it_is_read_it_says_so)
{
    char byte;
    int number;
    pvmi_wiring_install();
    arrives(part(3, 0, OPEN));
    pvmi_buffer_select_receive(pvmi_buffer_add(pvmi_arrivals_pop()));
    abort_at(3);
    ck_assert_int_eq(pvm_upkbyte(&byte, 1, 1), 0); /* what has come can be read */
    ck_assert_int_eq(pvm_upkint(&number, 1, 1), PvmNoTask);
    ck_assert_int_eq(pvm_upkstr((char[8]){0}), PvmNoTask);
    int length = -1, from = -1;
    ck_assert_int_eq(pvm_bufinfo(pvm_getrbuf(), &length, &number, &from), PvmNoTask);
    ck_assert(length == 3 && number == TAG_STREAM && from == (int)FROM); /* programs use them without a look */
    ck_assert_int_eq(pvm_bufinfo(pvm_getrbuf(), NULL, &number, NULL), 0);
    ck_assert_int_eq(number, TAG_STREAM);
    ck_assert_int_eq(pvm_setsbuf(pvm_getrbuf()), PvmNoTask);
    ck_assert_int_eq(pvm_upkbyte(&byte, 1, 1), 0);
}
END_TEST

START_TEST(the_end_of_its_sender_ends_it)
{
    arrives(part(10, 0, OPEN));
    struct pvmc_message *m = next(TAG_STREAM, 10, PVMC_PARTIAL_GROWS);
    struct pvmi_peer *p = peer();
    p->links = 1;
    pvmi_peer_ended(p);
    ck_assert_int_eq(m->partial, PVMC_PARTIAL_GROWS); /* its link may deliver the rest */
    p->links = 0;
    pvmi_peer_unlinked(p);
    ck_assert_int_eq(m->partial, PVMC_EABORTED);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(nobody_keeps_what_nobody_can_read)
{
    arrives(part(10, 0, OPEN));
    pvmc_message_unref(next(TAG_STREAM, 10, PVMC_PARTIAL_GROWS));
    struct pvmc_frame_header dropped = part(10, 10, OPEN);
    arrives(other(4, 0, 4)); /* waits for the one before */
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
    arrives(dropped);
    ck_assert_ptr_null(peer()->stream.m);
    check_whole(TAG_OTHER, 4);
    for (uint64_t at = 20; at < 100; at += 10)
        arrives(part(10, at, OPEN));
    arrives(part(0, 100, 100));
    ck_assert(!peer()->stream.open);
    arrives(part(10, 0, OPEN));
    arrives(part(2, 10, 12));
    check_whole(TAG_STREAM, 12);
}
END_TEST

START_TEST(a_view_outlives_growth)
{
    arrives(part(400, 0, OPEN));
    struct pvmc_message *m = next(TAG_STREAM, 400, PVMC_PARTIAL_GROWS);
    void *at;
    struct pvmc_mem *view = pvmc_message_view(m, NULL, PVM_BYTE, 100, &at);
    ck_assert_ptr_nonnull(view);
    arrives(part(100000, 400, OPEN));
    check_bytes(m, 100400);
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(((uint8_t *)at)[i], byte_of(TAG_STREAM, (uint64_t)i));
    pvmc_mem_unref(view);
    pvmc_message_unref(m);
}
END_TEST

static int asked; /* times */

static int any(int mid, int tid, int tag)
{
    (void)mid, (void)tid, (void)tag;
    asked++;
    return 1;
}

/* A task without a daemon. */
static void enrol(void)
{
    pvmi_wiring_install();
    pvmi_task.state = PVMI_TASK_IN;
    pvmi_task.tid = 0x40002;
    pvm_setopt(PvmAutoErr, 0);
}

static void check_received(int mid, int tag, int length)
{
    int its_tag, its_length;
    ck_assert_int_gt(mid, 0);
    ck_assert_int_eq(pvm_bufinfo(mid, &its_length, &its_tag, NULL), 0);
    ck_assert_int_eq(its_tag, tag);
    ck_assert_int_eq(its_length, length);
}

/* What still comes hides nothing that came after it. */
START_TEST(a_match_function_sees_whole_messages)
{
    enrol();
    arrives(part(10, 0, OPEN));
    arrives(other(4, 0, 4));
    pvmi_arrivals_take_in_all();
    pvm_recvf(any);
    check_received(pvm_probe(-1, -1), TAG_OTHER, 4);
    arrives(part(10, 10, 20));
    check_received(pvm_probe(-1, -1), TAG_STREAM, 20);
    ck_assert_int_eq(asked, 2);
}
END_TEST

static int handled;

static int handle(int mid)
{
    check_received(mid, TAG_STREAM, 20);
    return ++handled;
}

START_TEST(a_handler_sees_whole_messages_also_those_shown_before)
{
    enrol();
    arrives(part(10, 0, OPEN)); /* shown, and not taken in */
    ck_assert_int_ge(pvm_addmhf((int)FROM, TAG_STREAM, -1, handle), 0);
    pvmi_arrivals_take_in_all();
    arrives(part(10, 10, 20));
    pvmi_arrivals_take_in_all();
    pvmi_handler_run();
    ck_assert_int_eq(handled, 1);
    ck_assert_uint_eq(pvmi_inbox_count, 0);
    arrives(part(10, 0, OPEN)); /* there is a handler */
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
    abort_at(10);
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
}
END_TEST

/* The sender's longs have the other byte order, and 4 bytes. */
START_TEST(the_receiver_converts_as_far_as_it_has_come)
{
    bool is_big = pvmc_dsig_big_endian(pvmc_dsig_own());
    struct pvmc_frame_header h = part(8, 0, OPEN);
    h.dsig = pvmc_dsig_make(!is_big, 2, 4, 4);
    long numbers[2];
    arrives(h);
    pvmi_buffer_select_receive(pvmi_buffer_add(pvmi_arrivals_pop()));
    ck_assert_int_eq(pvm_upklong(numbers, 2, 1), 0);
    for (int i = 0; i < 2; i++) {
        uint32_t expected = 0;
        for (int k = 0; k < 4; k++)
            expected |= (uint32_t)byte_of(TAG_STREAM, (uint64_t)(4 * i + k)) << (is_big ? 8 * k : 24 - 8 * k);
        ck_assert_int_eq(numbers[i], (int32_t)expected);
    }
}
END_TEST

/* Each violation costs the sender the pair, and nobody else anything. */
START_TEST(who_breaks_the_rules_is_cut_off)
{
    struct pvmc_message *m;
    unit_log_start();
    for (int way = 0; way < 6; way++) {
        next_seq = 0;
        struct pvmc_frame_header first = part(10, 0, way < 4 ? OPEN : 100);
        struct pvmi_arrival a = {0};
        int status;
        uint8_t *place = pvmi_peer_place(&a, peer(), &first, false, &status); /* by the daemon: a new task */
        ck_assert_ptr_nonnull(place);
        for (uint32_t i = 0; i < first.length; i++)
            place[i] = byte_of(TAG_STREAM, i);
        pvmi_peer_placed(&a, &first);
        m = next(TAG_STREAM, 10, PVMC_PARTIAL_GROWS);
        if (way == 2)
            ck_assert_int_eq(arrives(part(10, 10, 100)), 0); /* tells the length, which must stay */
        struct pvmc_frame_header wrong = way == 0   ? part(10, 20, OPEN)
                                         : way == 1 ? part(10, 0, OPEN)
                                         : way == 2 ? part(10, 20, 101)
                                         : way == 3 ? part(0, 20, OPEN)
                                         : way == 4 ? part(10, 10, 101)
                                                    : part(10, 10, OPEN);
        wrong.flags |= way == 3 ? PVMC_FRAME_ABORT : 0;
        ck_assert_int_eq(arrives(wrong), PVMC_EFORMAT);
        ck_assert(peer()->broken);
        ck_assert_int_eq(m->partial, PVMC_EABORTED);
        pvmc_message_unref(m);
    }
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
}
END_TEST

START_TEST(an_abort_of_nothing_is_a_violation)
{
    unit_log_start();
    struct pvmc_frame_header h = part(0, 0, OPEN);
    h.flags |= PVMC_FRAME_ABORT;
    ck_assert_int_eq(arrives(h), PVMC_EFORMAT);
}
END_TEST

START_TEST(control_messages_are_no_streams)
{
    unit_log_start();
    struct pvmc_frame_header h = part(10, 0, OPEN);
    h.ctx = PVMC_CTX_TC;
    ck_assert_int_eq(arrives(h), PVMC_EFORMAT);
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
}
END_TEST

UNIT_MAIN("partial", it_is_there_with_its_first_frame_and_grows, an_empty_frame_may_end_it,
          other_messages_pass_beside_it_in_the_order_of_first_frames, its_frames_may_come_out_of_order,
          given_up_before_anybody_knows_it_vanishes, lost_for_lack_of_memory_the_next_receive_says_so,
          given_up_while_it_is_read_it_says_so, the_end_of_its_sender_ends_it, nobody_keeps_what_nobody_can_read,
          a_view_outlives_growth, a_match_function_sees_whole_messages,
          a_handler_sees_whole_messages_also_those_shown_before, the_receiver_converts_as_far_as_it_has_come,
          who_breaks_the_rules_is_cut_off, an_abort_of_nothing_is_a_violation, control_messages_are_no_streams)
