/* slot.c - buffers for incoming messages, and for outgoing ones that are too long to be sent inline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "rdma.h"

#define CHUNK_SLOTS     32
#define SHARED_SLOTS    4096 /* the shared queue's length, if the device supports it */
#define SHARED_SLOTS_OK 256  /* with a shorter one, links get queues of their own */

struct rdma_chunk {
    uint8_t *data;
    size_t bytes;
    struct ibv_mr *mr;
    struct rdma_slot slots[CHUNK_SLOTS];
    struct rdma_chunk *next;
};

/* Shared memory, so that after a fork the device still writes to ours. */
static struct rdma_chunk *chunk_new(struct rdma_transport *t)
{
    struct rdma_chunk *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->bytes = (size_t)CHUNK_SLOTS * t->slot_bytes;
    void *data = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (data != MAP_FAILED)
        c->mr = pvmt_rdma_register(t, data, c->bytes, IBV_ACCESS_LOCAL_WRITE);
    if (!c->mr) {
        if (data != MAP_FAILED)
            munmap(data, c->bytes);
        free(c);
        return NULL;
    }
    c->data = data;
    for (unsigned i = 0; i < CHUNK_SLOTS; i++)
        c->slots[i] = (struct rdma_slot){.data = c->data + (size_t)i * t->slot_bytes, .key = c->mr->lkey};
    t->registered_bytes += c->bytes;
    LL_PREPEND(t->chunks, c);
    return c;
}

static void chunk_free(struct rdma_transport *t, struct rdma_chunk *c, bool foreign)
{
    if (!foreign)
        t->verbs->dereg_mr(c->mr);
    t->registered_bytes -= c->bytes;
    munmap(c->data, c->bytes);
    free(c);
}

/* ---- queues ---- */

/* Posts to l's own queue, or to the shared one. */
static int post(struct rdma_transport *t, struct rdma_link *l, struct rdma_slot *slot)
{
    struct ibv_sge sge = {.addr = (uintptr_t)slot->data, .length = t->slot_bytes, .lkey = slot->key};
    struct ibv_recv_wr wr = {.wr_id = (uintptr_t)slot, .sg_list = &sge, .num_sge = 1}, *bad;
    slot->next = NULL;
    slot->link = t->srq ? NULL : l;
    return t->srq ? t->verbs->post_srq_recv(t->srq, &wr, &bad) : t->verbs->post_recv(l->qp, &wr, &bad);
}

static void create_shared_queue(struct rdma_transport *t, const struct ibv_device_attr *attr)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = SHARED_SLOTS, .max_sge = 1}};
    if (attr->max_srq <= 0 || attr->max_srq_wr < SHARED_SLOTS_OK)
        return;
    if (attr->max_srq_wr < SHARED_SLOTS)
        init.attr.max_wr = (uint32_t)attr->max_srq_wr;
    t->srq = t->verbs->create_srq(t->pd, &init);
    if (!t->srq)
        pvmc_log(PVMC_LOG_INFO, "rdma: %s provides no shared receive queue (%s): each link has its own", t->port.device,
                 strerror(errno));
}

int pvmt_rdma_slots_open(struct rdma_transport *t)
{
    struct ibv_device_attr attr;
    memset(&attr, 0, sizeof attr);
    if (t->verbs->query_device(t->context, &attr))
        return PVMC_ESYSTEM;
    int reads = attr.max_qp_rd_atom < attr.max_qp_init_rd_atom ? attr.max_qp_rd_atom : attr.max_qp_init_rd_atom;
    t->reads_max = (uint8_t)(reads < 1 ? 1 : reads > 16 ? 16 : reads);
    create_shared_queue(t, &attr);
    struct rdma_chunk *c = chunk_new(t);
    if (!c)
        return PVMC_ELIMIT;
    t->scratch = &c->slots[0];
    for (unsigned i = 1; i < CHUNK_SLOTS; i++)
        LL_PREPEND(t->free_bounces, &c->slots[i]);
    return 0;
}

void pvmt_rdma_slots_close(struct rdma_transport *t, bool foreign)
{
    struct rdma_chunk *c, *next;
    if (t->srq && !foreign)
        t->verbs->destroy_srq(t->srq);
    LL_FOREACH_SAFE (t->chunks, c, next)
        chunk_free(t, c, foreign);
    t->chunks = NULL;
}

/* ---- credits ---- */

/* Adds 32 slots. */
static int grow(struct rdma_transport *t)
{
    struct rdma_chunk *c = chunk_new(t);
    if (!c)
        return PVMC_ELIMIT;
    for (unsigned i = 0; i < CHUNK_SLOTS; i++)
        if (!t->srq)
            LL_PREPEND(t->free_slots, &c->slots[i]);
        else if (post(t, NULL, &c->slots[i]))
            return PVMC_ELIMIT;
        else
            t->slots++;
    return 0;
}

static int promise_own(struct rdma_link *l, unsigned count)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    while (count--) {
        int rc = t->free_slots ? 0 : grow(t);
        if (rc)
            return rc;
        struct rdma_slot *slot = t->free_slots;
        LL_DELETE(t->free_slots, slot);
        if (post(t, l, slot)) {
            LL_PREPEND(t->free_slots, slot);
            return PVMC_ELIMIT;
        }
    }
    return 0;
}

int pvmt_rdma_slots_promise(struct rdma_link *l, unsigned count)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    int rc = 0;
    if (!t->srq)
        rc = promise_own(l, count);
    while (t->srq && !rc && t->slots < t->promised + count)
        rc = grow(t);
    if (rc)
        return rc;
    t->promised += count;
    l->window += count;
    return 0;
}

void pvmt_rdma_slots_release(struct rdma_link *l)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct rdma_chunk *c;
    t->promised -= l->window;
    if (l->window > RDMA_WINDOW_START)
        t->extra -= l->window - RDMA_WINDOW_START;
    l->window = 0;
    if (t->srq)
        return;
    LL_FOREACH (t->chunks, c)
        for (unsigned i = 0; i < CHUNK_SLOTS; i++)
            if (c->slots[i].link == l) {
                c->slots[i].link = NULL;
                LL_PREPEND(t->free_slots, &c->slots[i]);
            }
}

void pvmt_rdma_slot_free(struct rdma_transport *t, struct rdma_link *l, struct rdma_slot *slot)
{
    if (l)
        l->owed++;
    struct rdma_link *queue = t->srq ? NULL : slot->link;
    if (!t->srq && (!queue || !queue->qp || queue->failed))
        return; /* freed with its queue */
    if (!post(t, queue, slot))
        return;
    pvmc_log_once(PVMC_LOG_ERROR, "rdma: %s accepts no more buffers: %s", t->port.device, strerror(errno));
    if (l && !l->failed)
        pvmt_rdma_link_fail(l, PVMC_ESYSTEM, "a buffer cannot be posted to the device again");
}
