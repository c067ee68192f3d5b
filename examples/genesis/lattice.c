#include "lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/team.h"

/* ---- the block ---- */

int lattice_shift(int parity, int y, int z, int t)
{
    return (y + z + t + parity) & 1;
}

/* The index of a row's first site. Coordinates are those within the block. */
int lattice_row(const struct block *b, int y, int z, int t)
{
    return ((t * b->size[Z] + z) * b->size[Y] + y) * b->row;
}

/* Of these sites, the sides in z come in the order of t and y, those in t in the order of z and y. */
int lattice_row_of_side(const struct block *b, int side, int y, int z, int t)
{
    return ((side <= ABOVE ? t : z) * b->size[Y] + y) * b->row;
}

int lattice_sites_of_side(const struct block *b, int side)
{
    return (side <= ABOVE ? b->size[T] : b->size[Z]) * b->size[Y] * b->row;
}

/* Whether the lattice can be cut into so many parts in a direction: each begins at an even site. */
static bool divides(int parts, int size)
{
    return size % parts == 0 && size / parts % 2 == 0;
}

/* The number of parts in z, as near to a square as possible, or 0 if there is none. */
int lattice_parts_in_z(const int *size, int parts)
{
    int best = 0;

    for (int pz = 1; pz <= parts; pz++)
        if (parts % pz == 0 && divides(pz, size[Z]) && divides(parts / pz, size[T]) && (!best || pz * pz <= parts))
            best = pz;
    return best;
}

static void make_arrays(struct block *b)
{
    for (int p = 0; p < PARITIES; p++)
        b->links[p] = team_alloc((long)b->sites * DIRECTIONS, sizeof(struct matrix));
    for (int s = 0; s < SIDES; s++) {
        b->out[s] = team_alloc(lattice_sites_of_side(b, s), sizeof(struct half_spinor));
        b->in[s] = team_alloc(lattice_sites_of_side(b, s), sizeof(struct half_spinor));
    }
}

void lattice_free(struct block *b)
{
    for (int p = 0; p < PARITIES; p++)
        free(b->links[p]);
    for (int s = 0; s < SIDES; s++) {
        free(b->out[s]);
        free(b->in[s]);
    }
}

/* The size and place of block `number` of so many; a host, number -1, has no sites. */
void lattice_place(struct block *b, const int *size, int number, int parts)
{
    memset(b, 0, sizeof *b);
    memcpy(b->whole, size, sizeof b->whole);
    b->parts_z = lattice_parts_in_z(size, parts);
    b->parts_t = parts / b->parts_z;
    if (number < 0)
        return;
    memcpy(b->size, size, sizeof b->size);
    b->size[Z] /= b->parts_z;
    b->size[T] /= b->parts_t;
    b->origin[Z] = number % b->parts_z * b->size[Z];
    b->origin[T] = number / b->parts_z * b->size[T];
    b->row = size[X] / 2;
    b->sites = b->row * b->size[Y] * b->size[Z] * b->size[T];
}

/* The task of the first block has the rank `first_rank`. */
void lattice_make(struct block *b, const int *size, int number, int parts, int first_rank)
{
    int z, t;

    lattice_place(b, size, number, parts);
    z = number % b->parts_z;
    t = number / b->parts_z;
    for (int s = 0; s < SIDES; s++)
        b->neighbours[s] = -1;
    if (number >= 0) {
        b->neighbours[BELOW] = first_rank + t * b->parts_z + (z + b->parts_z - 1) % b->parts_z;
        b->neighbours[ABOVE] = first_rank + t * b->parts_z + (z + 1) % b->parts_z;
        b->neighbours[BEFORE] = first_rank + (t + b->parts_t - 1) % b->parts_t * b->parts_z + z;
        b->neighbours[AFTER] = first_rank + (t + 1) % b->parts_t * b->parts_z + z;
    }
    make_arrays(b);
}

/* ---- SU(3) ---- */

/* A number between -1 and 1 that looks random, the same for the same k on each task. */
static double noise(double k)
{
    double v = 43758.5453 * sin(12.9898 * k + 4.1414);

    return 2 * (v - floor(v)) - 1;
}

static void normalise(number *v)
{
    float square = 0;

    for (int c = 0; c < COLOURS; c++)
        square += crealf(v[c] * conjf(v[c]));
    for (int c = 0; c < COLOURS; c++)
        v[c] /= sqrtf(square);
}

/* A matrix of SU(3): 1 and noise of this amplitude, made orthonormal. */
void lattice_random_matrix(struct matrix *u, double key, double amplitude)
{
    number overlap = 0;

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < COLOURS; j++) {
            double k = 18 * key + 6 * i + 2 * j;
            u->c[i][j] = (float)((i == j) + amplitude * noise(k)) + (float)(amplitude * noise(k + 1)) * I;
        }
    normalise(u->c[0]);
    for (int j = 0; j < COLOURS; j++)
        overlap += conjf(u->c[0][j]) * u->c[1][j];
    for (int j = 0; j < COLOURS; j++)
        u->c[1][j] -= overlap * u->c[0][j];
    normalise(u->c[1]);
    for (int j = 0; j < COLOURS; j++) {
        int k = (j + 1) % COLOURS, l = (j + 2) % COLOURS;
        u->c[2][j] = conjf(u->c[0][k] * u->c[1][l] - u->c[0][l] * u->c[1][k]);
    }
}

/* A number for each site of the whole lattice; coordinates may be one step outside. */
double lattice_key(const struct block *b, const int *n)
{
    double key = 0;

    for (int mu = T; mu >= X; mu--)
        key = key * b->whole[mu] + (n[mu] + b->whole[mu]) % b->whole[mu];
    return key;
}

/* Calls set() for all links of the block, with the coordinates in the whole lattice. */
void lattice_set_links(struct block *b, lattice_set_link *set)
{
    for (int parity = 0; parity < PARITIES; parity++)
        for (int t = 0; t < b->size[T]; t++)
            for (int z = 0; z < b->size[Z]; z++)
                for (int y = 0; y < b->size[Y]; y++)
                    for (int h = 0; h < b->row; h++) {
                        int n[] = {2 * h + lattice_shift(parity, y, z, t), y, b->origin[Z] + z, b->origin[T] + t};
                        for (int mu = 0; mu < DIRECTIONS; mu++)
                            set(b, &b->links[parity][DIRECTIONS * (lattice_row(b, y, z, t) + h) + mu], n, mu);
                    }
}
