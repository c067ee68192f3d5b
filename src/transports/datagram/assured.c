/* assured.c - see assured.h. */
#include "assured.h"
#include <stdlib.h>
#include <string.h>
#include <endian.h>
#include "core/error.h"

#define WORDS      (PVMC_FRAME_HEADER_BYTES / 4)
#define MASK_BYTES 2
#define READS_MAX  64 /* in a row, before others get their turn */

/* ---- headers ---- */

/* What follows if all is as usual. */
static struct pvmc_frame_header expected_after(const struct pvmc_frame_header *last)
{
    struct pvmc_frame_header h = *last;
    bool any = last->dst; /* nothing before the first frame */
    h.seq += any;
    h.offset = pvmc_frame_is_last(last) ? 0 : last->offset + last->length;
    if (h.length > h.body_length - h.offset)
        h.length = (uint32_t)(h.body_length - h.offset);
    return h;
}

/* Writes the header of h, which follows `last`. Returns its bytes. */
static uint32_t write_header(const struct pvmc_frame_header *last, const struct pvmc_frame_header *h,
                             uint8_t to[PVMT_ASSURED_HEADER_MAX])
{
    struct pvmc_frame_header expected = expected_after(last);
    uint8_t usual[PVMC_FRAME_HEADER_BYTES], wire[PVMC_FRAME_HEADER_BYTES];
    uint32_t bytes = MASK_BYTES;
    uint16_t mask = 0;
    pvmc_frame_encode(&expected, usual);
    pvmc_frame_encode(h, wire);
    for (unsigned i = 0; i < WORDS; i++) {
        if (!memcmp(usual + 4 * i, wire + 4 * i, 4))
            continue;
        mask |= (uint16_t)(1 << i);
        memcpy(to + bytes, wire + 4 * i, 4);
        bytes += 4;
    }
    mask = htole16(mask);
    memcpy(to, &mask, MASK_BYTES);
    return bytes;
}

static unsigned mask_of(const uint8_t *header)
{
    return header[0] | (unsigned)header[1] << 8;
}

/* Bytes of the header of which `have` are there: at first only the mask is wanted. */
static uint32_t header_bytes(const uint8_t *header, uint32_t have)
{
    return have < MASK_BYTES ? MASK_BYTES : MASK_BYTES + 4 * (uint32_t)__builtin_popcount(mask_of(header));
}

/* Reads a whole header, after that of *h, into *h. Returns 0 or an error of frame.h. */
static int read_header(struct pvmc_frame_header *h, const uint8_t *header)
{
    struct pvmc_frame_header expected = expected_after(h);
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    const uint8_t *word = header + MASK_BYTES;
    pvmc_frame_encode(&expected, wire);
    for (unsigned i = 0; i < WORDS; i++) {
        if (!(mask_of(header) & 1u << i))
            continue;
        memcpy(wire + 4 * i, word, 4);
        word += 4;
    }
    return pvmc_frame_decode(wire, h);
}

/* ---- life ---- */

struct pvmt_assured *pvmt_assured_new(const struct pvmt_assured_carrier *carrier, struct pvmt_endpoint *ep)
{
    struct pvmt_assured *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->carrier = carrier;
    a->ep = ep;
    return a;
}

static void drop_first(struct pvmt_assured *a)
{
    pvmc_frame_unref(a->queue[a->first]);
    a->first = (a->first + 1) % PVMT_ASSURED_QUEUE_MAX;
    a->queued--;
}

void pvmt_assured_free(struct pvmt_assured *a)
{
    while (a && a->queued)
        drop_first(a);
    free(a);
}

int pvmt_assured_reason(const struct pvmt_assured *a)
{
    bool between = !a->in_payload && !a->rx_header_have;
    return a->over == PVMC_ESHORT ? (between ? 0 : PVMC_EDOWN) : a->over;
}

/* ---- sending ---- */

/* Adds what is left of a piece after *skip bytes. */
static unsigned add_rest(struct iovec *list, unsigned n, void *base, size_t bytes, size_t *skip)
{
    if (*skip >= bytes) {
        *skip -= bytes;
        return n;
    }
    list[n] = (struct iovec){(uint8_t *)base + *skip, bytes - *skip};
    *skip = 0;
    return n + 1;
}

/* Writes once, from the queue's first frame. Like write(). */
static ssize_t write_some(struct pvmt_assured *a)
{
    const struct pvmc_frame *f = a->queue[a->first];
    struct iovec list[1 + PVMC_FRAME_PIECES_MAX];
    size_t skip = a->tx_done;
    unsigned n = add_rest(list, 0, a->tx_header, a->tx_header_bytes, &skip);
    if (n && a->carrier->counts_items)
        return a->carrier->write(a->ep, list, n, PVMT_ASSURED_HEADER_ITEM);
    for (unsigned i = 0; i < f->piece_count; i++)
        n = add_rest(list, n, f->pieces[i].iov_base, f->pieces[i].iov_len, &skip);
    return a->carrier->write(a->ep, list, n, f->items ? f->items & -f->items : PVMT_ASSURED_ITEM);
}

