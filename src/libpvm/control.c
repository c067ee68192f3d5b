/* control.c - the table of messages that daemons and other tasks' libraries send to the library itself. */
#include "control.h"
#include "../core/buf.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "pvm3.h"
#include "farewell.h"
#include "manager.h"
#include "output.h"
#include "peer.h"
#include "route.h"
#include "routes.h"
#include "task.h"
#include "trace.h"

/* The one number that HOLD, RELEASE and GONE carry. */
static pvmi_tid read_tid(const struct pvmi_message *m)
{
    struct pvmi_buf body;
    pvmi_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    pvmi_tid tid = pvmi_buf_get_u32(&body);
    if (pvmi_buf_end(&body))
        pvmi_log(PVMI_LOG_WARNING, "ignored a malformed message %#x of the daemon", (unsigned)m->tag);
    return tid;
}

static void hold(struct pvmi_message *m)
{
    pvmi_peer_hold(read_tid(m), true);
}

static void release(struct pvmi_message *m)
{
    pvmi_peer_hold(read_tid(m), false);
}

static void gone(struct pvmi_message *m)
{
    pvmi_tid host = read_tid(m);
    pvmi_peer_forget_host(host);
    pvmi_output_forget_host(host);
    pvmi_trace_lose(host);
}

/* What pvmi_route_watch_end() has asked for. */
static void ended(struct pvmi_message *m)
{
    int tid = 0;
    if (pvmi_message_unpack(m, PVM_INT, &tid, 1, 1))
        return;
    struct pvmi_peer *p = pvmi_peer_find((pvmi_tid)tid);
    if (p) {
        pvmi_farewell_note(p);
        pvmi_peer_ended(p);
    }
    pvmi_trace_lose((pvmi_tid)tid);
}

static const struct {
    int tag;
    bool of_daemon; /* or else of tasks */
    void (*take)(struct pvmi_message *m);
} messages[] = {
    {PVMI_TC_HOLD, true, hold},
    {PVMI_TC_RELEASE, true, release},
    {PVMI_TC_GONE, true, gone},
    {PVMI_TC_MANAGER, true, pvmi_manager_set},
    {PVMI_TC_OUTPUT, true, pvmi_output_take},
    {PVMI_TC_SIBLINGS, true, pvmi_task_take_siblings},
    {PVMI_TC_ENDED, true, ended},
    {PVMI_TC_OFFER, false, pvmi_route_take_offer},
    {PVMI_TC_ANSWER, false, pvmi_route_take_answer},
    {PVMI_TC_ROUTES, false, pvmi_routes_take},
};

bool pvmi_control_take(struct pvmi_message *m)
{
    for (unsigned i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (messages[i].tag == m->tag && messages[i].of_daemon == pvmi_tid_is_daemon(m->src)) {
            if (!pvmi_message_own(m)) /* else it is lost, as any message for which there is no memory */
                messages[i].take(m);
            return true;
        }
    return false;
}
