/*
 * lattice.h - a task's block of a four-dimensional periodic lattice, with its SU(3) matrices. For solver.c.
 */
#ifndef LATTICE_H
#define LATTICE_H

#include <complex.h>
#include <stdbool.h>

enum { X, Y, Z, T, DIRECTIONS };
enum { SPINS = 4, COLOURS = 3 };
enum { EVEN, ODD, PARITIES }; /* of x + y + z + t */
enum {
    BELOW,
    ABOVE,
    BEFORE,
    AFTER,
    SIDES
}; /* in -z, +z, -t, +t: side i of a block touches side i ^ 1 of its neighbour */

typedef float complex number;

struct spinor {
    number c[SPINS][COLOURS];
};

/* What is left of a spinor by 1 - gamma_mu or 1 + gamma_mu. */
struct half_spinor {
    number c[SPINS / 2][COLOURS];
};

struct matrix {
    number c[COLOURS][COLOURS];
};

/*
 * A task's block. The sites of one parity are stored in the order of t, z, y and x. A row, all x of one y, z, t, has
 * half of its sites in each parity: those with x = 2 h + shift, h = 0, 1 ... Sizes and origins are even.
 */
struct block {
    int whole[DIRECTIONS], size[DIRECTIONS], origin[DIRECTIONS];
    int parts_z, parts_t;
    int row;                        /* sites of a row in one parity */
    int sites;                      /* in one parity */
    int neighbours[SIDES];          /* ranks; our own if the lattice is not cut in this direction; -1 for a host */
    struct matrix *links[PARITIES]; /* [DIRECTIONS * site + mu]: from the site to the next one */
    struct half_spinor *out[SIDES], *in[SIDES];
};

/* The number of parts in z when the lattice is cut into so many in z and t, as near to a square as possible; 0 if it
 * cannot be cut so that each part begins at an even site. */
int lattice_parts_in_z(const int *size, int parts);

/*
 * Block `number` of so many. The task of the first block has the rank `first_rank`. A host, number -1, has no sites.
 * lattice_place() gives only sizes and places; what lattice_make() allocates, lattice_free() frees.
 */
void lattice_place(struct block *block, const int *size, int number, int parts);
void lattice_make(struct block *block, const int *size, int number, int parts, int first_rank);
void lattice_free(struct block *block);

/* 0 or 1: which x a row's sites of this parity have, see above. Coordinates are those within the block. */
int lattice_shift(int parity, int y, int z, int t);

/* The index of a row's first site. */
int lattice_row(const struct block *block, int y, int z, int t);

/* The same among the sites of a side: those in z come in the order of t and y, those in t in the order of z and y. */
int lattice_row_of_side(const struct block *block, int side, int y, int z, int t);
int lattice_sites_of_side(const struct block *block, int side);

/* A number of its own for each site of the whole lattice. `site` has coordinates in the whole lattice, or one step
 * outside. */
double lattice_key(const struct block *block, const int *site);

/* An SU(3) matrix that looks random, the same for the same key on each task: 1 and noise of this amplitude. */
void lattice_random_matrix(struct matrix *u, double key, double amplitude);

/* Calls set() for all links that begin in the block. */
typedef void lattice_set_link(const struct block *block, struct matrix *link, const int *site, int mu);
void lattice_set_links(struct block *block, lattice_set_link *set);

#endif
