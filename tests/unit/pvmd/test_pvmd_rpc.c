/* test_pvmd_rpc.c - requests between daemons: each is answered once, by the right daemon, even if a host is lost. */
#include "pvmd/net/rpc.h"
#include "pvmd/base/stats.h"
#include <ev.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "pvmd/net/link.h"
#include "pvmd/frames/relay.h"
#include "pvm3.h"
#include "tests/unit/unit.h"

/* ---- functions that rpc.c needs ---- */

struct pvmd_daemon pvmd;
struct pvmd_stats pvmd_stats;

static struct pvmc_message *sent[16];
static unsigned sent_count;
static unsigned through_master;

void pvmd_relay_message(struct pvmc_message *m)
{
    ck_assert_uint_lt(sent_count, 16);
    sent[sent_count++] = pvmc_message_ref(m);
}

void pvmd_link_send(struct pvmd_host *host, struct pvmc_frame *f)
{
    ck_assert_uint_eq(host->index, pvmd.master_index);
    through_master = pvmc_tid_host_index(f->h.dst);
}

/* ---- the requester ---- */

static struct {
    unsigned calls, done, host;
    int code;
    uint32_t value;
} got;

static void answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    ck_assert_ptr_eq(arg, &got);
    got.calls++;
    got.host = host_index;
    got.code = code;
    got.value = pvmc_buf_left(body) ? pvmc_buf_get_u32(body) : 0;
}

static void done(void *arg)
{
    ck_assert_ptr_eq(arg, &got);
    got.done++;
}

static int handled;
static struct pvmd_question kept;

/* Answers twice the number. */
static int doubles(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct pvmc_buf answer;
    uint32_t value = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    handled++;
    kept = *q;
    pvmc_buf_init(&answer);
    pvmc_buf_put_u32(&answer, 2 * value);
    pvmd_answer(q, PvmOk, &answer);
    pvmc_buf_free(&answer);
    return 0;
}

static void start(unsigned self)
{
    pvmd.loop = ev_default_loop(0);
    pvmd.host_index = self;
    pvmd.master_index = 1;
    for (unsigned i = 1; i <= 3; i++)
        pvmd_host_set_state(pvmd_host_new(i, i, "h"), PVMD_HOST_UP);
    pvmd_dm_handle(PVMD_DM_PING, doubles);
    unit_log_start();
}

static struct pvmc_buf number(uint32_t n)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, n);
    return b;
}

static void ask(unsigned host, uint32_t n)
{
    struct pvmc_buf b = number(n);
    pvmd_ask(host, PVMD_DM_PING, &b, answered, &got);
    pvmc_buf_free(&b);
}

static void turn(void)
{
    ev_run(pvmd.loop, EVRUN_NOWAIT);
}

/* A message from another host. */
static struct pvmc_message *message(unsigned from, int32_t tag, int32_t wid, struct pvmc_buf body)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    m->src = PVMC_TID_DAEMON | pvmc_tid_of_host_index(from);
    m->tag = tag;
    m->wid = wid;
    m->ctx = PVMC_CTX_DM;
    pvmc_message_pack_bytes(m, body.data, body.length);
    pvmc_buf_free(&body);
    return m;
}

static void receive(unsigned link, unsigned from, int32_t tag, int32_t wid, struct pvmc_buf body)
{
    struct pvmc_message *m = message(from, tag, wid, body);
    pvmd_rpc_receive(link, m);
    pvmc_message_unref(m);
}

static struct pvmc_buf answer(int32_t code, uint32_t value)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_i32(&b, code);
    pvmc_buf_put_u32(&b, value);
    return b;
}

/* ---- tests ---- */

START_TEST(asking_ourselves_takes_the_same_way)
{
    start(1);
    ask(1, 21);
    ck_assert_int_eq(handled, 0); /* not from within pvmd_ask() */
    turn();
    ck_assert_int_eq(handled, 1);
    ck_assert_uint_eq(got.calls, 1);
    ck_assert_uint_eq(got.value, 42);
    ck_assert_uint_eq(sent_count, 0);
}
END_TEST

START_TEST(a_question_is_sent_and_its_answer_given)
{
    start(1);
    ask(2, 5);
    turn();
    ck_assert_uint_eq(sent_count, 1);
    ck_assert_uint_eq(sent[0]->dst, PVMC_TID_DAEMON | pvmc_tid_of_host_index(2));
    ck_assert_uint_eq(sent[0]->ctx, PVMC_CTX_DM);
    ck_assert_int_gt(sent[0]->wid, 0);
    ck_assert_uint_eq(got.calls, 0);
    receive(2, 2, (int32_t)PVMD_DM_ANSWER, sent[0]->wid, answer(3, 10));
    ck_assert_uint_eq(got.calls, 1);
    ck_assert_int_eq(got.code, 3);
    ck_assert_uint_eq(got.value, 10);
    ck_assert_uint_eq(got.host, 2);
    receive(2, 2, (int32_t)PVMD_DM_ANSWER, sent[0]->wid, answer(3, 10));
    ck_assert_uint_eq(got.calls, 1); /* once */
}
END_TEST

START_TEST(others_cannot_answer)
{
    start(1);
    ask(2, 5);
    receive(3, 3, (int32_t)PVMD_DM_ANSWER, sent[0]->wid, answer(3, 10));
    receive(3, 2, (int32_t)PVMD_DM_ANSWER, sent[0]->wid, answer(3, 10)); /* host 3 poses as host 2 */
    ck_assert_uint_eq(got.calls, 0);
    receive(2, 2, (int32_t)PVMD_DM_ANSWER, sent[0]->wid, answer(3, 10));
    ck_assert_uint_eq(got.calls, 1);
}
END_TEST

