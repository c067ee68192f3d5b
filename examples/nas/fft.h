/*
 * fft.h - discrete Fourier transforms of several sequences at once, without scaling: element k becomes the sum of
 * x[j] exp(-2 pi i j k / n), or of x[j] exp(2 pi i j k / n) if it is the inverse.
 *
 * FFT_BATCH sequences share each multiplication's coefficient, so that the compiler can use vector instructions.
 */
#ifndef NAS_FFT_H
#define NAS_FFT_H

#include <complex.h>
#include <stddef.h>

enum { FFT_BATCH = 8 };

struct fft;

struct fft *fft_new(int n); /* n is a power of two, at least 2 */
void fft_free(struct fft *f);

/*
 * Transforms columns: element j of column c is from[from_rows[j] + c], and its result goes to to[to_rows[j] + c]. The
 * two may be the same memory.
 */
void fft_columns(struct fft *f, int inverse, const double complex *from, const ptrdiff_t *from_rows, double complex *to,
                 const ptrdiff_t *to_rows);

/* Transforms rows of n elements, one behind the other, in place. */
void fft_rows(struct fft *f, int inverse, double complex *rows);

#endif
