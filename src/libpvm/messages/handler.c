/* handler.c - message handlers and the messages that wait for them. */
#include "handler.h"
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/log.h"
#include "buffer.h"
#include "call.h"
#include "compat.h"
#include "inbox.h"
#include "jump.h"
#include "lock.h"
#include "perror.h"
#include "task.h"
#include "trace.h"

#define HANDLERS_MAX 65536

struct handler {
    int src, tag, ctx; /* PVMI_INBOX_ANY: any */
    int (*call)(int mid);
};

struct taken {
    struct pvmi_message *m;
    void (*call)(struct pvmi_message *m); /* the library's own; NULL: a handler */
    struct taken *prev, *next;
};

static struct handler *handlers; /* id - 1; call is NULL where free */
static int handler_slots;
static struct taken *queue;

/* The handler that runs, in some thread, or one of the library's own functions. Not on the stack: it may be left by a
 * jump. */
static struct {
    const void *thread;     /* NULL: none runs */
    unsigned level;         /* of the call that runs it, see jump.h */
    struct pvmi_message *m; /* NULL: no handler */
    int mid;
    int context, send, receive; /* the program's own, while a handler has others */
} running;

int pvmi_handler_count;
unsigned pvmi_handler_queued, pvmi_handler_deferred;

static struct handler *find(int src, int tag, int ctx)
{
    for (int i = 0; i < handler_slots; i++) {
        struct handler *h = &handlers[i];
        if (h->call && pvmi_inbox_covers(h->src, src) && pvmi_inbox_covers(h->tag, tag) &&
            pvmi_inbox_covers(h->ctx, ctx))
            return h;
    }
    return NULL;
}

static struct handler *find_for(const struct pvmi_message *m)
{
    return find((int)m->src, m->tag, (int)m->ctx);
}

bool pvmi_handler_concerns(int src, int tag, int ctx)
{
    return pvmi_handler_queued || (pvmi_handler_count && find(src, tag, ctx));
}

static bool queue_add(struct pvmi_message *m, void (*call)(struct pvmi_message *m))
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

bool pvmi_handler_queue(struct pvmi_message *m)
{
    if (!find_for(m))
        return false;
    return queue_add(m, NULL); /* else the inbox will log it if it has no memory either */
}

void pvmi_handler_later(struct pvmi_message *m, void (*call)(struct pvmi_message *m))
{
    if (queue_add(pvmi_message_ref(m), call))
        return;
    pvmi_log(PVMI_LOG_ERROR, "no memory to answer t%x", m->src);
    pvmi_message_unref(m);
}

static struct taken queue_pop(void)
{
    struct taken first = *queue, *t = queue;
    DL_DELETE(queue, t);
    free(t);
    pvmi_handler_queued--;
    return first;
}

static int if_there(int mid)
{
    return pvmi_buffer_find(mid) ? mid : 0;
}

/* Other threads go on meanwhile. */
static void call_without_lock(int (*call)(int mid), int mid)
{
    unsigned depth = pvmi_lock_pause();
    call(mid);
    pvmi_lock_resume(depth);
}

static void begin_handler(struct pvmi_message *m, int mid)
{
    running.m = pvmi_message_ref(m); /* so that no other message takes its place */
    running.mid = mid;
    running.context = pvmmyctx;
    running.send = pvmi_buffer_select_send(0);
    running.receive = pvmi_buffer_select_receive(mid);
    pvmmyctx = (int)m->ctx;
}

/* The program finds what it had. */
static void end_handler(void)
{
    pvmmyctx = running.context;
    if (pvmi_buffer_find(running.mid) == running.m)
        pvmi_buffer_free(running.mid);
    pvmi_message_unref(running.m);
    running.m = NULL;
    pvmi_buffer_select_send(if_there(running.send));
    pvmi_buffer_select_receive(if_there(running.receive));
}

/* Calls the handler with the message active and its context current. */
static void invoke(const struct handler *h, struct pvmi_message *m)
{
    int mid = pvmi_buffer_add(m);
    if (mid < 0)
        return;
    struct pvmi_set set;
    struct pvmi_jump_level outer;
    pvmi_lock_set_begin(&set, false);
    begin_handler(m, mid);
    pvmi_trace_handler(m, mid, h->src, h->tag, h->ctx);
    unsigned depth = pvmi_call_step_out();
    pvmi_jump_level_begin(&outer);
    call_without_lock(h->call, mid);
    pvmi_jump_level_end(&outer);
    pvmi_call_step_in(depth);
    end_handler();
    pvmi_lock_set_end(&set);
}

