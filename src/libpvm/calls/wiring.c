/* wiring.c - see wiring.h. */
#include "wiring.h"
#include "core/message/proto.h"
#include "pvmproto.h"
#include "enrol.h"
#include "libpvm/base/gauges.h"
#include "libpvm/base/jump.h"
#include "libpvm/base/lock.h"
#include "libpvm/engine/control.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/offer.h"
#include "libpvm/engine/peer.h"
#include "libpvm/engine/wait.h"
#include "libpvm/route/exit_notice.h"
#include "libpvm/route/manager.h"
#include "libpvm/route/request.h"
#include "libpvm/route/route.h"
#include "libpvm/route/routes.h"
#include "libpvm/route/transfer.h"
#include "libpvm/trace/trace.h"
#include "output.h"

/* ---- control messages ---- */

static void host_is_gone(struct pvmc_message *m)
{
    pvmc_tid host = pvmi_control_tid(m);
    pvmi_peer_forget_host(host);
    pvmi_output_forget_host(host);
    pvmi_trace_lose(host);
}

/* What pvmi_route_watch_end() and pvmi_route_watch_all() have asked for. */
static void task_has_ended(struct pvmc_message *m)
{
    int tid = 0;
    if (pvmc_message_unpack(m, PVM_INT, &tid, 1, 1))
        return;
    struct pvmi_peer *p = pvmi_peer_find((pvmc_tid)tid);
    if (p) {
        pvmi_exit_notice_note(p);
        pvmi_peer_ended(p);
        pvmi_peer_forget_ended(p);
    }
    pvmi_trace_lose((pvmc_tid)tid);
}

static const struct pvmi_control control_messages[] = {
    {PVMC_TC_GONE, true, host_is_gone},
    {PVMC_TC_ENDED, true, task_has_ended},
    {PVMC_TC_MANAGER, true, pvmi_manager_set},
    {PVMC_TC_OUTPUT, true, pvmi_output_take},
    {PVMC_TC_SIBLINGS, true, pvmi_enrol_take_siblings},
    {PVMC_TC_OFFER, false, pvmi_route_take_offer},
    {PVMC_TC_ANSWER, false, pvmi_route_take_answer},
    {PVMC_TC_ROUTES, false, pvmi_routes_take},
};

/* ---- links ---- */

/* The program learns of a task's end when the last frames of that task have arrived. */
static bool take(struct pvmc_message *m)
{
    if (m->ctx == PVMC_CTX_TM && pvmc_tid_is_daemon(m->src)) {
        pvmi_request_take_answer(m);
        return true;
    }
    return (pvmc_tid_is_daemon(m->src) && pvmi_exit_notice_take(m)) ||
           (m->tag <= SM_LAST && pvmi_request_take_reply(m));
}

static const struct pvmi_link_listener link_listener = {
    .heard = pvmi_route_heard,
    .lost = pvmi_route_lost,
    .unlinked = pvmi_exit_notice_deliver,
    .forget_links = pvmi_route_forget,
    .forget_abandoned = pvmi_transfer_forget,
    .clear = pvmi_route_clear,
    .crowded = pvmi_route_watch_all,
    .alarm = pvmi_route_alarm,
    .clock = pvmi_route_clock,
    .take = take,
};

/* ---- forks and jumps ---- */

static void forget_others(void)
{
    pvmi_wait_forget_others();
    pvmi_inbox_forget_others();
    pvmi_request_forget_others();
    pvmi_offer_forget_others();
}

static void undo(unsigned level, struct pvmi_wanted *wanted, struct pvmi_wanted *offered)
{
    pvmi_inbox_undo(wanted);
    pvmi_offer_receive = offered; /* a partly received message continues in that place, and then goes to the inbox */
    pvmi_wait_undo();
    pvmi_gauges_undo();
    pvmi_request_undo(level);
    pvmi_transfer_abandon(level);
    pvmi_enrol_undo();
}

static const struct pvmi_jump_hooks jump_hooks = {.undo = undo, .undo_handler = pvmi_handler_undo};

void pvmi_wiring_install(void)
{
    pvmi_control_serve(control_messages, sizeof control_messages / sizeof control_messages[0]);
    pvmi_link_listener = &link_listener;
    pvmi_lock_forget_others = forget_others;
    pvmi_jump_hooks = &jump_hooks;
}
