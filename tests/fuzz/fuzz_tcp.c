/*
 * fuzz_tcp.c - the unauthenticated messages of direct TCP links: offers, hellos and welcomes. The first byte selects
 * one; an accepted message must encode to the same bytes again, and proofs must not pass by chance.
 */
#include "fuzz.h"
#include <string.h>
#include "transports/tcp/candidates.h"

static const struct pvmw_tls_key ticket = {.id = {1, 2, 3}, .secret = {[0] = 4, [15] = 5, [16] = 6, [31] = 7}};

static void read_offer(const uint8_t *data, size_t size)
{
    static struct pvmt_tcp_offer o;
    static struct pvmt_tcp_candidates c;
    uint8_t again[PVMT_OFFER_MAX], host[PVMT_TCP_HOST_BYTES];
    if (pvmt_tcp_offer_decode(data, size, &o))
        return;
    MUST(o.count >= 1 && o.count <= PVMT_TCP_OFFERED_MAX);
    int n = pvmt_tcp_offer_encode(&o, again);
    MUST(n > 0 && (size_t)n <= size);
    struct pvmt_tcp_offer back;
    MUST(!pvmt_tcp_offer_decode(again, (size_t)n, &back) && !memcmp(&o, &back, sizeof o));
    memcpy(host, o.host, sizeof host);
    for (unsigned other = 0; other < 2; other++) {
        host[0] ^= (uint8_t)other;
        MUST(!pvmt_tcp_candidates_of(&o, host, "", &o.addresses[0], &c));
        MUST(c.count <= PVMT_TCP_CANDIDATES_MAX);
        for (unsigned i = 0; i < c.count; i++) {
            char text[PVMW_ADDRESS_TEXT];
            MUST(strlen(pvmw_address_text(&c.list[i].address, text)) < sizeof text);
            MUST(!other || !pvmw_address_is_loopback(&c.list[i].address));
        }
    }
}

static void read_hello(const uint8_t *data, size_t size)
{
    uint8_t id[PVMT_TCP_ID_BYTES], wire[PVMT_TCP_HELLO_BYTES], again[PVMT_TCP_HELLO_BYTES];
    bool tls;
    if (size < sizeof wire)
        return;
    memcpy(wire, data, sizeof wire);
    if (pvmt_tcp_hello_decode(wire, id, &tls) || memcmp(id, ticket.id, sizeof id))
        return;
    if (tls || !pvmt_tcp_hello_proves(wire, &ticket))
        return;
    pvmt_tcp_hello_encode(&ticket, tls, again);
    MUST(!memcmp(wire, again, sizeof wire));
}

static void read_welcome(const uint8_t *data, size_t size)
{
    uint8_t wire[PVMT_TCP_WELCOME_BYTES], again[PVMT_TCP_WELCOME_BYTES];
    if (size < sizeof wire)
        return;
    memcpy(wire, data, sizeof wire);
    if (pvmt_tcp_welcome_check(wire, &ticket, false))
        return;
    pvmt_tcp_welcome_encode(&ticket, false, again);
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
