/*
 * ft - the NAS kernel FT: a diffusion equation on a periodic three-dimensional grid, solved by fast Fourier transforms.
 *
 * Each task has a slab of whole planes of the grid. It transforms the rows and columns of its planes. Then all tasks
 * exchange blocks, so that each has the rows of a range of y in all planes, and transforms along z:
 *
 *       slab of planes  [z of this task][y][x]            rows, then columns, are transformed
 *              |                                          each pair of tasks exchanges a block
 *       slab of rows    [z][y of this task][x]            along z
 *
 * In the spectrum the equation is a multiplication by a Gaussian for each step of time. After each step the kernel
 * transforms back, and adds up 1024 numbers of the result. NAS has published the sums.
 *
 * Shows   an all-to-all exchange of large blocks, which arrive where they are needed.
 * Run     ./ft --class W --tasks 4 --verify --stats
 *         Class T has the size of S, and each transform takes the grid back to the slabs of planes: twice the messages.
 * Prints  the sums and the time. Exit code 1 if --verify finds a wrong sum.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/options.h"
#include "../kernels/team.h"
#include "fft.h"
#include "random.h"

static const double TOLERANCE = 1e-12; /* NAS's, of the sums */
enum { STEPS = 6, TERMS = 1024, SEED = 314159265 };

static const struct problem {
    char class;
    int home; /* whether the spectrum is kept in slabs of planes */
    int nx, ny, nz;
    double sums[STEPS][2]; /* as NAS gives them: real and imaginary parts */
} problems[] = {
    {'S',
     0,
     64,
     64,
     64,
     {{554.6087004964, 484.5363331978},
      {554.6385409189, 486.5304269511},
      {554.6148406171, 488.3910722336},
      {554.5423607415, 490.1273169046},
      {554.4255039624, 491.7475857993},
      {554.2683411902, 493.2597244941}}},
    {'W',
     0,
     128,
     128,
     32,
     {{567.3612178944, 529.3246849175},
      {563.1436885271, 528.2149986629},
      {559.4024089970, 527.0996558037},
      {556.0698047020, 526.0027904925},
      {553.0898991250, 524.9400845633},
      {550.4159734538, 523.9212247086}}},
    {'A',
     0,
     256,
     256,
     128,
     {{504.6735008193, 511.4047905510},
      {505.9412319734, 509.8809666433},
      {506.9376896287, 509.8144042213},
      {507.7892868474, 510.1336130759},
      {508.5233095391, 510.4914655194},
      {509.1487099959, 510.7917842803}}},
    {'T',
     1,
     64,
     64,
     64,
     {{554.6087004964, 484.5363331978},
      {554.6385409189, 486.5304269511},
      {554.6148406171, 488.3910722336},
      {554.5423607415, 490.1273169046},
      {554.4255039624, 491.7475857993},
      {554.2683411902, 493.2597244941}}},
};

static const struct problem *problem_of(char class)
{
    const struct problem *p = problems;

    while (p->class != class)
        p++;
    return p;
}

static bool class_allows(char class, int tasks)
{
    const struct problem *problem = problem_of(class);

    return tasks <= problem->ny && tasks <= problem->nz;
}

static const struct kernel kernel = {
    .purpose = "NAS FT: a diffusion equation, solved by fast Fourier transforms.",
    .classes = "SWAT",
    .class_help = "S 64x64x64, W 128x128x32, A 256x256x128; T as S, with every transform's data moved back",
    .tasks_allowed = options_power_of_two,
    .tasks_help = "a power of two, at most the number of planes",
    .class_allows = class_allows,
};

/* The part of a task. */
static struct {
    int home;
    int nx, ny, nz;
    int planes, first_plane;          /* in a slab of planes */
    int rows, first_row;              /* in a slab of rows */
    size_t plane, row_plane, part;    /* points of a plane, of a plane of a slab of rows, of the part */
    size_t block;                     /* points that a task sends to each */
    double complex *spectrum, *a, *b; /* a and b: the grid on its way */
    struct fft *x, *y, *z;
    int *blocks, *blocks_at; /* of all tasks, in numbers */
    ptrdiff_t *in_plane;     /* of row y in a plane of a slab of planes */
    ptrdiff_t *in_blocks;    /* of row y in the first plane of the blocks, where the rows for each task are together */
    ptrdiff_t *in_rows;      /* of plane z in a slab of rows */
} my;

