/*
 * test_peer.c - one sequence of frame numbers over several routes: order, gaps, duplicates, and links that break within
 * a frame.
 */
#include "core/log.h"
#include "tests/unit/unit.h"
#include <utlist.h>
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/message/message.h"
#include "libpvm/calls/wiring.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/peer.h"
#include "libpvm/engine/reorder.h"

#define FROM 0x40001u

static struct pvmi_arrival daemon_arrival, link_arrival;

/* The body of message `number`. */
static uint8_t byte_of(uint32_t number, uint64_t offset)
{
    return (uint8_t)(number * 31 + offset * 7);
}

static struct pvmc_frame_header header(uint32_t seq, int tag, uint32_t length, uint64_t offset, uint64_t body)
{
    return (struct pvmc_frame_header){.src = FROM,
                                      .dst = 0x40002,
                                      .seq = seq,
                                      .tag = tag,
                                      .length = length,
                                      .offset = offset,
                                      .body_length = body,
                                      .dsig = pvmc_dsig_own(),
                                      .enc = PVMC_ENC_DEFAULT};
}

static struct pvmi_peer *peer(void)
{
    struct pvmi_peer *p = pvmi_peer_get(FROM);
    p->had_link = true;
    return p;
}

static uint8_t *begin(struct pvmi_arrival *a, const struct pvmc_frame_header *h, bool direct)
{
    int status;
    *a = (struct pvmi_arrival){0};
    uint8_t *place = pvmi_peer_place(a, peer(), h, direct, &status);
    ck_assert_int_eq(status, 0);
    return place;
}

static void fill(uint8_t *place, const struct pvmc_frame_header *h)
{
    for (uint32_t i = 0; i < h->length; i++)
        place[i] = byte_of((uint32_t)h->tag, h->offset + i);
}

/* Receives a frame at once; returns whether it was accepted. */
static bool arrives(struct pvmc_frame_header h, bool direct)
{
    struct pvmi_arrival *a = direct ? &link_arrival : &daemon_arrival;
    uint8_t *place = begin(a, &h, direct);
    if (!place)
        return false;
    fill(place, &h);
    pvmi_peer_placed(a, &h);
    return true;
}

/* Expects this message next. */
static void check_next(int tag, uint64_t length)
{
    struct pvmc_message *m = pvmi_arrivals_pop();
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->tag, tag);
    ck_assert_uint_eq(m->length, length);
    for (uint64_t i = 0; i < length; i++)
        ck_assert_uint_eq(m->mem->data[i], byte_of((uint32_t)tag, i));
    pvmc_message_unref(m);
}

static void check_empty(void)
{
    ck_assert_uint_eq(pvmi_arrivals_count, 0);
}

START_TEST(early_frames_wait_for_those_of_the_other_route)
{
    ck_assert(arrives(header(2, 2, 8, 0, 8), true));
    ck_assert(arrives(header(3, 3, 0, 0, 0), true));
    ck_assert(arrives(header(1, 1, 8, 0, 8), true));
    check_empty();
    ck_assert(arrives(header(0, 0, 8, 0, 8), false));
    check_next(0, 8);
    check_next(1, 8);
    check_next(2, 8);
    check_next(3, 0);
    check_empty();
    ck_assert_ptr_null(peer()->reorder);
}
END_TEST

START_TEST(a_message_may_be_spread_over_routes)
{
    ck_assert(arrives(header(2, 5, 30, 20, 50), true));
    ck_assert(arrives(header(0, 5, 10, 0, 50), false));
    ck_assert(arrives(header(3, 6, 4, 0, 4), true));
    ck_assert(arrives(header(1, 5, 10, 10, 50), false));
    check_next(5, 50);
    check_next(6, 4);
    check_empty();
}
END_TEST

