/* samples.c - means, quantiles, and lines through points. */
#include "samples.h"
#include <err.h>
#include <stdlib.h>

void samples_add(struct samples *s, double us)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 256;
        s->us = realloc(s->us, s->capacity * sizeof *s->us);
        if (!s->us)
            errx(EXIT_FAILURE, "out of memory");
    }
    s->us[s->count++] = us;
}

void samples_free(struct samples *s)
{
    free(s->us);
    *s = (struct samples){0};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double samples_mean(struct samples *s)
{
    double sum = 0;
    if (s->count == 0)
        return 0;
    qsort(s->us, s->count, sizeof *s->us, compare);
    size_t first = s->count / 10, end = s->count - s->count / 10;
    for (size_t i = first; i < end; i++)
        sum += s->us[i];
    return sum / (double)(end - first);
}

double samples_quantile(const struct samples *s, double q)
{
    return s->count ? s->us[(size_t)(q * (double)(s->count - 1) + 0.5)] : 0;
}

void line_fit(const double *x, const double *y, size_t count, double *a, double *b)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    double spread = n * sxx - sx * sx;
    *b = spread > 0 ? (n * sxy - sx * sy) / spread : 0;
    *a = count ? (sy - *b * sx) / n : 0;
}
