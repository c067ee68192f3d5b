/*
 * fuzz_atm_overlay.c - messages of the overlay of servers: an accepted message encodes to the same bytes again; servers
 * and stations that receive a sequence of messages (u8 length, message) on their VCs stay consistent.
 */
#include "fuzz.h"
#include <string.h>
#include "atm/src/overlay/parts.h"

static const char ring[] = "host p[1-3]\nhost h[1-3] vcis=2\nswitch s\nlink p[1-3] s\nlink h[1-3] s\n"
                           "server q[1-3] at=p[1-3]\noverlay ring patience=10ms retry=1ms\n";
static const char tree[] = "host p[1-3]\nhost h[1-3] vcis=2\nswitch s\nlink p[1-3] s\nlink h[1-3] s\n"
                           "server q[1-3] at=p[1-3]\noverlay tree patience=10ms retry=1ms\n";

static void write_again(const uint8_t *data, size_t size)
{
    struct pvma_overlay_message m;
    uint8_t wire[PVMA_OVERLAY_MAX];
    if (pvma_overlay_decode(&m, data, size))
        return;
    size_t length = pvma_overlay_encode(&m, wire);
    MUST(length == (m.type == PVMA_OVERLAY_DATA ? PVMA_OVERLAY_HEADER : size) && !memcmp(wire, data, length));
    MUST(pvma_overlay_type_name(m.type)[0] != '?');
}

static void accept(void *arg, struct pvma_call *call, struct pvma_address caller, const struct pvma_contract *contract)
{
    (void)arg, (void)caller;
    MUST(contract->wanted.mean_bps >= 0);
    pvma_call_accept(call, NULL, NULL, NULL);
}

/* Sends a message from an end, with the sequence number that the other end expects. */
static void send_message(struct pvma_sim *sim, struct pvma_hop_end *end, const uint8_t *data, size_t size)
{
    uint8_t message[256] = {0};
    if (size)
        memcpy(message, data, size);
    struct pvma_hop_end *other = &end->hop->end[end == end->hop->end];
    message[4] = (uint8_t)other->expected;
    message[5] = (uint8_t)(other->expected >> 8);
    message[6] = (uint8_t)(other->expected >> 16);
    message[7] = end->hop->epoch;
    pvma_vc_send(end->vc, message, size, 0);
    pvma_sim_run_until(sim, pvma_sim_now(sim) + 20 * PVMA_MS);
}

static void play(const char *text, const uint8_t *data, size_t size)
{
    struct pvma_topology t;
    MUST(pvma_topology_parse("net", text, strlen(text), &t) == 0);
    struct pvma_net *net = pvma_net_new(&t, 1);
    MUST(net);
    struct pvma_overlay *overlay = pvma_overlay_new(net, &t);
    MUST(overlay);
    static const struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    struct pvma_host *a = pvma_net_host(net, "h1"), *b = pvma_net_host(net, "h3");
    pvma_host_listen(b, 1, accept, NULL);
    pvma_call_open(a, pvma_host_address(b), 1, &contract, NULL, NULL);
    for (unsigned i = 0; size > 1 && i < 32; i++) {
        size_t length = data[0] < size - 1 ? data[0] : size - 1;
        struct pvma_hop *hop = overlay->hops[i % overlay->hop_count];
        send_message(pvma_net_sim(net), &hop->end[i / overlay->hop_count % 2], data + 1, length);
        data += 1 + length;
        size -= 1 + length;
    }
    pvma_overlay_free(overlay);
    pvma_net_free(net);
    pvma_topology_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_again(data, size);
    play(ring, data, size);
    play(tree, data, size);
    return 0;
}
