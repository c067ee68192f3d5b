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

static void describe(const struct rdma_transport *t, struct rdma_slot *slot, struct ibv_sge *sge,
                     struct ibv_recv_wr *wr)
{
    *sge = (struct ibv_sge){.addr = (uintptr_t)slot->data, .length = t->slot_bytes, .lkey = slot->key};
    *wr = (struct ibv_recv_wr){.wr_id = (uintptr_t)slot, .sg_list = sge, .num_sge = 1};
}

/* Posts to l's own queue. */
static int post(struct rdma_transport *t, struct rdma_link *l, struct rdma_slot *slot)
{
    struct ibv_sge sge;
    struct ibv_recv_wr wr, *bad;
    describe(t, slot, &sge, &wr);
    slot->next = NULL;
    slot->link = l;
    return t->verbs->post_recv(l->qp, &wr, &bad);
}

/* Takes the first slots from the list, up to RDMA_SPARE_MAX, and posts them to the shared queue in one call. */
static int post_some(struct rdma_transport *t)
{
    struct ibv_sge sge[RDMA_SPARE_MAX];
    struct ibv_recv_wr wr[RDMA_SPARE_MAX], *bad = NULL;
    unsigned count = 0;
    for (struct rdma_slot *s = t->spare; s && count < RDMA_SPARE_MAX; s = s->next, count++) {
        describe(t, s, &sge[count], &wr[count]);
        if (count)
            wr[count - 1].next = &wr[count];
    }
    int failed = t->verbs->post_srq_recv(t->srq, wr, &bad);
    unsigned posted = !failed ? count : bad ? (unsigned)(bad - wr) : 0;
    for (t->spare_count -= posted; posted; posted--)
        t->spare = t->spare->next;
    return failed;
}

void pvmt_rdma_slots_post(struct rdma_transport *t)
{
    while (t->spare)
        if (post_some(t)) {
            pvmc_log_once(PVMC_LOG_ERROR, "rdma: %s accepts no more buffers: %s", t->port.device, strerror(errno));
            if (t->spare_count > RDMA_SPARE_MAX)
                pvmt_rdma_device_lost(t, "it accepts no more buffers");
            return;
        }
}

static void keep_spare(struct rdma_transport *t, struct rdma_slot *slot)
{
    LL_PREPEND(t->spare, slot);
    t->spare_count++;
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

/* Posts the slots of a new chunk. Those that the device does not accept are not used; without any, nor is the chunk. */
static int post_new(struct rdma_transport *t, struct rdma_chunk *c)
{
    int failed = 0;
    while (t->spare && !failed)
        failed = post_some(t);
    unsigned posted = CHUNK_SLOTS - t->spare_count;
    t->slots += posted;
    t->spare = NULL;
    t->spare_count = 0;
    if (!posted) {
        LL_DELETE(t->chunks, c);
        chunk_free(t, c, false);
    }
    return failed ? PVMC_ELIMIT : 0;
}

/* Adds 32 slots. */
static int grow(struct rdma_transport *t)
{
    if (t->spare)
        pvmt_rdma_slots_post(t);
    if (t->spare)
        return PVMC_ELIMIT;
    struct rdma_chunk *c = chunk_new(t);
    if (!c)
        return PVMC_ELIMIT;
    for (unsigned i = 0; i < CHUNK_SLOTS; i++)
        if (t->srq)
            keep_spare(t, &c->slots[i]);
        else
            LL_PREPEND(t->free_slots, &c->slots[i]);
    return t->srq ? post_new(t, c) : 0;
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
    while (t->srq && !rc && t->slots < t->promised + count + RDMA_SPARE_MAX)
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
    if (t->srq) {
        keep_spare(t, slot);
        if (t->spare_count > RDMA_SPARE_MAX)
            pvmt_rdma_slots_post(t);
        return;
    }
    struct rdma_link *queue = slot->link;
    if (!queue || !queue->qp || queue->failed)
        return; /* freed with its queue */
    if (!post(t, queue, slot))
        return;
    pvmc_log_once(PVMC_LOG_ERROR, "rdma: %s accepts no more buffers: %s", t->port.device, strerror(errno));
    if (l && !l->failed)
        pvmt_rdma_link_fail(l, PVMC_ESYSTEM, "a buffer cannot be posted to the device again");
}
