/* octets.h - numbers of 16, 24 and 32 bits in PDUs, the most significant octet first, as ITU-T writes them. */
#ifndef PVMA_OCTETS_H
#define PVMA_OCTETS_H

#include <stdint.h>

static inline void pvma_put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static inline void pvma_put24(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 16);
    pvma_put16(to + 1, value);
}

static inline void pvma_put32(uint8_t *to, uint32_t value)
{
    pvma_put16(to, value >> 16);
    pvma_put16(to + 2, value);
}

static inline uint32_t pvma_get16(const uint8_t *from)
{
    return (uint32_t)from[0] << 8 | from[1];
}

static inline uint32_t pvma_get24(const uint8_t *from)
{
    return (uint32_t)from[0] << 16 | pvma_get16(from + 1);
}

static inline uint32_t pvma_get32(const uint8_t *from)
{
    return pvma_get16(from) << 16 | pvma_get16(from + 2);
}

#endif
