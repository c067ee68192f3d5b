/* delay.c - see delay.h. */
#include "delay.h"

#define STEP_S   0.03 /* between two candidates, and before the first: others must notice that there is no master */
#define LEAVES_S 0.5  /* later comes a host that is about to leave: it wins only if no other one can */

/* Of the limit: the latest candidate, and how much later one that is leaving may come. */
#define LATEST_SHARE (1. / 2)
#define LEAVES_SHARE (1. / 4)

/* A candidate connects to all others. If each of many did so at once, nobody would get to vote. */
#define FEW_MEMBERS 10

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double longer(double time_s, size_t members)
{
    return members > FEW_MEMBERS ? time_s * (double)members / FEW_MEMBERS : time_s;
}

/* 1 + 1/2 + ... + 1/count: grows as the logarithm does. */
static double harmonic(size_t count)
{
    double sum = 0.;
    for (size_t i = 1; i <= count; i++)
        sum += 1. / (double)i;
    return sum;
}

/* Equal steps while they fit. Else each is shorter than the one before: the first candidates need the most time. */
static double rank_s(size_t before, size_t members, double most_s)
{
    if (!before)
        return 0.;
    double even_s = (double)before * longer(STEP_S, members);
    return lesser(even_s, most_s * harmonic(before) / harmonic(members > before ? members - 1 : before));
}

double pvmd_delay_s(size_t before, size_t members, double limit_s, bool leaving)
{
    double leaves_s = leaving ? lesser(longer(LEAVES_S, members), limit_s * LEAVES_SHARE) : 0.;
    return STEP_S + rank_s(before, members, limit_s * LATEST_SHARE - STEP_S) + leaves_s;
}
