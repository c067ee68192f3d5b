/*
 * solver - SOLVER of the GENESIS suite: a column of the quark propagator of lattice gauge theory.
 *
 * Solves M psi = source on a lattice of x * y * z * t sites, periodic in all directions. A site has a spinor, 4 spins
 * of 3 colours; a link from a site to the next one in each direction has an SU(3) matrix U, the gauge background.
 * Wilson's M = 1 - kappa D couples each site with its eight neighbours:
 *
 *   (D psi)(n) = sum over mu of   U_mu(n) (1 - gamma_mu) psi(n + mu)  +  U_mu(n - mu)^+ (1 + gamma_mu) psi(n - mu)
 *
 * D couples even sites only with odd ones, so the odd sites are eliminated. What remains, A = 1 - kappa^2 D_eo D_oe, is
 * solved by conjugate gradients on A^+ A with a fixed number of iterations, in single precision. Each tenth iteration
 * computes the residual anew, because the one that is only updated would drift away from it.
 *
 * The lattice is cut in z and t; each task has all x and y of its block. (1 -+ gamma_mu) psi has only two independent
 * spins, so a site on a side costs 6 complex numbers or 48 bytes. 8 * 8 * 8 * 16 sites on 2 x 2 tasks: 128 even sites
 * on a side in t, 256 on one in z, messages of 6144 and 12288 bytes, four in each application of D_eo or D_oe.
 *
 * --verify computes the residual of the whole system, compares it and the norm of psi with those of one task alone, and
 * applies D to a plane wave in a background that is 1 up to a random change of the colours' axes at each site, where D
 * psi is known at each site.
 *
 * Shows   a decomposition of a periodic lattice, halos of structures, sums over all tasks, collecting a result.
 * Run     ./solver --class S --tasks 4 --verify
 * Prints  times, |psi|^2, residuals. Exit status 1 if --verify finds it wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/options.h"
#include "../kernels/team.h"
#include "dirac.h"
#include "lattice.h"
#include "plane_wave.h"

enum { ITERATIONS = 50, ITERATIONS_RESIDUAL = 10 };

#define KAPPA     0.13f
#define ROUGHNESS 0.35 /* of the background: 0 is the free field */

/* What --verify permits: rounding errors of single precision. */
#define NORM_DEVIATION_MAX     1e-5 /* of one task's */
#define RESIDUAL_DEVIATION_MAX 0.1
#define WAVE_MAX               2e-5

static const struct class
{
    char letter;
    int size[DIRECTIONS];  /* all even */
    double norm, residual; /* of the solution, and of the whole system, by one task */
} classes[] = {{'S', {4, 4, 4, 8}, 2.097034006, 6.897e-6},
               {'T', {8, 8, 8, 16}, 1.445980514, 7.423e-6},
               {'W', {12, 12, 12, 16}, 1.414113292, 7.937e-6},
               {'A', {16, 16, 16, 32}, 1.419355095, 8.228e-6}};

/* ---- vectors: the spinors of one parity ---- */

static struct spinor *vector(const struct block *b)
{
    return team_alloc(b->sites, sizeof(struct spinor));
}

/* r = a + factor * b */
static void add(const struct block *b, struct spinor *r, const struct spinor *a, float factor, const struct spinor *v)
{
    float *to = (float *)r;
    const float *x = (const float *)a, *y = (const float *)v;
    long count = b->sites * (long)(sizeof *r / sizeof *to);

    for (long k = 0; k < count; k++)
        to[k] = x[k] + factor * y[k];
}

/* The sum of all tasks. */
static double norm(const struct block *b, const struct spinor *v)
{
    const float *x = (const float *)v;
    double sum = 0;

    for (long k = 0; k < b->sites * (long)(sizeof *v / sizeof *x); k++)
        sum += (double)x[k] * x[k];
    team_sum(TEAM_DOUBLE, &sum, 1);
    return sum;
}

static void negate_lower_spins(const struct block *b, struct spinor *v)
{
    for (int n = 0; n < b->sites; n++)
        for (int s = SPINS / 2; s < SPINS; s++)
            for (int c = 0; c < COLOURS; c++)
                v[n].c[s][c] = -v[n].c[s][c];
}

/* ---- conjugate gradients ---- */

/* What the solver needs besides the solution; all of even sites but `odd`. */
struct workspace {
    struct spinor *odd, *right, *residual, *direction, *image, *normal;
};

/* result = A v = v - kappa^2 D_eo D_oe v */
static void apply_a(const struct block *b, struct workspace *w, struct spinor *result, struct spinor *v)
{
    dirac_apply(b, w->odd, v, ODD);
    dirac_apply(b, result, w->odd, EVEN);
    add(b, result, v, -KAPPA * KAPPA, result);
}

/* result = A^+ v = gamma_5 A gamma_5 v; changes v. gamma_5 negates the lower spins. */
static void apply_adjoint(const struct block *b, struct workspace *w, struct spinor *result, struct spinor *v)
{
    negate_lower_spins(b, v);
    apply_a(b, w, result, v);
    negate_lower_spins(b, result);
}

