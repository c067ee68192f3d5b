/* read.c - large frames: the receiver reads them from the sender's memory. See ofi_transport.h for what is special. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <utlist.h>
#include "core/memory/copy.h"
#include "core/error.h"
#include "ofi_transport.h"

static const size_t buffer_bytes = PVMC_FRAME_PAYLOAD_MAX + sizeof(uint64_t); /* the peer's lease comes behind */

static void buffer_free(uint8_t *buffer)
{
    if (buffer)
        munmap(buffer, buffer_bytes);
}

static void read_free(struct ofi_transport *t, struct ofi_read *r, bool foreign)
{
    if (r->region && !foreign)
        fi_close(&r->region->fid);
    buffer_free(r->to);
    DL_DELETE(t->reads, r);
    free(r);
}

/* ---- the destination ---- */

/* The link's buffer, which the read owns from now on. */
static uint8_t *take_buffer(struct ofi_link *l)
{
    uint8_t *taken = l->buffer;
    l->buffer = NULL;
    if (taken)
        return taken;
    void *fresh = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return fresh == MAP_FAILED ? NULL : fresh;
}

/* The read has memory of its own, because nothing ends a read under way when its link does. */
static bool find_memory(struct ofi_transport *t, struct ofi_read *r)
{
    r->to = take_buffer(r->link);
    if (r->to && pvmt_ofi_registers_local(t))
        r->region = pvmt_ofi_register(t, r->to, buffer_bytes, FI_READ);
    return r->to && (r->region || !pvmt_ofi_registers_local(t));
}

/* ---- operations: the frame, and after it the peer's lease ---- */

static ssize_t post_one(struct ofi_transport *t, struct ofi_read *r)
{
    bool lease = r->posted == OFI_READ_LEASE;
    const struct ofi_place *from = lease ? &r->link->peer_lease : &r->from;
    uint8_t *to = r->to + (lease ? r->h.length : 0);
    size_t bytes = lease ? sizeof(uint64_t) : r->h.length;
    struct ofi_work *w = &r->works[r->posted];
    *w = (struct ofi_work){.task = OFI_READ, .read = r, .peer = r->link->peer};
    return w->peer->gone ? -FI_ESHUTDOWN
                         : fi_read(t->ep, to, bytes, r->region ? fi_mr_desc(r->region) : NULL, w->peer->number,
                                   from->at, from->key, &w->context);
}

void pvmt_ofi_read_post(struct ofi_read *r)
{
    struct ofi_transport *t = pvmt_ofi_of(r->link);
    if (r->posted > r->done || r->failed || r->link->failed)
        return;
    ssize_t rc = post_one(t, r);
    if (rc == -FI_EAGAIN) {
        t->stuffed = true;
    } else if (rc) {
        pvmt_ofi_link_fail(r->link, PVMC_EDOWN, t->lib->strerror((int)-rc));
    } else {
        r->posted++;
        r->link->peer->uses++;
        t->operations++;
    }
}

void pvmt_ofi_read_begin(struct ofi_link *l, const struct pvmc_frame_header *h, struct ofi_place from)
{
    struct pvmt_transport *base = l->base.transport;
    struct ofi_transport *t = pvmt_ofi_of(l);
    uint8_t *place = base->callbacks->rx_place(base->arg, &l->base, h);
    if (!place || l->parted) { /* refused or disconnected */
        l->read_frames++;
        t->attention = true;
        return;
    }
    struct ofi_read *r = calloc(1, sizeof *r);
    if (!r) {
        pvmt_ofi_link_fail(l, PVMC_ENOMEM, "no memory for a message");
        return;
    }
    *r = (struct ofi_read){.link = l, .h = *h, .place = place, .from = from};
    DL_APPEND(t->reads, r);
    l->read = r;
    t->watching = true;
    if (find_memory(t, r))
        pvmt_ofi_read_post(r);
    else
        pvmt_ofi_link_fail(l, PVMC_ELIMIT, "there is no memory for a message");
}

/* ---- the end ---- */

static bool lease_is_valid(const struct ofi_read *r)
{
    uint64_t lease;
    memcpy(&lease, r->to + r->h.length, sizeof lease);
    return le64toh(lease) == r->link->peer_key;
}

static void deliver(struct ofi_transport *t, struct ofi_read *r)
{
    struct ofi_link *l = r->link;
    struct pvmc_frame_header h = r->h;
    pvmc_mem_copy(r->place, r->to, r->h.length);
    l->buffer = r->to;
    r->to = NULL;
    read_free(t, r, false);
    l->read = NULL;
    l->read_frames++;
    l->silent_ticks = 0;
    t->attention = true; /* the peer waits for its memory, and later frames for their turn */
    t->base.callbacks->rx_done(t->base.arg, &l->base, &h);
    pvmt_ofi_deliver_early(l);
}

static void advance(struct ofi_transport *t, struct ofi_read *r)
{
    if (r->done == OFI_READ_LEASE)
        pvmt_ofi_read_post(r);
    else if (lease_is_valid(r))
        deliver(t, r);
    else
        pvmt_ofi_link_fail(r->link, PVMC_EDOWN, "the peer took its memory back");
}

void pvmt_ofi_read_done(struct ofi_transport *t, struct ofi_work *w, int error)
{
    struct ofi_read *r = w->read;
    pvmt_ofi_peer_put(t, w->peer);
    t->operations--;
    r->done++;
    r->failed |= error != 0;
    if (r->link && error)
        pvmt_ofi_link_fail(r->link, PVMC_EDOWN, t->lib->strerror(error));
    if (!r->link)
        read_free(t, r, false);
    else if (!r->failed && !r->link->failed)
        advance(t, r);
}

void pvmt_ofi_read_orphan(struct ofi_link *l)
{
    struct ofi_read *r = l->read;
    buffer_free(l->buffer);
    l->buffer = NULL;
    l->read = NULL;
    if (!r)
        return;
    r->link = NULL;
    if (r->done == r->posted)
        read_free(pvmt_ofi_of(l), r, false);
    else /* a read from a dead task may never end: keep the addresses, but not the memory */
        madvise(r->to, buffer_bytes, MADV_DONTNEED);
}

void pvmt_ofi_reads_close(struct ofi_transport *t, bool foreign)
{
    while (t->reads)
        read_free(t, t->reads, foreign);
}
