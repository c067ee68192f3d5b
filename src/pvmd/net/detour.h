/*
 * detour.h - what goes with a frame between two slaves that cannot reach each other, and send through the master: where
 * the master forwards it to (from the master on: where it comes from), whether its sender wants to know the count at
 * once, and the frame's number on the link between the two slaves. 0 for all other frames.
 */
#ifndef PVMD_DETOUR_H
#define PVMD_DETOUR_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/tid.h"

#define PVMD_DETOUR_HOST_BITS 12
#define PVMD_DETOUR_ASKED     (1u << PVMD_DETOUR_HOST_BITS)
#define PVMD_DETOUR_SHIFT     (PVMD_DETOUR_HOST_BITS + 1)

_Static_assert(PVMC_HOST_INDEX_MAX < 1 << PVMD_DETOUR_HOST_BITS, "a host index does not fit");

static inline uint32_t pvmd_detour(unsigned host_index, bool asked, uint32_t number)
{
    return host_index | (asked ? PVMD_DETOUR_ASKED : 0) | number << PVMD_DETOUR_SHIFT;
}

static inline unsigned pvmd_detour_host(uint32_t detour)
{
    return detour & (PVMD_DETOUR_ASKED - 1);
}

/* As the master passes it on. */
static inline uint32_t pvmd_detour_from(uint32_t detour, unsigned host_index)
{
    return (detour & ~(PVMD_DETOUR_ASKED - 1)) | host_index;
}

static inline bool pvmd_detour_is_asked(uint32_t detour)
{
    return detour & PVMD_DETOUR_ASKED;
}

/* Whether it has this number, of which it has the low 19 bits. A window is much smaller. */
static inline bool pvmd_detour_has_number(uint32_t detour, uint32_t number)
{
    return detour >> PVMD_DETOUR_SHIFT == number << PVMD_DETOUR_SHIFT >> PVMD_DETOUR_SHIFT;
}

#endif
