#include "plane_wave.h"

#include <math.h>
#include "../kernels/team.h"
#include "dirac.h"

/* The colours' axes at a site. */
static void make_axes(const struct block *b, struct matrix *g, const int *n)
{
    lattice_random_matrix(g, lattice_key(b, n) + 0.5, 2);
}

/* The free field, seen with other axes at each site: U_mu(n) = g(n) g(n + mu)^+. */
static void set_free_field(const struct block *b, struct matrix *link, const int *n, int mu)
{
    int next[DIRECTIONS] = {n[X], n[Y], n[Z], n[T]};
    struct matrix here, there;

    next[mu]++;
    make_axes(b, &here, n);
    make_axes(b, &there, next);
    for (int i = 0; i < COLOURS; i++)
        for (int j = 0; j < COLOURS; j++) {
            number sum = 0;
            for (int k = 0; k < COLOURS; k++)
                sum += here.c[i][k] * conjf(there.c[j][k]);
            link->c[i][j] = sum;
        }
}

/* A plane wave: g(n) chi exp(i p n) for all sites of a parity, where chi has one number for each spin, for all colours.
 */
static void set_wave(const struct block *b, struct spinor *v, const number *chi, const double *p, int parity)
{
    for (int k = 0; k < b->sites; k++) {
        int h = k % b->row, y = k / b->row % b->size[Y], z = k / b->row / b->size[Y] % b->size[Z];
        int t = k / b->row / b->size[Y] / b->size[Z];
        int n[] = {2 * h + lattice_shift(parity, y, z, t), y, b->origin[Z] + z, b->origin[T] + t};
        double angle = p[X] * n[X] + p[Y] * n[Y] + p[Z] * n[Z] + p[T] * n[T];
        struct matrix g;
        make_axes(b, &g, n);
        for (int s = 0; s < SPINS; s++)
            for (int c = 0; c < COLOURS; c++)
                v[k].c[s][c] = (g.c[c][0] + g.c[c][1] + g.c[c][2]) * chi[s] * (float complex)cexp(I * angle);
    }
}

/* gamma_mu as numbers: row s has `value` in `column`. Not made from project(), which it is to check. */
static const struct {
    int column;
    number value;
} gamma_matrices[DIRECTIONS][SPINS] = {{{3, I}, {2, I}, {1, -I}, {0, -I}},
                                       {{3, 1}, {2, -1}, {1, -1}, {0, 1}},
                                       {{2, I}, {3, -I}, {0, -I}, {1, I}},
                                       {{2, 1}, {3, 1}, {0, 1}, {1, 1}}};

/* What D makes of chi in the plane wave: the sum over mu of 2 cos(p_mu) - 2 i gamma_mu sin(p_mu). */
static void expect_wave(number *result, const number *chi, const double *p)
{
    for (int s = 0; s < SPINS; s++) {
        result[s] = 0;
        for (int mu = 0; mu < DIRECTIONS; mu++)
            result[s] += 2 * (float)cos(p[mu]) * chi[s] -
                         2 * I * (float)sin(p[mu]) * gamma_matrices[mu][s].value * chi[gamma_matrices[mu][s].column];
    }
}

/* The largest difference of D psi from what a plane wave must give. Replaces the background. */
double plane_wave_difference(struct block *b, struct spinor *psi, struct spinor *image, struct spinor *expected)
{
    static const number chi[SPINS] = {0.5f, 0.25f * I, -0.75f, 0.5f - 0.5f * I};
    number result[SPINS];
    double p[DIRECTIONS], largest = 0;

    for (int mu = 0; mu < DIRECTIONS; mu++)
        p[mu] = 2 * M_PI * (mu + 1) / b->whole[mu];
    expect_wave(result, chi, p);
    lattice_set_links(b, set_free_field);
    for (int parity = 0; parity < PARITIES; parity++) {
        set_wave(b, psi, chi, p, 1 - parity);
        dirac_apply(b, image, psi, parity);
        set_wave(b, expected, result, p, parity);
        for (int k = 0; k < b->sites; k++)
            for (int s = 0; s < SPINS; s++)
                for (int c = 0; c < COLOURS; c++) {
                    double d = cabsf(image[k].c[s][c] - expected[k].c[s][c]);
                    if (!(d <= largest)) /* also for a NaN */
                        largest = d;
                }
    }
    team_max(TEAM_DOUBLE, &largest, 1);
    return largest;
}