/* The first frame's header is made when its turn comes. */
static void begin_first(struct pvmt_assured *a)
{
    const struct pvmc_frame *f = a->queue[a->first];
    a->tx_done = 0;
    a->tx_header_bytes = write_header(&a->tx_last, &f->h, a->tx_header);
    a->tx_last = f->h;
}

int pvmt_assured_flush(struct pvmt_assured *a)
{
    int completed = 0;
    while (a->queued && !a->over && !a->deaf) {
        ssize_t n = write_some(a);
        if (n <= 0) {
            a->deaf = n;
            return completed;
        }
        a->tx_done += (uint32_t)n;
        if (a->tx_done < a->tx_header_bytes + a->queue[a->first]->h.length)
            continue;
        drop_first(a);
        completed++;
        if (a->queued)
            begin_first(a);
    }
    return completed;
}

int pvmt_assured_send(struct pvmt_assured *a, struct pvmc_frame *f)
{
    if (a->over || a->deaf)
        return PVMC_EDOWN;
    if (!pvmt_assured_has_room(a))
        return PVMC_EAGAIN;
    a->queue[(a->first + a->queued++) % PVMT_ASSURED_QUEUE_MAX] = pvmc_frame_ref(f);
    if (a->queued > 1)
        return 0;
    begin_first(a);
    pvmt_assured_flush(a);
    return 0; /* a failure to write shows in progress() */
}

/* ---- receiving ---- */

static void begin(struct pvmt_assured *a)
{
    struct pvmt_transport *t = a->ep->transport;
    a->in_payload = true;
    a->placed = 0;
    a->place = t->callbacks->rx_place(t->arg, a->ep, &a->rx);
    if (!a->silent && a->place && a->rx.flags & PVMC_FRAME_FD && t->callbacks->rx_descriptor)
        t->callbacks->rx_descriptor(t->arg, a->ep, &a->rx, -1); /* this carrier passes no descriptors */
}

static void end_if_whole(struct pvmt_assured *a)
{
    struct pvmt_transport *t = a->ep->transport;
    if (!a->in_payload || a->placed < a->rx.length)
        return;
    a->in_payload = false;
    if (a->place && !a->silent)
        t->callbacks->rx_done(t->arg, a->ep, &a->rx);
}

/* Returns the number of bytes used. */
static size_t take_header(struct pvmt_assured *a, const uint8_t *bytes, size_t count)
{
    size_t n = header_bytes(a->rx_header, a->rx_header_have) - a->rx_header_have;
    n = n < count ? n : count;
    memcpy(a->rx_header + a->rx_header_have, bytes, n);
    a->rx_header_have += (uint32_t)n;
    if (a->rx_header_have < header_bytes(a->rx_header, a->rx_header_have))
        return n;
    a->rx_header_have = 0;
    a->over = read_header(&a->rx, a->rx_header);
    if (!a->over)
        begin(a);
    return n;
}

static size_t take_payload(struct pvmt_assured *a, const uint8_t *bytes, size_t count)
{
    size_t n = a->rx.length - a->placed;
    n = n < count ? n : count;
    if (a->place)
        memcpy(a->place + a->placed, bytes, n);
    a->placed += (uint32_t)n;
    return n;
}

static void take(struct pvmt_assured *a, const uint8_t *bytes, size_t count)
{
    while (count && !a->silent && !a->over) {
        size_t n = a->in_payload ? take_payload(a, bytes, count) : take_header(a, bytes, count);
        bytes += n;
        count -= n;
        if (!a->silent)
            end_if_whole(a);
    }
}

/* What is missing of the header, or of the payload. */
static uint32_t missing(const struct pvmt_assured *a)
{
    return a->in_payload ? a->rx.length - a->placed : header_bytes(a->rx_header, a->rx_header_have) - a->rx_header_have;
}

int pvmt_assured_hear(struct pvmt_assured *a)
{
    int reads = 0;
    bool more = true;
    while (more && !a->silent && !a->over && reads < READS_MAX) {
        const uint8_t *bytes;
        ssize_t n = a->carrier->read(a->ep, &bytes, &more);
        if (n < 0 || (!n && a->deaf))
            a->over = n ? (int)n : PVMC_EDOWN;
        if (n <= 0)
            break; /* `more` promises nothing: what is awaited may have changed all the same */
        take(a, bytes, (size_t)n);
        reads++;
    }
    if (!a->silent && !a->over)
        a->carrier->await(a->ep, missing(a));
    return reads;
}
