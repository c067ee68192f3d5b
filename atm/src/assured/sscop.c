/* sscop.c - SSCOP's PDUs to octets and back. */
#include "sscop.h"
#include <string.h>
#include "octets.h"
#include "serial.h"

size_t pvma_sscop_sd_bytes(size_t pdu_bytes)
{
    size_t bytes = pdu_bytes > 8 ? (pdu_bytes - 4) / 4 * 4 : 4;
    return bytes < PVMA_SSCOP_SD_MAX ? bytes : PVMA_SSCOP_SD_MAX;
}

unsigned pvma_sscop_elements(size_t pdu_bytes)
{
    size_t elements = pdu_bytes > 24 ? pdu_bytes / 4 - 3 : 3;
    return elements < PVMA_LIST_MAX ? (unsigned)elements : PVMA_LIST_MAX;
}

/* ---- writing ---- */

static size_t put_word(uint8_t *wire, size_t at, uint8_t head, int64_t number)
{
    wire[at] = head;
    pvma_put24(wire + at + 1, pvma_serial_wire(number, PVMA_SERIAL_SSCOP));
    return at + 4;
}

static size_t put_data(uint8_t *wire, const struct pvma_pdu *pdu, uint8_t *head)
{
    size_t padding = -pdu->length & 3;
    memcpy(wire, pdu->data, pdu->length);
    memset(wire + pdu->length, 0, padding);
    *head |= (uint8_t)(padding << 6);
    return pdu->length + padding;
}

static size_t put_list(uint8_t *wire, const struct pvma_pdu *pdu)
{
    size_t at = 0;
    for (unsigned i = 0; i < pdu->elements; i++)
        at = put_word(wire, at, 0, pdu->list[i]);
    if (pdu->type == PVMA_STAT)
        at = put_word(wire, at, 0, pdu->poll);
    return put_word(wire, at, 0, pdu->limit);
}

size_t pvma_sscop_encode(const struct pvma_pdu *pdu, uint8_t *wire)
{
    uint8_t head = (uint8_t)pdu->type;
    size_t at = 0;
    if (pdu->type == PVMA_SD)
        at = put_data(wire, pdu, &head);
    else if (pdu->type == PVMA_POLL)
        at = put_word(wire, 0, 0, pdu->poll);
    else if (pdu->type == PVMA_END)
        at = put_word(wire, 0, 0, pdu->cause);
    else
        at = put_list(wire, pdu);
    return put_word(wire, at, head, pdu->type == PVMA_END ? 0 : pdu->n);
}

/* ---- reading ---- */

/* A word's number; anything but 0 before it sets *bad. */
static int64_t get_word(const uint8_t *wire, size_t at, bool *bad)
{
    *bad |= wire[at] != 0;
    return pvma_get24(wire + at + 1);
}

static bool get_data(struct pvma_pdu *pdu, const uint8_t *wire, size_t before, unsigned padding)
{
    if (before <= padding || before - padding > PVMA_SSCOP_SD_MAX)
        return false;
    pdu->data = wire;
    pdu->length = before - padding;
    pdu->tag = pdu->offset = 0;
    for (size_t i = pdu->length; i < before; i++)
        if (wire[i])
            return false;
    return true;
}

/* The list and the numbers after it; `others` of these, N(MR) the last. */
static bool get_list(struct pvma_pdu *pdu, const uint8_t *wire, size_t before, unsigned others)
{
    bool bad = false;
    size_t elements = before / 4 - others;
    if (before / 4 <= others || elements > PVMA_LIST_MAX)
        return false;
    pdu->elements = (unsigned)elements;
    for (unsigned i = 0; i < elements; i++)
        pdu->list[i] = get_word(wire, 4 * i, &bad);
    pdu->poll = others > 1 ? get_word(wire, 4 * elements, &bad) : 0;
    pdu->limit = get_word(wire, before - 4, &bad);
    pdu->laf = pdu->n - 1;
    return !bad;
}

static bool get_one(int64_t *number, const uint8_t *wire, size_t before)
{
    bool bad = before != 4;
    if (!bad)
        *number = get_word(wire, 0, &bad);
    return !bad;
}

bool pvma_sscop_decode(struct pvma_pdu *pdu, const uint8_t *wire, size_t length)
{
    if (length < 8 || length % 4 || length > PVMA_SSCOP_PDU_MAX)
        return false;
    size_t before = length - 4;
    uint8_t head = wire[before], reserved = head >> 4;
    int64_t cause = 0;
    pdu->type = head & 15;
    pdu->n = pvma_get24(wire + before + 1);
    if (pdu->type == PVMA_SD)
        return !(reserved & 3) && get_data(pdu, wire, before, reserved >> 2);
    if (reserved)
        return false;
    switch (pdu->type) {
    case PVMA_POLL:
        return get_one(&pdu->poll, wire, before);
    case PVMA_STAT:
        return get_list(pdu, wire, before, 2);
    case PVMA_USTAT:
        return before == 12 && get_list(pdu, wire, before, 1);
    case PVMA_END:
        if (!get_one(&cause, wire, before) || pdu->n)
            return false;
        pdu->cause = (int)cause;
        return true;
    default:
        return false;
    }
}
