/*
 * fuzz_tcp.c - what direct TCP links read before they trust anybody: offers, hellos and welcomes. The first byte
 * chooses; what is accepted must come out the same when it is written again, and proofs must not pass by chance.
 */
#include "fuzz.h"
#include <string.h>
#include "../../src/transports/tcp/candidates.h"

static const struct pvmw_tls_key ticket = {.id = {1, 2, 3}, .secret = {[0] = 4, [15] = 5, [16] = 6, [31] = 7}};

static void read_offer(const uint8_t *data, size_t size)
{
    static struct pvmi_tcp_offer o;
    static struct pvmi_tcp_candidates c;
    uint8_t again[PVMI_OFFER_MAX], host[PVMI_TCP_HOST_BYTES];
    if (pvmi_tcp_offer_decode(data, size, &o))
        return;
    MUST(o.count >= 1 && o.count <= PVMI_TCP_OFFERED_MAX);
    int n = pvmi_tcp_offer_encode(&o, again);
    MUST(n > 0 && (size_t)n <= size);
    struct pvmi_tcp_offer back;
    MUST(!pvmi_tcp_offer_decode(again, (size_t)n, &back) && !memcmp(&o, &back, sizeof o));
    memcpy(host, o.host, sizeof host);
    for (unsigned other = 0; other < 2; other++) {
        host[0] ^= (uint8_t)other;
        MUST(!pvmi_tcp_candidates_of(&o, host, "", &o.addresses[0], &c));
        MUST(c.count <= PVMI_TCP_CANDIDATES_MAX);
        for (unsigned i = 0; i < c.count; i++) {
            char text[PVMI_TCP_TEXT_BYTES];
            MUST(strlen(pvmi_tcp_address_text(&c.list[i].address, text)) < sizeof text);
            MUST(!other || !pvmi_tcp_address_is_loopback(&c.list[i].address));
        }
    }
}

static void read_hello(const uint8_t *data, size_t size)
{
    uint8_t id[PVMI_TCP_ID_BYTES], wire[PVMI_TCP_HELLO_BYTES], again[PVMI_TCP_HELLO_BYTES];
    bool tls;
    if (size < sizeof wire)
        return;
    memcpy(wire, data, sizeof wire);
    if (pvmi_tcp_hello_decode(wire, id, &tls) || memcmp(id, ticket.id, sizeof id))
        return;
    if (tls || !pvmi_tcp_hello_proves(wire, &ticket))
        return;
    pvmi_tcp_hello_encode(&ticket, tls, again);
    MUST(!memcmp(wire, again, sizeof wire));
}

static void read_welcome(const uint8_t *data, size_t size)
{
    uint8_t wire[PVMI_TCP_WELCOME_BYTES], again[PVMI_TCP_WELCOME_BYTES];
    if (size < sizeof wire)
        return;
    memcpy(wire, data, sizeof wire);
    if (pvmi_tcp_welcome_check(wire, &ticket, false))
        return;
    pvmi_tcp_welcome_encode(&ticket, false, again);
    MUST(!memcmp(wire, again, sizeof wire));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    switch (data[0] % 3) {
    case 0:
        read_offer(data + 1, size - 1);
        break;
    case 1:
        read_hello(data + 1, size - 1);
        break;
    default:
        read_welcome(data + 1, size - 1);
    }
    return 0;
}
