/*
 * aal34.c - AAL3/4 (I.363.3). Around the PDU: CPI, BTag, buffer size (2); padding to 4 octets, then alignment, ETag,
 * length (2). In each cell: segment type (2 bits), sequence (4), MID (10); 44 octets; length (6), CRC-10.
 */
#include <string.h>
#include "aal_layer.h"
#include "base/crc.h"

enum { HEAD = 4, TAIL = 4, AROUND = HEAD + TAIL, PER_CELL = 44, SEGMENT_HEAD = 2, CHECKED_BITS = 374 };
enum segment { CONTINUATION = 0, END = 1, BEGINNING = 2, SINGLE = 3 };

/* Octets of the PDU with header, padding and trailer. */
static size_t padded(size_t pdu_bytes)
{
    return AROUND + (pdu_bytes + 3) / 4 * 4;
}

/* Octet number `at` of header, PDU, padding and trailer. */
static uint8_t octet(const struct pvma_segmenter *s, size_t at, size_t total)
{
    size_t size = s->length;
    if (at < HEAD) {
        const uint8_t head[HEAD] = {0, s->tag, (uint8_t)(size >> 8), (uint8_t)size};
        return head[at];
    }
    if (at >= total - TAIL) {
        const uint8_t tail[TAIL] = {0, s->tag, (uint8_t)(size >> 8), (uint8_t)size};
        return tail[at - (total - TAIL)];
    }
    return at - HEAD < size ? s->data[at - HEAD] : 0;
}

static void fill(const struct pvma_segmenter *s, size_t from, size_t bytes, size_t total, uint8_t *to)
{
    size_t done = 0;
    while (done < bytes) {
        size_t at = from + done;
        size_t run = at >= HEAD && at - HEAD < s->length ? s->length - (at - HEAD) : 0;
        if (run > bytes - done)
            run = bytes - done;
        if (run)
            memcpy(to + done, s->data + (at - HEAD), run);
        else
            to[done] = octet(s, at, total);
        done += run ? run : 1;
    }
}

static enum segment segment_of(const struct pvma_segmenter *s)
{
    bool first = s->next == 0, last = s->next + 1 == s->cells;
    return first && last ? SINGLE : first ? BEGINNING : last ? END : CONTINUATION;
}

static void seal(uint8_t *payload, size_t bytes)
{
    payload[46] = (uint8_t)(bytes << 2);
    uint16_t crc = pvma_crc10(payload, CHECKED_BITS);
    payload[46] |= (uint8_t)(crc >> 8);
    payload[47] = (uint8_t)crc;
}

static void cut(struct pvma_segmenter *s, struct pvma_cell *cell)
{
    size_t total = padded(s->length), from = (size_t)s->next * PER_CELL;
    size_t bytes = total - from < PER_CELL ? total - from : PER_CELL;
    uint8_t *payload = cell->payload;
    memset(payload, 0, PVMA_CELL_PAYLOAD);
    payload[0] = (uint8_t)(segment_of(s) << 6 | (s->sequence & 15) << 2 | s->mid >> 8);
    payload[1] = (uint8_t)s->mid;
    fill(s, from, bytes, total, payload + SEGMENT_HEAD);
    seal(payload, bytes);
    s->sequence = (s->sequence + 1) & 15;
}

uint16_t pvma_aal34_mid(const struct pvma_cell *cell)
{
    return (uint16_t)((cell->payload[0] & 3) << 8 | cell->payload[1]);
}

/* ---- reassembly ---- */

static bool crc_is_good(const uint8_t *payload)
{
    return pvma_crc10(payload, CHECKED_BITS) == ((payload[46] & 3) << 8 | payload[47]);
}

static enum pvma_reassembly give_up(struct pvma_reassembler *r, enum pvma_aal_error why, enum pvma_aal_error *error)
{
    r->open = false;
    return pvma_reassembler_give_up(r, why, error);
}

static enum pvma_reassembly finish(struct pvma_reassembler *r, enum pvma_aal_error *error)
{
    r->open = false;
    if (r->length < AROUND)
        return give_up(r, PVMA_AAL_LENGTH, error);
    const uint8_t *head = r->data, *tail = r->data + r->length - TAIL;
    size_t announced = (size_t)head[2] << 8 | head[3], size = (size_t)tail[2] << 8 | tail[3];
    if (head[1] != tail[1])
        return give_up(r, PVMA_AAL_TAG, error);
    if (size != announced || r->length != padded(size))
        return give_up(r, PVMA_AAL_LENGTH, error);
    if (size > r->max_bytes)
        return give_up(r, PVMA_AAL_OVERSIZE, error);
    memmove(r->data, r->data + HEAD, size);
    r->length = size;
    return PVMA_PDU;
}

static bool sequence_fits(struct pvma_reassembler *r, uint8_t sequence)
{
    bool fits = !r->synchronized || sequence == r->sequence;
    r->synchronized = true;
    r->sequence = (sequence + 1) & 15;
    return fits;
}

static enum pvma_reassembly join(struct pvma_reassembler *r, const struct pvma_cell *cell, enum pvma_aal_error *error)
{
    const uint8_t *payload = cell->payload;
    if (!crc_is_good(payload))
        return give_up(r, PVMA_AAL_CRC10, error);
    enum segment segment = payload[0] >> 6;
    size_t bytes = payload[46] >> 2;
    bool begins = segment == BEGINNING || segment == SINGLE, was_open = r->open;
    bool in_order = sequence_fits(r, payload[0] >> 2 & 15);
    enum pvma_reassembly result = PVMA_MORE;
    if (was_open && !in_order)
        result = give_up(r, PVMA_AAL_SEQUENCE, error);
    if (begins) {
        if (r->open)
            result = give_up(r, PVMA_AAL_PROTOCOL, error); /* the current PDU has lost its end */
        r->open = true;
        r->length = 0;
        r->cells = 0;
    } else if (!r->open) {
        return result == PVMA_MORE ? give_up(r, PVMA_AAL_PROTOCOL, error) : result;
    }
    bool last = segment == END || segment == SINGLE;
    if (bytes > PER_CELL || (!last && bytes != PER_CELL) || (segment == SINGLE && bytes < AROUND))
        return give_up(r, PVMA_AAL_LENGTH, error);
    if (r->length + bytes > padded(PVMA_PDU_MAX))
        return give_up(r, PVMA_AAL_OVERSIZE, error);
    pvma_reassembler_append(r, payload + SEGMENT_HEAD, bytes);
    r->cells++;
    return last ? finish(r, error) : result;
}

const struct pvma_aal_layer pvma_aal34_layer = {"aal3/4", AROUND, PER_CELL, cut, join};
