/* control.c - the table of messages that daemons send to the library itself. */
#include "control.h"
#include "../core/buf.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "output.h"
#include "peer.h"
#include "task.h"

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
}

static const struct {
    int tag;
    void (*take)(struct pvmi_message *m);
} messages[] = {
    {PVMI_TC_HOLD, hold},
    {PVMI_TC_RELEASE, release},
    {PVMI_TC_GONE, gone},
    {PVMI_TC_OUTPUT, pvmi_output_take},
    {PVMI_TC_SIBLINGS, pvmi_task_take_siblings},
};

bool pvmi_control_take(struct pvmi_message *m)
{
    if (!pvmi_tid_is_daemon(m->src))
        return false;
    for (unsigned i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (messages[i].tag == m->tag) {
            messages[i].take(m);
            return true;
        }
    return false;
}
