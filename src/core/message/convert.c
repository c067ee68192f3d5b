/*
 * convert.c - "receiver makes right": converts values between two machines' C types. A value is one scalar, or two for
 * complex types. Scalars of equal size differ at most in byte order; integers of different sizes go through 64 bits.
 */
#include "message.h"
#include <string.h>
#include "core/error.h"

enum family { BYTES, SHORTS, INTS, LONGS, FLOATS, DOUBLES };

struct type {
    enum family family;
    unsigned scalars; /* 0: no such type */
    bool is_signed;
};

static const struct type types[] = {
    [PVM_BYTE] = {BYTES, 1, false},   [PVM_SHORT] = {SHORTS, 1, true}, [PVM_INT] = {INTS, 1, true},
    [PVM_FLOAT] = {FLOATS, 1, true},  [PVM_CPLX] = {FLOATS, 2, true},  [PVM_DOUBLE] = {DOUBLES, 1, true},
    [PVM_DCPLX] = {DOUBLES, 2, true}, [PVM_LONG] = {LONGS, 1, true},   [PVM_USHORT] = {SHORTS, 1, false},
    [PVM_UINT] = {INTS, 1, false},    [PVM_ULONG] = {LONGS, 1, false},
};

static const struct type *type_of(int type)
{
    if (type < 0 || (size_t)type >= sizeof types / sizeof types[0] || !types[type].scalars)
        return NULL;
    return &types[type];
}

/* Layout of one scalar on a machine. */
struct layout {
    unsigned bytes;
    bool big_endian;
};

static struct layout layout_of(enum family family, pvmc_dsig sig)
{
    bool big_endian = pvmc_dsig_big_endian(sig);
    switch (family) {
    case SHORTS:
        return (struct layout){pvmc_dsig_short_bytes(sig), big_endian};
    case INTS:
        return (struct layout){pvmc_dsig_int_bytes(sig), big_endian};
    case LONGS:
        return (struct layout){pvmc_dsig_long_bytes(sig), big_endian};
    case FLOATS:
        return (struct layout){4, big_endian};
    case DOUBLES:
        return (struct layout){8, big_endian};
    case BYTES:
        break;
    }
    return (struct layout){1, false};
}

size_t pvmc_type_bytes(int type, pvmc_dsig sig)
{
    const struct type *t = type_of(type);
    return t ? (size_t)layout_of(t->family, sig).bytes * t->scalars : 0;
}

/* Copies n scalars with their bytes swapped. */
static void swap(unsigned bytes, const uint8_t *in, uint8_t *out, size_t n)
{
    uint16_t v2;
    uint32_t v4;
    uint64_t v8;
    switch (bytes) {
    case 2:
        for (size_t i = 0; i < n; i++) {
            memcpy(&v2, in + i * 2, 2);
            v2 = __builtin_bswap16(v2);
            memcpy(out + i * 2, &v2, 2);
        }
        return;
    case 4:
        for (size_t i = 0; i < n; i++) {
            memcpy(&v4, in + i * 4, 4);
            v4 = __builtin_bswap32(v4);
            memcpy(out + i * 4, &v4, 4);
        }
        return;
    case 8:
        for (size_t i = 0; i < n; i++) {
            memcpy(&v8, in + i * 8, 8);
            v8 = __builtin_bswap64(v8);
            memcpy(out + i * 8, &v8, 8);
        }
        return;
    }
}

/* Reads an integer, sign-extended to 64 bits if it is signed. */
static uint64_t load(struct layout l, bool is_signed, const uint8_t *in)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < l.bytes; i++)
        v = v << 8 | in[l.big_endian ? i : l.bytes - 1 - i];
    unsigned unused_bits = 64 - 8 * l.bytes;
    return is_signed ? (uint64_t)((int64_t)(v << unused_bits) >> unused_bits) : v;
}

static void store(struct layout l, uint64_t v, uint8_t *out)
{
    for (unsigned i = 0; i < l.bytes; i++, v >>= 8)
        out[l.big_endian ? l.bytes - 1 - i : i] = (uint8_t)v;
}

static bool fits(unsigned bytes, bool is_signed, uint64_t v)
{
    unsigned unused_bits = 64 - 8 * bytes;
    if (is_signed)
        return (uint64_t)((int64_t)(v << unused_bits) >> unused_bits) == v;
    return v << unused_bits >> unused_bits == v;
}

static int resize(struct layout from, const uint8_t *in, struct layout to, uint8_t *out, size_t n, bool is_signed)
{
    for (size_t i = 0; i < n; i++, in += from.bytes, out += to.bytes) {
        uint64_t v = load(from, is_signed, in);
        if (!fits(to.bytes, is_signed, v))
            return PVMC_EOVERFLOW;
        store(to, v, out);
    }
    return 0;
}

/* Converts n contiguous scalars to contiguous scalars. */
static int convert_run(struct layout from, const uint8_t *in, struct layout to, uint8_t *out, size_t n, bool is_signed)
{
    if (from.bytes != to.bytes)
        return resize(from, in, to, out, n, is_signed);
    if (from.big_endian == to.big_endian || from.bytes == 1)
        memcpy(out, in, n * from.bytes);
    else
        swap(from.bytes, in, out, n);
    return 0;
}

int pvmc_convert_to(int type, pvmc_dsig from, const void *in, pvmc_dsig to, void *out, size_t n, int stride)
{
    const struct type *t = type_of(type);
    if (!t)
        return PVMC_EPARAM;
    if (t->family != BYTES && from != to && (!pvmc_dsig_valid(from) || !pvmc_dsig_valid(to)))
        return PVMC_EFORMAT;
    struct layout from_layout = layout_of(t->family, from), to_layout = layout_of(t->family, to);
    if (stride == 1)
        return convert_run(from_layout, in, to_layout, out, n * t->scalars, t->is_signed);
    const uint8_t *next_in = in;
    uint8_t *next_out = out;
    ptrdiff_t step = (ptrdiff_t)stride * (ptrdiff_t)(to_layout.bytes * t->scalars);
    int status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        status = convert_run(from_layout, next_in, to_layout, next_out, t->scalars, t->is_signed);
        next_in += from_layout.bytes * t->scalars;
        next_out += step;
    }
    return status;
}

int pvmc_convert(int type, pvmc_dsig from, const void *in, void *out, size_t n, int stride)
{
    return pvmc_convert_to(type, from, in, pvmc_dsig_own(), out, n, stride);
}
