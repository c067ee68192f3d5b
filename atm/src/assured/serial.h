/*
 * serial.h - sequence numbers. The engines count in 64 bits and never wrap; a PDU carries the low 24 (SSCOP) or 32
 * (PC-AAL) bits of a number. Its reader knows the rest, because windows are much smaller than half of these ranges.
 */
#ifndef PVMA_SERIAL_H
#define PVMA_SERIAL_H

#include <stdint.h>

enum { PVMA_SERIAL_SSCOP = 24, PVMA_SERIAL_PCAAL = 32 };

/* The number closest to `near` whose low `bits` bits are `wire`; of two equally close ones the lower. */
static inline int64_t pvma_serial_near(int64_t near, uint32_t wire, unsigned bits)
{
    int64_t modulus = INT64_C(1) << bits;
    int64_t ahead = (int64_t)((wire - (uint64_t)near) & (uint64_t)(modulus - 1));
    return near + (ahead < modulus / 2 ? ahead : ahead - modulus);
}

/* What a PDU carries of a number. */
static inline uint32_t pvma_serial_wire(int64_t number, unsigned bits)
{
    return (uint32_t)((uint64_t)number & ((UINT64_C(1) << bits) - 1));
}

#endif
