/*
 * ep - NAS parallel benchmark EP, "embarrassingly parallel": pairs of Gaussian random numbers, counted by size.
 *
 * 2^m pairs (x, y) uniform in (-1, 1) are made; of those with t = x^2 + y^2 <= 1, the numbers x s and y s with
 * s = sqrt(-2 log(t) / t) are normally distributed. The program adds them up, and counts how many pairs have their
 * larger absolute value in [l, l+1), for each l. Each task makes its share of the sequence of random numbers, to whose
 * begin it jumps: no messages, except for the results.
 *
 * Shows   a computation without messages, and what starting and ending a team costs.
 * Run     ./ep --class S --tasks 4 --verify --stats
 * Prints  the time and the sums; with --verify whether they are right. Exit status 1 if they are wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../kernels/options.h"
#include "../kernels/team.h"
#include "random.h"

enum { BATCH = 1 << 16, ANNULI = 10 };

#define SEED UINT64_C(271828183)

struct result {
    double sx, sy;
    double counts[ANNULI]; /* as doubles, so that one message carries everything */
};

/* NAS's values; a right sum differs by at most 1e-8 of it. */
static const struct problem {
    char class;
    int log2_pairs;
    double sx, sy;
    double gaussian_pairs;
} problems[] = {
    {'S', 24, -3.247834652034740e+3, -6.958407078382297e+3, 13176389},
    {'W', 25, -2.863319731645753e+3, -6.320053679109499e+3, 26354769},
    {'A', 28, -4.295875165629892e+3, -1.580732573678431e+4, 210832767},
    {'T', 24, -3.247834652034740e+3, -6.958407078382297e+3, 13176389},
};

static const struct kernel kernel = {
    .purpose = "NAS EP: pairs of Gaussian random numbers.",
    .classes = "SWAT",
    .class_help = "S (2^24 pairs), W (2^25), A (2^28); T is S",
};

static const struct problem *problem_of(char class)
{
    int k = 0;

    while (problems[k].class != class)
        k++;
    return &problems[k];
}

static void count_pair(struct result *result, double x, double y, double t)
{
    double s = sqrt(-2 * log(t) / t), gx = fabs(x * s), gy = fabs(y * s);

    result->counts[(int)(gx > gy ? gx : gy)]++;
    result->sx += x * s;
    result->sy += y * s;
}

static void count_batch(struct result *result, uint64_t state)
{
    for (int k = 0; k < BATCH; k++) {
        double x = 2 * random_next(&state) - 1;
        double y = 2 * random_next(&state) - 1;
        double t = x * x + y * y;
        if (t <= 1)
            count_pair(result, x, y, t);
    }
}

static int first_batch(int rank, const struct problem *problem)
{
    return (int)(((long)rank << problem->log2_pairs) / BATCH / team_size());
}

static struct result compute(const struct problem *problem)
{
    struct result result = {0};
    int end = first_batch(team_rank() + 1, problem);

    for (int batch = first_batch(team_rank(), problem); batch < end; batch++)
        count_batch(&result, random_after(SEED, 2L * BATCH * batch));
    return result;
}

static bool is_close(double value, double right)
{
    return fabs((value - right) / right) <= 1e-8;
}

static double pairs_of(const struct result *result)
{
    double pairs = 0;

    for (int l = 0; l < ANNULI; l++)
        pairs += result->counts[l];
    return pairs;
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);
    const struct problem *problem = problem_of(options.class);
    struct result result;
    double time_s;
    bool right;

    team_start(argc, argv, options.tasks);
    team_clock_start();
    result = compute(problem);
    time_s = team_clock_stop();
    team_sum(TEAM_DOUBLE, &result.sx, sizeof result / sizeof result.sx);
    right = is_close(result.sx, problem->sx) && is_close(result.sy, problem->sy) &&
            pairs_of(&result) == problem->gaussian_pairs;
    if (team_rank() == 0)
        printf("ep class %c: %d tasks, %.4f s, sums %.9f %.9f of %.0f pairs%s\n", options.class, team_size(), time_s,
               result.sx, result.sy, pairs_of(&result),
               !options.verify ? ""
               : right         ? ": correct"
                               : ": WRONG");
    if (options.stats)
        team_report();
    return team_end(options.verify && !right);
}
