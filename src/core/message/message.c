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

/* Everything but the envelope. In two parts: for one memset() of this size compilers use a string instruction, which is
 * slower than all the rest. */
static inline void clear(struct pvmc_message *m)
{
    m->refs = 1;
    m->mem = NULL;
    m->length = m->position = 0;
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
    if (!m)
        pvmc_log(PVMC_LOG_ERROR, "no memory for a message");
    return m;
}

static inline struct pvmc_message *take(void)
{
    return __builtin_expect(spare_count != 0, 1) ? spare[--spare_count] : allocate();
}

struct pvmc_message *pvmc_message_new(uint32_t enc)
{
    struct pvmc_message *m = take();
    if (m)
        begin(m, enc);
    return m;
}

void pvmc_message_renew(struct pvmc_message *m, uint32_t enc)
{
    struct pvmc_mem *mem = m->mem;
    bool keep = mem && mem->refs == 1 && !mem->release && mem->capacity <= KEPT_BYTES && enc != PVMC_ENC_INPLACE;
    if (__builtin_expect(keep && !m->inplace_capacity, 1)) {
        m->length = m->position = 0;
        m->envelope = (struct pvmc_envelope){.enc = enc, .dsig = pvmc_dsig_own()};
        return;
    }
    pvmc_mem_unref(mem);
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
    twin->mem = pvmc_mem_ref(m->mem);
    twin->length = m->length;
}

struct pvmc_message *pvmc_message_copy_small(const struct pvmc_message *m)
{
    struct pvmc_mem *mem = pvmc_mem_new(m->length);
    struct pvmc_message *copy = mem ? take() : NULL;
    if (!copy) {
        pvmc_mem_unref(mem);
        return NULL;
    }
    clear(copy);
    copy->envelope = m->envelope;
    copy->mem = mem;
    copy->length = m->length;
    pvmc_copy(mem->data, m->mem->data, m->length);
    return copy;
}

int pvmc_message_own(struct pvmc_message *m)
{
    return m->mem && m->mem->release ? pvmc_mem_grow(&m->mem, m->length, m->length) : 0;
}

void pvmc_message_free(struct pvmc_message *m)
{
    pvmc_mem_unref(m->mem);
    if (__builtin_expect(m->inplace_capacity > 1, 0))
        free(m->inplace);
    if (__builtin_expect(spare_count < SPARE_MAX, 1))
        spare[spare_count++] = m;
    else
        free(m);
}

__attribute__((destructor)) static void drop_spare(void)
{
    while (spare_count)
        free(spare[--spare_count]);
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
    if (inplace) {
        f->h.enc = m->dsig;
        f->h.length = (uint32_t)add_segments(f, m, offset, length);
    } else if (length)
        pvmc_frame_add_piece(f, m->mem->data + offset, length);
    return f;
}

struct pvmc_message *pvmc_message_from_header(const struct pvmc_frame_header *h)
{
    struct pvmc_message *m = take();
    if (!m)
        return NULL;
    clear(m);
    m->envelope = h->envelope;
    if (h->enc == PVMC_ENC_INPLACE)
        m->enc = h->dsig;
    m->length = h->body_length;
    if (h->body_length > SIZE_MAX)
        pvmc_log(PVMC_LOG_ERROR, "a message of %" PRIu64 " bytes does not fit into this machine's address space",
                 h->body_length);
    else if (h->body_length)
        m->mem = pvmc_mem_new(h->body_length);
    if (h->body_length && !m->mem) {
        pvmc_message_unref(m);
        return NULL;
    }
    return m;
}
