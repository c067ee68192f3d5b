/* call.c - the slow path of public functions: locked, and traced if they are the outermost. */
#include "call.h"
#include "lock.h"

unsigned pvmi_call_watch;

/* Public functions that this thread is in. */
static _Thread_local unsigned depth;

unsigned pvmi_call_begin(int event, const struct pvmi_datum *data, size_t bytes)
{
    pvmi_lock_watch();
    unsigned watched = __atomic_load_n(&pvmi_call_watch, __ATOMIC_RELAXED);
    if (!watched)
        return 0;
    if (watched & PVMI_WATCH_THREADS)
        pvmi_lock_take();
    depth++;
    (void)event, (void)data, (void)bytes;
    return watched;
}

void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes)
{
    (void)event, (void)data, (void)bytes;
    depth--;
    if (watched & PVMI_WATCH_THREADS)
        pvmi_lock_give();
}
