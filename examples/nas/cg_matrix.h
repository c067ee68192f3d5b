/*
 * cg_matrix.h - the sparse matrix of NAS CG: symmetric, positive definite, with a random pattern of nonzeros.
 */
#ifndef CG_MATRIX_H
#define CG_MATRIX_H

/* Some rows of a matrix, by rows: those of row k are column[start[k]..start[k+1]) and value[...]. */
struct cg_rows {
    int rows;
    int *start; /* rows+1 */
    int *column;
    double *value;
};

/*
 * Makes all n rows of  sum over i of w_i v_i v_i' + (0.1 - shift) I.  Each v_i has `nonzeros` random elements at random
 * places, and 1/2 at place i; the weights w_i fall from 1 to 0.1 in a geometric series.
 */
struct cg_rows cg_matrix(int n, int nonzeros, double shift);

void cg_rows_free(struct cg_rows *rows);

/* y[0..rows) = rows * x. */
void cg_multiply(const struct cg_rows *rows, const double *x, double *y);

#endif
