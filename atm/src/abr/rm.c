/* rm.c - see rm.h. */
#include "rm.h"
#include <string.h>
#include "base/crc.h"

enum { PROTOCOL_ABR = 1, BACKWARD = 0x80, CONGESTED = 0x20, NO_INCREASE = 0x10 };
enum { AT_ER = 2, AT_CCR = 4, AT_MCR = 6, AT_CRC = 46, CRC_COVERS_BITS = 374 };
enum { MANTISSA_BITS = 9, NONZERO = 0x4000, EXPONENT_MAX = 31 };

/* ---- rates ---- */

static uint16_t rate_code(int64_t bps)
{
    uint64_t cells = (uint64_t)(bps + PVMA_CELL_BITS - 1) / PVMA_CELL_BITS; /* per second */
    if (bps <= 0)
        return 0;
    unsigned exponent = 63 - (unsigned)__builtin_clzll(cells),
             drop = exponent > MANTISSA_BITS ? exponent - MANTISSA_BITS : 0;
    cells += (UINT64_C(1) << drop) - 1; /* rounds up, which may carry */
    exponent = 63 - (unsigned)__builtin_clzll(cells);
    if (exponent > EXPONENT_MAX)
        return UINT16_MAX >> 1;
    uint64_t mantissa =
        exponent > MANTISSA_BITS ? cells >> (exponent - MANTISSA_BITS) : cells << (MANTISSA_BITS - exponent);
    return (uint16_t)(NONZERO | exponent << MANTISSA_BITS | (mantissa & ((1 << MANTISSA_BITS) - 1)));
}

static int64_t rate_of(uint16_t code)
{
    unsigned exponent = code >> MANTISSA_BITS & EXPONENT_MAX;
    uint64_t mantissa = (UINT64_C(1) << MANTISSA_BITS) + (code & ((1 << MANTISSA_BITS) - 1));
    return code & NONZERO ? (int64_t)(mantissa << exponent >> MANTISSA_BITS) * PVMA_CELL_BITS : 0;
}

static void put_rate(uint8_t *to, int64_t bps)
{
    uint16_t code = rate_code(bps);
    to[0] = (uint8_t)(code >> 8);
    to[1] = (uint8_t)code;
}

static int64_t get_rate(const uint8_t *from)
{
    return rate_of((uint16_t)(from[0] << 8 | from[1]));
}

/* ---- cells ---- */

void pvma_rm_write(const struct pvma_rm *rm, struct pvma_cell *cell)
{
    uint8_t *to = cell->payload;
    cell->pti = PVMA_PTI_RM;
    memset(to, 0x6a, PVMA_CELL_PAYLOAD); /* I.371: reserved octets */
    to[0] = PROTOCOL_ABR;
    to[1] = (uint8_t)((rm->backward ? BACKWARD : 0) | (rm->congested ? CONGESTED : 0) |
                      (rm->no_increase ? NO_INCREASE : 0));
    put_rate(to + AT_ER, rm->er_bps);
    put_rate(to + AT_CCR, rm->current_bps);
    put_rate(to + AT_MCR, rm->minimum_bps);
    to[AT_CRC] = 0;
    uint16_t crc = pvma_crc10(to, CRC_COVERS_BITS);
    to[AT_CRC] = (uint8_t)(crc >> 8);
    to[AT_CRC + 1] = (uint8_t)crc;
}

bool pvma_rm_read(struct pvma_rm *rm, const struct pvma_cell *cell)
{
    const uint8_t *from = cell->payload;
    uint16_t crc = (uint16_t)((from[AT_CRC] & 3) << 8 | from[AT_CRC + 1]);
    if (!pvma_cell_is_rm(cell) || from[0] != PROTOCOL_ABR || crc != pvma_crc10(from, CRC_COVERS_BITS))
        return false;
    *rm = (struct pvma_rm){.backward = from[1] & BACKWARD,
                           .congested = from[1] & CONGESTED,
                           .no_increase = from[1] & NO_INCREASE,
                           .er_bps = get_rate(from + AT_ER),
                           .current_bps = get_rate(from + AT_CCR),
                           .minimum_bps = get_rate(from + AT_MCR)};
    return true;
}
