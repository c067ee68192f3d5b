/*
 * operators.c - PvmMax, PvmMin, PvmSum, PvmProduct: x[i] becomes x[i] (operator) y[i].
 *
 * *info is 0, or PvmBadParam for a type that the operator does not support: bytes have no sum and no product. Complex
 * numbers are compared by modulus.
 */
#include <complex.h>
#include "pvm3.h"

/* A loop over n values of C type T; a and b point to the i-th values. */
#define LOOP(T, statement)                                                                                             \
    do {                                                                                                               \
        T *a = x, *b = y;                                                                                              \
                                                                                                                       \
        for (int i = 0; i < *n; i++, a++, b++)                                                                         \
            statement;                                                                                                 \
    } while (0)

/* The same statement for every real type except bytes. */
#define REAL_CASES(statement)                                                                                          \
    case PVM_SHORT:                                                                                                    \
        LOOP(short, statement);                                                                                        \
        break;                                                                                                         \
    case PVM_INT:                                                                                                      \
        LOOP(int, statement);                                                                                          \
        break;                                                                                                         \
    case PVM_FLOAT:                                                                                                    \
        LOOP(float, statement);                                                                                        \
        break;                                                                                                         \
    case PVM_DOUBLE:                                                                                                   \
        LOOP(double, statement);                                                                                       \
        break;                                                                                                         \
    case PVM_LONG:                                                                                                     \
        LOOP(long, statement);                                                                                         \
        break;                                                                                                         \
    case PVM_USHORT:                                                                                                   \
        LOOP(unsigned short, statement);                                                                               \
        break;                                                                                                         \
    case PVM_UINT:                                                                                                     \
        LOOP(unsigned, statement);                                                                                     \
        break;                                                                                                         \
    case PVM_ULONG:                                                                                                    \
        LOOP(unsigned long, statement);                                                                                \
        break

/* The same statement for both complex types. */
#define COMPLEX_CASES(statement)                                                                                       \
    case PVM_CPLX:                                                                                                     \
        LOOP(float complex, statement);                                                                                \
        break;                                                                                                         \
    case PVM_DCPLX:                                                                                                    \
        LOOP(double complex, statement);                                                                               \
        break

/* Square of the modulus, in a type where it cannot overflow. */
static long double square(double complex z)
{
    long double re = creal(z), im = cimag(z);

    return re * re + im * im;
}

void PvmMax(int *type, void *x, void *y, int *n, int *info)
{
    *info = PvmOk;
    switch (*type) {
    case PVM_BYTE:
        LOOP(char, *a = *b > *a ? *b : *a);
        break;
        REAL_CASES(*a = *b > *a ? *b : *a);
        COMPLEX_CASES(*a = square(*b) > square(*a) ? *b : *a);
    default:
        *info = PvmBadParam;
    }
}

void PvmMin(int *type, void *x, void *y, int *n, int *info)
{
    *info = PvmOk;
    switch (*type) {
    case PVM_BYTE:
        LOOP(char, *a = *b < *a ? *b : *a);
        break;
        REAL_CASES(*a = *b < *a ? *b : *a);
        COMPLEX_CASES(*a = square(*b) < square(*a) ? *b : *a);
    default:
        *info = PvmBadParam;
    }
}

void PvmSum(int *type, void *x, void *y, int *n, int *info)
{
    *info = PvmOk;
    switch (*type) {
        REAL_CASES(*a += *b);
        COMPLEX_CASES(*a += *b);
    default:
        *info = PvmBadParam;
    }
}

void PvmProduct(int *type, void *x, void *y, int *n, int *info)
{
    *info = PvmOk;
    switch (*type) {
        REAL_CASES(*a *= *b);
        COMPLEX_CASES(*a *= *b);
    default:
        *info = PvmBadParam;
    }
}
