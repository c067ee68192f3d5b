/* message.c - messages as a whole: made, counted, cut into frames. */
#include "message.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "log.h"

/* Freed messages are kept for the next ones. */
#define SPARE_MAX  256
#define KEPT_BYTES 1024 /* most that a message keeps for its next use */

static struct pvmi_message *spare[SPARE_MAX];
static unsigned spare_count;

/* In two parts, since compilers clear so much in one by an instruction that takes longer than all the rest. */
static inline void clear(struct pvmi_message *m, uint32_t enc)
{
    memset(m, 0, offsetof(struct pvmi_message, inplace));
    memset(&m->inplace, 0, offsetof(struct pvmi_message, segment) - offsetof(struct pvmi_message, inplace));
    m->refs = 1;
    m->enc = enc;
    m->dsig = pvmi_dsig_own();
}

struct pvmi_message *pvmi_message_new(uint32_t enc)
{
    struct pvmi_message *m = spare_count ? spare[--spare_count] : malloc(sizeof *m);
    if (!m) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for a message");
        return NULL;
    }
    clear(m, enc);
    return m;
}

void pvmi_message_renew(struct pvmi_message *m, uint32_t enc)
{
    struct pvmi_mem *mem = m->mem;
    bool keep = mem && mem->refs == 1 && !mem->release && mem->capacity <= KEPT_BYTES && enc != PVMI_ENC_INPLACE;
    if (mem && !keep)
        pvmi_mem_unref(mem);
    if (m->inplace_capacity > 1)
        free(m->inplace);
    clear(m, enc);
    if (keep)
        m->mem = mem;
}

struct pvmi_message *pvmi_message_twin(const struct pvmi_message *m, uint32_t enc)
{
    struct pvmi_message *twin = pvmi_message_new(enc);
    if (!twin)
        return NULL;
    twin->src = m->src;
    twin->dst = m->dst;
    twin->tag = m->tag;
    twin->ctx = m->ctx;
    twin->wid = m->wid;
    twin->crc = m->crc;
    twin->dsig = m->dsig;
    return twin;
}

void pvmi_message_share(struct pvmi_message *twin, const struct pvmi_message *m)
{
    if (!m->length)
        return;
    twin->mem = pvmi_mem_ref(m->mem);
    twin->length = m->length;
}

int pvmi_message_own(struct pvmi_message *m)
{
    return m->mem && m->mem->release ? pvmi_mem_grow(&m->mem, m->length, m->length) : 0;
}

struct pvmi_message *pvmi_message_ref(struct pvmi_message *m)
{
    m->refs++;
    return m;
}

void pvmi_message_unref(struct pvmi_message *m)
{
    if (!m || --m->refs)
        return;
    pvmi_mem_unref(m->mem);
    if (m->inplace_capacity > 1)
        free(m->inplace);
    if (spare_count < SPARE_MAX)
        spare[spare_count++] = m;
    else
        free(m);
}

__attribute__((destructor)) static void drop_spare(void)
{
    while (spare_count)
        free(spare[--spare_count]);
}

uint64_t pvmi_message_bytes(const struct pvmi_message *m)
{
    return pvmi_message_is_inplace(m) ? m->inplace_length : m->length;
}

/* Moves the cursor to the segment that holds `offset`. Frames are cut in order, so it is rarely far. */
static void seek(struct pvmi_message *m, uint64_t offset)
{
    if (offset < m->cursor_offset) {
        m->cursor = 0;
        m->cursor_offset = 0;
    }
    while (m->cursor < m->inplace_count && offset - m->cursor_offset >= m->inplace[m->cursor].iov_len)
        m->cursor_offset += m->inplace[m->cursor++].iov_len;
}

/* Points f at up to `length` bytes of the user's segments, as far as its pieces go; returns how many. */
static size_t add_segments(struct pvmi_frame *f, struct pvmi_message *m, uint64_t offset, size_t length)
{
    seek(m, offset);
    size_t skip = offset - m->cursor_offset, done = 0;
    for (unsigned i = m->cursor; done < length && f->piece_count < PVMI_FRAME_PIECES_MAX; i++, skip = 0) {
        size_t part = m->inplace[i].iov_len - skip;
        if (part > length - done)
            part = length - done;
        pvmi_frame_add_piece(f, (uint8_t *)m->inplace[i].iov_base + skip, part);
        done += part;
    }
    return done;
}

struct pvmi_frame *pvmi_message_frame(struct pvmi_message *m, uint64_t offset, size_t payload_max, uint32_t seq)
{
    bool inplace = pvmi_message_is_inplace(m);
    uint64_t bytes = pvmi_message_bytes(m);
    size_t length = payload_max < UINT32_MAX ? payload_max : UINT32_MAX;
    if (length > bytes - offset)
        length = bytes - offset;
    struct pvmi_frame *f = pvmi_frame_take(inplace || !length ? NULL : pvmi_mem_ref(m->mem));
    if (!f)
        return NULL;
    f->h = (struct pvmi_frame_header){
        .length = (uint32_t)length,
        .dst = m->dst,
        .src = m->src,
        .seq = seq,
        .tag = m->tag,
        .ctx = m->ctx,
        .wid = m->wid,
        .enc = inplace ? m->dsig : m->enc,
        .dsig = m->dsig,
        .body_length = bytes,
        .offset = offset,
        .crc = m->crc,
    };
    if (inplace)
        f->h.length = (uint32_t)add_segments(f, m, offset, length);
    else if (length)
        pvmi_frame_add_piece(f, m->mem->data + offset, length);
    return f;
}

struct pvmi_message *pvmi_message_from_header(const struct pvmi_frame_header *h)
{
    struct pvmi_message *m = pvmi_message_new(h->enc == PVMI_ENC_INPLACE ? h->dsig : h->enc);
    if (!m)
        return NULL;
    m->src = h->src;
    m->dst = h->dst;
    m->tag = h->tag;
    m->ctx = h->ctx;
    m->wid = h->wid;
    m->crc = h->crc;
    m->dsig = h->dsig;
    m->length = h->body_length;
    if (h->body_length > SIZE_MAX)
        pvmi_log(PVMI_LOG_ERROR, "a message of %" PRIu64 " bytes does not fit into this machine's addresses",
                 h->body_length);
    else if (h->body_length)
        m->mem = pvmi_mem_new(h->body_length);
    if (h->body_length && !m->mem) {
        pvmi_message_unref(m);
        return NULL;
    }
    return m;
}
