#include "dirac.h"

#include <stdlib.h>
#include <string.h>
#include "../kernels/team.h"

/* ---- D ----
 *
 * gamma_mu has the blocks 0, B_mu; B_mu^+, 0, where B is i times Pauli's matrices for x, y, z and 1 for t. So the upper
 * spins of (1 -+ gamma) psi are h = upper -+ B lower, and the lower ones -+ B^+ h.
 */

static inline number times_i(number a)
{
    return -cimagf(a) + crealf(a) * I;
}

/* The half spinor of (1 - sign gamma_mu) psi. `mu` and `sign` are constants where this is called. */
static inline struct half_spinor project(const struct spinor *psi, int mu, int sign)
{
    struct half_spinor h;

    for (int c = 0; c < COLOURS; c++) {
        number l0 = psi->c[2][c], l1 = psi->c[3][c];
        number b0 = mu == X ? times_i(l1) : mu == Y ? l1 : mu == Z ? times_i(l0) : l0;
        number b1 = mu == X ? times_i(l0) : mu == Y ? -l0 : mu == Z ? -times_i(l1) : l1;
        h.c[0][c] = sign > 0 ? psi->c[0][c] - b0 : psi->c[0][c] + b0;
        h.c[1][c] = sign > 0 ? psi->c[1][c] - b1 : psi->c[1][c] + b1;
    }
    return h;
}

/* Adds the spinor whose half is h. */
static inline void add_whole(struct spinor *sum, const struct half_spinor *h, int mu, int sign)
{
    for (int c = 0; c < COLOURS; c++) {
        number u0 = h->c[0][c], u1 = h->c[1][c];
        number b0 = mu == X ? -times_i(u1) : mu == Y ? -u1 : mu == Z ? -times_i(u0) : u0;
        number b1 = mu == X ? -times_i(u0) : mu == Y ? u0 : mu == Z ? times_i(u1) : u1;
        sum->c[0][c] += u0;
        sum->c[1][c] += u1;
        sum->c[2][c] = sign > 0 ? sum->c[2][c] - b0 : sum->c[2][c] + b0;
        sum->c[3][c] = sign > 0 ? sum->c[3][c] - b1 : sum->c[3][c] + b1;
    }
}

static inline struct half_spinor times(const struct matrix *u, const struct half_spinor *h)
{
    struct half_spinor r;

    for (int s = 0; s < SPINS / 2; s++)
        for (int i = 0; i < COLOURS; i++)
            r.c[s][i] = u->c[i][0] * h->c[s][0] + u->c[i][1] * h->c[s][1] + u->c[i][2] * h->c[s][2];
    return r;
}

static inline struct half_spinor times_adjoint(const struct matrix *u, const struct half_spinor *h)
{
    struct half_spinor r;

    for (int s = 0; s < SPINS / 2; s++)
        for (int i = 0; i < COLOURS; i++)
            r.c[s][i] =
                conjf(u->c[0][i]) * h->c[s][0] + conjf(u->c[1][i]) * h->c[s][1] + conjf(u->c[2][i]) * h->c[s][2];
    return r;
}

/* The term of psi(n + mu), and that of psi(n - mu) with the link that begins there. */
static inline void add_forward(struct spinor *sum, const struct spinor *psi, const struct matrix *link, int mu)
{
    struct half_spinor h = project(psi, mu, 1);

    h = times(link + mu, &h);
    add_whole(sum, &h, mu, 1);
}

static inline void add_backward(struct spinor *sum, const struct spinor *psi, const struct matrix *link, int mu)
{
    struct half_spinor h = project(psi, mu, -1);

    h = times_adjoint(link + mu, &h);
    add_whole(sum, &h, mu, -1);
}

/* Adds the terms of both neighbours in direction `mu` to a row of D psi. The rows of spinors and links of the
 * neighbours begin at `next` and `previous`; `here` are the links of the row itself. */
static inline void add_row(const struct block *b, struct spinor *sum, const struct matrix *here,
                           const struct spinor *next, const struct spinor *previous,
                           const struct matrix *links_previous, int mu)
{
    for (int h = 0; h < b->row; h++) {
        add_forward(sum + h, next + h, here + DIRECTIONS * h, mu);
        add_backward(sum + h, previous + h, links_previous + DIRECTIONS * h, mu);
    }
}

/* Those in x: the neighbours are in the same row of the other parity. `shift` is that of the row of D psi. */
static void add_row_x(const struct block *b, struct spinor *sum, const struct matrix *here, const struct spinor *other,
                      const struct matrix *links_other, int shift)
{
    for (int h = 0; h < b->row; h++) {
        int next = (h + shift) % b->row, previous = (h + shift + b->row - 1) % b->row;
        add_forward(sum + h, other + next, here + DIRECTIONS * h, X);
        add_backward(sum + h, other + previous, links_other + DIRECTIONS * previous, X);
    }
}

