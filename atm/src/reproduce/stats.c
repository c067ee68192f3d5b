/* stats.c - see stats.h. */
#include <math.h>
#include "stats.h"

void stats_add(struct stats *s, double value)
{
    s->count++;
    s->sum += value;
    s->squares += value * value;
}

double stats_mean(const struct stats *s)
{
    return s->count ? s->sum / (double)s->count : 0;
}

double stats_interval90(const struct stats *s)
{
    /* t of 95 % (two-sided 90 %) for 1 to 20 degrees of freedom */
    static const double t[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812,
                               1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725};
    size_t freedom = s->count - 1;
    double variance;

    if (s->count < 2)
        return 0;
    if (freedom > sizeof t / sizeof t[0])
        freedom = sizeof t / sizeof t[0];
    variance = (s->squares - s->sum * s->sum / (double)s->count) / (double)(s->count - 1);
    return variance <= 0 ? 0 : t[freedom - 1] * sqrt(variance / (double)s->count);
}