/* Memory that is there: the first use of a page takes longer, and would count as the kernel's time. */
static double complex *new_part(void)
{
    double complex *part = team_alloc((long)my.part, sizeof *part);

    memset(part, 0, my.part * sizeof *part);
    return part;
}

static void divide(const struct problem *problem)
{
    int size = team_size(), rank = team_rank();

    my.home = problem->home;
    my.nx = problem->nx, my.ny = problem->ny, my.nz = problem->nz;
    my.planes = my.nz / size, my.first_plane = rank * my.planes;
    my.rows = my.ny / size, my.first_row = rank * my.rows;
    my.plane = (size_t)my.ny * my.nx;
    my.row_plane = (size_t)my.rows * my.nx;
    my.part = my.plane * my.planes;
    my.block = my.row_plane * my.planes;
    my.blocks = team_alloc(size, sizeof *my.blocks);
    my.blocks_at = team_alloc(size, sizeof *my.blocks_at);
    for (int r = 0; r < size; r++) {
        my.blocks[r] = (int)(2 * my.block);
        my.blocks_at[r] = (int)(2 * my.block * r);
    }
    my.spectrum = new_part(), my.a = new_part(), my.b = new_part();
}

static void plan(void)
{
    my.x = fft_new(my.nx), my.y = fft_new(my.ny), my.z = fft_new(my.nz);
    my.in_plane = team_alloc(my.ny, sizeof *my.in_plane);
    my.in_blocks = team_alloc(my.ny, sizeof *my.in_blocks);
    my.in_rows = team_alloc(my.nz, sizeof *my.in_rows);
    for (int y = 0; y < my.ny; y++) {
        my.in_plane[y] = (ptrdiff_t)y * my.nx;
        my.in_blocks[y] = (ptrdiff_t)(y / my.rows * my.block) + (ptrdiff_t)(y % my.rows) * my.nx;
    }
    for (int z = 0; z < my.nz; z++)
        my.in_rows[z] = (ptrdiff_t)(z * my.row_plane);
}

static void forget(void)
{
    free(my.spectrum), free(my.a), free(my.b);
    fft_free(my.x), fft_free(my.y), fft_free(my.z);
    free(my.blocks), free(my.blocks_at);
    free(my.in_plane), free(my.in_blocks), free(my.in_rows);
}

/* ---- transforms ---- */

/* Rows and columns of a slab of planes; the result is in blocks. */
static void transform_planes(double complex *planes, double complex *blocks)
{
    for (int p = 0; p < my.planes; p++) {
        double complex *plane = planes + p * my.plane;
        for (int y = 0; y < my.ny; y += FFT_BATCH)
            fft_rows(my.x, 0, plane + my.in_plane[y]);
        for (int x = 0; x < my.nx; x += FFT_BATCH)
            fft_columns(my.y, 0, plane + x, my.in_plane, blocks + p * my.row_plane + x, my.in_blocks);
    }
}

static void transform_planes_back(const double complex *blocks, double complex *planes)
{
    for (int p = 0; p < my.planes; p++) {
        double complex *plane = planes + p * my.plane;
        for (int x = 0; x < my.nx; x += FFT_BATCH)
            fft_columns(my.y, 1, blocks + p * my.row_plane + x, my.in_blocks, plane + x, my.in_plane);
        for (int y = 0; y < my.ny; y += FFT_BATCH)
            fft_rows(my.x, 1, plane + my.in_plane[y]);
    }
}

/* A slab of rows along z. */
static void transform_across(int inverse, const double complex *from, double complex *to)
{
    for (size_t i = 0; i < my.row_plane; i += FFT_BATCH)
        fft_columns(my.z, inverse, from + i, my.in_rows, to + i, my.in_rows);
}

/* From blocks to a slab of rows, or back: each task's block lies where its planes, or its rows, do. */
static void exchange(const double complex *from, double complex *to)
{
    team_all_to_all(TEAM_DOUBLE, from, my.blocks, my.blocks_at, to, my.blocks, my.blocks_at);
}

/* ---- the equation ---- */

static void start(double complex *planes)
{
    uint64_t state = random_after(SEED, 2 * my.plane * (size_t)my.first_plane);
    double *values = (double *)planes;

    for (size_t i = 0; i < 2 * my.part; i++)
        values[i] = random_next(&state);
}

