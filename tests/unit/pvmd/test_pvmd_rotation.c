/*
 * test_pvmd_rotation.c - when a replacement of the secret begins, what it waits for, whom it answers; and what the next
 * master makes of it.
 */
#include "pvmd/secret/rotation.h"
#include <ev.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvm3.h"
#include "pvmd/base/self.h"
#include "pvmd/hosts/add.h"
#include "pvmd/hosts/forward.h"
#include "pvmd/secret/keys.h"
#include "pvmd/hosts/membership.h"
#include "pvmd/launch/manual.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/tasks/tasks.h"
#include "tests/unit/unit.h"

/* ---- functions that rotation.c needs ---- */

struct pvmd_daemon pvmd = {.host_index = 1, .master_index = 1};

static enum pvmd_keys_phase phase = PVMD_KEYS_ALONE;
static pvmd_keys_answered *open_round;
static unsigned offers, rounds, freed_by_hand;
static int offer_rc, advance_rc;
static bool is_known = true, is_adding;
static void (*holds)(void); /* the adding of hosts */
static pvmd_petition_handler *petition;
static unsigned answers;
static int last_code;

enum pvmd_keys_phase pvmd_keys_phase(void)
{
    return phase;
}

int pvmd_keys_offer(void)
{
    ck_assert_int_eq(phase, PVMD_KEYS_ALONE);
    offers++;
    if (!offer_rc)
        phase = PVMD_KEYS_OFFERED;
    return offer_rc;
}

int pvmd_keys_advance(void)
{
    if (!advance_rc)
        phase++;
    return advance_rc;
}

void pvmd_keys_ask_all(pvmd_keys_answered *done)
{
    ck_assert_ptr_null((void *)open_round);
    open_round = done;
    rounds++;
}

bool pvmd_membership_is_known(void)
{
    return is_known;
}

bool pvmd_add_is_begun(void)
{
    return is_adding;
}

void pvmd_add_hold(void (*idle)(void))
{
    holds = idle;
}

void pvmd_manual_stop(void)
{
    freed_by_hand++;
}

void pvmd_petition_handle(enum pvmd_dm what, pvmd_petition_handler *handler)
{
    ck_assert_uint_eq(what, PVMD_DM_ROTATE);
    petition = handler;
}

void pvmd_petition_answer(const struct pvmd_petition *p, int code, const struct pvmc_buf *body)
{
    ck_assert_ptr_nonnull(p);
    ck_assert_ptr_null(body);
    answers++;
    last_code = code;
}

int pvmd_forward(const struct pvmd_request *r, enum pvmd_dm what, const struct pvmc_buf *body)
{
    (void)r, (void)what, (void)body;
    return 0;
}

void pvmd_tm_handle(int tag, pvmd_tm_handler *handler)
{
    ck_assert_int_eq(tag, (int)PVMC_TM_ROTATE);
    ck_assert_ptr_nonnull((void *)handler);
}

/* ---- steps ---- */

static void begin(void)
{
    unit_log_start();
    pvmd.loop = ev_default_loop(0);
    pvmd_rotation_start();
}

static void work(void)
{
    ev_run(pvmd.loop, EVRUN_NOWAIT);
}

static int ask(void)
{
    struct pvmd_petition p = {.number = 1};
    struct pvmc_buf b;
    pvmc_buf_view(&b, NULL, 0);
    int rc = petition(&p, &b);
    work();
    return rc;
}

static void answer_as(unsigned have, unsigned left, unsigned failed)
{
    struct pvmd_keys_answers a = {.have = have, .left = left, .failed = failed};
    pvmd_keys_answered *done = open_round;
    ck_assert_ptr_nonnull((void *)done);
    open_round = NULL;
    done(&a);
}

static void answer_round(unsigned have)
{
    answer_as(have, 0, 0);
    work();
}

static void check_whole(unsigned have)
{
    for (int p = PVMD_KEYS_OFFERED; p <= PVMD_KEYS_ALONE; p++) {
        ck_assert_int_eq(phase, p);
        ck_assert_ptr_nonnull((void *)holds);
        answer_round(have);
    }
}

/* ---- tests ---- */

START_TEST(three_phases_and_an_answer)
{
    begin();
    ck_assert_ptr_null((void *)holds);
    ck_assert_int_eq(ask(), 0);
    ck_assert_uint_eq(freed_by_hand, 1);
    check_whole(5);
    ck_assert_uint_eq(rounds, 3);
    ck_assert_uint_eq(answers, 1);
    ck_assert_int_eq(last_code, 5);
    ck_assert_ptr_null((void *)holds);
}
END_TEST

/* Those who ask while one is under way share the next one. */
START_TEST(a_request_gets_a_rotation_that_begins_after_it)
{
    begin();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ask(), 0);
    ck_assert_uint_eq(offers, 1);
    check_whole(4);
    ck_assert_uint_eq(answers, 1);
    check_whole(4);
    ck_assert_uint_eq(answers, 3);
    ck_assert_uint_eq(offers, 2);
    ck_assert_ptr_null((void *)holds);
}
END_TEST

