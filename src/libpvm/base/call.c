/* call.c - the slow path of public functions: locked, and traced if they are the outermost. */
#include "call.h"
#include "descriptors.h"
#include "jump.h"
#include "lock.h"
#include "trace.h"

unsigned pvmi_call_watch;

/* Public functions that this thread is in. */
static _Thread_local unsigned depth;

unsigned pvmi_call_enter(void)
{
    pvmi_lock_watch();
    pvmi_jump_check(__builtin_frame_address(0));
    unsigned watched = __atomic_load_n(&pvmi_call_watch, __ATOMIC_RELAXED) & ~(unsigned)PVMI_WATCH_JUMP;
    if (!watched)
        return 0;
    if (watched & PVMI_WATCH_THREADS)
        pvmi_lock_take();
    depth++;
    return watched;
}

void pvmi_call_begin(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes)
{
    if (depth == 1 && watched & PVMI_WATCH_TRACE)
        pvmi_trace_begin(event, data, bytes);
}

void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes)
{
    if (!--depth && watched & PVMI_WATCH_TRACE)
        pvmi_trace_end(event, data, bytes);
    if (!depth && watched & PVMI_WATCH_DESCRIPTORS)
        pvmi_descriptors_settle();
    if (watched & PVMI_WATCH_THREADS)
        pvmi_lock_give();
}

unsigned pvmi_call_step_out(void)
{
    unsigned inside = depth;
    depth = 0;
    return inside;
}

void pvmi_call_step_in(unsigned inside)
{
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
