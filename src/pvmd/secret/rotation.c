/* rotation.c - see rotation.h. */
#include "rotation.h"
#include <ev.h>
#include <stdlib.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "keys.h"
#include "pvm3.h"
#include "pvmd/base/self.h"
#include "pvmd/hosts/add.h"
#include "pvmd/hosts/forward.h"
#include "pvmd/hosts/membership.h"
#include "pvmd/launch/manual.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/quorum/tables.h"
#include "pvmd/tasks/tasks.h"

#define WAITING_MAX 64  /* requests */
#define AGAIN_S     0.2 /* between two attempts at a step that has failed */

/* A request for a rotation. */
struct waiting {
    struct pvmd_petition petition;
    bool is_served; /* by the present rotation, which began after the request */
    struct waiting *prev, *next;
};

static struct waiting *all_waiting;
static unsigned waiting_count;
static bool is_on;       /* a rotation is under way, and we are the master */
static bool has_lost;    /* a host has left since it began */
static bool is_answered; /* all members have answered, as follows, and the next step is due */
static struct pvmd_keys_answers answers;
static ev_timer again;          /* a step has failed */
static ev_prepare work_watcher; /* never started: fed when there may be work */

/* ---- when there may be work ---- */

static void work(void);

static void work_event(struct ev_loop *loop, ev_prepare *w, int events)
{
    (void)loop, (void)w, (void)events;
    work();
}

static void go_on(void)
{
    bool is_due = is_on || all_waiting || pvmd_keys_phase() != PVMD_KEYS_ALONE;
    pvmd_add_hold(is_due && pvmd_is_master() ? go_on : NULL); /* start texts hold the secret */
    if (!is_due || ev_is_pending(&work_watcher))
        return;
    ev_prepare_init(&work_watcher, work_event);
    ev_feed_event(pvmd.loop, &work_watcher, EV_PREPARE);
}

/* ---- the end of a rotation ---- */

static void answer(int code)
{
    struct waiting *w, *next;
    DL_FOREACH_SAFE (all_waiting, w, next) {
        if (!w->is_served)
            continue;
        pvmd_petition_answer(&w->petition, code, NULL);
        DL_DELETE(all_waiting, w);
        free(w);
        waiting_count--;
    }
}

static void end(int code)
{
    is_on = false;
    if (code < 0 || !has_lost)
        answer(code);
    go_on();
}

/* ---- its steps ---- */

/* The answers of hosts that are gone come before the event. */
static void all_answered(const struct pvmd_keys_answers *a)
{
    has_lost = has_lost || a->left;
    answers = *a;
    is_answered = true;
    go_on();
}

static void try_again(void)
{
    ev_timer_set(&again, AGAIN_S, 0.);
    ev_timer_start(pvmd.loop, &again);
}

static void again_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    pvmd_keys_ask_all(all_answered);
}

static void step(void)
{
    is_answered = false;
    if (!answers.failed && pvmd_keys_phase() == PVMD_KEYS_ALONE)
        end((int)answers.have);
    else if (answers.failed || pvmd_keys_advance())
        try_again();
    else
        pvmd_keys_ask_all(all_answered);
}

/* Texts for daemons that are started by hand hold the present secret. */
static void begin_new(void)
{
    struct waiting *w;
    DL_FOREACH (all_waiting, w)
        w->is_served = true;
    is_on = true;
    has_lost = false;
    pvmd_manual_stop();
    if (pvmd_keys_offer())
        end(PvmDSysErr);
    else
        pvmd_keys_ask_all(all_answered);
}

static void begin(void)
{
    bool is_begun = pvmd_keys_phase() != PVMD_KEYS_ALONE;
    if ((!is_begun && !all_waiting) || pvmd_add_is_begun())
        return;
    if (!is_begun) {
        begin_new();
        return;
    }
    is_on = true;
    pvmc_log(PVMC_LOG_INFO, "this master goes on with the replacement of the machine's secret");
    pvmd_keys_ask_all(all_answered);
}

/*
 * Hosts that are gone count as having answered only once it is certain that they are no members any more: a master that
 * is cut off must not go on without those who elect the next one.
 */
static void work(void)
{
    if (!pvmd_is_master() || !pvmd_membership_is_known())
        return;
    if (!is_on)
        begin();
    else if (is_answered)
        step();
}

/* ---- requests ---- */

static int rotate_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    if (!rc && waiting_count == WAITING_MAX)
        rc = PVMC_ELIMIT;
    struct waiting *w = rc ? NULL : calloc(1, sizeof *w);
    if (!w)
        return rc ? rc : PVMC_ENOMEM;
    w->petition = *p;
    DL_APPEND(all_waiting, w);
    waiting_count++;
    go_on();
    return 0;
}

static int rotate_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    return rc ? rc : pvmd_forward(r, PVMD_DM_ROTATE, body);
}

/* ---- events, start and end ---- */

void pvmd_rotation_host_left(unsigned index)
{
    (void)index;
    has_lost = true;
}

void pvmd_rotation_master_changed(void)
{
    go_on();
}

void pvmd_rotation_committed(uint32_t seq)
{
    (void)seq;
    if (!is_on || is_answered)
        go_on();
}

void pvmd_rotation_start(void)
{
    ev_init(&again, again_event);
    pvmd_tm_handle((int)PVMC_TM_ROTATE, rotate_request);
    pvmd_petition_handle(PVMD_DM_ROTATE, rotate_petition);
}

void pvmd_rotation_stop(void)
{
    pvmd_add_hold(NULL);
    ev_timer_stop(pvmd.loop, &again);
    while (all_waiting) {
        struct waiting *w = all_waiting;
        DL_DELETE(all_waiting, w);
        free(w);
    }
    waiting_count = 0;
    is_on = has_lost = is_answered = false;
}
