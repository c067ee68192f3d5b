/*
 * test_receive.c - receives that wait: which of them gets a message, and pvm_precv() as the destination of a message in
 * parts.
 */
#include "libpvm/engine/offer.h"
#include "core/message/message.h"
#include "core/message/partial.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/engine/carrier.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/wait.h"
#include "libpvm/base/task.h"
#include "pvm3.h"
#include "tests/unit/unit.h"
#include <sys/eventfd.h>

#define ME      0x40001
#define PEER    0x40002
#define TAG     7
#define TRIGGER 99 /* tag of the message to ourselves; its handler injects arrivals while a receive waits */

static int values[100]; /* where pvm_precv() stores the data */
static void (*arrivals)(void);

static int play_arrivals(int mid)
{
    (void)mid;
    arrivals();
    return 0;
}

/* A task without a daemon. The next receive that waits runs `what` first, and fails if that does not satisfy it. */
static void when_waiting(void (*what)(void))
{
    pvmi_task.state = PVMI_TASK_IN;
    pvmi_task.tid = ME;
    arrivals = what;
    ck_assert_int_ge(pvm_addmhf(ME, TRIGGER, 0, play_arrivals), 0);
    pvmi_handler_defer();
    pvm_initsend(PvmDataRaw);
    ck_assert_int_eq(pvm_send(ME, TRIGGER), 0);
    pvmi_handler_allow();
}

static struct pvmc_frame_header header(int tag, size_t bytes)
{
    return (struct pvmc_frame_header){.length = (uint32_t)bytes,
                                      .src = PEER,
                                      .dst = ME,
                                      .tag = tag,
                                      .enc = pvmc_dsig_own(),
                                      .dsig = pvmc_dsig_own(),
                                      .body_length = bytes};
}

/* A complete message of one number arrives. */
static void comes(int tag, int number)
{
    struct pvmc_frame_header h = header(tag, sizeof number);
    struct pvmc_message *m = pvmc_message_from_header(&h);
    memcpy(m->mem->data, &number, sizeof number);
    pvmi_inbox_put(m);
}

static struct pvmc_mem *claim(int tag, size_t bytes)
{
    struct pvmc_frame_header h = header(tag, bytes);
    return pvmi_offer_claim(&h);
}

/* The message whose pieces were stored in mem is complete. */
static void is_complete(struct pvmc_mem *mem, size_t bytes)
{
    struct pvmc_message *m = pvmc_message_new(pvmc_dsig_own());
    m->src = PEER;
    m->tag = TAG;
    m->mem = mem;
    m->length = bytes;
    pvmi_inbox_put(m);
}

static void check_precv(int items)
{
    int tid, tag, bytes;
    ck_assert_int_eq(pvm_precv(PEER, TAG, values, 100, PVM_INT, &tid, &tag, &bytes), 0);
    ck_assert_int_eq(tid, PEER);
    ck_assert_int_eq(tag, TAG);
    ck_assert_int_eq(bytes, items * (int)sizeof *values);
}

static int receive_number(int tag)
{
    int number = -1;
    ck_assert_int_gt(pvm_recv(PEER, tag), 0);
    pvm_upkint(&number, 1, 1);
    return number;
}

/* ---- which receive gets a message ---- */

static void three_come(void)
{
    comes(TAG + 1, 10);
    comes(TAG, 11);
    comes(TAG, 12);
}

START_TEST(the_first_that_matches_is_handed_over)
{
    when_waiting(three_come);
    ck_assert_int_eq(receive_number(TAG), 11);
    ck_assert_int_eq(receive_number(TAG), 12);
    ck_assert_int_eq(receive_number(TAG + 1), 10);
    ck_assert_ptr_null(pvmi_inbox_after(0));
}
END_TEST

/* ---- messages that still come ---- */

static struct pvmc_message *growing;
static int probed;

static void ends_and_is_freed(void)
{
    growing->partial = 0;
    pvm_freebuf(probed);
}

