/*
 * tid.h - the task identifier, laid out as in PVM 3.
 *
 *   bit 31       a daemon           bits 18..29  host index, 1..4095
 *   bit 30       a multicast group  bits 0..17   task of the host, 1..0x3ffff; 0 is the host itself
 */
#ifndef PVMI_TID_H
#define PVMI_TID_H

#include <stdbool.h>
#include <stdint.h>

#define PVMI_TID_DAEMON     0x80000000u /* as a destination alone: the sender's own daemon */
#define PVMI_TID_MULTICAST  0x40000000u
#define PVMI_TID_HOST_MASK  0x3ffc0000u
#define PVMI_TID_LOCAL_MASK 0x0003ffffu
#define PVMI_TID_HOST_SHIFT 18
#define PVMI_HOST_INDEX_MAX 4095

typedef uint32_t pvmi_tid;

static inline pvmi_tid pvmi_tid_host(pvmi_tid tid)
{
    return tid & PVMI_TID_HOST_MASK;
}

static inline unsigned pvmi_tid_host_index(pvmi_tid tid)
{
    return (tid & PVMI_TID_HOST_MASK) >> PVMI_TID_HOST_SHIFT;
}

static inline pvmi_tid pvmi_tid_of_host_index(unsigned index)
{
    return (pvmi_tid)index << PVMI_TID_HOST_SHIFT;
}

static inline bool pvmi_tid_is_daemon(pvmi_tid tid)
{
    return tid & PVMI_TID_DAEMON;
}

static inline bool pvmi_tid_is_multicast(pvmi_tid tid)
{
    return (tid & (PVMI_TID_DAEMON | PVMI_TID_MULTICAST)) == PVMI_TID_MULTICAST;
}

static inline bool pvmi_tid_is_task(pvmi_tid tid)
{
    return !(tid & (PVMI_TID_DAEMON | PVMI_TID_MULTICAST)) && (tid & PVMI_TID_LOCAL_MASK) && (tid & PVMI_TID_HOST_MASK);
}

#endif
