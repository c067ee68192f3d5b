/* traffic.c - senders and receivers of the traffic on a PVC. */
#include "traffic.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "core/error.h"

enum { STAMP_MAX = 4, WINDOW = 65536 };

struct pvma_traffic {
    struct pvma_sim *sim;
    struct pvma_vc *from, *to;
    char *name;
    struct pvma_traffic_options options;
    struct pvma_event due; /* CBR, POISSON */
    struct pvma_random random;
    uint64_t sent, received, bytes;
    uint64_t expected;                     /* number of the PDU after the last one that arrived */
    uint64_t passed;                       /* PDUs that arrived, as far as numbers tell */
    pvma_ps asked, shortest, longest, sum; /* echo: round trips */
    uint64_t trips;
    pvma_ps *sent_at; /* of the last WINDOW PDUs */
    struct pvma_sample *samples;
    size_t sample_count, sample_size;
    uint8_t data[PVMA_PDU_MAX];
};

/* ---- loads ---- */

bool pvma_load_find(const char *name, enum pvma_load *load)
{
    static const char *const names[] = {[PVMA_LOAD_NONE] = "none",
                                        [PVMA_LOAD_GREEDY] = "greedy",
                                        [PVMA_LOAD_ECHO] = "echo",
                                        [PVMA_LOAD_CBR] = "cbr",
                                        [PVMA_LOAD_POISSON] = "poisson"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i]))
            return *load = (enum pvma_load)i, true;
    return false;
}

bool pvma_load_is_paced(enum pvma_load load)
{
    return load == PVMA_LOAD_CBR || load == PVMA_LOAD_POISSON;
}

/* ---- samples: a PDU carries the low octets of its number, by which its time of sending is found ---- */

static unsigned stamp_bytes(const struct pvma_traffic *flow)
{
    return flow->options.bytes < STAMP_MAX ? (unsigned)flow->options.bytes : STAMP_MAX;
}

static void stamp(struct pvma_traffic *flow)
{
    for (unsigned i = 0; i < stamp_bytes(flow); i++)
        flow->data[i] = (uint8_t)(flow->sent >> 8 * i);
    flow->sent_at[flow->sent % WINDOW] = pvma_sim_now(flow->sim);
}

/* The number of a PDU: the first from the expected one on with these low octets. A VC keeps the order. */
static uint64_t number_of(const struct pvma_traffic *flow, const uint8_t *data)
{
    uint64_t low = 0, mask = (UINT64_C(1) << 8 * stamp_bytes(flow)) - 1;
    for (unsigned i = 0; i < stamp_bytes(flow); i++)
        low |= (uint64_t)data[i] << 8 * i;
    return flow->expected + ((low - flow->expected) & mask);
}

static void keep(struct pvma_traffic *flow, uint64_t number, pvma_ps latency, size_t length)
{
    if (flow->sample_count == flow->sample_size) {
        flow->sample_size = flow->sample_size ? 2 * flow->sample_size : 256;
        flow->samples = pvma_renew(flow->samples, flow->sample_size * sizeof *flow->samples);
    }
    flow->samples[flow->sample_count++] = (struct pvma_sample){pvma_sim_now(flow->sim), latency, length, number};
}

static void sample(struct pvma_traffic *flow, const uint8_t *data, size_t length)
{
    uint64_t number = number_of(flow, data);
    if (length != flow->options.bytes || number >= flow->sent || flow->sent - number > WINDOW)
        return; /* not a whole PDU of this flow: a cell of a raw VC */
    flow->expected = number + 1;
    flow->passed++;
    keep(flow, number, pvma_sim_now(flow->sim) - flow->sent_at[number % WINDOW], length);
}

/* ---- sending ---- */

static int send_one(struct pvma_traffic *flow)
{
    if (flow->options.count && flow->sent == flow->options.count)
        return PVMC_ELIMIT;
    if (flow->options.record)
        stamp(flow);
    int error = pvma_vc_send(flow->from, flow->data, flow->options.bytes, flow->sent);
    flow->sent += !error;
    flow->asked = pvma_sim_now(flow->sim);
    return error;
}

static void take(struct pvma_traffic *flow, const uint8_t *data, size_t length)
{
    flow->received++;
    flow->bytes += length;
    if (flow->options.record && flow->options.kind != PVMA_LOAD_ECHO)
        sample(flow, data, length);
}

/* One PDU at the processor at a time, so that flooding hosts do not get all of them at once. */
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

static void sink_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    (void)vc;
    take(arg, data, length);
}

static void echo_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct pvma_traffic *flow = arg;
    if (vc == flow->to) {
        take(flow, data, length);
        pvma_vc_send(vc, data, length, 0);
        return;
    }
    pvma_ps trip = pvma_sim_now(flow->sim) - flow->asked;
    flow->shortest = flow->trips && flow->shortest < trip ? flow->shortest : trip;
    flow->longest = flow->longest > trip ? flow->longest : trip;
    flow->sum += trip;
    flow->trips++;
    flow->passed++;
    if (flow->options.record)
        keep(flow, flow->trips - 1, trip, length);
    send_one(flow);
}

