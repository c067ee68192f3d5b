/*
 * reference.c - messages that stay in the sender's memory: the sender lends a part of one of its arenas. The receiver
 * borrows it and gives it back through a ring of numbers, which has room for all loans.
 *
 * An arena's descriptor is sent over the socket before the first reference to it is in the ring, so the receiver has it
 * when it needs it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utlist.h>
#include "core/memory/copy.h"
#include "core/error.h"
#include "core/log.h"
#include "link.h"

/* ---- lending ---- */

static bool lending_begin(struct pvmt_lending *b)
{
    if (b->loans)
        return true;
    b->loans = calloc(PVMT_REFERENCES_MAX, sizeof *b->loans);
    b->untaken = calloc(PVMT_REFERENCES_MAX, sizeof *b->untaken);
    if (!b->loans || !b->untaken) {
        free(b->loans);
        free(b->untaken);
        b->loans = NULL;
        b->untaken = NULL;
        return false;
    }
    for (uint32_t i = 0; i < PVMT_REFERENCES_MAX; i++)
        b->loans[i].next_free = i + 1;
    return true;
}

/* Subtracts the bytes of references that the peer has read from the ring. */
static bool count_untaken(struct pvmt_shm_link *l)
{
    struct pvmt_lending *b = &l->lending;
    if (!pvmw_ring_refresh(&l->tx)) {
        pvmt_shm_link_fail(l, PVMC_EFORMAT, "it acknowledged records that were never sent");
        return false;
    }
    uint64_t taken = l->tx.limit - l->tx.mask;
    while (b->untaken_count && b->untaken[b->untaken_first].position < taken) {
        b->untaken_bytes -= b->untaken[b->untaken_first].bytes;
        b->untaken_first = (b->untaken_first + 1) % PVMT_REFERENCES_MAX;
        b->untaken_count--;
    }
    return true;
}

bool pvmt_shm_lending_has_room(struct pvmt_shm_link *l)
{
    const struct pvmt_lending *b = &l->lending;
    return !b->untaken_count || !count_untaken(l) ||
           (b->untaken_bytes <= l->untaken_max / 2 && b->untaken_count <= PVMT_REFERENCES_MAX / 2);
}

static bool may_lend(struct pvmt_shm_link *l, uint32_t bytes)
{
    const struct pvmt_lending *b = &l->lending;
    if (!b->untaken_count || (b->untaken_bytes + bytes <= l->untaken_max && b->untaken_count < PVMT_REFERENCES_MAX))
        return true;
    return count_untaken(l) && (!b->untaken_count ||
                                (b->untaken_bytes + bytes <= l->untaken_max && b->untaken_count < PVMT_REFERENCES_MAX));
}

/* Lets the peer unmap arenas that no longer exist; else it would keep one more whenever the cache has been emptied. */
static void forget_gone(struct pvmt_shm_link *l)
{
    struct pvmt_lending *b = &l->lending;
    struct pvmc_mem_arena arena;
    for (unsigned i = b->sent_count; i-- > 0;)
        if (!pvmc_mem_arena(b->sent[i], &arena) && !pvmt_shm_link_send_gone(l, b->sent[i]))
            b->sent[i] = b->sent[--b->sent_count];
}

static bool peer_has_arena(struct pvmt_shm_link *l, unsigned number)
{
    struct pvmt_lending *b = &l->lending;
    for (unsigned i = b->sent_count; i-- > 0;)
        if (b->sent[i] == number)
            return true;
    forget_gone(l);
    struct pvmc_mem_arena arena;
    unsigned *sent = realloc(b->sent, (b->sent_count + 1) * sizeof *sent);
    if (!sent)
        return false;
    b->sent = sent;
    if (!pvmc_mem_arena(number, &arena) || pvmt_shm_link_send_arena(l, number, &arena))
        return false;
    sent[b->sent_count++] = number;
    return true;
}

static uint32_t loan_new(struct pvmt_lending *b, struct pvmc_mem *mem)
{
    uint32_t number = b->first_free;
    b->first_free = b->loans[number].next_free;
    b->loans[number].mem = pvmc_mem_ref(mem);
    b->count++;
    return number;
}

static void loan_end(struct pvmt_lending *b, uint32_t number)
{
    struct pvmt_loan *loan = &b->loans[number];
    struct pvmc_mem *mem = loan->mem;
    loan->mem = NULL;
    loan->next_free = b->first_free;
    b->first_free = number;
    b->count--;
    pvmc_mem_unref(mem);
}

static void note_untaken(struct pvmt_shm_link *l, uint32_t bytes)
{
    struct pvmt_lending *b = &l->lending;
    b->untaken[(b->untaken_first + b->untaken_count++) % PVMT_REFERENCES_MAX] =
        (struct pvmt_untaken){.position = l->tx.head, .bytes = bytes};
    b->untaken_bytes += bytes;
}

