/* handler.c - see handler.h. */
#include "handler.h"
#include <stdlib.h>
#include <utlist.h>
#include "core/log.h"
#include "libpvm/base/jump.h"
#include "libpvm/base/lock.h"
#include "peer.h"

struct taken {
    struct pvmc_message *m;
    void (*call)(struct pvmc_message *m); /* a function of the library; NULL: a handler */
    struct taken *prev, *next;
};

static struct taken *queue;

/* The thread that runs handlers now. */
static struct {
    const void *thread; /* NULL: none */
    unsigned level;     /* of the call that runs them, see jump.h */
} running;

const struct pvmi_handler_table *pvmi_handler_table;
int pvmi_handler_count;
unsigned pvmi_handler_queued;

bool pvmi_handler_covers(int src, int tag, int ctx)
{
    return pvmi_handler_count && pvmi_handler_table->covers(src, tag, ctx);
}

bool pvmi_handler_concerns(int src, int tag, int ctx)
{
    return pvmi_handler_queued || pvmi_handler_covers(src, tag, ctx);
}

static bool queue_add(struct pvmc_message *m, void (*call)(struct pvmc_message *m))
{
    struct taken *t = malloc(sizeof *t);
    if (!t)
        return false;
    t->m = m;
    t->call = call;
    DL_APPEND(queue, t);
    pvmi_handler_queued++;
    return true;
}

bool pvmi_handler_queue(struct pvmc_message *m)
{
    if (!pvmi_handler_covers((int)m->src, m->tag, (int)m->ctx))
        return false;
    if (!m->partial)
        return queue_add(m, NULL); /* out of memory: the inbox gets it, and logs a loss */
    pvmi_peer_withhold(m);         /* it was shown before there was a handler */
    return true;
}

void pvmi_handler_later(struct pvmc_message *m, void (*call)(struct pvmc_message *m))
{
    if (queue_add(pvmc_message_ref(m), call))
        return;
    pvmc_log(PVMC_LOG_ERROR, "no memory to answer t%x", m->src);
    pvmc_message_unref(m);
}

static struct taken queue_pop(void)
{
    struct taken first = *queue, *t = queue;
    DL_DELETE(queue, t);
    free(t);
    pvmi_handler_queued--;
    return first;
}

bool pvmi_handler_run_queued(void)
{
    if (pvmi_handler_deferred || running.thread || !pvmi_handler_queued)
        return false;
    running.thread = pvmi_lock_self();
    running.level = pvmi_jump_level();
    /* Messages that handlers send to this task wait for the next time. */
    for (unsigned left = pvmi_handler_queued; left && pvmi_handler_queued; left--) {
        struct taken t = queue_pop();
        if (t.call) {
            t.call(t.m);
            pvmc_message_unref(t.m);
        } else {
            pvmi_handler_table->run(t.m);
        }
    }
    running.thread = NULL;
    return true;
}

void pvmi_handler_undo(unsigned level)
{
    if (running.thread != pvmi_lock_self() || running.level < level)
        return;
    if (pvmi_handler_table)
        pvmi_handler_table->undo();
    running.thread = NULL;
}

bool pvmi_handler_is_due(void)
{
    return pvmi_handler_queued && !running.thread;
}

void pvmi_handler_defer(void)
{
    pvmi_handler_deferred++;
}

void pvmi_handler_allow(void)
{
    pvmi_handler_deferred--;
}

__attribute__((destructor)) void pvmi_handler_clear(void)
{
    while (pvmi_handler_queued)
        pvmc_message_unref(queue_pop().m);
}