START_TEST(the_master_passes_on_counts_of_slaves_and_nothing_else)
{
    start(3);
    pvmd_dm_handle(PVMD_DM_LINK_COUNT, doubles);
    receive(1, 2, (int32_t)PVMD_DM_LINK_COUNT, 0, number(5));
    ck_assert_int_eq(handled, 1);
    ck_assert_uint_eq(kept.host_index, 2);
    ask(2, 5);
    receive(1, 2, (int32_t)PVMD_DM_ANSWER, sent[0]->wid, answer(3, 10));
    receive(2, 1, (int32_t)PVMD_DM_LINK_COUNT, 0, number(5));
    ck_assert_uint_eq(got.calls, 0);
    ck_assert_int_eq(handled, 1);
    ck_assert_int_eq(unit_log.count, 2);
}
END_TEST

START_TEST(lost_hosts_answer_with_failure)
{
    start(1);
    ask(2, 5);
    ask(3, 5);
    ask(2, 6);
    pvmd_host_free(pvmd_host_any(2));
    pvmd_rpc_host_left(2);
    ck_assert_uint_eq(got.calls, 2);
    ck_assert_int_eq(got.code, PvmHostFail);
    ask(2, 7); /* no longer a member: reported from the loop, not from within pvmd_ask() */
    ck_assert_uint_eq(got.calls, 2);
    turn();
    ck_assert_uint_eq(got.calls, 3);
    ck_assert_int_eq(got.code, PvmHostFail);
    ck_assert_uint_eq(sent_count, 3);
}
END_TEST

static void asks_again(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)arg, (void)host_index, (void)code, (void)body;
    got.calls++;
    ask(2, 9);
}

START_TEST(whoever_asks_anew_on_failure_is_answered_too)
{
    start(1);
    pvmd_ask(2, PVMD_DM_PING, NULL, asks_again, NULL);
    pvmd_host_free(pvmd_host_any(2));
    pvmd_rpc_host_left(2);
    turn();
    ck_assert_uint_eq(got.calls, 2);
}
END_TEST

START_TEST(asking_all_ends_once_all_have_answered)
{
    struct pvmc_buf b = number(4);
    start(1);
    pvmd_ask_all(PVMD_DM_PING, &b, answered, done, &got);
    ck_assert_uint_eq(got.done, 0);
    turn(); /* ourselves */
    ck_assert_uint_eq(got.calls, 1);
    receive(3, 3, (int32_t)PVMD_DM_ANSWER, sent[1]->wid, answer(0, 1));
    ck_assert_uint_eq(got.done, 0);
    pvmd_host_free(pvmd_host_any(2));
    pvmd_rpc_host_left(2);
    ck_assert_uint_eq(got.calls, 3);
    ck_assert_uint_eq(got.done, 1);
    pvmc_buf_free(&b);
}
END_TEST

START_TEST(questions_of_others_are_answered)
{
    start(1);
    receive(2, 2, (int32_t)PVMD_DM_PING, 77, number(8));
    ck_assert_int_eq(handled, 1);
    ck_assert_uint_eq(kept.host_index, 2);
    ck_assert_uint_eq(sent_count, 1);
    ck_assert_int_eq(sent[0]->tag, (int32_t)PVMD_DM_ANSWER);
    ck_assert_int_eq(sent[0]->wid, 77);
    receive(2, 2, (int32_t)PVMD_DM_PING, 0, number(8)); /* one way: no answer */
    ck_assert_int_eq(handled, 2);
    ck_assert_uint_eq(sent_count, 1);
}
END_TEST

START_TEST(malformed_and_unknown_questions_are_refused)
{
    struct pvmc_buf two = answer(1, 2);
    start(1);
    receive(2, 2, (int32_t)PVMD_DM_PING, 77, two);
    ck_assert_int_eq(handled, 0);
    ck_assert_uint_eq(sent_count, 1);
    receive(2, 2, 12345, 78, number(1));
    ck_assert_uint_eq(sent_count, 2);
    ck_assert_int_eq(unit_log.count, 2);
    receive(2, 3, (int32_t)PVMD_DM_PING, 77, number(1)); /* posing as host 3 */
    ck_assert_int_eq(handled, 0);
    ck_assert_int_eq(unit_log.count, 3);
}
END_TEST

START_TEST(the_masters_link_can_be_asked_for)
{
    struct pvmc_buf b = number(4);
    start(3);
    pvmd_ask_through_master(2, PVMD_DM_LINK_COUNT, &b);
    ck_assert_uint_eq(through_master, 2);
    ck_assert_uint_eq(sent_count, 0);
    pvmc_buf_free(&b);
}
END_TEST

UNIT_MAIN("pvmd_rpc", asking_ourselves_takes_the_same_way, a_question_is_sent_and_its_answer_given,
          others_cannot_answer, the_master_passes_on_counts_of_slaves_and_nothing_else, lost_hosts_answer_with_failure,
          whoever_asks_anew_on_failure_is_answered_too, asking_all_ends_once_all_have_answered,
          questions_of_others_are_answered, malformed_and_unknown_questions_are_refused,
          the_masters_link_can_be_asked_for)