int pvmt_shm_lend(struct pvmt_shm_link *l, const struct pvmc_frame *f, const uint8_t *at)
{
    struct pvmt_lending *b = &l->lending;
    struct pvmc_mem_place place;
    if (!pvmc_mem_locate(f->mem, &place) || !lending_begin(b))
        return PVMC_EUNSUPPORTED;
    if (b->count == PVMT_REFERENCES_MAX)
        pvmt_shm_lending_reap(l);
    if (b->count == PVMT_REFERENCES_MAX)
        return PVMC_EUNSUPPORTED;
    if (!may_lend(l, f->h.length))
        return PVMC_EAGAIN;
    struct pvmw_long_cell *cell = pvmt_shm_link_reserve(l, 2);
    if (!cell)
        return PVMC_EAGAIN;
    if (!peer_has_arena(l, place.arena))
        return PVMC_EUNSUPPORTED;
    pvmt_shm_header_write(cell, &f->h);
    struct pvmt_reference r = {.offset = place.offset + (uint64_t)(at - f->mem->data), .arena = place.arena};
    note_untaken(l, f->h.length);
    r.loan = loan_new(b, f->mem);
    memcpy(cell + 1, &r, sizeof r);
    pvmt_shm_publish(l, &cell->word, PVMW_RECORD_REFERENCE, 2, sizeof r);
    return 0;
}

void pvmt_shm_lending_reap(struct pvmt_shm_link *l)
{
    struct pvmt_lending *b = &l->lending;
    if (!b->count || l->foreign || l->failed)
        return;
    uint32_t returned = __atomic_load_n(&l->theirs->returned, __ATOMIC_ACQUIRE);
    if (returned - b->returned > b->count) {
        pvmt_shm_link_fail(l, PVMC_EFORMAT, "it returned more references than it received");
        return;
    }
    while (b->returned != returned) {
        uint32_t number = __atomic_load_n(&l->their_returns[b->returned++ % PVMT_REFERENCES_MAX], __ATOMIC_RELAXED);
        if (number >= PVMT_REFERENCES_MAX || !b->loans[number].mem) {
            pvmt_shm_link_fail(l, PVMC_EFORMAT, "it returned a reference that it never received");
            return;
        }
        loan_end(b, number);
    }
}

void pvmt_shm_lending_end(struct pvmt_shm_link *l)
{
    struct pvmt_lending *b = &l->lending;
    for (uint32_t i = 0; b->count && i < PVMT_REFERENCES_MAX; i++)
        if (b->loans[i].mem)
            loan_end(b, i);
    free(b->loans);
    free(b->untaken);
    free(b->sent);
    *b = (struct pvmt_lending){0};
}

/* ---- borrowing ---- */

struct pvmt_mapping {
    unsigned number;
    unsigned refs;       /* one for the link, and one for each reference to it */
    const uint8_t *data; /* NULL: mapping failed, so it is read through fd */
    uint64_t bytes;
    int fd;
    struct pvmt_mapping *prev, *next;
};

struct borrowed {
    struct pvmc_mem mem; /* must be first: a pvmc_mem is cast to its borrowed */
    struct pvmt_shm_link *link;
    struct pvmt_mapping *mapping;
    uint32_t loan;
};

#define SPARE_MAX    32
#define UNMAPPED_MAX 64 /* limit per peer of arenas that could not be mapped; each costs a descriptor */

static struct borrowed *spare[SPARE_MAX];
static unsigned spare_count;

__attribute__((destructor)) static void drop_spare(void)
{
    while (spare_count)
        free(spare[--spare_count]);
}

static bool may_keep_open(const struct pvmt_shm_link *l)
{
    const struct pvmt_mapping *m;
    unsigned open = 0;
    DL_FOREACH (l->mappings, m)
        open += m->fd >= 0;
    return open < UNMAPPED_MAX;
}

void pvmt_shm_mapping_add(struct pvmt_shm_link *l, unsigned number, uint64_t bytes, int fd)
{
    struct pvmt_mapping *m = calloc(1, sizeof *m);
    bool fits = m && bytes <= SIZE_MAX;
    void *data = fits ? mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0) : MAP_FAILED;
    if (!m || (data == MAP_FAILED && !may_keep_open(l))) {
        close(fd);
        free(m);
        return;
    }
    *m = (struct pvmt_mapping){.number = number, .refs = 1, .bytes = bytes, .fd = -1};
    if (data != MAP_FAILED) {
        m->data = data;
        close(fd);
    } else {
        m->fd = fd;
    }
    DL_PREPEND(l->mappings, m);
}