START_TEST(it_waits_for_hosts_that_come_or_go)
{
    begin();
    is_adding = true;
    ck_assert_int_eq(ask(), 0);
    ck_assert_ptr_nonnull((void *)holds); /* no further host begins to be added */
    ck_assert_uint_eq(offers, 0);
    is_adding = false;
    is_known = false;
    holds();
    work();
    ck_assert_uint_eq(offers, 0);
    is_known = true;
    pvmd_rotation_committed(1);
    work();
    ck_assert_uint_eq(offers, 1);
    check_whole(2);
    ck_assert_uint_eq(answers, 1);
}
END_TEST

/* It may know the new secret: so there is another one before the answer. */
START_TEST(a_host_that_leaves_meanwhile_is_shut_out)
{
    begin();
    ck_assert_int_eq(ask(), 0);
    answer_round(3);
    pvmd_rotation_host_left(2); /* it had answered */
    answer_round(2);
    answer_round(2);
    ck_assert_uint_eq(answers, 0);
    ck_assert_uint_eq(offers, 2);
    answer_round(2);
    answer_round(2);
    answer_as(1, 1, 0); /* it had not */
    pvmd_rotation_host_left(3);
    work();
    ck_assert_uint_eq(answers, 0);
    ck_assert_uint_eq(offers, 3);
    check_whole(1);
    ck_assert_uint_eq(answers, 1);
    ck_assert_int_eq(last_code, 1);
}
END_TEST

START_TEST(a_step_that_fails_is_made_again)
{
    begin();
    ck_assert_int_eq(ask(), 0);
    answer_as(2, 0, 1);
    work();
    ck_assert_int_eq(phase, PVMD_KEYS_OFFERED);
    ev_run(pvmd.loop, EVRUN_ONCE);
    advance_rc = PVMC_ESYSTEM;
    answer_round(3);
    ck_assert_int_eq(phase, PVMD_KEYS_OFFERED);
    ev_run(pvmd.loop, EVRUN_ONCE);
    advance_rc = 0;
    check_whole(3);
    ck_assert_uint_eq(answers, 1);
}
END_TEST

START_TEST(without_random_numbers_nothing_begins)
{
    begin();
    offer_rc = PVMC_ESYSTEM;
    ck_assert_int_eq(ask(), 0);
    ck_assert_uint_eq(answers, 1);
    ck_assert_int_eq(last_code, PvmDSysErr);
    ck_assert_ptr_null((void *)holds);
}
END_TEST

/* A master that is cut off finds all others gone. */
START_TEST(no_phase_begins_before_it_is_certain_who_is_a_member)
{
    begin();
    ck_assert_int_eq(ask(), 0);
    answer_as(1, 4, 0);
    is_known = false; /* the hosts leave after their answers */
    work();
    ck_assert_int_eq(phase, PVMD_KEYS_OFFERED);
    pvmd_rotation_committed(1);
    work();
    ck_assert_int_eq(phase, PVMD_KEYS_OFFERED);
    is_known = true;
    pvmd_rotation_committed(2);
    work();
    ck_assert_int_eq(phase, PVMD_KEYS_ADOPTED);
}
END_TEST

/* Who has asked the lost master asks this one. */
START_TEST(the_next_master_finishes_and_begins_anew)
{
    pvmd.master_index = 2;
    phase = PVMD_KEYS_ADOPTED;
    begin();
    pvmd_rotation_committed(1);
    work();
    ck_assert_uint_eq(rounds, 0);
    pvmd.master_index = 1;
    pvmd_rotation_master_changed();
    work();
    ck_assert_uint_eq(rounds, 1);
    ck_assert_int_eq(ask(), 0);
    answer_round(2);
    answer_round(2);
    ck_assert_uint_eq(answers, 0);
    check_whole(2);
    ck_assert_uint_eq(answers, 1);
}
END_TEST

START_TEST(so_many_requests_wait_and_no_more)
{
    begin();
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(ask(), 0);
    ck_assert_int_eq(ask(), PVMC_ELIMIT);
    check_whole(1);
    check_whole(1);
    ck_assert_uint_eq(answers, 64);
    ck_assert_int_eq(ask(), 0);
    pvmd_rotation_stop();
    ck_assert_uint_eq(answers, 64);
}
END_TEST

UNIT_MAIN("pvmd_rotation", three_phases_and_an_answer, a_request_gets_a_rotation_that_begins_after_it,
          it_waits_for_hosts_that_come_or_go, a_host_that_leaves_meanwhile_is_shut_out, a_step_that_fails_is_made_again,
          no_phase_begins_before_it_is_certain_who_is_a_member, without_random_numbers_nothing_begins,
          the_next_master_finishes_and_begins_anew, so_many_requests_wait_and_no_more)
