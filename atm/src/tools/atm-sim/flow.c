/* flow.c - greedy senders and echo pairs. */
#include "flow.h"
#include <inttypes.h>
#include <stdlib.h>
#include "core/error.h"

struct flow {
    struct pvma_sim *sim;
    struct pvma_vc *from, *to;
    struct flow_options options;
    uint64_t sent, received, bytes;
    pvma_ps asked, shortest, longest, sum; /* echo: round trips */
    uint64_t trips;
    pvma_ps last; /* arrival of the last PDU */
    uint8_t data[PVMA_PDU_MAX];
};

static int send_one(struct flow *flow)
{
    if (flow->options.count && flow->sent == flow->options.count)
        return PVMC_ELIMIT;
    int error = pvma_vc_send(flow->from, flow->data, flow->options.bytes, flow->sent);
    flow->sent += !error;
    flow->asked = pvma_sim_now(flow->sim);
    return error;
}

static void take(struct flow *flow, size_t length)
{
    flow->received++;
    flow->bytes += length;
    flow->last = pvma_sim_now(flow->sim);
}

/* ---- greedy: one PDU at the processor at a time, so that flooding hosts do not get all of them at once ---- */

static void greedy_taken(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    (void)vc, (void)cookie;
    send_one(arg);
}

static void greedy_room(void *arg, struct pvma_vc *vc)
{
    (void)vc;
    send_one(arg);
}

static void greedy_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    (void)vc, (void)data;
    take(arg, length);
}

/* ---- echo ---- */

static void echo_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct flow *flow = arg;
    if (vc == flow->to) {
        take(flow, length);
        pvma_vc_send(vc, data, length, 0);
        return;
    }
    pvma_ps trip = pvma_sim_now(flow->sim) - flow->asked;
    flow->shortest = flow->trips && flow->shortest < trip ? flow->shortest : trip;
    flow->longest = flow->longest > trip ? flow->longest : trip;
    flow->sum += trip;
    flow->trips++;
    send_one(flow);
}

struct flow *flow_new(struct pvma_net *net, size_t pvc, const struct flow_options *options)
{
    static const struct pvma_vc_handler greedy_sender = {.taken = greedy_taken, .room = greedy_room};
    static const struct pvma_vc_handler greedy_receiver = {.received = greedy_received};
    static const struct pvma_vc_handler echo = {.received = echo_received};
    struct flow *flow = pvma_new(sizeof *flow);
    bool greedy = options->kind == FLOW_GREEDY;
    flow->sim = pvma_net_sim(net);
    flow->from = pvma_net_pvc_end(net, pvc, false);
    flow->to = pvma_net_pvc_end(net, pvc, true);
    flow->options = *options;
    if (options->bytes > pvma_vc_mtu(flow->from))
        flow->options.bytes = pvma_vc_mtu(flow->from);
    for (size_t i = 0; i < sizeof flow->data; i++)
        flow->data[i] = (uint8_t)(i * 7 + pvc);
    if (options->kind == FLOW_NONE)
        return flow;
    pvma_vc_handle(flow->from, greedy ? &greedy_sender : &echo, flow);
    pvma_vc_handle(flow->to, greedy ? &greedy_receiver : &echo, flow);
    send_one(flow);
    return flow;
}

void flow_print(const struct flow *flow, pvma_ps duration, FILE *out)
{
    const char *from = pvma_host_name(pvma_vc_host(flow->from)), *to = pvma_host_name(pvma_vc_host(flow->to));
    fprintf(out, "%s > %s: %" PRIu64 " PDUs sent, %" PRIu64 " received", from, to, flow->sent, flow->received);
    if (flow->options.kind == FLOW_GREEDY)
        fprintf(out, ", %.3f Mbit/s", (double)flow->bytes * 8e6 / (double)duration);
    if (flow->trips)
        fprintf(out, ", round trip %.3f us (%.3f to %.3f)", (double)flow->sum / (double)flow->trips / 1e6,
                (double)flow->shortest / 1e6, (double)flow->longest / 1e6);
    fprintf(out, "\n");
}