/* These senders do not wait: a PDU that finds the send queue full counts as sent, and is lost. */
static void interval_is_over(struct pvma_event *event)
{
    struct pvma_traffic *flow = PVMA_OF(event, struct pvma_traffic, due);
    int error = send_one(flow);
    if (error == PVMC_ELIMIT)
        return;
    flow->sent += error == PVMC_EAGAIN;
    pvma_ps gap = flow->options.kind == PVMA_LOAD_CBR ? flow->options.interval
                                                      : pvma_random_exponential(&flow->random, flow->options.interval);
    pvma_sim_after(flow->sim, event, gap);
}

static void start(struct pvma_traffic *flow)
{
    static const struct pvma_vc_handler greedy = {.taken = greedy_taken, .room = greedy_room};
    static const struct pvma_vc_handler sink = {.received = sink_received};
    static const struct pvma_vc_handler echo = {.received = echo_received}, none = {0};
    switch (flow->options.kind) {
    case PVMA_LOAD_NONE:
        return;
    case PVMA_LOAD_ECHO:
        pvma_vc_handle(flow->from, &echo, flow);
        pvma_vc_handle(flow->to, &echo, flow);
        send_one(flow);
        return;
    case PVMA_LOAD_GREEDY:
        pvma_vc_handle(flow->from, &greedy, flow);
        pvma_vc_handle(flow->to, &sink, flow);
        send_one(flow);
        return;
    case PVMA_LOAD_CBR:
    case PVMA_LOAD_POISSON:
        pvma_vc_handle(flow->from, &none, flow);
        pvma_vc_handle(flow->to, &sink, flow);
        pvma_sim_after(flow->sim, &flow->due, flow->options.interval);
        return;
    }
}

struct pvma_traffic *pvma_traffic_new(struct pvma_net *net, size_t pvc, const struct pvma_traffic_options *options)
{
    struct pvma_traffic *flow = pvma_new(sizeof *flow);
    char stream[32];
    flow->sim = pvma_net_sim(net);
    flow->from = pvma_net_pvc_end(net, pvc, false);
    flow->to = pvma_net_pvc_end(net, pvc, true);
    flow->options = *options;
    if (options->bytes > pvma_vc_mtu(flow->from))
        flow->options.bytes = pvma_vc_mtu(flow->from);
    for (size_t i = 0; i < sizeof flow->data; i++)
        flow->data[i] = (uint8_t)(i * 7 + pvc);
    if (options->record)
        flow->sent_at = pvma_new(WINDOW * sizeof *flow->sent_at);
    const char *from = pvma_host_name(pvma_vc_host(flow->from)), *to = pvma_host_name(pvma_vc_host(flow->to));
    size_t size = strlen(from) + strlen(to) + 2;
    flow->name = pvma_new(size);
    snprintf(flow->name, size, "%s>%s", from, to);
    snprintf(stream, sizeof stream, "flow %zu", pvc);
    pvma_random_init(&flow->random, pvma_sim_seed(flow->sim), stream);
    pvma_event_init(&flow->due, PVMA_EVENT_USER, interval_is_over);
    start(flow);
    return flow;
}

void pvma_traffic_free(struct pvma_traffic *flow)
{
    pvma_sim_cancel(flow->sim, &flow->due);
    free(flow->sent_at);
    free(flow->samples);
    free(flow->name);
    free(flow);
}

/* ---- results ---- */

const char *pvma_traffic_name(const struct pvma_traffic *flow)
{
    return flow->name;
}

const struct pvma_sample *pvma_traffic_samples(const struct pvma_traffic *flow, size_t *count)
{
    *count = flow->sample_count;
    return flow->samples;
}

struct pvma_traffic_counts pvma_traffic_count(const struct pvma_traffic *flow)
{
    struct pvma_traffic_counts counts = {.sent = flow->sent, .received = flow->received};
    if (flow->options.kind != PVMA_LOAD_ECHO && flow->expected > flow->passed)
        counts.lost = flow->expected - flow->passed;
    return counts;
}

void pvma_traffic_print(const struct pvma_traffic *flow, pvma_ps duration, FILE *out)
{
    const char *from = pvma_host_name(pvma_vc_host(flow->from)), *to = pvma_host_name(pvma_vc_host(flow->to));
    fprintf(out, "%s > %s: %" PRIu64 " PDUs sent, %" PRIu64 " received", from, to, flow->sent, flow->received);
    if (flow->options.kind != PVMA_LOAD_ECHO)
        fprintf(out, ", %.3f Mbit/s", (double)flow->bytes * 8e6 / (double)duration);
    if (flow->trips)
        fprintf(out, ", round trip %.3f us (%.3f to %.3f)", (double)flow->sum / (double)flow->trips / 1e6,
                (double)flow->shortest / 1e6, (double)flow->longest / 1e6);
    fprintf(out, "\n");
}
