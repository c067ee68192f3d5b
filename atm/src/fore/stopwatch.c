/*
 * stopwatch.c - see stopwatch.h.
 *
 * A short stretch is measured by the monotonic clock, which takes no system call; only a long one may contain the time
 * of other processes, so that the processor's clock must decide.
 */
#include "stopwatch.h"
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include "core/clock.h"

#define SHORT_NS 20000   /* a process that loses its core is away for longer */
#define LOSS_NS  100000  /* of processor time, for the way out and back each time, and for cold caches */
#define LONG_NS  1000000 /* a stretch in which losses of the core, which may be many, hardly matter */
#define TRIES    64      /* of the stopwatch on itself */

static struct {
    bool running, tried;
    int64_t real_ns, processor_ns;         /* at the start */
    long losses;                           /* of the core, at the start */
    int64_t own_real_ns, own_processor_ns; /* what an empty stretch measures */
} stopwatch;

static int64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* How often others have taken the process's core. */
static long losses(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_nivcsw;
}

static void start(void)
{
    stopwatch.running = true;
    stopwatch.losses = losses();
    stopwatch.processor_ns = processor_ns();
    stopwatch.real_ns = pvmc_clock_real_ns();
}

/* Measures empty stretches; the longest ones have been interrupted, the shortest is the stopwatch's own time. */
static void try(void)
{
    stopwatch.tried = true;
    stopwatch.own_real_ns = stopwatch.own_processor_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        start();
        int64_t real_ns = pvmc_clock_real_ns() - stopwatch.real_ns, used_ns = processor_ns() - stopwatch.processor_ns;
        if (real_ns < stopwatch.own_real_ns)
            stopwatch.own_real_ns = real_ns;
        if (used_ns < stopwatch.own_processor_ns)
            stopwatch.own_processor_ns = used_ns;
    }
}

void pvma_stopwatch_start(void)
{
    if (!stopwatch.tried)
        try();
    start();
}

static int64_t used_ns(void)
{
    int64_t ns = processor_ns() - stopwatch.processor_ns - stopwatch.own_processor_ns;
    return ns < LONG_NS ? ns - (losses() - stopwatch.losses) * LOSS_NS : ns;
}

int64_t pvma_stopwatch_stop(void)
{
    int64_t ns = pvmc_clock_real_ns() - stopwatch.real_ns - stopwatch.own_real_ns;
    if (!stopwatch.running)
        return 0;
    stopwatch.running = false;
    if (ns >= SHORT_NS)
        ns = used_ns();
    return ns < PVMA_STOPWATCH_GRAIN_NS ? 0 : ns;
}
