/* pcaal.c - PC-AAL's PDUs to cells and back. */
#include "pcaal.h"
#include <string.h>
#include "base/crc.h"
#include "octets.h"
#include "serial.h"

enum {
    TYPE = 0,
    NUMBER = 1,
    CRC = 5,
    BODY = 7,
    /* SD */
    TAG = BODY,
    OFFSET = TAG + 4,
    LENGTH = OFFSET + 4, /* scheme 1 */
    LAST = OFFSET + 4,   /* scheme n */
    STAMP = 4,           /* octets */
    ITEM_MAX = 28,       /* octets, scheme 1 */
    /* STAT */
    POLL = BODY,
    LIMIT = POLL + 4,
    LAF = LIMIT + 4,
    COUNT = LAF + 4,
    LIST = COUNT + 1,
    LSTAT_STAMP = PVMA_PCAAL_BYTES - STAMP,
    HIGH = 1,
    LAST_ONE = 2, /* bits of TYPE */
    /* USTAT */
    USTAT_LIMIT = BODY,
    USTAT_LIST = USTAT_LIMIT + 4,
};

/* Where items begin. */
static unsigned items_at(const struct pvma_pcaal *format)
{
    return (unsigned)(format->several ? LAST + 4 : LENGTH + 1) + (format->stamped ? STAMP : 0U);
}

static unsigned items_max(const struct pvma_pcaal *format)
{
    unsigned left = PVMA_PCAAL_BYTES - items_at(format);
    return format->several || left < ITEM_MAX ? left : ITEM_MAX;
}

unsigned pvma_pcaal_sd_bytes(const struct pvma_pcaal *format, unsigned item_bytes)
{
    unsigned most = items_max(format);
    if (!item_bytes || item_bytes > most)
        return most;
    return format->several ? most / item_bytes * item_bytes : item_bytes;
}

/* ---- writing ---- */

static void put(uint8_t *to, int64_t number)
{
    pvma_put32(to, pvma_serial_wire(number, PVMA_SERIAL_PCAAL));
}

static void put_stamp(uint8_t *to, pvma_ps stamp)
{
    put(to, stamp / PVMA_NS);
}

static void put_sd(const struct pvma_pcaal *format, const struct pvma_pdu *pdu, uint8_t *cell)
{
    unsigned at = items_at(format);
    put(cell + TAG, pdu->tag);
    put(cell + OFFSET, pdu->offset);
    if (format->several)
        put(cell + LAST, (int64_t)pdu->offset + (int64_t)pdu->length - 1);
    else
        cell[LENGTH] = (uint8_t)pdu->length;
    if (format->stamped)
        put_stamp(cell + at - STAMP, pdu->stamp);
    memcpy(cell + at, pdu->data, pdu->length);
}

static void put_stat(const struct pvma_pdu *pdu, uint8_t *cell)
{
    put(cell + POLL, pdu->poll);
    put(cell + LIMIT, pdu->limit);
    put(cell + LAF, pdu->laf);
    cell[COUNT] = (uint8_t)pdu->elements;
    for (unsigned i = 0; i < pdu->elements; i++)
        put(cell + LIST + 4 * i, pdu->list[i]);
    if (pdu->type == PVMA_LSTAT)
        put_stamp(cell + LSTAT_STAMP, pdu->stamp);
}

static void put_body(const struct pvma_pcaal *format, const struct pvma_pdu *pdu, uint8_t *cell)
{
    switch (pdu->type) {
    case PVMA_SD:
        put_sd(format, pdu, cell);
        break;
    case PVMA_POLL:
        put(cell + POLL, pdu->poll);
        if (format->stamped)
            put_stamp(cell + POLL + 4, pdu->stamp);
        break;
    case PVMA_USTAT:
        put(cell + USTAT_LIMIT, pdu->limit);
        put(cell + USTAT_LIST, pdu->list[0]);
        put(cell + USTAT_LIST + 4, pdu->list[1]);
        break;
    case PVMA_STAT:
    case PVMA_LSTAT:
        put_stat(pdu, cell);
        break;
    case PVMA_STAMP:
        put_stamp(cell + BODY, pdu->stamp);
        break;
    case PVMA_END:
        cell[BODY] = (uint8_t)pdu->cause;
        break;
    }
}

/* What ECE tells in the first octet. */
static uint8_t flags_of(const struct pvma_pdu *pdu)
{
    bool is_periodic = pdu->type == PVMA_POLL || pdu->type == PVMA_STAMP;
    bool has_mode = is_periodic || pdu->type == PVMA_SD || pdu->type == PVMA_LSTAT;
    return (uint8_t)((has_mode && pdu->high ? HIGH : 0) | (is_periodic && pdu->last ? LAST_ONE : 0));
}

/* Those without a number have 0. */
static bool has_number(const struct pvma_pdu *pdu)
{
    return pdu->type != PVMA_END && pdu->type != PVMA_STAMP;
}

