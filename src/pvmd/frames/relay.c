/*
 * relay.c - see relay.h. Every message on the daemon route passes through here, except small ones that clients.c
 * forwards from the buffer into which they were read. No payload is copied.
 */
#include "relay.h"
#include <unistd.h>
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"

#define FRAME_BYTES 65536 /* payload per frame of our own messages */

static const struct pvmd_exits *exits;

void pvmd_relay_start(const struct pvmd_exits *all)
{
    exits = all;
}

static bool is_of_this_host(pvmc_tid dst)
{
    return dst == PVMC_TID_DAEMON || pvmc_tid_host_index(dst) == pvmd.host_index;
}

/* A descriptor may only go from one task of this host to another. */
static void settle_descriptor(struct pvmc_frame *f, unsigned from_host)
{
    if (!from_host && pvmc_tid_is_task(f->h.dst) && is_of_this_host(f->h.dst))
        return;
    f->h.flags &= (uint8_t)~PVMC_FRAME_FD;
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

static void to_host(struct pvmc_frame *f)
{
    pvmd_stats.host_frames++;
    pvmd_stats.host_bytes += f->h.length;
    exits->to_host(f, pvmc_tid_host_index(f->h.dst));
}

void pvmd_relay(struct pvmc_frame *f, unsigned from_host)
{
    pvmc_tid dst = f->h.dst;
    f->h.detour = 0;
    if (f->h.flags & PVMC_FRAME_FD)
        settle_descriptor(f, from_host);
    pvmd_stats.frames++;
    pvmd_stats.bytes += f->h.length;
    if (pvmc_tid_is_multicast(dst))
        exits->to_many(f, from_host);
    else if (!is_of_this_host(dst))
        to_host(f);
    else if (pvmc_tid_is_daemon(dst))
        exits->to_self(f, from_host);
    else
        exits->to_task(f, from_host);
}

void pvmd_relay_message(struct pvmc_message *m)
{
    uint64_t offset = 0;
    do {
        struct pvmc_frame *f = pvmc_message_frame(m, offset, FRAME_BYTES, 0);
        if (!f) {
            exits->lost(m->dst);
            return; /* logged */
        }
        offset += f->h.length;
        pvmd_relay(f, 0);
        pvmc_frame_unref(f);
    } while (offset < m->length);
}
