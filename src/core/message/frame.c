/* frame.c - the wire format of frame headers, and reference-counted frames. */
#include "frame.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "frame_wire.h"

void pvmc_frame_encode(const struct pvmc_frame_header *h, uint8_t wire[PVMC_FRAME_HEADER_BYTES])
{
    struct pvmc_wire_header w = {
        .magic = htole16(PVMC_FRAME_MAGIC),
        .version = PVMC_FRAME_VERSION,
        .flags = h->flags,
        .length = htole32(h->length),
        .dst = htole32(h->dst),
        .src = htole32(h->src),
        .seq = htole32(h->seq),
        .tag = htole32((uint32_t)h->tag),
        .ctx = htole32(h->ctx),
        .wid = htole32((uint32_t)h->wid),
        .enc = htole32(h->enc),
        .dsig = htole32(h->dsig),
        .body_length = htole64(h->body_length),
        .offset = htole64(h->offset),
        .crc = htole32((uint32_t)h->crc),
    };
    memcpy(wire, &w, sizeof w);
}

/*
 * What flags allow. A message that is one frame is no stream, so whoever sees a whole message need not look for the
 * flag.
 */
static __attribute__((noinline)) int check_flags(const struct pvmc_frame_header *h)
{
    bool is_last = pvmc_frame_is_last(h), is_open = h->body_length == PVMC_FRAME_LENGTH_OPEN;
    if (h->flags & ~(PVMC_FRAME_ABORT | PVMC_FRAME_FD | PVMC_FRAME_AGAIN | PVMC_FRAME_SHADOW | PVMC_FRAME_STREAM))
        return PVMC_EFORMAT;
    if (h->flags & PVMC_FRAME_ABORT)
        return h->length ? PVMC_EFORMAT : 0;
    if (h->flags & PVMC_FRAME_STREAM)
        return (is_last && (is_open || !h->offset)) || (!h->length && !is_last) ? PVMC_EFORMAT : 0;
    return h->length || !h->body_length ? 0 : PVMC_EFORMAT;
}

static inline int check(const struct pvmc_frame_header *h)
{
    if (h->length > PVMC_FRAME_PAYLOAD_MAX || h->offset > h->body_length || h->length > h->body_length - h->offset)
        return PVMC_EFORMAT;
    if (__builtin_expect(h->flags, 0))
        return check_flags(h);
    return h->length || !h->body_length ? 0 : PVMC_EFORMAT;
}

int pvmc_frame_check(const struct pvmc_frame_header *h)
{
    return check(h);
}

int pvmc_frame_decode(const uint8_t wire[PVMC_FRAME_HEADER_BYTES], struct pvmc_frame_header *h)
{
    struct pvmc_wire_header w;
    memcpy(&w, wire, sizeof w);
    if (le16toh(w.magic) != PVMC_FRAME_MAGIC)
        return PVMC_EFORMAT;
    if (w.version != PVMC_FRAME_VERSION)
        return PVMC_EVERSION;
    if (w.reserved)
        return PVMC_EFORMAT;
    *h = (struct pvmc_frame_header){
        .flags = w.flags,
        .length = le32toh(w.length),
        .dst = le32toh(w.dst),
        .src = le32toh(w.src),
        .seq = le32toh(w.seq),
        .tag = (int32_t)le32toh(w.tag),
        .ctx = le32toh(w.ctx),
        .wid = (int32_t)le32toh(w.wid),
        .enc = le32toh(w.enc),
        .dsig = le32toh(w.dsig),
        .body_length = le64toh(w.body_length),
        .offset = le64toh(w.offset),
        .crc = (int32_t)le32toh(w.crc),
    };
    return check(h);
}

/* Freed frames are kept for reuse: every message sent or relayed needs at least one. */
#define SPARE_MAX 64

static struct pvmc_frame *spare[SPARE_MAX];
static unsigned spare_count;

struct pvmc_frame *pvmc_frame_take(struct pvmc_mem *mem)
{
    struct pvmc_frame *f = spare_count ? spare[--spare_count] : malloc(sizeof *f);
    if (!f) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for a frame");
        pvmc_mem_unref(mem);
        return NULL;
    }
    f->refs = 1;
    f->piece_count = 0;
    f->mem = mem;
    f->items = 0;
    f->fd = -1;
    return f;
}

struct pvmc_frame *pvmc_frame_new(const struct pvmc_frame_header *h, struct pvmc_mem *mem)
{
    struct pvmc_frame *f = pvmc_frame_take(mem);
    if (f)
        f->h = *h;
    return f;
}

struct pvmc_frame *pvmc_frame_alloc(const struct pvmc_frame_header *h)
{
    if (!h->length)
        return pvmc_frame_new(h, NULL);
    struct pvmc_mem *mem = pvmc_mem_new(h->length);
    struct pvmc_frame *f = mem ? pvmc_frame_new(h, mem) : NULL;
    if (f)
        pvmc_frame_add_piece(f, mem->data, h->length);
    return f;
}

/* In-place data is valid only as long as the sender's own frame: a second frame needs a copy. */
static struct pvmc_frame *copy_payload(const struct pvmc_frame *f)
{
    struct pvmc_frame *copy = pvmc_frame_alloc(&f->h);
    size_t done = 0;
    for (unsigned i = 0; copy && i < f->piece_count; i++) {
        memcpy(copy->mem->data + done, f->pieces[i].iov_base, f->pieces[i].iov_len);
        done += f->pieces[i].iov_len;
    }
    return copy;
}

struct pvmc_frame *pvmc_frame_share(const struct pvmc_frame *f)
{
    if (!f->mem)
        return copy_payload(f);
    struct pvmc_frame *shared = pvmc_frame_new(&f->h, pvmc_mem_ref(f->mem));
    for (unsigned i = 0; shared && i < f->piece_count; i++)
        pvmc_frame_add_piece(shared, f->pieces[i].iov_base, f->pieces[i].iov_len);
    return shared;
}

struct pvmc_frame *pvmc_frame_ref(struct pvmc_frame *f)
{
    f->refs++;
    return f;
}

void pvmc_frame_unref(struct pvmc_frame *f)
{
    if (!f || --f->refs)
        return;
    pvmc_mem_unref(f->mem);
    if (f->fd >= 0)
        close(f->fd);
    if (spare_count < SPARE_MAX)
        spare[spare_count++] = f;
    else
        free(f);
}

__attribute__((destructor)) static void drop_spare(void)
{
    while (spare_count)
        free(spare[--spare_count]);
}
