/*
 * fuzz_reliable.c - the reliability layer with a peer that sends anything: each record of the input (two bytes of
 * length, then a packet) gets a valid checksum, and valid incarnations if its first byte is even; time advances in
 * between.
 */
#include <string.h>
#include "wire/reliable/state.h"
#include "fuzz.h"

enum { OWN = 0xfffffff0, PEER = 5, PACKET_BYTES = 300, MESSAGES = 100, MESSAGE_BYTES = 700 };

static uintptr_t given_back;

static int emit(void *arg, const struct iovec *pieces, unsigned count)
{
    size_t length = 0;
    (void)arg;
    for (unsigned i = 0; i < count; i++)
        length += pieces[i].iov_len;
    MUST(length <= PACKET_BYTES);
    return 0;
}

static unsigned gather(void *arg, void *message, uint32_t offset, uint32_t length, struct iovec *pieces)
{
    static uint8_t bytes[MESSAGE_BYTES];
    (void)arg;
    MUST((uintptr_t)message >= given_back && offset + length <= MESSAGE_BYTES);
    pieces[0] = (struct iovec){bytes + offset, length};
    return 1;
}

static void on_sent(void *arg, void *message)
{
    (void)arg;
    MUST((uintptr_t)message == given_back);
    given_back++;
}

static void on_received(void *arg, bool first, bool last, const uint8_t *data, uint32_t length)
{
    static volatile uint8_t sink;
    (void)arg, (void)first, (void)last;
    for (uint32_t i = 0; i < length; i++)
        sink = sink ^ data[i];
}

static const struct pvmw_reliable_callbacks callbacks = {
    .emit = emit, .gather = gather, .sent = on_sent, .received = on_received};

static void take(struct pvmw_reliable *r, const uint8_t *data, size_t length, int64_t now_us)
{
    uint8_t packet[65536];
    struct packet_header h;
    memcpy(packet, data, length);
    if (length) {
        bool at_home = packet[0] % 2 == 0;
        packet[0] = 1; /* the version */
        if (at_home && pvmw_reliable_decode(packet, length, &h)) {
            h.to = OWN;
            h.from = PEER;
            h.checksum = 0;
            pvmw_reliable_encode(&h, packet);
            struct iovec payload = {packet + PVMW_RELIABLE_HEADER_BYTES, length - PVMW_RELIABLE_HEADER_BYTES};
            h.checksum = pvmw_reliable_checksum(packet, &payload, 1);
            pvmw_reliable_encode(&h, packet);
        }
    }
    pvmw_reliable_take(r, packet, length, now_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pvmw_reliable_settings settings = {.packet_bytes = PACKET_BYTES,
                                                           .window = 64,
                                                           .credit = 48,
                                                           .retry_min_us = 1000,
                                                           .retry_max_us = 200000,
                                                           .ack_delay_us = 500,
                                                           .dead_after_us = 10000000};
    struct pvmw_reliable_settings s = settings;
    s.go_back_n = size % 2;
    struct pvmw_reliable *r = pvmw_reliable_new(&s, OWN, PEER, &callbacks, NULL);
    int64_t now_us = 1;
    uintptr_t sent = given_back = 0;
    while (size >= 2) {
        size_t length = data[0] | (size_t)(data[1] & 3) << 8;
        now_us += data[1] * data[1];
        data += 2;
        size -= 2;
        if (length > size)
            length = size;
        if (sent < MESSAGES && !pvmw_reliable_send(r, (void *)sent, MESSAGE_BYTES, now_us))
            sent++;
        take(r, data, length, now_us);
        pvmw_reliable_progress(r, now_us);
        MUST(pvmw_reliable_due_us(r) > 0 && given_back <= sent);
        data += length;
        size -= length;
    }
    pvmw_reliable_free(r);
    return 0;
}
