/* call.c - the slow path of public functions: it takes the lock, and traces the outermost call. */
#include "call.h"
#include "jump.h"
#include "lock.h"

unsigned pvmi_call_watch;
const struct pvmi_call_tracer *pvmi_call_tracer;
const struct pvmi_call_clock *pvmi_call_clock;
void (*pvmi_call_settle)(void), (*pvmi_call_flow)(void);

/* How many public functions this thread is in. */
static _Thread_local unsigned depth;

static unsigned watch(void)
{
    return __atomic_load_n(&pvmi_call_watch, __ATOMIC_RELAXED);
}

static bool is_timed(unsigned watched)
{
    return watched & PVMI_WATCH_TIME && !depth;
}

unsigned pvmi_call_enter(void)
{
    pvmi_jump_check(__builtin_frame_address(0)); /* the depth is not known before */
    if (is_timed(watch()))
        pvmi_call_clock->stop();
    pvmi_lock_watch();
    unsigned watched = watch() & ~(unsigned)PVMI_WATCH_JUMP;
    if (!watched)
        return 0;
    if (watched & PVMI_WATCH_THREADS)
        pvmi_lock_take();
    depth++;
    return watched;
}

/* Calls that only look at or change the task's own memory. */
static bool is_timeless(int event)
{
    switch (event) {
    case TEV_PKBYTE ... TEV_PKSTR:
    case TEV_UPKBYTE ... TEV_UPKSTR:
    case TEV_PACKF:
    case TEV_UNPACKF:
    case TEV_INITSEND:
    case TEV_MKBUF:
    case TEV_FREEBUF:
    case TEV_BUFINFO:
    case TEV_GETSBUF:
    case TEV_SETSBUF:
    case TEV_GETRBUF:
    case TEV_SETRBUF:
        return true;
    default:
        return false;
    }
}

void pvmi_call_begin(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes)
{
    if (depth == 1 && watched & PVMI_WATCH_TIME && !is_timeless(event))
        pvmi_call_clock->pass();
    if (depth == 1 && watched & PVMI_WATCH_TRACE)
        pvmi_call_tracer->begin(event, data, bytes);
}

void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes)
{
    if (depth == 1 && watched & PVMI_WATCH_STREAM)
        pvmi_call_flow();
    if (!--depth && watched & PVMI_WATCH_TRACE)
        pvmi_call_tracer->end(event, data, bytes);
    if (!depth && watched & PVMI_WATCH_DESCRIPTORS)
        pvmi_call_settle();
    if (watched & PVMI_WATCH_THREADS)
        pvmi_lock_give();
    if (is_timed(watched))
        pvmi_call_clock->go_on();
}

unsigned pvmi_call_step_out(void)
{
    unsigned inside = depth;
    depth = 0;
    if (inside && is_timed(watch()))
        pvmi_call_clock->go_on();
    return inside;
}

void pvmi_call_step_in(unsigned inside)
{
    if (inside && is_timed(watch()))
        pvmi_call_clock->stop();
    depth = inside;
}

unsigned pvmi_call_depth(void)
{
    return depth;
}

void pvmi_call_restore(unsigned inside)
{
    depth = inside;
}
