/* handler.c - message handlers: pvm_addmhf, pvm_delmhf, and how one is called. */
#include "libpvm/engine/handler.h"
#include <stdio.h>
#include <stdlib.h>
#include "core/error.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/base/jump.h"
#include "libpvm/base/lock.h"
#include "libpvm/base/perror.h"
#include "libpvm/calls/enrol.h"
#include "libpvm/trace/trace.h"

#define HANDLERS_MAX 65536

struct handler {
    int src, tag, ctx; /* PVMI_INBOX_ANY: any */
    int (*call)(int mid);
};

static struct handler *handlers; /* id - 1; call is NULL where free */
static int handler_slots;

/* The handler that runs, in some thread. Not on the stack: it may be left by a jump. */
static struct {
    struct pvmc_message *m; /* NULL: none runs */
    int mid;
    int context, send, receive; /* the program's own while the handler has others */
} running;

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

static struct handler *find_for(const struct pvmc_message *m)
{
    return find((int)m->src, m->tag, (int)m->ctx);
}

static bool covers(int src, int tag, int ctx)
{
    return find(src, tag, ctx);
}

static int if_there(int mid)
{
    return pvmi_buffer_find(mid) ? mid : 0;
}

/* Other threads may use the library meanwhile. */
static void call_without_lock(int (*call)(int mid), int mid)
{
    unsigned depth = pvmi_lock_pause();
    call(mid);
    pvmi_lock_resume(depth);
}

static void begin_handler(struct pvmc_message *m, int mid)
{
    running.m = pvmc_message_ref(m); /* so that no other message takes its place */
    running.mid = mid;
    running.context = pvmmyctx;
    running.send = pvmi_buffer_select_send(0);
    running.receive = pvmi_buffer_select_receive(mid);
    pvmmyctx = (int)m->ctx;
}

/* Gives the program its own context and buffers back. */
static void end_handler(void)
{
    pvmmyctx = running.context;
    if (pvmi_buffer_find(running.mid) == running.m)
        pvmi_buffer_free(running.mid);
    pvmc_message_unref(running.m);
    running.m = NULL;
    pvmi_buffer_select_send(if_there(running.send));
    pvmi_buffer_select_receive(if_there(running.receive));
}

/* Calls the handler with the message active and its context current. */
static void invoke(const struct handler *h, struct pvmc_message *m)
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

static void run(struct pvmc_message *m)
{
    const struct handler *h = find_for(m);
    if (h)
        invoke(h, m);
    else
        pvmi_inbox_put(m);
}

static void undo(void)
{
    if (running.m)
        end_handler();
}

static const struct pvmi_handler_table table = {.covers = covers, .run = run, .undo = undo};

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
        return PVMC_EPARAM;
    for (int i = 0; i < handler_slots; i++) {
        const struct handler *h = &handlers[i];
        if (h->call && overlap(h->src, src) && overlap(h->tag, tag) && overlap(h->ctx, ctx))
            return PVMC_EEXISTS;
    }
    struct handler *h = free_slot();
    if (!h)
        return PVMC_ENOMEM;
    *h = (struct handler){src, tag, ctx, call};
    pvmi_handler_table = &table;
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
        return PVMC_EPARAM;
    if (!id || id > handler_slots || !handlers[id - 1].call)
        return PVMC_ENOTFOUND;
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