bool pvmi_handler_run_queued(void)
{
    if (pvmi_handler_deferred || running.thread || !pvmi_handler_queued)
        return false;
    running.thread = pvmi_lock_self();
    running.level = pvmi_jump_level();
    for (unsigned left = pvmi_handler_queued; left && pvmi_handler_queued;
         left--) { /* what they send to ourselves comes next time */
        struct taken t = queue_pop();
        struct handler *h = t.call ? NULL : find_for(t.m);
        if (h) {
            invoke(h, t.m);
        } else if (t.call) {
            t.call(t.m);
            pvmi_message_unref(t.m);
        } else {
            pvmi_inbox_put(t.m);
        }
    }
    running.thread = NULL;
    return true;
}

void pvmi_handler_left(unsigned level)
{
    if (running.thread != pvmi_lock_self() || running.level < level)
        return;
    if (running.m)
        end_handler();
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

void pvmi_handler_clear(void)
{
    while (pvmi_handler_queued)
        pvmi_message_unref(queue_pop().m);
}

__attribute__((destructor)) static void free_all(void)
{
    pvmi_handler_clear();
    free(handlers);
    handlers = NULL;
    handler_slots = pvmi_handler_count = 0;
}

/* ---- public calls ---- */

static bool overlap(int a, int b)
{
    return a == b || a == PVMI_INBOX_ANY || b == PVMI_INBOX_ANY;
}

static struct handler *free_slot(void)
{
    for (int i = 0; i < handler_slots; i++)
        if (!handlers[i].call)
            return &handlers[i];
    int slots = handler_slots ? 2 * handler_slots : 8;
    struct handler *bigger = slots > HANDLERS_MAX ? NULL : realloc(handlers, slots * sizeof *bigger);
    if (!bigger)
        return NULL;
    for (int i = handler_slots; i < slots; i++)
        bigger[i] = (struct handler){0};
    handlers = bigger;
    struct handler *first = &handlers[handler_slots];
    handler_slots = slots;
    return first;
}

static int add_handler(int src, int tag, int ctx, int (*call)(int mid))
{
    if (!call)
        return PVMI_EPARAM;
    for (int i = 0; i < handler_slots; i++) {
        const struct handler *h = &handlers[i];
        if (h->call && overlap(h->src, src) && overlap(h->tag, tag) && overlap(h->ctx, ctx))
            return PVMI_EEXISTS;
    }
    struct handler *h = free_slot();
    if (!h)
        return PVMI_ENOMEM;
    *h = (struct handler){src, tag, ctx, call};
    pvmi_handler_count++;
    return (int)(h - handlers) + 1;
}

int pvm_addmhf(int src, int tag, int ctx, int (*handler)(int mid))
{
    PVMI_BEGIN(TEV_ADDMHF, PVMI_INT(RST, src), PVMI_INT(RMC, tag), PVMI_INT(RCX, ctx));
    int need = pvmi_task_need(), rc = pvmi_return("pvm_addmhf", need ? need : add_handler(src, tag, ctx, handler));
    PVMI_END(TEV_ADDMHF, PVMI_INT(MHI, rc));
    return rc;
}

static int delete_handler(int id)
{
    if (id < 0)
        return PVMI_EPARAM;
    if (!id || id > handler_slots || !handlers[id - 1].call)
        return PVMI_ENOTFOUND;
    handlers[id - 1].call = NULL;
    pvmi_handler_count--;
    return 0;
}

int pvm_delmhf(int mhid)
{
    PVMI_BEGIN(TEV_DELMHF, PVMI_INT(MHI, mhid));
    int rc = pvmi_return("pvm_delmhf", delete_handler(mhid));
    PVMI_END(TEV_DELMHF, PVMI_INT(CC, rc));
    return rc;
}

int pvmdisplaymhfinfo(char *who, char *text, int tid)
{
    printf("\n%s t%x: %s\n", who, (unsigned)tid, text);
    for (int i = 0; i < handler_slots; i++) {
        const struct handler *h = &handlers[i];
        if (h->call)
            printf("%s t%x: handler %d: source t%x, tag %d, context %d\n", who, (unsigned)tid, i + 1, (unsigned)h->src,
                   h->tag, h->ctx);
    }
    return PvmOk;
}
