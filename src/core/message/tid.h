/*
 * tid.h - the task identifier, laid out as in PVM 3.
 *
 *   bit 31       a daemon           bits 18..29  host index, 1..4095
 *   bit 30       a multicast group  bits 0..17   task of the host, 1..0x3ffff; 0 is the host itself
 */
#ifndef PVMC_TID_H
#define PVMC_TID_H

#include <stdbool.h>
#include <stdint.h>

#define PVMC_TID_DAEMON     0x80000000u /* as a destination alone: the sender's own daemon */
#define PVMC_TID_MULTICAST  0x40000000u
#define PVMC_TID_HOST_MASK  0x3ffc0000u
#define PVMC_TID_LOCAL_MASK 0x0003ffffu
#define PVMC_TID_HOST_SHIFT 18
#define PVMC_HOST_INDEX_MAX 4095

typedef uint32_t pvmc_tid;

static inline pvmc_tid pvmc_tid_host(pvmc_tid tid)
{
    return tid & PVMC_TID_HOST_MASK;
}

static inline unsigned pvmc_tid_host_index(pvmc_tid tid)
{
    return (tid & PVMC_TID_HOST_MASK) >> PVMC_TID_HOST_SHIFT;
}

static inline pvmc_tid pvmc_tid_of_host_index(unsigned index)
{
    return (pvmc_tid)index << PVMC_TID_HOST_SHIFT;
}

static inline bool pvmc_tid_is_daemon(pvmc_tid tid)
{
    return tid & PVMC_TID_DAEMON;
}

static inline bool pvmc_tid_is_multicast(pvmc_tid tid)
{
    return (tid & (PVMC_TID_DAEMON | PVMC_TID_MULTICAST)) == PVMC_TID_MULTICAST;
}

static inline bool pvmc_tid_is_task(pvmc_tid tid)
{
    return !(tid & (PVMC_TID_DAEMON | PVMC_TID_MULTICAST)) && (tid & PVMC_TID_LOCAL_MASK) && (tid & PVMC_TID_HOST_MASK);
}

#endif