/* exp(-4 alpha pi^2 k^2) for the wave numbers k of one direction. */
static double *gaussian(int n)
{
    double *values = team_alloc(n, sizeof *values);

    for (int i = 0; i < n; i++) {
        double k = i < n / 2 ? i : i - n;
        values[i] = exp(-4e-6 * M_PI * M_PI * k * k);
    }
    return values;
}

/* One step of time, for the spectrum in a slab of rows or, if it is at home, in blocks. */
static void evolve(double complex *spectrum, const double *gx, const double *gy, const double *gz)
{
    int rows = my.planes * my.ny, step = my.home ? my.planes : my.nz;

    for (int r = 0; r < rows; r++, spectrum += my.nx) {
        int z = my.home ? my.first_plane + r / my.rows % step : r / my.rows;
        int y = my.home ? r / (my.rows * step) * my.rows + r % my.rows : my.first_row + r % my.rows;
        double factor = gy[y] * gz[z], *row = (double *)spectrum;
        for (int x = 0; x < my.nx; x++) {
            row[2 * x] *= factor * gx[x];
            row[2 * x + 1] *= factor * gx[x];
        }
    }
}

/* The sum of TERMS numbers, complete at the first task. */
static double complex checksum(const double complex *planes)
{
    double sums[2] = {0, 0};

    for (int j = 1; j <= TERMS; j++) {
        int x = j % my.nx, y = 3 * j % my.ny, p = 5 * j % my.nz - my.first_plane;
        if (p >= 0 && p < my.planes) {
            double complex value = planes[p * my.plane + my.in_plane[y] + x];
            sums[0] += creal(value);
            sums[1] += cimag(value);
        }
    }
    team_reduce(TEAM_DOUBLE, sums, 2);
    double points = (double)my.nx * my.ny * my.nz;
    return sums[0] / points + sums[1] / points * I;
}

/* Sets the spectrum of the grid at the start. */
static void transform_start(void)
{
    start(my.a);
    transform_planes(my.a, my.b);
    exchange(my.b, my.a);
    transform_across(0, my.a, my.home ? my.b : my.spectrum);
    if (my.home)
        exchange(my.b, my.spectrum);
}

static void solve(double complex *results)
{
    double complex *spectrum = my.spectrum, *a = my.a, *b = my.b;
    double *gx = gaussian(my.nx), *gy = gaussian(my.ny), *gz = gaussian(my.nz);

    transform_start();
    for (int t = 0; t < STEPS; t++) {
        evolve(spectrum, gx, gy, gz);
        if (my.home)
            exchange(spectrum, a);
        transform_across(1, my.home ? a : spectrum, a);
        exchange(a, b);
        transform_planes_back(b, a);
        results[t] = checksum(a);
    }
    free(gx), free(gy), free(gz);
}

/* ---- main ---- */

/* The largest relative error of the sums. */
static double error_of(const double complex *sums, const struct problem *problem)
{
    double worst = 0;

    for (int t = 0; t < STEPS; t++) {
        const double *right = problem->sums[t];
        double error = cabs(sums[t] - (right[0] + right[1] * I)) / hypot(right[0], right[1]);
        if (!(error <= worst)) /* also for a NaN */
            worst = error;
    }
    return worst;
}

static void print(const struct options *options, const double complex *sums, double time_s, bool right)
{
    for (int t = 0; t < STEPS; t++)
        printf("step %d: sum %.12e %.12e\n", t + 1, creal(sums[t]), cimag(sums[t]));
    printf("ft class %c: %d tasks, %.4f s%s\n", options->class, team_size(), time_s,
           !options->verify ? ""
           : right          ? ": correct"
                            : ": WRONG");
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);
    const struct problem *problem = problem_of(options.class);
    double complex sums[STEPS];
    double time_s;
    bool right = true;

    team_start(argc, argv, options.tasks);
    divide(problem);
    plan();
    team_warm_up();
    if (options.class != 'T')
        transform_start();
    team_clock_start();
    solve(sums);
    time_s = team_clock_stop();
    if (team_rank() == 0) {
        right = error_of(sums, problem) <= TOLERANCE;
        print(&options, sums, time_s, right);
    }
    if (options.stats)
        team_report();
    forget();
    return team_end(options.verify && !right);
}