void pvma_pcaal_encode(const struct pvma_pcaal *format, const struct pvma_pdu *pdu, uint8_t cell[PVMA_PCAAL_BYTES])
{
    memset(cell, 0, PVMA_PCAAL_BYTES);
    cell[TYPE] = (uint8_t)(pdu->type << 4 | (format->stamped ? flags_of(pdu) : 0));
    put(cell + NUMBER, has_number(pdu) ? pdu->n : 0);
    put_body(format, pdu, cell);
    pvma_put16(cell + CRC, pvma_crc16(cell, PVMA_PCAAL_BYTES));
}

/* ---- reading ---- */

static bool is_zero(const uint8_t *cell, unsigned from, unsigned to)
{
    while (from < to && !cell[from])
        from++;
    return from >= to;
}

static bool crc_is_good(const uint8_t *cell)
{
    uint8_t copy[PVMA_PCAAL_BYTES];
    memcpy(copy, cell, sizeof copy);
    pvma_put16(copy + CRC, 0);
    return pvma_crc16(copy, sizeof copy) == pvma_get16(cell + CRC);
}

static pvma_ps get_stamp(const uint8_t *from, pvma_ps now)
{
    uint32_t past = (uint32_t)(now / PVMA_NS) - pvma_get32(from);
    return now - (pvma_ps)past * PVMA_NS;
}

static bool get_sd(const struct pvma_pcaal *format, struct pvma_pdu *pdu, const uint8_t *cell, pvma_ps now)
{
    unsigned at = items_at(format);
    pdu->tag = pvma_get32(cell + TAG);
    pdu->offset = pvma_get32(cell + OFFSET);
    pdu->length = format->several ? (uint32_t)(pvma_get32(cell + LAST) - pdu->offset + 1) : cell[LENGTH];
    pdu->data = cell + at;
    if (format->stamped)
        pdu->stamp = get_stamp(cell + at - STAMP, now);
    return pdu->length && pdu->length <= items_max(format) &&
           is_zero(cell, at + (unsigned)pdu->length, PVMA_PCAAL_BYTES);
}

static bool get_poll(const struct pvma_pcaal *format, struct pvma_pdu *pdu, const uint8_t *cell, pvma_ps now)
{
    unsigned end = POLL + 4;
    pdu->poll = pvma_get32(cell + POLL);
    if (format->stamped) {
        pdu->stamp = get_stamp(cell + end, now);
        end += STAMP;
    }
    return is_zero(cell, end, PVMA_PCAAL_BYTES);
}

static bool get_ustat(struct pvma_pdu *pdu, const uint8_t *cell)
{
    pdu->limit = pvma_get32(cell + USTAT_LIMIT);
    pdu->list[0] = pvma_get32(cell + USTAT_LIST);
    pdu->list[1] = pvma_get32(cell + USTAT_LIST + 4);
    pdu->elements = 2;
    return is_zero(cell, USTAT_LIST + 8, PVMA_PCAAL_BYTES);
}

static bool get_stat(struct pvma_pdu *pdu, const uint8_t *cell, unsigned most, pvma_ps now)
{
    bool late = pdu->type == PVMA_LSTAT;
    pdu->poll = pvma_get32(cell + POLL);
    pdu->limit = pvma_get32(cell + LIMIT);
    pdu->laf = pvma_get32(cell + LAF);
    pdu->elements = cell[COUNT];
    if (!pdu->elements || pdu->elements > most)
        return false;
    for (unsigned i = 0; i < pdu->elements; i++)
        pdu->list[i] = pvma_get32(cell + LIST + 4 * i);
    if (late)
        pdu->stamp = get_stamp(cell + LSTAT_STAMP, now);
    return is_zero(cell, LIST + 4 * pdu->elements, late ? LSTAT_STAMP : PVMA_PCAAL_BYTES);
}

bool pvma_pcaal_decode(const struct pvma_pcaal *format, struct pvma_pdu *pdu, const uint8_t cell[PVMA_PCAAL_BYTES],
                       pvma_ps now)
{
    pdu->type = cell[TYPE] >> 4;
    pdu->high = cell[TYPE] & HIGH;
    pdu->last = cell[TYPE] & LAST_ONE;
    if ((cell[TYPE] & 15) != (format->stamped ? flags_of(pdu) : 0) || !crc_is_good(cell))
        return false;
    pdu->n = pvma_get32(cell + NUMBER);
    switch (pdu->type) {
    case PVMA_SD:
        return get_sd(format, pdu, cell, now);
    case PVMA_POLL:
        return get_poll(format, pdu, cell, now);
    case PVMA_USTAT:
        return get_ustat(pdu, cell);
    case PVMA_STAT:
        return get_stat(pdu, cell, PVMA_PCAAL_STAT_ELEMENTS, now);
    case PVMA_LSTAT:
        return get_stat(pdu, cell, PVMA_PCAAL_LSTAT_ELEMENTS, now);
    case PVMA_STAMP:
        pdu->stamp = get_stamp(cell + BODY, now);
        return format->stamped && !pdu->n && is_zero(cell, BODY + STAMP, PVMA_PCAAL_BYTES);
    case PVMA_END:
        pdu->cause = cell[BODY];
        return !pdu->n && is_zero(cell, BODY + 1, PVMA_PCAAL_BYTES);
    default:
        return false;
    }
}
