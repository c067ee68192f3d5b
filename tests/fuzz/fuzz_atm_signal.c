/*
 * fuzz_atm_signal.c - signalling messages: an accepted message encodes to the same bytes again; a switch and a host
 * that receive a sequence of messages (u8 length, message) stay consistent.
 */
#include "fuzz.h"
#include <string.h>
#include "atm/src/network/network.h"
#include "atm/src/network/signal.h"

static const char net_text[] = "host a\nhost b\nhost c\nswitch s\nlink a s\nlink b s\nlink c s\n";

static void write_again(const uint8_t *data, size_t size)
{
    struct pvma_signal signal;
    uint8_t wire[PVMA_SIGNAL_MAX];
    if (pvma_signal_decode(&signal, data, size))
        return;
    MUST(pvma_signal_encode(&signal, wire) == size && !memcmp(wire, data, size));
    MUST(pvma_signal_name(signal.type)[0] != '?');
}

static void accept(void *arg, struct pvma_call *call, struct pvma_address caller, const struct pvma_contract *contract)
{
    (void)arg, (void)caller;
    MUST(contract->wanted.mean_bps >= 0);
    pvma_call_accept(call, NULL, NULL, NULL);
}

/* Sends the message as cells into a link. */
static void send_message(struct pvma_net *net, const char *from, const char *to, const uint8_t *data, size_t size)
{
    struct pvma_link *link = pvma_net_link(net, from, to);
    struct pvma_segmenter s = {0};
    MUST(pvma_segmenter_start(&s, PVMA_AAL5, 0, data, size) == 0);
    while (s.next < s.cells) {
        struct pvma_cell *cell = pvma_cell_new(link->cells);
        pvma_segmenter_next(&s, cell);
        cell->vci = PVMA_VCI_SIGNALLING;
        while (!pvma_link_is_free(link))
            MUST(pvma_sim_step(link->sim));
        pvma_link_send(link, cell);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvma_topology t;
    write_again(data, size);
    MUST(pvma_topology_parse("net", net_text, sizeof net_text - 1, &t) == 0);
    struct pvma_net *net = pvma_net_new(&t, 1);
    MUST(net);
    pvma_host_listen(pvma_net_host(net, "b"), 1, accept, NULL);
    for (unsigned i = 0; size > 1 && i < 32; i++) {
        size_t length = data[0] < size - 1 ? data[0] : size - 1;
        const char *from = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "s", *to = i % 3 == 2 ? "b" : "s";
        send_message(net, from, to, data + 1, length);
        pvma_sim_run(pvma_net_sim(net));
        data += 1 + length;
        size -= 1 + length;
    }
    pvma_net_free(net);
    pvma_topology_free(&t);
    return 0;
}