/* residual = right - A^+ A x */
static void compute_residual(const struct block *b, struct workspace *w, struct spinor *x)
{
    apply_a(b, w, w->image, x);
    apply_adjoint(b, w, w->normal, w->image);
    add(b, w->residual, w->right, -1, w->normal);
}

/* Solves A^+ A x = right, from x = 0. Returns the norm of the residual over that of x, which is how lattice programs
 * judge a propagator. */
static double iterate(const struct block *b, struct workspace *w, struct spinor *x)
{
    size_t bytes = b->sites * sizeof *x;
    double old, new, quality = 0;

    memcpy(w->residual, w->right, bytes);
    memcpy(w->direction, w->right, bytes);
    old = norm(b, w->residual);
    for (int i = 1; i <= ITERATIONS; i++) {
        double alpha;
        apply_a(b, w, w->image, w->direction);
        alpha = old / norm(b, w->image);
        apply_adjoint(b, w, w->normal, w->image);
        add(b, x, x, (float)alpha, w->direction);
        if (i % ITERATIONS_RESIDUAL == 0)
            compute_residual(b, w, x);
        else
            add(b, w->residual, w->residual, (float)-alpha, w->normal);
        new = norm(b, w->residual);
        quality = sqrt(new / norm(b, x));
        add(b, w->direction, w->residual, (float)(new / old), w->direction);
        old = new;
    }
    return quality;
}

/* Memory and links are used for the first time before the clock starts. psi is 0 and stays so. */
static void warm_up(const struct block *b, struct workspace *w, struct spinor *psi[])
{
    team_warm_up();
    memset(psi[EVEN], 0, PARITIES * b->sites * sizeof **psi);
    compute_residual(b, w, psi[EVEN]);
    norm(b, w->residual);
}

/* The whole of M psi = source: prepares the right side, solves on the even sites, and computes the odd ones. */
static double solve(const struct block *b, struct workspace *w, struct spinor *source[], struct spinor *psi[])
{
    double quality;

    dirac_apply(b, w->image, source[ODD], EVEN);
    add(b, w->image, source[EVEN], KAPPA, w->image);
    apply_adjoint(b, w, w->right, w->image);
    quality = iterate(b, w, psi[EVEN]);
    dirac_apply(b, psi[ODD], psi[EVEN], ODD);
    add(b, psi[ODD], source[ODD], KAPPA, psi[ODD]);
    return quality;
}

/* ---- what must come out ---- */

/* sqrt(|M psi - source|^2 / |source|^2) on the whole lattice. */
static double whole_residual(const struct block *b, struct workspace *w, struct spinor *source[], struct spinor *psi[])
{
    double difference = 0, norm_source = 0;

    for (int parity = 0; parity < PARITIES; parity++) {
        dirac_apply(b, w->image, psi[1 - parity], parity);
        add(b, w->image, psi[parity], -KAPPA, w->image);
        add(b, w->image, w->image, -1, source[parity]);
        difference += norm(b, w->image);
        norm_source += norm(b, source[parity]);
    }
    return sqrt(difference / norm_source);
}

/* ---- the program ---- */

enum { TAG_COLUMN = SIDES };

/* Adds |psi|^2 of a block's sites to the sum of their time slice: the correlator of the pion, for our column. */
static void add_to_slices(const struct block *b, const struct spinor *psi, double *slices)
{
    int sites_of_slice = b->sites / b->size[T];

    for (int parity = 0; parity < PARITIES; parity++)
        for (int k = 0; k < b->sites; k++)
            for (int s = 0; s < SPINS; s++)
                for (int c = 0; c < COLOURS; c++) {
                    number v = psi[parity * b->sites + k].c[s][c];
                    slices[b->origin[T] + k / sites_of_slice] +=
                        (double)crealf(v) * crealf(v) + (double)cimagf(v) * cimagf(v);
                }
}

/* The first task gets the whole column, as a program does that writes it to a file, and sums up its time slices. */
static void collect(const struct block *b, const struct spinor *psi, int hosts, double *slices)
{
    const int floats = PARITIES * (int)(sizeof *psi / sizeof(float));
    struct spinor *others;
    struct block place;

    if (team_rank() > 0) {
        team_send(0, TAG_COLUMN, TEAM_FLOAT, psi, floats * b->sites);
        return;
    }
    if (!hosts)
        add_to_slices(b, psi, slices);
    for (int rank = 1; rank < team_size(); rank++) {
        lattice_place(&place, b->whole, rank - hosts, team_size() - hosts);
        others = team_alloc(PARITIES * place.sites, sizeof *others);
        team_receive(rank, TAG_COLUMN, TEAM_FLOAT, others, floats * place.sites);
        add_to_slices(&place, others, slices);
        free(others);
    }
}

static void make_workspace(const struct block *b, struct workspace *w)
{
    *w = (struct workspace){vector(b), vector(b), vector(b), vector(b), vector(b), vector(b)};
}

static void free_workspace(struct workspace *w)
{
    free(w->odd);
    free(w->right);
    free(w->residual);
    free(w->direction);
    free(w->image);
    free(w->normal);
}

