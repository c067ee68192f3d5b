/* control.c - dispatches control messages by their number. */
#include "control.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "peer.h"

static const struct pvmi_control *served;
static unsigned served_count;

void pvmi_control_serve(const struct pvmi_control *table, unsigned count)
{
    served = table;
    served_count = count;
}

pvmc_tid pvmi_control_tid(const struct pvmc_message *m)
{
    struct pvmc_buf body;
    pvmc_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    pvmc_tid tid = pvmc_buf_get_u32(&body);
    if (pvmc_buf_end(&body))
        pvmc_log(PVMC_LOG_WARNING, "ignored a malformed message %#x from the daemon", (unsigned)m->tag);
    return tid;
}

static void hold(struct pvmc_message *m)
{
    pvmi_peer_hold(pvmi_control_tid(m), true);
}

static void release(struct pvmc_message *m)
{
    pvmi_peer_hold(pvmi_control_tid(m), false);
}

static const struct pvmi_control own[] = {
    {PVMC_TC_HOLD, true, hold},
    {PVMC_TC_RELEASE, true, release},
};

static const struct pvmi_control *find(const struct pvmi_control *table, unsigned count, const struct pvmc_message *m)
{
    for (unsigned i = 0; i < count; i++)
        if (table[i].tag == m->tag && table[i].of_daemon == pvmc_tid_is_daemon(m->src))
            return &table[i];
    return NULL;
}

bool pvmi_control_take(struct pvmc_message *m)
{
    const struct pvmi_control *c = find(own, sizeof own / sizeof own[0], m);
    if (!c)
        c = find(served, served_count, m);
    if (c && !pvmc_message_own(m)) /* a message lost for lack of memory is treated like any other */
        c->take(m);
    return c;
}