/* Links are not read while there are too many; the daemons, whose frame is missing, are. */
START_TEST(early_frames_are_bounded)
{
    enum { MANY = 65, LENGTH = 1 << 20 };
    for (uint32_t seq = 1; seq <= MANY; seq++) {
        ck_assert(!pvmi_reorder_is_crowded());
        ck_assert(arrives(header(seq, (int)seq, LENGTH, 0, LENGTH), true));
    }
    ck_assert(pvmi_reorder_is_crowded());
    ck_assert(arrives(header(0, 0, 4, 0, 4), false));
    ck_assert(!pvmi_reorder_is_crowded());
    for (int tag = 0; tag <= MANY; tag++) {
        struct pvmc_message *m = pvmi_arrivals_pop();
        ck_assert(m && m->tag == tag);
        pvmc_message_unref(m);
    }
    check_empty();
}
END_TEST

START_TEST(doubles_are_dropped)
{
    ck_assert(arrives(header(0, 0, 4, 0, 4), true));
    ck_assert(!arrives(header(0, 0, 4, 0, 4), true));
    struct pvmc_frame_header again = header(0, 0, 4, 0, 4);
    again.flags = PVMC_FRAME_AGAIN;
    ck_assert(!arrives(again, false));
    ck_assert(arrives(header(2, 2, 4, 0, 4), true));
    ck_assert(arrives(header(2, 2, 4, 0, 4), false)); /* not known to be a duplicate yet */
    ck_assert(arrives(header(1, 1, 4, 0, 4), false));
    check_next(0, 4);
    check_next(1, 4);
    check_next(2, 4);
    check_empty();
    ck_assert_ptr_null(peer()->reorder);
}
END_TEST

START_TEST(a_link_ends_within_the_due_frame)
{
    struct pvmc_frame_header h = header(0, 0, 100, 0, 200);
    uint8_t *place = begin(&link_arrival, &h, true);
    memset(place, 0xff, 50);
    h.flags = PVMC_FRAME_AGAIN;
    ck_assert(arrives(h, false)); /* retransmitted before we notice that the link is down */
    ck_assert(arrives(header(1, 0, 100, 100, 200), false));
    check_empty();
    pvmi_peer_cancel(&link_arrival);
    check_next(0, 200);
    ck_assert(arrives(header(2, 2, 8, 0, 8), false));
    check_next(2, 8);
}
END_TEST

/* A link of that peer, up and without an endpoint on our side. */
static struct pvmi_link *silent_link(void)
{
    static const struct pvmt_transport_ops ops = {.name = "silent"};
    static struct pvmi_carrier carrier = {.ops = &ops};
    struct pvmi_link *l = calloc(1, sizeof *l);
    pvmi_wiring_install();
    l->carrier = &carrier;
    l->peer = peer();
    l->state = PVMI_LINK_UP;
    DL_APPEND(pvmi_links, l);
    pvmi_link_count = l->peer->links = 1;
    l->peer->link = l;
    return l;
}

/* As when the other host's cable is unplugged: we send nothing, so no error shows it. */
START_TEST(a_link_that_only_its_sender_has_lost_does_not_block_the_due_frame)
{
    struct pvmi_link *l = silent_link();
    struct pvmc_frame_header h = header(0, 0, 100, 0, 200);
    uint8_t *place = begin(&l->arrival, &h, true);
    memset(place, 0xff, 50);
    ck_assert(arrives(header(1, 0, 100, 100, 200), false));
    ck_assert_ptr_eq(peer()->link, l);
    h.flags = PVMC_FRAME_AGAIN;
    ck_assert(arrives(h, false));
    check_next(0, 200);
    check_empty();
    ck_assert_ptr_null(pvmi_links);
    ck_assert_ptr_null(peer()->link);
    ck_assert(arrives(header(2, 2, 8, 0, 8), false));
    check_next(2, 8);
}
END_TEST

START_TEST(a_link_ends_within_an_early_frame)
{
    struct pvmc_frame_header h = header(1, 1, 100, 0, 100);
    begin(&link_arrival, &h, true);
    pvmi_peer_cancel(&link_arrival);
    ck_assert_ptr_null(peer()->reorder);
    ck_assert(arrives(header(0, 0, 4, 0, 4), false));
    check_next(0, 4);
    check_empty();
    ck_assert(arrives(h, false));
    check_next(1, 100);
}
END_TEST

