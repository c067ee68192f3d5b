/* slot.c - buffers for messages. Those for sending grow in number with the messages under way. */
#include <stdlib.h>
#include <sys/mman.h>
#include <utlist.h>
#include "core/error.h"
#include "ofi_transport.h"

#define CHUNK_SLOTS 64
#define CHUNKS_MAX  32

struct ofi_chunk {
    uint8_t *data;
    struct fid_mr *region; /* NULL: not needed */
    struct ofi_work slots[CHUNK_SLOTS];
    struct ofi_chunk *next;
};

static const size_t chunk_bytes = (size_t)CHUNK_SLOTS * OFI_MESSAGE_BYTES;

/* Shared memory, so that after a fork a device still reads and writes ours. */
static struct ofi_chunk *chunk_new(struct ofi_transport *t, enum ofi_task task)
{
    struct ofi_chunk *c = t->chunk_count < CHUNKS_MAX ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    void *data = mmap(NULL, chunk_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool needs_region = pvmt_ofi_registers_local(t);
    if (data != MAP_FAILED && needs_region)
        c->region = pvmt_ofi_register(t, data, chunk_bytes, FI_SEND | FI_RECV);
    if (data == MAP_FAILED || (needs_region && !c->region)) {
        if (data != MAP_FAILED)
            munmap(data, chunk_bytes);
        free(c);
        return NULL;
    }
    c->data = data;
    for (unsigned i = 0; i < CHUNK_SLOTS; i++) {
        c->slots[i] = (struct ofi_work){.task = task, .data = c->data + (size_t)i * OFI_MESSAGE_BYTES};
        c->slots[i].descriptor = c->region ? fi_mr_desc(c->region) : NULL;
        LL_PREPEND(*(task == OFI_RECEIVE ? &t->idle_receives : &t->free_sends), &c->slots[i]);
    }
    LL_PREPEND(t->chunks, c);
    t->chunk_count++;
    return c;
}

int pvmt_ofi_slots_open(struct ofi_transport *t)
{
    if (!chunk_new(t, OFI_RECEIVE))
        return PVMC_ELIMIT;
    pvmt_ofi_slots_post(t);
    return 0;
}

void pvmt_ofi_slots_close(struct ofi_transport *t, bool foreign)
{
    struct ofi_chunk *c, *next;
    LL_FOREACH_SAFE (t->chunks, c, next) {
        if (c->region && !foreign)
            fi_close(&c->region->fid);
        munmap(c->data, chunk_bytes);
        free(c);
    }
}

struct ofi_work *pvmt_ofi_slot_take(struct ofi_transport *t)
{
    if (!t->free_sends)
        chunk_new(t, OFI_SEND);
    struct ofi_work *w = t->free_sends;
    if (w)
        LL_DELETE(t->free_sends, w);
    return w;
}

void pvmt_ofi_slot_free(struct ofi_transport *t, struct ofi_work *w)
{
    w->link = NULL;
    w->peer = NULL;
    if (w->task == OFI_RECEIVE)
        LL_PREPEND(t->idle_receives, w);
    else
        LL_PREPEND(t->free_sends, w);
}

void pvmt_ofi_slots_post(struct ofi_transport *t)
{
    struct ofi_work *w;
    while ((w = t->idle_receives)) {
        ssize_t rc = fi_recv(t->ep, w->data, OFI_MESSAGE_BYTES, w->descriptor, FI_ADDR_UNSPEC, &w->context);
        if (rc == -FI_EAGAIN)
            t->stuffed = true;
        else if (rc)
            pvmt_ofi_device_lost(t, (int)-rc);
        if (rc)
            return;
        LL_DELETE(t->idle_receives, w);
    }
}

void pvmt_ofi_slots_orphan(struct ofi_link *l)
{
    struct ofi_chunk *c;
    LL_FOREACH (pvmt_ofi_of(l)->chunks, c)
        for (unsigned i = 0; l->sending && i < CHUNK_SLOTS; i++)
            if (c->slots[i].link == l) {
                c->slots[i].link = NULL;
                l->sending--;
            }
}
