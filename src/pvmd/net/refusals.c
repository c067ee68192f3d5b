/* refusals.c - logs refused connections at a limited rate. */
#include "refusals.h"
#include <stdio.h>
#include "core/log.h"
#include "pvmd/base/self.h"

static ev_timer window; /* runs while one of PVMD_REFUSALS_S is open */
static unsigned long told, untold;
static char last[256]; /* the last refusal that was not logged */

static void window_ends(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    if (untold)
        pvmc_log(PVMC_LOG_WARNING, "refused %lu more connections within %g s; the last one: %s", untold,
                 PVMD_REFUSALS_S, last);
    told = untold = 0;
}

static void open_window(void)
{
    if (ev_is_active(&window))
        return;
    ev_timer_init(&window, window_ends, PVMD_REFUSALS_S, 0.);
    ev_timer_start(pvmd.loop, &window);
}

void pvmd_refused(const char *format, ...)
{
    va_list args;
    open_window();
    va_start(args, format);
    if (told < PVMD_REFUSALS_LINES) {
        told++;
        pvmc_vlog(PVMC_LOG_WARNING, format, args);
    } else {
        untold++;
        vsnprintf(last, sizeof last, format, args);
    }
    va_end(args);
}
