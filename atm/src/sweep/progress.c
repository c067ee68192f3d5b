/* progress.c - see progress.h. */
#include "progress.h"
#include <stdio.h>
#include "core/clock.h"

void progress_begin(struct progress *p, bool shown, size_t total)
{
    *p = (struct progress){.shown = shown, .total = total, .began_ns = pvmc_clock_real_ns()};
}

void progress_step(struct progress *p)
{
    p->done++;
}

static void print_time(double s)
{
    unsigned long whole = (unsigned long)(s + 0.5);
    fprintf(stderr, "%lu:%02lu", whole / 60, whole % 60);
}

void progress_show(struct progress *p)
{
    double s = (double)(pvmc_clock_real_ns() - p->began_ns) / 1e9;
    if (!p->shown)
        return;
    fprintf(stderr, "\r%zu of %zu runs, ", p->done, p->total);
    print_time(s);
    if (p->done) {
        fprintf(stderr, ", about ");
        print_time(s / (double)p->done * (double)(p->total - p->done));
        fprintf(stderr, " to go");
    }
    fprintf(stderr, "\033[K");
    fflush(stderr);
    p->visible = true;
}

void progress_clear(struct progress *p)
{
    if (p->visible)
        fprintf(stderr, "\r\033[K");
    p->visible = false;
}
