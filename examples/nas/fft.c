/*
 * fft.c - Stockham's algorithm: each pass reads one array and writes the other, so that no elements have to be put in
 * order. Passes are of radix 4, the last one of radix 2 if n is not a power of four. Real and imaginary parts are
 * apart.
 */
#include "fft.h"
#include <math.h>
#include <stdlib.h>
#include "../kernels/team.h"

struct part {
    double *re, *im; /* n x FFT_BATCH */
};

struct fft {
    int n;
    double *cosines, *sines; /* of -2 pi k / n */
    struct part now, next;
};

static double *numbers(int count)
{
    return team_alloc(count, sizeof(double));
}

struct fft *fft_new(int n)
{
    struct fft *f = team_alloc(1, sizeof *f);

    f->n = n;
    f->cosines = numbers(n), f->sines = numbers(n);
    f->now = (struct part){numbers(n * FFT_BATCH), numbers(n * FFT_BATCH)};
    f->next = (struct part){numbers(n * FFT_BATCH), numbers(n * FFT_BATCH)};
    for (int k = 0; k < n; k++) {
        f->cosines[k] = cos(2 * M_PI * k / n);
        f->sines[k] = -sin(2 * M_PI * k / n);
    }
    return f;
}

void fft_free(struct fft *f)
{
    double *const all[] = {f->cosines, f->sines, f->now.re, f->now.im, f->next.re, f->next.im};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(f);
}

/* ---- passes ---- */

/* The coefficients of one butterfly: w, w^2 and w^3. */
struct turn {
    double re[4], im[4];
};

/* Four elements of each of `count` sequences, which lie `apart`, become four neighbours. */
static void butterfly4(const double *restrict xr, const double *restrict xi, double *restrict yr, double *restrict yi,
                       const struct turn *w, size_t apart, size_t count)
{
    for (size_t q = 0; q < count; q++) {
        double ar = xr[q], br = xr[q + apart], cr = xr[q + 2 * apart], dr = xr[q + 3 * apart];
        double ai = xi[q], bi = xi[q + apart], ci = xi[q + 2 * apart], di = xi[q + 3 * apart];
        double sr = ar + cr, si = ai + ci, tr = br + dr, ti = bi + di;    /* even sums */
        double er = ar - cr, ei = ai - ci, fr = bi - di, fi = -(br - dr); /* differences; f is turned by -i */
        double ur = er + fr, ui = ei + fi, vr = sr - tr, vi = si - ti, zr = er - fr, zi = ei - fi;

        yr[q] = sr + tr;
        yi[q] = si + ti;
        yr[q + count] = ur * w->re[1] - ui * w->im[1];
        yi[q + count] = ur * w->im[1] + ui * w->re[1];
        yr[q + 2 * count] = vr * w->re[2] - vi * w->im[2];
        yi[q + 2 * count] = vr * w->im[2] + vi * w->re[2];
        yr[q + 3 * count] = zr * w->re[3] - zi * w->im[3];
        yi[q + 3 * count] = zr * w->im[3] + zi * w->re[3];
    }
}

static void butterfly2(const double *restrict x, double *restrict y, size_t count)
{
    for (size_t q = 0; q < count; q++) {
        double a = x[q], b = x[q + count];
        y[q] = a + b;
        y[q + count] = a - b;
    }
}

/* One pass over sequences of `length` elements, of which there are n / length in each of the batch. */
static void pass4(const struct fft *f, struct part x, struct part y, int length)
{
    int quarter = length / 4, step = f->n / length;
    size_t count = (size_t)step * FFT_BATCH, apart = count * (size_t)quarter;

    for (int p = 0; p < quarter; p++) {
        struct turn w;
        for (int k = 1; k < 4; k++) {
            w.re[k] = f->cosines[p * step * k];
            w.im[k] = f->sines[p * step * k];
        }
        size_t from = count * (size_t)p, to = 4 * from;
        butterfly4(x.re + from, x.im + from, y.re + to, y.im + to, &w, apart, count);
    }
}

/* Transforms f->now, which then has the result. */
static void transform(struct fft *f)
{
    for (int length = f->n; length > 1; length /= 4) {
        struct part done = f->next;
        if (length >= 4) {
            pass4(f, f->now, done, length);
        } else {
            butterfly2(f->now.re, done.re, (size_t)f->n / 2 * FFT_BATCH);
            butterfly2(f->now.im, done.im, (size_t)f->n / 2 * FFT_BATCH);
        }
        f->next = f->now;
        f->now = done;
    }
}

/* ---- in and out ---- */

/* An inverse transform is a forward one of numbers whose real and imaginary parts have changed places. */
static void change_places(struct fft *f, int inverse)
{
    if (inverse) {
        double *re = f->now.re;
        f->now.re = f->now.im;
        f->now.im = re;
    }
}

void fft_columns(struct fft *f, int inverse, const double complex *from, const ptrdiff_t *from_rows, double complex *to,
                 const ptrdiff_t *to_rows)
{
    for (int j = 0; j < f->n; j++) {
        const double *row = (const double *)(from + from_rows[j]);
        for (int c = 0; c < FFT_BATCH; c++) {
            f->now.re[j * FFT_BATCH + c] = row[2 * c];
            f->now.im[j * FFT_BATCH + c] = row[2 * c + 1];
        }
    }
    change_places(f, inverse);
    transform(f);
    change_places(f, inverse);
    for (int j = 0; j < f->n; j++) {
        double *row = (double *)(to + to_rows[j]);
        for (int c = 0; c < FFT_BATCH; c++) {
            row[2 * c] = f->now.re[j * FFT_BATCH + c];
            row[2 * c + 1] = f->now.im[j * FFT_BATCH + c];
        }
    }
}

void fft_rows(struct fft *f, int inverse, double complex *rows)
{
    double *values = (double *)rows;
    size_t row = 2 * (size_t)f->n;

    for (int j = 0; j < f->n; j++)
        for (int c = 0; c < FFT_BATCH; c++) {
            f->now.re[j * FFT_BATCH + c] = values[c * row + 2 * j];
            f->now.im[j * FFT_BATCH + c] = values[c * row + 2 * j + 1];
        }
    change_places(f, inverse);
    transform(f);
    change_places(f, inverse);
    for (int j = 0; j < f->n; j++)
        for (int c = 0; c < FFT_BATCH; c++) {
            values[c * row + 2 * j] = f->now.re[j * FFT_BATCH + c];
            values[c * row + 2 * j + 1] = f->now.im[j * FFT_BATCH + c];
        }
}
