/* message.c - messages as a whole: allocation, reference counts, cutting into frames. */
#include "message.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"

#define SPARE_MAX  256  /* freed messages kept for reuse */
#define KEPT_BYTES 1024 /* largest body memory that a renewed message keeps */

static struct pvmc_message *spare[SPARE_MAX];
static unsigned spare_count;

/* Everything but the envelope and the memory. */
static inline void clear(struct pvmc_message *m)
{
    m->refs = 1;
    m->length = m->position = 0;
    m->items = 0;
    memset(&m->inplace, 0, offsetof(struct pvmc_message, segment) - offsetof(struct pvmc_message, inplace));
}

static inline void begin(struct pvmc_message *m, uint32_t enc)
{
    clear(m);
    m->envelope = (struct pvmc_envelope){.enc = enc, .dsig = pvmc_dsig_own()};
}

static __attribute__((cold, noinline)) struct pvmc_message *allocate(void)
{
    struct pvmc_message *m = malloc(sizeof *m);
    if (m)
        m->mem = NULL;
    else
        pvmc_log(PVMC_LOG_ERROR, "no memory for a message");
    return m;
}

/* It may have memory, parked when it was freed. */
static inline struct pvmc_message *take(void)
{
    if (__builtin_expect(!spare_count, 0))
        return allocate();
    struct pvmc_message *m = spare[--spare_count];
    if (m->mem)
        pvmc_mem_unpark(m->mem);
    return m;
}

static __attribute__((noinline)) bool replace_memory(struct pvmc_message *m, uint64_t length)
{
    pvmc_mem_unref(m->mem);
    m->mem = length ? pvmc_mem_new(length) : NULL;
    return m->mem || !length;
}

/* Gives m, which is not shared, memory for `length` bytes, or none for 0. False: out of memory. */
static inline bool make_room(struct pvmc_message *m, uint64_t length)
{
    return (length && m->mem && m->mem->capacity >= length) || replace_memory(m, length);
}

struct pvmc_message *pvmc_message_new(uint32_t enc)
{
    struct pvmc_message *m = take();
    if (!m)
        return NULL;
    begin(m, enc);
    if (enc == PVMC_ENC_INPLACE)
        make_room(m, 0);
    return m;
}

void pvmc_message_renew(struct pvmc_message *m, uint32_t enc)
{
    struct pvmc_mem *mem = m->mem;
    bool keep = mem && mem->refs == 1 && !mem->release && mem->capacity <= KEPT_BYTES && enc != PVMC_ENC_INPLACE;
    if (__builtin_expect(keep && !m->inplace_capacity, 1)) {
        m->length = m->position = 0;
        m->items = 0;
        m->envelope = (struct pvmc_envelope){.enc = enc, .dsig = pvmc_dsig_own()};
        return;
    }
    if (!keep)
        make_room(m, 0);
    if (m->inplace_capacity > 1)
        free(m->inplace);
    begin(m, enc);
}

struct pvmc_message *pvmc_message_twin(const struct pvmc_message *m, uint32_t enc)
{
    struct pvmc_message *twin = pvmc_message_new(enc);
    if (!twin)
        return NULL;
    twin->envelope = m->envelope;
    twin->enc = enc;
    return twin;
}

void pvmc_message_share(struct pvmc_message *twin, const struct pvmc_message *m)
{
    if (!m->length)
        return;
    pvmc_mem_unref(twin->mem);
    twin->mem = pvmc_mem_ref(m->mem);
    twin->length = m->length;
}

struct pvmc_message *pvmc_message_copy_small(const struct pvmc_message *m)
{
    struct pvmc_message *copy = take();
    if (!copy)
        return NULL;
    clear(copy);
    if (!make_room(copy, m->length)) {
        pvmc_message_unref(copy);
        return NULL;
    }
    copy->envelope = m->envelope;
    copy->length = m->length;
    pvmc_copy(copy->mem->data, m->mem->data, m->length);
    return copy;
}

int pvmc_message_own(struct pvmc_message *m)
{
    return m->mem && m->mem->release ? pvmc_mem_grow(&m->mem, m->length, m->length) : 0;
}

