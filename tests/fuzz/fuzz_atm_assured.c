/*
 * fuzz_atm_assured.c - PDUs of SSCOP and PC-AAL: an accepted one encodes to the same bytes again; a sender and a
 * receiver that take a sequence of them keep within their windows, also in ECE's modes.
 *
 * u8 protocol (1: SSCOP; 2, 4: PC-AAL's formats; 8: ECE duplicates), then PDUs: u8 length, bytes. A cell gets the right
 * checksum.
 */
#include "fuzz.h"
#include <string.h>
#include "atm/src/assured/ece.h"
#include "atm/src/assured/pcaal.h"
#include "atm/src/assured/receiver.h"
#include "atm/src/assured/sender.h"
#include "atm/src/assured/serial.h"
#include "atm/src/assured/sscop.h"
#include "atm/src/base/crc.h"

enum { SDS = 40, SENT = 30, NOW = 1000000000, WINDOW = 64 * 32 };

struct engines {
    bool sscop;
    struct pvma_pcaal format;
    struct pvma_sender sender;
    struct pvma_receiver receiver;
    struct pvma_ece ece;
};

static bool read_sscop(struct pvma_pdu *pdu, const uint8_t *data, size_t length)
{
    uint8_t again[PVMA_SSCOP_PDU_MAX];
    if (!pvma_sscop_decode(pdu, data, length))
        return false;
    MUST(pvma_sscop_encode(pdu, again) == length && !memcmp(again, data, length));
    return true;
}

static void seal(uint8_t *cell)
{
    cell[5] = cell[6] = 0;
    uint16_t crc = pvma_crc16(cell, PVMA_PCAAL_BYTES);
    cell[5] = (uint8_t)(crc >> 8);
    cell[6] = (uint8_t)crc;
}

static bool read_cell(const struct engines *e, struct pvma_pdu *pdu, uint8_t *cell)
{
    uint8_t again[PVMA_PCAAL_BYTES];
    seal(cell);
    if (!pvma_pcaal_decode(&e->format, pdu, cell, 10 * (pvma_ps)NOW * PVMA_NS))
        return false;
    pvma_pcaal_encode(&e->format, pdu, again);
    MUST(!memcmp(again, cell, sizeof again));
    return true;
}

static void check(struct engines *e)
{
    uint8_t data[100];
    struct pvma_pdu pdu;
    enum pvma_asked asked;
    MUST(e->sender.a <= e->sender.s && e->sender.s <= e->sender.end && e->sender.charge <= WINDOW);
    MUST(e->receiver.r <= e->receiver.h && e->receiver.charge <= 2 * WINDOW + PVMA_SSCOP_PDU_MAX);
    for (unsigned i = 0; i < 4 && pvma_receiver_report(&e->receiver, 7, e->sscop, &pdu); i++)
        MUST(pdu.elements >= 1 && pdu.elements <= 7 && (pdu.type == PVMA_USTAT || pdu.list[0] >= pdu.laf));
    if (pvma_sender_next(&e->sender, NOW, &pdu, &asked))
        MUST(pdu.n >= e->sender.a && pdu.n < e->sender.s);
    if (e->receiver.readable > 500)
        MUST(pvma_receiver_read(&e->receiver, data, sizeof data) == sizeof data);
}

/* What came by a VC, which its length says. Each VC sends something, and time passes. */
static void take_by_ece(struct engines *e, const struct pvma_pdu *pdu, enum pvma_path path)
{
    struct pvma_pdu next;
    enum pvma_asked asked;
    const pvma_ps now = 10 * (pvma_ps)NOW * PVMA_NS;
    pvma_ece_take(&e->ece, path, pdu, now);
    for (path = 0; path < PVMA_PATHS; path++)
        if (pvma_ece_next(&e->ece, path, now, &next, &asked))
            MUST(path == PVMA_CONTROL || next.type != PVMA_SD || next.n < e->sender.s);
    MUST((int64_t)e->ece.replicas <= e->sender.window_sds);
    pvma_ece_tick(&e->ece, now);
}

static void take(struct engines *e, const uint8_t *data, size_t length)
{
    struct pvma_pdu pdu;
    uint8_t cell[PVMA_PCAAL_BYTES] = {0};
    if (!e->sscop)
        memcpy(cell, data, length < sizeof cell ? length : sizeof cell);
    if (!(e->sscop ? read_sscop(&pdu, data, length) : read_cell(e, &pdu, cell)))
        return;
    if (e->format.stamped)
        take_by_ece(e, &pdu, length % PVMA_PATHS);
    else if (pdu.type == PVMA_SD || pdu.type == PVMA_POLL)
        pvma_receiver_take(&e->receiver, &pdu);
    else
        pvma_sender_take(&e->sender, &pdu);
    check(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvma_pdu pdu;
    enum pvma_asked asked;
    struct fuzz_input in = {data, size};
    unsigned protocol = fuzz_byte(&in), bits = protocol & 1 ? PVMA_SERIAL_SSCOP : PVMA_SERIAL_PCAAL;
    struct engines e = {.sscop = protocol & 1, .format = {.several = protocol & 2, .stamped = protocol & 4}};
    pvma_sender_init(&e.sender, bits, WINDOW, 1);
    pvma_receiver_init(&e.receiver, bits, WINDOW, 1);
    struct pvma_ece_settings settings = pvma_ece_defaults(protocol & 8);
    pvma_ece_init(&e.ece, &settings, &e.sender, &e.receiver);
    for (unsigned i = 0; i < SDS; i++)
        MUST(pvma_sender_put(&e.sender, "abcd", 4, 0, 0));
    for (unsigned i = 0; i < SENT; i++)
        MUST(pvma_sender_next(&e.sender, i, &pdu, &asked));
    pvma_sender_poll(&e.sender, &pdu);
    for (unsigned i = 0; in.left && i < 64; i++) {
        size_t length = fuzz_byte(&in);
        length = length < in.left ? length : in.left;
        take(&e, in.data, length);
        in.data += length;
        in.left -= length;
    }
    pvma_ece_free(&e.ece);
    pvma_sender_free(&e.sender);
    pvma_receiver_free(&e.receiver);
    return 0;
}