/* A frame arrives twice, and the slower copy is complete only after the other was accepted. */
START_TEST(an_unfinished_double_stays_until_its_link_is_done_with_it)
{
    struct pvmc_frame_header h = header(1, 1, 100, 0, 100);
    uint8_t *place = begin(&link_arrival, &h, true);
    ck_assert(arrives(header(0, 0, 4, 0, 4), false));
    ck_assert(arrives(h, false));
    check_next(0, 4);
    check_next(1, 100);
    fill(place, &h);
    pvmi_peer_placed(&link_arrival, &h);
    check_empty();
    ck_assert_ptr_null(peer()->reorder);
}
END_TEST

START_TEST(whole_messages_are_referred_to)
{
    struct pvmc_mem *first = pvmc_mem_new(100), *second = pvmc_mem_new(100);
    struct pvmc_frame_header h0 = header(0, 0, 100, 0, 100), h1 = header(1, 1, 100, 0, 100);
    fill(first->data, &h0);
    fill(second->data, &h1);
    ck_assert_int_eq(pvmi_peer_whole(peer(), &h1, second, second->data), 0);
    check_empty();
    ck_assert_int_eq(pvmi_peer_whole(peer(), &h0, first, first->data), 0);
    ck_assert_uint_eq(pvmi_arrivals_count, 2);
    for (int i = 0; i < 2; i++) {
        struct pvmc_message *m = pvmi_arrivals_pop();
        ck_assert_ptr_eq(m->mem, i ? second : first);
        pvmi_arrivals_put(m); /* goes round */
    }
    ck_assert_int_eq(pvmi_peer_whole(peer(), &h0, first, first->data), PVMC_EEXISTS);
    uint8_t bytes[8];
    struct pvmc_frame_header h2 = header(2, 2, 8, 0, 8), h3 = header(3, 3, 8, 0, 8);
    fill(bytes, &h3);
    ck_assert_int_eq(pvmi_peer_whole(peer(), &h3, NULL, bytes), 0);
    fill(bytes, &h2);
    ck_assert_int_eq(pvmi_peer_whole(peer(), &h2, NULL, bytes), 0);
    check_next(0, 100);
    check_next(1, 100);
    check_next(2, 8);
    check_next(3, 8);
}
END_TEST

START_TEST(numbers_wrap)
{
    struct pvmi_peer *p = peer();
    p->rx_seq = UINT32_MAX - 1;
    ck_assert(arrives(header(0, 3, 4, 0, 4), false)); /* early, not from a new task with that tid */
    ck_assert(arrives(header(UINT32_MAX, 2, 4, 0, 4), true));
    ck_assert(arrives(header(UINT32_MAX - 1, 1, 4, 0, 4), true));
    ck_assert(!arrives(header(UINT32_MAX, 2, 4, 0, 4), true));
    check_next(1, 4);
    check_next(2, 4);
    check_next(3, 4);
    ck_assert_uint_eq(p->rx_seq, 1);
}
END_TEST

START_TEST(a_tid_comes_back)
{
    ck_assert(arrives(header(0, 0, 4, 0, 4), false));
    ck_assert(arrives(header(1, 1, 4, 0, 8), false)); /* unfinished */
    ck_assert(arrives(header(5, 5, 4, 0, 4), true));  /* never due */
    struct pvmi_peer *p = peer();
    p->tx_seq = 17;
    ck_assert(arrives(header(0, 9, 4, 0, 4), false));
    check_next(0, 4);
    check_next(9, 4);
    check_empty();
    ck_assert_uint_eq(p->tx_seq, 0);
    ck_assert_ptr_null(p->reorder);
}
END_TEST

START_TEST(what_an_ended_task_left_unfinished_is_dropped)
{
    ck_assert(arrives(header(0, 0, 4, 0, 8), true));
    ck_assert(arrives(header(2, 2, 4, 0, 4), true));
    struct pvmi_peer *p = peer();
    p->links = 1;
    pvmi_peer_ended(p);
    ck_assert_ptr_nonnull(p->incoming); /* its link may deliver the rest */
    p->links = 0;
    pvmi_peer_ended(p);
    ck_assert_ptr_null(p->incoming);
    ck_assert_ptr_null(p->reorder);
}
END_TEST