void pvmc_message_free(struct pvmc_message *m)
{
    if (__builtin_expect(m->inplace_capacity > 1, 0))
        free(m->inplace);
    bool kept = spare_count < SPARE_MAX;
    if (m->mem && (!kept || !pvmc_mem_park(m->mem)))
        make_room(m, 0);
    if (__builtin_expect(kept, 1))
        spare[spare_count++] = m;
    else
        free(m);
}

__attribute__((destructor)) static void drop_spare(void)
{
    while (spare_count) {
        struct pvmc_message *m = take();
        pvmc_mem_unref(m->mem);
        free(m);
    }
}

uint64_t pvmc_message_bytes(const struct pvmc_message *m)
{
    return pvmc_message_is_inplace(m) ? m->inplace_length : m->length;
}

/* Moves the cursor to the segment that contains `offset`. Frames are cut in order, so it rarely moves far. */
static void seek(struct pvmc_message *m, uint64_t offset)
{
    if (offset < m->cursor_offset) {
        m->cursor = 0;
        m->cursor_offset = 0;
    }
    while (m->cursor < m->inplace_count && offset - m->cursor_offset >= m->inplace[m->cursor].iov_len)
        m->cursor_offset += m->inplace[m->cursor++].iov_len;
}

/* Adds up to `length` bytes of the user's segments to f, limited by the number of its pieces. Returns how many. */
static size_t add_segments(struct pvmc_frame *f, struct pvmc_message *m, uint64_t offset, size_t length)
{
    seek(m, offset);
    size_t skip = offset - m->cursor_offset, done = 0;
    for (unsigned i = m->cursor; done < length && f->piece_count < PVMC_FRAME_PIECES_MAX; i++, skip = 0) {
        size_t part = m->inplace[i].iov_len - skip;
        if (part > length - done)
            part = length - done;
        pvmc_frame_add_piece(f, (uint8_t *)m->inplace[i].iov_base + skip, part);
        done += part;
    }
    return done;
}

struct pvmc_frame *pvmc_message_frame(struct pvmc_message *m, uint64_t offset, size_t payload_max, uint32_t seq)
{
    bool inplace = pvmc_message_is_inplace(m);
    uint64_t bytes = pvmc_message_bytes(m);
    size_t length = payload_max < UINT32_MAX ? payload_max : UINT32_MAX;
    if (length > bytes - offset)
        length = bytes - offset;
    struct pvmc_frame *f = pvmc_frame_take(inplace || !length ? NULL : pvmc_mem_ref(m->mem));
    if (!f)
        return NULL;
    f->h = (struct pvmc_frame_header){
        .length = (uint32_t)length, .envelope = m->envelope, .seq = seq, .body_length = bytes, .offset = offset};
    f->items = m->items;
    if (inplace) {
        f->h.enc = m->dsig;
        f->h.length = (uint32_t)add_segments(f, m, offset, length);
    } else if (length)
        pvmc_frame_add_piece(f, m->mem->data + offset, length);
    return f;
}

/* There is no memory for a message of so many bytes. */
static __attribute__((cold, noinline)) void refuse(struct pvmc_message *m, uint64_t bytes)
{
    if (bytes > SIZE_MAX)
        pvmc_log(PVMC_LOG_ERROR, "a message of %" PRIu64 " bytes does not fit into this machine's address space",
                 bytes);
    m->length = 0;
    pvmc_message_unref(m);
}

struct pvmc_message *pvmc_message_of(const struct pvmc_envelope *e, uint64_t length)
{
    struct pvmc_message *m = take();
    if (!m)
        return NULL;
    clear(m);
    m->envelope = *e;
    if (e->enc == PVMC_ENC_INPLACE)
        m->enc = e->dsig;
    m->length = length;
    if (__builtin_expect(length <= SIZE_MAX && make_room(m, length), 1))
        return m;
    refuse(m, length);
    return NULL;
}

struct pvmc_message *pvmc_message_from_header(const struct pvmc_frame_header *h)
{
    return pvmc_message_of(&h->envelope, h->body_length);
}