START_TEST(the_number_of_a_message_may_be_freed_while_its_rest_comes)
{
    struct pvmc_frame_header h = header(TAG, sizeof *values);
    int number = 11;
    pvmi_task.state = PVMI_TASK_IN;
    pvm_setopt(PvmAutoErr, 0);
    growing = pvmc_message_from_header(&h);
    memcpy(growing->mem->data, &number, sizeof number);
    growing->partial = PVMC_PARTIAL_GROWS;
    pvmi_inbox_put(pvmc_message_ref(growing));
    probed = pvmi_buffer_of_waiting(pvmi_inbox_after(0));
    when_waiting(ends_and_is_freed);
    check_precv(1);
    ck_assert_int_eq(values[0], number);
    ck_assert_uint_eq(growing->refs, 1);
    pvmc_message_unref(growing);
    int mid = pvm_mkbuf(PvmDataRaw);
    ck_assert_int_ne(pvm_mkbuf(PvmDataRaw), mid);
}
END_TEST

/* ---- events of the library ---- */

static int looks;

static int open_fake(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                     struct pvmt_transport **out)
{
    static struct pvmt_transport fake;
    (void)address, (void)callbacks, (void)arg;
    *out = &fake;
    return 0;
}

static void close_fake(struct pvmt_transport *t)
{
    (void)t;
}

static void query_fake(const struct pvmt_transport *t, struct pvmt_attributes *a)
{
    (void)t;
    *a = (struct pvmt_attributes){0};
}

static int fd_of_fake(struct pvmt_transport *t)
{
    (void)t;
    return eventfd(0, EFD_CLOEXEC); /* asked for once */
}

/* First something that is no message, then the loss of a link, of which the library tells. */
static int progress_of_fake(struct pvmt_transport *t)
{
    (void)t;
    if (++looks == 2) {
        int tid = PEER;
        struct pvmc_message *m = pvmc_message_new(pvmc_dsig_own());
        ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, &tid, 1, 1), 0);
        m->src = m->dst = ME;
        m->tag = TAG;
        pvmi_link_deliver(m);
    }
    return looks <= 2;
}

/* A receive that went to sleep instead would end, because there is no daemon. */
START_TEST(an_event_of_the_library_keeps_a_receive_awake)
{
    static const struct pvmt_transport_ops of_daemon = {
        .open = open_fake, .close = close_fake, .query = query_fake, .fd = fd_of_fake, .progress = progress_of_fake};
    const struct pvmt_transport_ops of_link = of_daemon;
    struct pvmi_carrier *carrier;
    ck_assert_int_eq(setenv("PVM_SPIN", "50", 1), 0);
    pvmi_task.state = PVMI_TASK_IN;
    pvmi_task.tid = ME;
    ck_assert_int_eq(pvmi_carrier_open(&of_daemon, NULL, &carrier), 0);
    ck_assert_int_eq(pvmi_carrier_open(&of_link, NULL, &carrier), 0);
    pvmi_wait_found();
    looks = 0;
    ck_assert_int_gt(pvm_recv(-1, TAG), 0);
    ck_assert_int_eq(looks, 2);
    pvmi_carrier_close_all();
}
END_TEST

static void handler_receives(void)
{
    comes(TAG, 20);
    comes(TAG, 21);
    ck_assert_int_eq(receive_number(TAG), 21); /* the one before belongs to the outer receive */
    comes(TAG, 22);
}

START_TEST(a_handler_may_receive_meanwhile)
{
    when_waiting(handler_receives);
    ck_assert_int_eq(receive_number(TAG), 20);
    ck_assert_int_eq(receive_number(TAG), 22);
}
END_TEST

/* ---- pvm_precv as the destination ---- */

static void parts_come(void)
{
    struct pvmc_mem *mem = claim(TAG, 100 * sizeof *values);
    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_eq(mem->data, values);
    for (int i = 0; i < 100; i++)
        ((int *)mem->data)[i] = i;
    is_complete(mem, 100 * sizeof *values);
}