START_TEST(who_breaks_the_rules_is_found_out)
{
    struct pvmi_peer *p = peer();
    int status;
    unit_log_start();
    p->had_link = false;
    struct pvmc_frame_header h = header(1, 0, 4, 0, 4);
    ck_assert_ptr_null(pvmi_peer_place(&link_arrival, p, &h, false, &status));
    ck_assert_int_eq(status, PVMC_EFORMAT); /* with a single route a gap is an error */
    ck_assert(strstr(unit_log.line, "number 1, expected 0"));
    ck_assert(arrives(header(0, 0, 4, 0, 4), false)); /* its tid has a new owner, whose frames are accepted */
    check_next(0, 4);
    p->had_link = true;
    ck_assert(arrives(header(1, 0, 4, 0, 8), true));
    h = header(2, 0, 4, 2, 8);
    ck_assert_ptr_null(pvmi_peer_place(&link_arrival, p, &h, false, &status));
    ck_assert_int_eq(status, PVMC_EFORMAT);
    uint8_t bytes[4] = {0};
    h = header(2, 1, 4, 0, 4);
    ck_assert_int_eq(pvmi_peer_whole(p, &h, NULL, bytes), PVMC_EFORMAT); /* and so are all later frames from it */
    ck_assert(arrives(header(0, 0, 4, 0, 8), false));
    h = header(1, 1, 4, 0, 4);
    ck_assert_int_eq(pvmi_peer_whole(p, &h, NULL, bytes), PVMC_EFORMAT); /* in the middle of another */
}
END_TEST

START_TEST(an_early_frame_that_does_not_fit_costs_the_link)
{
    int status;
    unit_log_start();
    ck_assert(arrives(header(1, 0, 4, 2, 8), true));
    ck_assert(arrives(header(0, 0, 4, 0, 8), true));
    struct pvmc_frame_header h = header(2, 0, 4, 4, 8);
    ck_assert_ptr_null(pvmi_peer_place(&link_arrival, peer(), &h, true, &status));
    ck_assert_int_eq(status, PVMC_EFORMAT);
}
END_TEST

START_TEST(every_order_of_two_routes_gives_the_same)
{
    enum { FRAMES = 8 };
    uint32_t base = 0;
    for (unsigned mix = 0; mix < 1u << FRAMES; mix++) { /* bit i: frame i uses the link */
        for (int link_first = 0; link_first < 2; link_first++) {
            for (int turn = 0; turn < 2; turn++)
                for (uint32_t i = 0; i < FRAMES; i++) {
                    bool direct = mix >> i & 1;
                    if (direct == (turn == !link_first)) /* three messages of 1, 4 and 3 frames */
                        ck_assert(arrives(i == 0  ? header(base, 0, 5, 0, 5)
                                          : i < 5 ? header(base + i, 1, 10, 10 * (i - 1), 40)
                                                  : header(base + i, 2, 1, i - 5, 3),
                                          direct));
                }
            check_next(0, 5);
            check_next(1, 40);
            check_next(2, 3);
            check_empty();
            base += FRAMES;
        }
    }
}
END_TEST

UNIT_MAIN("peer", early_frames_wait_for_those_of_the_other_route, early_frames_are_bounded,
          a_message_may_be_spread_over_routes, doubles_are_dropped, a_link_ends_within_the_due_frame,
          a_link_that_only_its_sender_has_lost_does_not_block_the_due_frame, a_link_ends_within_an_early_frame,
          an_unfinished_double_stays_until_its_link_is_done_with_it, whole_messages_are_referred_to, numbers_wrap,
          a_tid_comes_back, what_an_ended_task_left_unfinished_is_dropped, who_breaks_the_rules_is_found_out,
          an_early_frame_that_does_not_fit_costs_the_link, every_order_of_two_routes_gives_the_same)
