/*
 * wires.h - used by the tests of SSCOP and PC-AAL: a sender and a receiver with two wires between them, which keep the
 * order of PDUs as a VC does, but lose and double what the test says.
 */
#ifndef WIRES_H
#define WIRES_H

#include "../lab.h"
#include "atm/src/assured/pcaal.h"
#include "atm/src/assured/receiver.h"
#include "atm/src/assured/sender.h"
#include "atm/src/assured/serial.h"
#include "atm/src/assured/sscop.h"

static uint64_t wires_case; /* the current one, of a test that has many */

/* A check that costs nothing if it holds: check's own note each call in a file. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("case %llu: %s", (unsigned long long)wires_case, #condition);                                 \
    } while (0)

enum { WIRE_PDUS = 64, WIRE_LIST = 8, PAYLOAD = 4 };

/* A PDU underway: a pvma_pdu would take 2 KiB. */
struct on_wire {
    enum pvma_pdu_type type;
    int64_t n, poll, limit, laf, list[WIRE_LIST];
    unsigned elements;
    uint32_t data;
};

struct wire {
    struct on_wire pdu[WIRE_PDUS];
    unsigned first, count;
};

struct pair {
    struct pvma_sender sender;
    struct pvma_receiver receiver;
    struct wire there, back;
    int64_t first;
    uint32_t written, read; /* SDs, each with its index as data */
    pvma_ps now;
};

static inline void pair_open(struct pair *pair, unsigned bits, size_t window_bytes, int64_t first)
{
    pair->there.first = pair->there.count = pair->back.first = pair->back.count = 0;
    pair->first = first;
    pair->written = pair->read = 0;
    pair->now = 0;
    pvma_sender_init(&pair->sender, bits, window_bytes, first);
    pvma_receiver_init(&pair->receiver, bits, window_bytes, first);
}

static inline void pair_close(struct pair *pair)
{
    pvma_sender_free(&pair->sender);
    pvma_receiver_free(&pair->receiver);
}

static inline bool pair_write(struct pair *pair)
{
    bool put = pvma_sender_put(&pair->sender, &pair->written, PAYLOAD, 0, 0);
    pair->written += put;
    return put;
}

/* The reader takes all that is readable, which must be the SDs in order. */
static inline void pair_read(struct pair *pair)
{
    uint32_t data;
    while (pvma_receiver_read(&pair->receiver, &data, PAYLOAD) == PAYLOAD)
        MUST(data == pair->read++);
}

static inline void wire_put(struct wire *wire, const struct pvma_pdu *pdu)
{
    if (wire->count == WIRE_PDUS)
        return; /* lost */
    struct on_wire *to = &wire->pdu[(wire->first + wire->count++) % WIRE_PDUS];
    to->type = pdu->type;
    to->n = pdu->n;
    to->poll = pdu->poll;
    if (pdu->type == PVMA_SD) {
        memcpy(&to->data, pdu->data, PAYLOAD);
    } else if (pdu->type != PVMA_POLL) {
        to->limit = pdu->limit;
        to->laf = pdu->laf;
        to->elements = pdu->elements;
        memcpy(to->list, pdu->list, pdu->elements * sizeof pdu->list[0]);
    }
}

/* Takes the oldest PDU off the wire. The data of an SD remain on the wire until the next put. */
static inline void wire_take(struct wire *wire, struct pvma_pdu *pdu)
{
    struct on_wire *from = &wire->pdu[wire->first];
    wire->first = (wire->first + 1) % WIRE_PDUS;
    wire->count--;
    pdu->type = from->type;
    pdu->n = from->n;
    pdu->poll = from->poll;
    pdu->tag = pdu->offset = 0;
    if (pdu->type == PVMA_SD) {
        pdu->data = (const uint8_t *)&from->data;
        pdu->length = PAYLOAD;
    } else if (pdu->type != PVMA_POLL) {
        pdu->limit = from->limit;
        pdu->laf = from->laf;
        pdu->elements = from->elements;
        memcpy(pdu->list, from->list, from->elements * sizeof pdu->list[0]);
    }
}

#endif