/* D psi of a row, without the terms that come from other blocks. */
static void apply_to_row(const struct block *b, struct spinor *result, const struct spinor *psi, int parity, int y,
                         int z, int t)
{
    int row = lattice_row(b, y, z, t), next, previous, ny = b->size[Y];
    const struct matrix *here = b->links[parity] + (long)DIRECTIONS * row, *others = b->links[1 - parity];

    memset(result + row, 0, b->row * sizeof *result);
    add_row_x(b, result + row, here, psi + row, others + (long)DIRECTIONS * row, lattice_shift(parity, y, z, t));
    next = lattice_row(b, (y + 1) % ny, z, t);
    previous = lattice_row(b, (y + ny - 1) % ny, z, t);
    add_row(b, result + row, here, psi + next, psi + previous, others + (long)DIRECTIONS * previous, Y);
    for (int h = 0; h < b->row; h++) {
        if (z < b->size[Z] - 1)
            add_forward(result + row + h, psi + lattice_row(b, y, z + 1, t) + h, here + DIRECTIONS * h, Z);
        if (z > 0)
            add_backward(result + row + h, psi + lattice_row(b, y, z - 1, t) + h,
                         others + (long)DIRECTIONS * (lattice_row(b, y, z - 1, t) + h), Z);
        if (t < b->size[T] - 1)
            add_forward(result + row + h, psi + lattice_row(b, y, z, t + 1) + h, here + DIRECTIONS * h, T);
        if (t > 0)
            add_backward(result + row + h, psi + lattice_row(b, y, z, t - 1) + h,
                         others + (long)DIRECTIONS * (lattice_row(b, y, z, t - 1) + h), T);
    }
}

/* ---- halos ---- */

/* The rows of a side. */
struct range {
    int z0, z1, t0, t1;
};

static struct range rows_of_side(const struct block *b, int side)
{
    return (struct range){side == ABOVE ? b->size[Z] - 1 : 0, side == BELOW ? 1 : b->size[Z],
                          side == AFTER ? b->size[T] - 1 : 0, side == BEFORE ? 1 : b->size[T]};
}

/* The neighbour below needs our (1 - gamma) psi for its forward terms and has the links for them. The one above needs
 * our (1 + gamma) psi times our links. */
static void pack_side_row(const struct block *b, const struct spinor *psi, int parity, int side, int row, int on_side)
{
    const struct matrix *links = b->links[1 - parity];
    struct half_spinor *out = b->out[side] + on_side;

    for (int h = 0; h < b->row; h++) {
        const struct matrix *link = links + (long)DIRECTIONS * (row + h);
        struct half_spinor half;
        switch (side) {
        case BELOW:
            out[h] = project(psi + row + h, Z, 1);
            break;
        case BEFORE:
            out[h] = project(psi + row + h, T, 1);
            break;
        case ABOVE:
            half = project(psi + row + h, Z, -1);
            out[h] = times_adjoint(link + Z, &half);
            break;
        case AFTER:
            half = project(psi + row + h, T, -1);
            out[h] = times_adjoint(link + T, &half);
        }
    }
}

static void add_side_row(const struct block *b, struct spinor *result, int parity, int side, int row, int on_side)
{
    struct spinor *sum = result + row;
    const struct half_spinor *in = b->in[side] + on_side;

    for (int h = 0; h < b->row; h++) {
        const struct matrix *link = b->links[parity] + (long)DIRECTIONS * (row + h);
        struct half_spinor half;
        switch (side) {
        case BELOW:
            add_whole(sum + h, in + h, Z, -1);
            break;
        case BEFORE:
            add_whole(sum + h, in + h, T, -1);
            break;
        case ABOVE:
            half = times(link + Z, in + h);
            add_whole(sum + h, &half, Z, 1);
            break;
        case AFTER:
            half = times(link + T, in + h);
            add_whole(sum + h, &half, T, 1);
        }
    }
}

/* `parity` is that of D psi. */
static void pack_side(const struct block *b, const struct spinor *psi, int parity, int side)
{
    struct range r = rows_of_side(b, side);

    for (int t = r.t0; t < r.t1; t++)
        for (int z = r.z0; z < r.z1; z++)
            for (int y = 0; y < b->size[Y]; y++)
                pack_side_row(b, psi, parity, side, lattice_row(b, y, z, t), lattice_row_of_side(b, side, y, z, t));
}

static void add_side(const struct block *b, struct spinor *result, int parity, int side)
{
    struct range r = rows_of_side(b, side);

    for (int t = r.t0; t < r.t1; t++)
        for (int z = r.z0; z < r.z1; z++)
            for (int y = 0; y < b->size[Y]; y++)
                add_side_row(b, result, parity, side, lattice_row(b, y, z, t), lattice_row_of_side(b, side, y, z, t));
}

/* What goes out on side i comes in on side i ^ 1 of the neighbour, which may be this block itself. */
static void exchange(const struct block *b)
{
    struct team_side sides[SIDES];

    for (int s = 0; s < SIDES; s++) {
        int peer = b->neighbours[s],
            floats = lattice_sites_of_side(b, s) * (int)(sizeof(struct half_spinor) / sizeof(float));
        sides[s] = (struct team_side){peer, NULL, NULL, floats};
        if (peer == team_rank()) {
            memcpy(b->in[s ^ 1], b->out[s], floats * sizeof(float));
        } else if (peer >= 0) {
            sides[s].out = b->out[s];
            sides[s].in = b->in[s];
        }
    }
    team_exchange(0, TEAM_FLOAT, sides, SIDES);
}

void dirac_apply(const struct block *b, struct spinor *result, const struct spinor *psi, int parity)
{
    for (int side = 0; side < SIDES; side++)
        pack_side(b, psi, parity, side);
    exchange(b);
    for (int t = 0; t < b->size[T]; t++)
        for (int z = 0; z < b->size[Z]; z++)
            for (int y = 0; y < b->size[Y]; y++)
                apply_to_row(b, result, psi, parity, y, z, t);
    for (int side = 0; side < SIDES; side++)
        add_side(b, result, parity, side);
}
