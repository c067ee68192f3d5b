/* call.c - the slow path of public functions: it takes the lock, and traces the outermost call. */
#include "call.h"
#include "jump.h"
#include "lock.h"

unsigned pvmi_call_watch;
const struct pvmi_call_tracer *pvmi_call_tracer;
void (*pvmi_call_settle)(void);

/* How many public functions this thread is in. */
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
        pvmi_call_tracer->begin(event, data, bytes);
}

void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes)
{
    if (!--depth && watched & PVMI_WATCH_TRACE)
        pvmi_call_tracer->end(event, data, bytes);
    if (!depth && watched & PVMI_WATCH_DESCRIPTORS)
        pvmi_call_settle();
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
