/* values.c - see values.h. Floating-point values are given as bits: a NaN's payload must survive, too. */
#include "values.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"

static const unsigned char bytes[] = {0, 1, 0x7f, 0x80, 0xff, 'A', '\n'};
static const short shorts[] = {0, 1, -1, SHRT_MIN, SHRT_MAX, 0x1234, -0x1234};
static const unsigned short ushorts[] = {0, 1, 0xff, 0x100, 0x8000, USHRT_MAX, 0x1234};
static const int ints[] = {0, 1, -1, INT_MIN, INT_MAX, 0x12345678, -0x12345678};
static const unsigned uints[] = {0, 1, 0xffff, 0x10000, 0x80000000, UINT_MAX, 0x12345678};
static const long longs[] = {0, 1, -1, INT32_MIN, INT32_MAX, 0x12345678, -0x12345678};
static const unsigned long ulongs[] = {0, 1, 0xffff, 0x10000, 0x80000000, UINT32_MAX, 0x12345678};

/*
 * 0, -0, 1, -1.5, the smallest normal and denormal numbers, a denormal with many digits, the largest number, the
 * infinities, quiet NaNs with a payload, one of them negative, and a signalling one
 */
static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbfc00000, 0x00800000, 0x00000001, 0x80345678,
                                  0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc12345, 0xffc54321, 0x7f812345};
static const uint64_t doubles[] = {0,
                                   0x8000000000000000,
                                   0x3ff0000000000000,
                                   0xbff8000000000000,
                                   0x0010000000000000,
                                   0x0000000000000001,
                                   0x800123456789abcd,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8123456789abc,
                                   0xfff8cba987654321,
                                   0x7ff0123456789abc};

#define CALLS(name, ctype)                                                                                             \
    static int pack_##name(void *data, int n, int stride)                                                              \
    {                                                                                                                  \
        return pvm_pk##name((ctype *)data, n, stride);                                                                 \
    }                                                                                                                  \
    static int unpack_##name(void *data, int n, int stride)                                                            \
    {                                                                                                                  \
        return pvm_upk##name((ctype *)data, n, stride);                                                                \
    }

CALLS(byte, char)
CALLS(short, short)
CALLS(ushort, unsigned short)
CALLS(int, int)
CALLS(uint, unsigned)
CALLS(long, long)
CALLS(ulong, unsigned long)
CALLS(float, float)
CALLS(cplx, float)
CALLS(double, double)
CALLS(dcplx, double)

#define TYPE(name, number, format, values, parts)                                                                      \
    {                                                                                                                  \
#name, number, format,                                                                                         \
            sizeof values[0] * parts, values, (int)(sizeof values / sizeof values[0] / parts), NULL, pack_##name,      \
                          unpack_##name                                                                                \
    }

struct type types[TYPES] = {
    TYPE(byte, PVM_BYTE, "%*c", bytes, 1),         TYPE(short, PVM_SHORT, "%*hd", shorts, 1),
    TYPE(ushort, PVM_USHORT, "%*uhd", ushorts, 1), TYPE(int, PVM_INT, "%*d", ints, 1),
    TYPE(uint, PVM_UINT, "%*ud", uints, 1),        TYPE(long, PVM_LONG, "%*ld", longs, 1),
    TYPE(ulong, PVM_ULONG, "%*uld", ulongs, 1),    TYPE(float, PVM_FLOAT, "%*f", floats, 1),
    TYPE(cplx, PVM_CPLX, "%*x", floats, 2),        TYPE(double, PVM_DOUBLE, "%*lf", doubles, 1),
    TYPE(dcplx, PVM_DCPLX, "%*lx", doubles, 2),
};

char strings[STRINGS][STRING_MAX] = {"", "a", "gr\303\274n \342\202\254"};

#if LONG_MAX > INT32_MAX
long wide_longs[WIDE] = {-7, 1L << 32, LONG_MIN, 8};
unsigned long wide_ulongs[WIDE] = {7, 1UL << 32, ULONG_MAX, 8};
#else
long wide_longs[WIDE] = {-7, LONG_MAX, LONG_MIN, 8};
unsigned long wide_ulongs[WIDE] = {7, ULONG_MAX - 1, ULONG_MAX, 8};
#endif

void values_init(void)
{
    memset(strings[STRINGS - 1], 'x', STRING_MAX - 1);
    for (struct type *t = types; t < types + TYPES; t++) {
        char *to = t->many = malloc(t->bytes * VALUES_MANY);
        if (!to)
            abort();
        for (int i = 0; i < VALUES_MANY; i++)
            memcpy(to + i * t->bytes, (const char *)t->some + i % t->count * t->bytes, t->bytes);
    }
}