START_TEST(parts_are_placed_in_the_buffer)
{
    for (int round = 0; round < 3; round++) {
        memset(values, 0xff, sizeof values);
        when_waiting(parts_come);
        check_precv(100);
        for (int i = 0; i < 100; i++)
            ck_assert_int_eq(values[i], i);
        ck_assert_int_eq(pvm_delmhf(1), 0);
    }
}
END_TEST

static void another_overtakes(void)
{
    struct pvmc_mem *mem = claim(TAG, 2 * sizeof *values);
    ck_assert_ptr_nonnull(mem);
    memcpy(mem->data, (int[]){30, 31}, 2 * sizeof *values);
    comes(TAG, 32);
    is_complete(mem, 2 * sizeof *values);
}

START_TEST(only_the_placed_message_will_do)
{
    when_waiting(another_overtakes);
    check_precv(2);
    ck_assert_int_eq(values[0], 30);
    ck_assert_int_eq(values[1], 31);
    check_precv(1);
    ck_assert_int_eq(values[0], 32);
}
END_TEST

static void sender_dies(void)
{
    struct pvmc_mem *mem = claim(TAG, 100 * sizeof *values);
    memset(mem->data, 1, 50);
    comes(TAG, 40);
    pvmc_mem_unref(mem);
}

START_TEST(an_unfinished_one_gives_the_place_back)
{
    when_waiting(sender_dies);
    check_precv(1);
    ck_assert_int_eq(values[0], 40);
}
END_TEST

static void sender_dies_first(void)
{
    pvmc_mem_unref(claim(TAG, 100 * sizeof *values));
    parts_come();
}

START_TEST(the_place_can_be_claimed_again)
{
    when_waiting(sender_dies_first);
    check_precv(100);
    ck_assert_int_eq(values[99], 99);
}
END_TEST

static void wrong_ones_come(void)
{
    struct pvmc_frame_header h = header(TAG, 8);
    h.src = PEER + 1;
    ck_assert_ptr_null(pvmi_offer_claim(&h));
    h = header(TAG, 8);
    h.ctx = 5;
    ck_assert_ptr_null(pvmi_offer_claim(&h));
    h = header(TAG, 8);
    h.dsig = pvmc_dsig_make(true, 2, 4, 4);
    ck_assert_ptr_null(pvmi_offer_claim(&h));
    ck_assert_ptr_null(claim(TAG + 1, 8));
    ck_assert_ptr_null(claim(TAG, 0));
    ck_assert_ptr_null(claim(TAG, sizeof values + 1));
    int id = pvm_addmhf(PEER, TAG, 0, play_arrivals);
    ck_assert_ptr_null(claim(TAG, 8)); /* it is for the handler */
    pvm_delmhf(id);
    struct pvmc_mem *mem = claim(TAG, 8);
    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_null(claim(TAG, 8)); /* taken */
    pvmc_mem_unref(mem);
    comes(TAG, 50);
    ck_assert_ptr_null(claim(TAG, 8)); /* it has what it waits for */
}

START_TEST(others_are_not_placed)
{
    when_waiting(wrong_ones_come);
    check_precv(1);
    ck_assert_int_eq(values[0], 50);
    ck_assert_ptr_null(claim(TAG, 8)); /* nobody waits */
}
END_TEST

static void nothing_is_placed(void)
{
    ck_assert_ptr_null(claim(TAG, 4));
    comes(TAG, 60);
}

START_TEST(other_receives_offer_no_place)
{
    when_waiting(nothing_is_placed);
    ck_assert_int_eq(receive_number(TAG), 60);
}
END_TEST

UNIT_MAIN("receive", an_event_of_the_library_keeps_a_receive_awake, the_first_that_matches_is_handed_over,
          the_number_of_a_message_may_be_freed_while_its_rest_comes, a_handler_may_receive_meanwhile,
          parts_are_placed_in_the_buffer, only_the_placed_message_will_do, an_unfinished_one_gives_the_place_back,
          the_place_can_be_claimed_again, others_are_not_placed, other_receives_offer_no_place)
