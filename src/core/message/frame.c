/* frame.c - the wire form of frame headers, and counted frames. */
#include "frame.h"
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "error.h"
#include "log.h"

/* The wire form, little-endian; every field lies on a multiple of its size, so there is no padding. */
struct wire_header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t length, dst, src, seq, tag, ctx, wid, enc, dsig;
    uint64_t body_length, offset;
    uint32_t crc, reserved;
};

_Static_assert(sizeof(struct wire_header) == PVMI_FRAME_HEADER_BYTES, "frame header has padding");

void pvmi_frame_encode(const struct pvmi_frame_header *h, uint8_t wire[PVMI_FRAME_HEADER_BYTES])
{
    struct wire_header w = {
        .magic = htole16(PVMI_FRAME_MAGIC),
        .version = PVMI_FRAME_VERSION,
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

/* An unfinished message's void has no payload; else every frame brings some, unless its whole message is empty. */
int pvmi_frame_check(const struct pvmi_frame_header *h)
{
    if (h->flags & ~(PVMI_FRAME_ABORT | PVMI_FRAME_FD | PVMI_FRAME_AGAIN))
        return PVMI_EFORMAT;
    if (h->length > PVMI_FRAME_PAYLOAD_MAX || h->offset > h->body_length || h->length > h->body_length - h->offset)
        return PVMI_EFORMAT;
    if (h->flags & PVMI_FRAME_ABORT)
        return h->length ? PVMI_EFORMAT : 0;
    return h->length || !h->body_length ? 0 : PVMI_EFORMAT;
}

int pvmi_frame_decode(const uint8_t wire[PVMI_FRAME_HEADER_BYTES], struct pvmi_frame_header *h)
{
    struct wire_header w;
    memcpy(&w, wire, sizeof w);
    if (le16toh(w.magic) != PVMI_FRAME_MAGIC)
        return PVMI_EFORMAT;
    if (w.version != PVMI_FRAME_VERSION)
        return PVMI_EVERSION;
    if (w.reserved)
        return PVMI_EFORMAT;
    *h = (struct pvmi_frame_header){
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
    return pvmi_frame_check(h);
}

/* Freed frames are kept for the next ones: every message sent or relayed needs at least one. */
#define SPARE_MAX 64

static struct pvmi_frame *spare[SPARE_MAX];
static unsigned spare_count;

struct pvmi_frame *pvmi_frame_take(struct pvmi_mem *mem)
{
    struct pvmi_frame *f = spare_count ? spare[--spare_count] : malloc(sizeof *f);
    if (!f) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for a frame");
        pvmi_mem_unref(mem);
        return NULL;
    }
    f->refs = 1;
    f->piece_count = 0;
    f->mem = mem;
    f->fd = -1;
    return f;
}

struct pvmi_frame *pvmi_frame_new(const struct pvmi_frame_header *h, struct pvmi_mem *mem)
{
    struct pvmi_frame *f = pvmi_frame_take(mem);
    if (f)
        f->h = *h;
    return f;
}

struct pvmi_frame *pvmi_frame_alloc(const struct pvmi_frame_header *h)
{
    if (!h->length)
        return pvmi_frame_new(h, NULL);
    struct pvmi_mem *mem = pvmi_mem_new(h->length);
    struct pvmi_frame *f = mem ? pvmi_frame_new(h, mem) : NULL;
    if (f)
        pvmi_frame_add_piece(f, mem->data, h->length);
    return f;
}

/* In-place data may be gone when the sender's own frame is: a second frame needs a copy. */
static struct pvmi_frame *copy_payload(const struct pvmi_frame *f)
{
    struct pvmi_frame *copy = pvmi_frame_alloc(&f->h);
    size_t done = 0;
    for (unsigned i = 0; copy && i < f->piece_count; i++) {
        memcpy(copy->mem->data + done, f->pieces[i].iov_base, f->pieces[i].iov_len);
        done += f->pieces[i].iov_len;
    }
    return copy;
}

struct pvmi_frame *pvmi_frame_share(const struct pvmi_frame *f)
{
    if (!f->mem)
        return copy_payload(f);
    struct pvmi_frame *shared = pvmi_frame_new(&f->h, pvmi_mem_ref(f->mem));
    for (unsigned i = 0; shared && i < f->piece_count; i++)
        pvmi_frame_add_piece(shared, f->pieces[i].iov_base, f->pieces[i].iov_len);
    return shared;
}

struct pvmi_frame *pvmi_frame_ref(struct pvmi_frame *f)
{
    f->refs++;
    return f;
}

void pvmi_frame_unref(struct pvmi_frame *f)
{
    if (!f || --f->refs)
        return;
    pvmi_mem_unref(f->mem);
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
