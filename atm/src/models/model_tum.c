/* model_tum.c - the HP and IBM workstations of the TUM report: latency, and streams over TCP. */
#include "core/error.h"
#include "lab/layout.h"
#include "model.h"
#include "papers/tum_hosts.h"
#include "reproduce/experiment.h"
#include "reproduce/stream.h"

static struct tum tum;

static void prepare(void)
{
    tum_fit(&tum, &paper_tum, false);
}

static struct tum_run run_of(const struct sweep_model_options *o)
{
    return (struct tum_run){.host = (enum tum_host)o->host,
                            .stack = (enum tum_stack)o->stack,
                            .network = (enum lab_network)o->network,
                            .buffer_bytes = o->buffer,
                            .daemon_packet_bytes = o->packet};
}

static const char *check(const struct sweep_model_options *o)
{
    bool api = o->stack == TUM_API34 || o->stack == TUM_API5;
    if (api && o->network != LAB_ATM)
        return "the Fore API needs network=atm";
    if (api && o->size > (o->host == TUM_HP ? 9188 : 4092))
        return "the largest PDU of the Fore API is 9188 octets on HP, 4092 on IBM; leave such points out with skip";
    if (o->host == TUM_LACE && (o->stack != TUM_PVM_DIRECT || o->network != LAB_ATM))
        return "the report has LACE with stack=pvm-direct on network=atm only";
    if (o->loss > 0 && (o->network != LAB_ETHERNET || o->stack != TUM_PVM_DIRECT))
        return "loss= is for stack=pvm-direct on network=ethernet";
    return NULL;
}

static int run_echo(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct tum_run run = run_of(o);
    double us =
        o->loss > 0 ? tum_lossy_latency_us(&tum, &run, o->size, o->loss, o->seed) : tum_latency_us(&tum, &run, o->size);
    results[0] = 2 * us;
    results[1] = us;
    results[2] = us > 0 ? o->size / us : 0;
    return us > 0 ? 0 : PVMC_ELIMIT;
}

/* What the receiver gets in the second that follows 1.5 s of warm-up. */
static int run_stream(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    static struct lab lab;
    struct tum_run run = run_of(o);
    struct pvma_topology topology;
    struct lab_setup setup;
    struct stream stream;
    unsigned long long events = 0;
    run.stack = TUM_TCP;
    setup = tum_setup(&tum, &run, &topology);
    lab_open(&lab, &setup);
    stream_start(&stream, &lab, 0, 1, &setup.tcp, o->size, 0);
    lab_run(&lab, 1.5);
    uint64_t before = stream.received;
    lab_run(&lab, 1.0);
    results[0] = (double)(stream.received - before) * 8 / 1e6;
    stream_free(&stream);
    lab_close(&lab, &events);
    layout_free(&topology);
    return 0;
}

#define FIELD(name) offsetof(struct sweep_model_options, name)

static const struct pvma_option echo_options[] = {
    {"host", PVMA_OPTION_CHOICE, FIELD(host), 0, 0, "hp|ibm|lace"},
    {"stack", PVMA_OPTION_CHOICE, FIELD(stack), 0, 0, "fore34|fore5|tcp|udp|pvm-direct|pvm-daemon"},
    {"network", PVMA_OPTION_CHOICE, FIELD(network), 0, 0, "atm|ethernet"},
    {"size", PVMA_OPTION_COUNT, FIELD(size), 0, 1 << 20, NULL},
    {"buffer", PVMA_OPTION_COUNT, FIELD(buffer), 1024, 65535, NULL},
    {"packet", PVMA_OPTION_COUNT, FIELD(packet), 512, 65000, NULL},
    {"loss", PVMA_OPTION_CHANCE, FIELD(loss), 0, 0, NULL},
    {0}};
static const struct pvma_option stream_options[] = {
    {"host", PVMA_OPTION_CHOICE, FIELD(host), 0, 0, "hp|ibm"},
    {"network", PVMA_OPTION_CHOICE, FIELD(network), 0, 0, "atm|ethernet"},
    {"size", PVMA_OPTION_COUNT, FIELD(size), 1, 65536, NULL},
    {"buffer", PVMA_OPTION_COUNT, FIELD(buffer), 1024, 65535, NULL},
    {0}};

const struct sweep_model sweep_models_tum[] = {{.name = "tum-echo",
                                                .options = echo_options,
                                                .initial = {.stack = TUM_TCP, .size = 1},
                                                .results = {{"trip", "us"}, {"latency", "us"}, {"throughput", "MB/s"}},
                                                .check = check,
                                                .prepare = prepare,
                                                .run = run_echo},
                                               {.name = "tum-stream",
                                                .options = stream_options,
                                                .initial = {.stack = TUM_TCP, .size = 8192, .buffer = 32768},
                                                .results = {{"throughput", "Mbit/s"}},
                                                .prepare = prepare,
                                                .run = run_stream},
                                               {0}};
