/*
 * read.c - large frames: the receiver reads them by RDMA from the sender's memory into their final place.
 *
 * When packets are lost, soft-RoCE of Linux 6.1 reports READs as done that brought no data or only a part
 * (tests/rdma/reads.c shows it). On soft-RoCE a READ therefore counts only once a later READ is done, and only
 * SOFT_BYTES are in flight at a time, so that the host's packet queue does not overflow. There, parts of a frame are
 * read one after the other: the processor copies them, and finds in its cache what it has just written.
 */
#include <string.h>
#include "core/error.h"
#include "rdma.h"

#define SOFT_BYTES    ((size_t)1 << 20)
#define SOFT_PART     (32u << 10)
#define SOFT_PARTS    32 /* per frame, at most */
#define CONFIRM_BYTES 8

/* ---- destination ---- */

/* Registers the destination. If that costs more than a copy, reads into message memory and copies from there. */
static bool prepare(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct rdma_read *r = &l->read;
    uint8_t *to = r->place;
    if (r->h.length < t->inplace_bytes && !pvmc_mem_at(to, r->h.length)) {
        r->copy = pvmc_mem_new(r->h.length);
        if (!r->copy)
            return false;
        to = r->copy->data;
    }
    r->region = pvmt_rdma_region_get(t, to, r->h.length, IBV_ACCESS_LOCAL_WRITE);
    return r->region;
}

static void put_back(struct rdma_link *l)
{
    struct rdma_read *r = &l->read;
    if (r->region)
        pvmt_rdma_region_put(pvmt_rdma_of(l), r->region);
    r->region = NULL;
    pvmc_mem_unref(r->copy);
    r->copy = NULL;
    if (r->posted)
        pvmt_rdma_of(l)->reading_bytes -= r->h.length;
    r->posted = r->active = false;
}

/* ---- the device ---- */

/* Limit of bytes per READ. */
static uint32_t part_bytes(const struct rdma_transport *t, const struct rdma_read *r)
{
    if (!t->port.soft)
        return UINT32_MAX;
    uint32_t least = r->h.length / SOFT_PARTS + (r->h.length % SOFT_PARTS > 0);
    return least > SOFT_PART ? least : SOFT_PART;
}

/* Number of work requests needed. */
static unsigned count_works(const struct rdma_transport *t, const struct rdma_read *r)
{
    uint32_t part = part_bytes(t, r);
    unsigned n = t->port.soft;
    for (unsigned i = 0; i < r->count; i++)
        n += (r->pieces[i].bytes - 1) / part + 1;
    return n;
}

static bool post_one(struct rdma_link *l, const struct rdma_piece *from, uint8_t *to, uint32_t key, bool last)
{
    struct ibv_sge sge = {.addr = (uintptr_t)to, .length = from->bytes, .lkey = key};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};
    wr.wr.rdma.remote_addr = from->address;
    wr.wr.rdma.rkey = from->key;
    wr.send_flags = last ? IBV_SEND_SIGNALED : 0;
    return pvmt_rdma_post(l, &wr, last ? RDMA_WORK_READ : RDMA_WORK_SEND);
}

static bool post_piece(struct rdma_link *l, const struct rdma_piece *piece, uint8_t *to, bool last)
{
    uint32_t part = part_bytes(pvmt_rdma_of(l), &l->read);
    struct rdma_piece left = *piece;
    while (left.bytes > part) {
        struct rdma_piece first = {left.address, left.key, part};
        if (!post_one(l, &first, to, l->read.region->mr->lkey, false))
            return false;
        left.address += part;
        left.bytes -= part;
        to += part;
    }
    return post_one(l, &left, to, l->read.region->mr->lkey, last);
}

static void post_all(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct rdma_read *r = &l->read;
    uint8_t *to = r->copy ? r->copy->data : r->place;
    for (unsigned i = 0; i < r->count; i++) {
        if (!post_piece(l, &r->pieces[i], to, i + 1 == r->count && !t->port.soft))
            return;
        to += r->pieces[i].bytes;
    }
    struct rdma_piece confirm = r->pieces[0];
    if (confirm.bytes > CONFIRM_BYTES)
        confirm.bytes = CONFIRM_BYTES;
    if (t->port.soft)
        post_one(l, &confirm, t->scratch->data, t->scratch->key, true);
}

void pvmt_rdma_read_post(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct rdma_read *r = &l->read;
    if (r->posted || l->failed || pvmt_rdma_send_room(l) <= count_works(t, r))
        return;
    if (t->port.soft && t->reading_bytes && t->reading_bytes + r->h.length > SOFT_BYTES)
        return;
    r->posted = true;
    t->reading_bytes += r->h.length;
    post_all(l);
}

/* ---- beginning and end ---- */

void pvmt_rdma_read_begin(struct rdma_link *l, const struct pvmc_frame_header *h, const struct rdma_piece *pieces,
                          unsigned count, struct rdma_slot *slot)
{
    struct pvmt_transport *t = l->base.transport;
    struct rdma_read *r = &l->read;
    *r = (struct rdma_read){.h = *h, .slot = slot, .count = count};
    memcpy(r->pieces, pieces, count * sizeof *pieces);
    r->place = t->callbacks->rx_place(t->arg, &l->base, &r->h);
    if (!r->place || l->parted) { /* refused or disconnected */
        l->read_frames++;
        pvmt_rdma_slot_free(pvmt_rdma_of(l), l, slot);
        return;
    }
    r->active = true;
    if (prepare(l))
        pvmt_rdma_read_post(l);
    else
        pvmt_rdma_link_fail(l, PVMC_ELIMIT, "there is no registered memory for a message");
}

void pvmt_rdma_read_done(struct rdma_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    struct rdma_read *r = &l->read;
    if (!r->posted)
        return;
    if (r->copy)
        memcpy(r->place, r->copy->data, r->h.length);
    put_back(l);
    l->read_frames++;
    pvmt_rdma_slot_free(pvmt_rdma_of(l), l, r->slot);
    pvmt_rdma_of(l)->attention = true; /* other frames may be waiting */
    if (!l->parted)
        t->callbacks->rx_done(t->arg, &l->base, &r->h);
    pvmt_rdma_deliver_backlog(l);
}

void pvmt_rdma_read_drop(struct rdma_link *l)
{
    if (!l->read.active)
        return;
    put_back(l);
    pvmt_rdma_slot_free(pvmt_rdma_of(l), NULL, l->read.slot);
    pvmt_rdma_of(l)->attention = true;
}