static void mapping_unref(struct pvmt_mapping *m)
{
    if (--m->refs)
        return;
    if (m->data)
        munmap((void *)m->data, m->bytes);
    else
        close(m->fd);
    free(m);
}

void pvmt_shm_mappings_free(struct pvmt_shm_link *l)
{
    struct pvmt_mapping *m, *next;
    DL_FOREACH_SAFE (l->mappings, m, next)
        mapping_unref(m);
    l->mappings = NULL;
}

static struct pvmt_mapping *find_mapping(const struct pvmt_shm_link *l, unsigned number)
{
    struct pvmt_mapping *m;
    DL_FOREACH (l->mappings, m)
        if (m->number == number)
            return m;
    return NULL;
}

void pvmt_shm_mapping_remove(struct pvmt_shm_link *l, unsigned number)
{
    struct pvmt_mapping *m = find_mapping(l, number);
    if (!m)
        return;
    DL_DELETE(l->mappings, m);
    mapping_unref(m);
}

static void give_back(struct pvmt_shm_link *l, uint32_t loan)
{
    if (l->foreign)
        return;
    __atomic_store_n(&l->my_returns[l->returned % PVMT_REFERENCES_MAX], loan, __ATOMIC_RELAXED);
    pvmt_shm_tell(l, &l->mine->returned, ++l->returned, PVMT_WAKE_ROOM);
}

/* pvmc_mem.release: the receiver is done with it. */
static void release(struct pvmc_mem *mem)
{
    struct borrowed *b = (struct borrowed *)mem;
    struct pvmt_shm_link *l = b->link;
    give_back(l, b->loan);
    mapping_unref(b->mapping);
    l->borrowed--;
    if (spare_count < SPARE_MAX)
        spare[spare_count++] = b;
    else
        free(b);
    if (!l->base.transport)
        pvmt_shm_link_release(l);
}

/* Delivers the message without a copy. */
static bool hand_up(struct pvmt_shm_link *l, struct pvmt_mapping *m, const struct pvmc_frame_header *h,
                    const struct pvmt_reference *r)
{
    struct pvmt_transport *t = l->base.transport;
    struct borrowed *b = spare_count ? spare[--spare_count] : malloc(sizeof *b);
    if (!b)
        return false;
    *b = (struct borrowed){.link = l, .mapping = m, .loan = r->loan};
    b->mem =
        (struct pvmc_mem){.data = (uint8_t *)m->data + r->offset, .capacity = h->length, .refs = 1, .release = release};
    m->refs++;
    l->borrowed++;
    if (t->callbacks->rx_whole(t->arg, &l->base, h, &b->mem, b->mem.data))
        pvmc_mem_unref(&b->mem);
    return true;
}

static bool read_mapping(const struct pvmt_mapping *m, uint64_t offset, uint8_t *to, size_t length)
{
    if (m->data) {
        pvmc_mem_copy(to, m->data + offset, length);
        return true;
    }
    while (length) {
        ssize_t n = pread(m->fd, to, length, (off_t)offset);
        if (n <= 0)
            return false;
        to += n;
        offset += (uint64_t)n;
        length -= (size_t)n;
    }
    return true;
}

/* Copies a part of a message, or a message for an owner that accepts no references, to its final place. */
static bool hand_copy(struct pvmt_shm_link *l, const struct pvmt_mapping *m, const struct pvmc_frame_header *h,
                      const struct pvmt_reference *r)
{
    struct pvmt_transport *t = l->base.transport;
    uint8_t *place = t->callbacks->rx_place(t->arg, &l->base, h);
    bool wanted = place && !l->parted;
    if (wanted && !read_mapping(m, r->offset, place, h->length)) {
        pvmt_shm_link_fail(l, PVMC_ESYSTEM, "its memory cannot be read");
        return false;
    }
    give_back(l, r->loan);
    if (wanted)
        t->callbacks->rx_done(t->arg, &l->base, h);
    return true;
}

bool pvmt_shm_borrow(struct pvmt_shm_link *l, const struct pvmc_frame_header *h, const struct pvmt_reference *r)
{
    struct pvmt_mapping *m = find_mapping(l, r->arena);
    if (!m) {
        pvmt_shm_link_listen(l);
        m = find_mapping(l, r->arena);
    }
    if (!m) {
        pvmt_shm_link_fail(l, PVMC_ELIMIT, "the memory of a message was not received");
        return false;
    }
    if (r->offset > m->bytes || h->length > m->bytes - r->offset) {
        pvmt_shm_link_fail(l, PVMC_EFORMAT, "a reference points outside its memory");
        return false;
    }
    bool whole = h->length == h->body_length && !h->flags && l->base.transport->callbacks->rx_whole;
    if (whole && m->data && hand_up(l, m, h, r))
        return true;
    return hand_copy(l, m, h, r);
}
