/*
 * dsig.h - data signature: byte order and sizes of a machine's C types in 32 bits.
 *
 * The layout is the one that can be read off the values PVM prints (x86-64 Linux: 0x00408c41):
 *   bits 0-1 log2 of sizeof(short), 2-4 its byte order; 5-6 int, 7-9; 10-11 long, 12-14; 15-17 float format, 18-20;
 *   21-23 double format, 24-26. Byte order 0 is little-endian, 6 big-endian. Float format 1 is IEEE single, 2 double.
 */
#ifndef PVMC_DSIG_H
#define PVMC_DSIG_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t pvmc_dsig;

#define PVMC_DSIG_BIG_ENDIAN 6u /* byte order field; little-endian is 0 */

/* Makes a signature. Sizes are in bytes: 1, 2, 4 or 8. */
static inline pvmc_dsig pvmc_dsig_make(bool big_endian, unsigned short_bytes, unsigned int_bytes, unsigned long_bytes)
{
    uint32_t order = big_endian ? PVMC_DSIG_BIG_ENDIAN : 0;
    uint32_t orders = order << 2 | order << 7 | order << 12 | order << 18 | order << 24;
    uint32_t short_size = (uint32_t)__builtin_ctz(short_bytes), int_size = (uint32_t)__builtin_ctz(int_bytes);
    return orders | short_size | int_size << 5 | (uint32_t)__builtin_ctz(long_bytes) << 10 | 1u << 15 | 2u << 21;
}

/* Signature of this machine: inline, so that the comparison in every pack is with a constant. */
static inline pvmc_dsig pvmc_dsig_own(void)
{
    return pvmc_dsig_make(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(short), sizeof(int), sizeof(long));
}

/* Whether we can convert from and to it: the same byte order in all fields, IEEE floats, no unknown bits. */
bool pvmc_dsig_valid(pvmc_dsig sig);

/* Fields. Those of an invalid signature are decoded alike; sizes are always 1..8. */
bool pvmc_dsig_big_endian(pvmc_dsig sig);
unsigned pvmc_dsig_short_bytes(pvmc_dsig sig);
unsigned pvmc_dsig_int_bytes(pvmc_dsig sig);
unsigned pvmc_dsig_long_bytes(pvmc_dsig sig);

/* PVM's architecture name of this machine, such as "LINUX64". */
const char *pvmc_arch_own(void);

#endif
