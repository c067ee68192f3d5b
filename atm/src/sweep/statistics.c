/* statistics.c - see statistics.h. */
#include "statistics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"

enum { BATCH = 5, BATCHES_MIN = 10, LAST = 5, BISECTIONS = 100 };

/*
 * The probability that |t| stays below a value: for whole degrees of freedom a finite sum of powers of cos(theta)
 * (Abramowitz and Stegun, 26.7.3 and 26.7.4).
 */
static double within(double t, size_t freedom)
{
    double theta = atan(t / sqrt((double)freedom)), c = cos(theta), s = sin(theta);
    bool odd = freedom % 2;
    double term = odd ? c : 1, sum = freedom == 1 ? 0 : term;
    for (size_t k = odd ? 3 : 2; k < freedom; k += 2)
        sum += term *= c * c * (double)(k - 1) / (double)k;
    return odd ? (theta + s * sum) * 2 / M_PI : s * sum;
}

double sweep_student(double confidence, size_t freedom)
{
    double low = 0, high = 1;
    while (within(high, freedom) < confidence)
        high *= 2;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        *(within(middle, freedom) < confidence ? &low : &high) = middle;
    }
    return high;
}

struct sweep_estimate sweep_estimate(const double *values, size_t count, double confidence)
{
    struct sweep_estimate e = {0};
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        e.mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - e.mean) * (values[i] - e.mean);
    if (count >= 2 && squares > 0)
        e.half_width = sweep_student(confidence, count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
    e.low = e.mean - e.half_width;
    e.high = e.mean + e.half_width;
    return e;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t sweep_median_least(double confidence)
{
    size_t count = 2;
    while (1 - pow(2, 1 - (double)count) < confidence)
        count++;
    return count;
}

/*
 * How many values to leave out at either end, so that the median is between the rest with this probability: the number
 * of values below it is binomial.
 */
static size_t outside(size_t count, double confidence)
{
    double term = pow(0.5, (double)count), below = term;
    size_t k = 0;
    while (2 * k + 2 < count) {
        term *= (double)(count - k) / (double)(k + 1);
        below += term;
        if (1 - 2 * below < confidence)
            break;
        k++;
    }
    return k;
}

struct sweep_estimate sweep_estimate_median(const double *values, size_t count, double confidence)
{
    double *sorted = pvma_new(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    size_t k = outside(count, confidence);
    struct sweep_estimate e = {.mean = median, .low = sorted[k], .high = sorted[count - 1 - k]};
    e.half_width = fmax(e.mean - e.low, e.high - e.mean);
    free(sorted);
    return e;
}

/* The batch to begin with. Sums grow from the end, where the last batches alone prove nothing. */
static size_t best_batch(const double *mean, size_t batches)
{
    double sum = 0, squares = 0, least = INFINITY;
    size_t best = 0;
    for (size_t d = batches; d-- > 0;) {
        double left = (double)(batches - d), off = mean[d] - mean[batches - 1]; /* shifted against cancellation */
        sum += off;
        squares += off * off;
        double error = (squares - sum * sum / left) / (left * left);
        if (batches - d > LAST && error <= least) {
            least = error;
            best = d;
        }
    }
    return best;
}

size_t sweep_mser5(const double *values, size_t count)
{
    size_t batches = count / BATCH;
    if (batches < BATCHES_MIN)
        return SWEEP_SHORT;
    double *mean = pvma_new(batches * sizeof *mean);
    for (size_t i = 0; i < batches * BATCH; i++)
        mean[i / BATCH] += values[i] / BATCH;
    size_t best = best_batch(mean, batches);
    free(mean);
    return best > batches / 2 ? SWEEP_SHORT : best * BATCH;
}