static void set_background(const struct block *b, struct matrix *link, const int *n, int mu)
{
    lattice_random_matrix(link, DIRECTIONS * lattice_key(b, n) + mu, ROUGHNESS);
}

/* A point source: one spin and colour at one site. */
static void set_source(const struct block *b, struct spinor *even)
{
    if (b->sites > 0 && b->origin[Z] == 0 && b->origin[T] == 0)
        even[0].c[0][0] = 1;
}

/* In class T, as in the programs of GENESIS, the first task is a host that computes nothing itself. */
static int hosts_of(char class, int tasks)
{
    return class == 'T' && tasks > 1 ? 1 : 0;
}

struct result {
    double time_s, quality;
    double *slices;        /* |psi|^2 of each time slice */
    double residual, wave; /* with --verify: those of whole_residual() and plane_wave_difference() */
};

static double sum_of(const double *values, int count)
{
    double sum = 0;

    for (int k = 0; k < count; k++)
        sum += values[k];
    return sum;
}

/* Also what --verify has found: 0, or 1 if it is wrong. */
static int print(const struct options *options, const struct block *b, const struct result *r,
                 const struct class *class)
{
    double norm = sum_of(r->slices, b->whole[T]), deviation = fabs(norm / class->norm - 1);
    double residual_deviation = fabs(r->residual / class->residual - 1);
    bool right = deviation <= NORM_DEVIATION_MAX && residual_deviation <= RESIDUAL_DEVIATION_MAX && r->wave <= WAVE_MAX;

    printf("solver class %c: %d tasks, %d * %d * %d * %d sites, %.4f s, |psi|^2 %.7e, residual / psi %.2e%s\n",
           options->class, team_size(), b->whole[X], b->whole[Y], b->whole[Z], b->whole[T], r->time_s, norm, r->quality,
           !options->verify ? ""
           : right          ? ": correct"
                            : ": WRONG");
    printf("pion correlator at t = 0, 1, 2: %.4e %.4e %.4e\n", r->slices[0], r->slices[1], r->slices[2]);
    if (options->verify)
        printf("whole residual %.4e, differs from that of one task by %.4f of at most %.1f, |psi|^2 by %.1e of %.0e;\n"
               "difference in a plane wave %.1e of at most %.0e\n",
               r->residual, residual_deviation, RESIDUAL_DEVIATION_MAX, deviation, NORM_DEVIATION_MAX, r->wave,
               WAVE_MAX);
    return options->verify && !right;
}

static int run(const struct options *options, const struct class *class)
{
    int hosts = hosts_of(options->class, team_size()), status = 0, size[DIRECTIONS];
    struct spinor *source[PARITIES], *psi[PARITIES];
    struct workspace w;
    struct result result = {0};
    struct block block;

    memcpy(size, class->size, sizeof size);
    team_broadcast(TEAM_INT, size, DIRECTIONS);
    lattice_make(&block, size, team_rank() - hosts, team_size() - hosts, hosts);
    lattice_set_links(&block, set_background);
    make_workspace(&block, &w);
    for (int p = 0; p < PARITIES; p++)
        source[p] = vector(&block);
    set_source(&block, source[EVEN]);
    psi[EVEN] = team_alloc((long)PARITIES * block.sites, sizeof **psi);
    psi[ODD] = psi[EVEN] + block.sites;
    result.slices = team_alloc(size[T], sizeof(double));
    if (options->class != 'T')
        warm_up(&block, &w, psi);
    team_clock_start();
    result.quality = solve(&block, &w, source, psi);
    collect(&block, psi[EVEN], hosts, result.slices);
    result.time_s = team_clock_stop();
    if (options->verify) {
        result.residual = whole_residual(&block, &w, source, psi);
        result.wave = plane_wave_difference(&block, w.odd, w.image, w.normal);
    }
    if (team_rank() == 0)
        status = print(options, &block, &result, class);
    if (options->stats)
        team_report();
    for (int p = 0; p < PARITIES; p++)
        free(source[p]);
    free(psi[EVEN]);
    free(result.slices);
    free_workspace(&w);
    lattice_free(&block);
    return status;
}

static const struct class *class_of(char letter)
{
    const struct class *class = classes;

    while (class->letter != letter)
        class ++;
    return class;
}

static int default_tasks(char class)
{
    return class == 'T' ? 5 : 4;
}

static bool class_allows(char class, int tasks)
{
    return lattice_parts_in_z(class_of(class)->size, tasks - hosts_of(class, tasks)) > 0;
}

static const struct kernel kernel = {
    .purpose = "GENESIS SOLVER: a column of the quark propagator by conjugate gradients.",
    .classes = "SWAT",
    .class_help =
        "S (4 * 4 * 4 * 8 sites), W (12 * 12 * 12 * 16), A (16 * 16 * 16 * 32), T (8 * 8 * 8 * 16: the messages "
        "of the thesis with 5 tasks, of which the first is a host)",
    .tasks_help =
        "a number that divides the lattice in z and t into even parts, such as a power of two; in class T one more",
    .default_tasks = default_tasks,
    .class_allows = class_allows,
};

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);

    team_start(argc, argv, options.tasks);
    return team_end(run(&options, class_of(options.class)));
}
