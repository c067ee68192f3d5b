#include "cg_matrix.h"

#include <math.h>
#include <stdlib.h>
#include "../kernels/team.h"
#include "random.h"

#define SEED      UINT64_C(314159265)
#define CONDITION 0.1 /* the reciprocal of the condition number of the sum */

/* The sparse vectors v_i: the elements of v_i are place[i * room] ... and value[i * room] ..., count[i] of them. */
struct vectors {
    int n, room;
    int *count, *place;
    double *value;
};

static struct vectors vectors_new(int n, int room)
{
    return (struct vectors){n, room, team_alloc(n, sizeof(int)), team_alloc((long)n * room, sizeof(int)),
                            team_alloc((long)n * room, sizeof(double))};
}

static void vectors_free(struct vectors *vectors)
{
    free(vectors->count);
    free(vectors->place);
    free(vectors->value);
}

/* Sets the element of v_i at this place; false if it has one and `keep` says to leave it. */
static bool set_element(struct vectors *vectors, int i, int place, double value, bool keep)
{
    int *places = vectors->place + (long)i * vectors->room, k = 0;

    while (k < vectors->count[i] && places[k] != place)
        k++;
    if (k < vectors->count[i] && keep)
        return false;
    if (k == vectors->count[i])
        vectors->count[i]++;
    places[k] = place;
    vectors->value[(long)i * vectors->room + k] = value;
    return true;
}

/* Places are drawn from the next power of two; those beyond n, and those drawn before, are drawn again. */
static void make_vector(struct vectors *vectors, int i, int nonzeros, uint64_t *state)
{
    int range = 1;

    while (range < vectors->n)
        range *= 2;
    while (vectors->count[i] < nonzeros) {
        double value = random_next(state);
        int place = (int)(range * random_next(state));
        if (place < vectors->n)
            set_element(vectors, i, place, value, true);
    }
    set_element(vectors, i, i, 0.5, false);
}

static struct vectors make_vectors(int n, int nonzeros)
{
    struct vectors vectors = vectors_new(n, nonzeros + 1);
    uint64_t state = SEED;

    random_next(&state); /* NAS draws one number before */
    for (int i = 0; i < n; i++)
        make_vector(&vectors, i, nonzeros, &state);
    return vectors;
}

/* Which vectors have an element in each row: those of row k are vector[start[k]..start[k+1]), at index[...] of them. */
struct uses {
    int *start, *vector, *index;
};

static struct uses find_uses(const struct vectors *vectors)
{
    int n = vectors->n, total = 0;
    struct uses uses = {team_alloc(n + 1, sizeof(int)), NULL, NULL};
    int *end = team_alloc(n, sizeof *end);

    for (int i = 0; i < n; total += vectors->count[i++])
        for (int k = 0; k < vectors->count[i]; k++)
            uses.start[vectors->place[(long)i * vectors->room + k] + 1]++;
    for (int row = 0; row < n; row++)
        end[row] = uses.start[row + 1] += uses.start[row];
    uses.vector = team_alloc(total, sizeof(int));
    uses.index = team_alloc(total, sizeof(int));
    for (int i = n - 1; i >= 0; i--)
        for (int k = 0; k < vectors->count[i]; k++) {
            int at = --end[vectors->place[(long)i * vectors->room + k]];
            uses.vector[at] = i;
            uses.index[at] = k;
        }
    free(end);
    return uses;
}

static int by_column(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* One row as a dense vector, of which `columns` are in use. */
struct row {
    double *value;
    bool *used;
    int *columns, count;
};

static void add_element(struct row *row, int column, double value)
{
    if (!row->used[column])
        row->columns[row->count++] = column;
    row->used[column] = true;
    row->value[column] += value;
}

static void add_vector(struct row *row, const struct vectors *vectors, int i, int index, double weight)
{
    const int *places = vectors->place + (long)i * vectors->room;
    const double *values = vectors->value + (long)i * vectors->room;

    for (int k = 0; k < vectors->count[i]; k++)
        add_element(row, places[k], values[k] * (values[index] * weight));
}

/* Moves the row to the end of the matrix, by columns, and clears it. */
static void append_row(struct cg_rows *matrix, struct row *row)
{
    int at = matrix->start[matrix->rows];

    qsort(row->columns, row->count, sizeof *row->columns, by_column);
    for (int k = 0; k < row->count; k++, at++) {
        int column = row->columns[k];
        matrix->column[at] = column;
        matrix->value[at] = row->value[column];
        row->value[column] = 0;
        row->used[column] = false;
    }
    row->count = 0;
    matrix->start[++matrix->rows] = at;
}

static void make_rows(struct cg_rows *matrix, const struct vectors *vectors, double shift)
{
    int n = vectors->n;
    struct uses uses = find_uses(vectors);
    struct row row = {team_alloc(n, sizeof(double)), team_alloc(n, sizeof(bool)), team_alloc(n, sizeof(int)), 0};

    for (int k = 0; k < n; k++) {
        for (int use = uses.start[k]; use < uses.start[k + 1]; use++)
            add_vector(&row, vectors, uses.vector[use], uses.index[use], pow(CONDITION, (double)uses.vector[use] / n));
        add_element(&row, k, CONDITION - shift);
        append_row(matrix, &row);
    }
    free(row.value);
    free(row.used);
    free(row.columns);
    free(uses.start);
    free(uses.vector);
    free(uses.index);
}

struct cg_rows cg_matrix(int n, int nonzeros, double shift)
{
    struct vectors vectors = make_vectors(n, nonzeros);
    long most = (long)n * (nonzeros + 1) * (nonzeros + 1);
    struct cg_rows matrix = {0, team_alloc(n + 1, sizeof(int)), team_alloc(most, sizeof(int)),
                             team_alloc(most, sizeof(double))};

    make_rows(&matrix, &vectors, shift);
    vectors_free(&vectors);
    return matrix;
}

void cg_rows_free(struct cg_rows *rows)
{
    free(rows->start);
    free(rows->column);
    free(rows->value);
}

void cg_multiply(const struct cg_rows *rows, const double *x, double *y)
{
    for (int row = 0; row < rows->rows; row++) {
        double sum = 0;
        for (int k = rows->start[row]; k < rows->start[row + 1]; k++)
            sum += rows->value[k] * x[rows->column[k]];
        y[row] = sum;
    }
}
