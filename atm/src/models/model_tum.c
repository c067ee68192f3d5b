/* model_tum.c - the HP and IBM workstations of the TUM report: latency, and streams over TCP. */
#include "core/error.h"
#include "model.h"
#include "papers/tum_streams.h"
#include "reproduce/experiment.h"

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
                            .daemon_packet_bytes = o->packet,
                            .daemon_on_api = o->daemons};
}

/* Of the Fore API; NULL: good. */
static const char *check_api(const struct sweep_model_options *o)
{
    if (o->stack != TUM_API34 && o->stack != TUM_API5)
        return NULL;
    if (o->network != LAB_ATM)
        return "the Fore API needs network=atm";
    if (o->size > (o->host == TUM_HP ? 9188 : 4092))
        return "the largest PDU of the Fore API is 9188 octets on HP, 4092 on IBM; leave such points out with skip";
    return NULL;
}

static const char *check_echo(const struct sweep_model_options *o)
{
    if (o->host == TUM_LACE && (o->stack != TUM_PVM_DIRECT || o->network != LAB_ATM))
        return "the report has LACE with stack=pvm-direct on network=atm only";
    if (o->loss > 0 && (o->network != LAB_ETHERNET || o->stack != TUM_PVM_DIRECT))
        return "loss= is for stack=pvm-direct on network=ethernet";
    if (o->daemons && (o->stack != TUM_PVM_DAEMON || o->network != LAB_ATM))
        return "daemons=fore is for stack=pvm-daemon on network=atm";
    return check_api(o);
}

static const char *check_stream(const struct sweep_model_options *o)
{
    if (o->stack == TUM_TCP && o->paced)
        return "paced=yes is for udp, fore34 and fore5; TCP paces itself";
    return check_api(o);
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

static int run_stream(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct tum_run run = run_of(o);
    struct tum_rates rates = o->paced ? tum_paced_stream(&tum, &run, o->size) : tum_stream(&tum, &run, o->size, 0);
    results[0] = rates.sender;
    results[1] = rates.receiver;
    results[2] = rates.percent;
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
    {"daemons", PVMA_OPTION_CHOICE, FIELD(daemons), 0, 0, "udp|fore"},
    {"loss", PVMA_OPTION_CHANCE, FIELD(loss), 0, 0, NULL},
    {0}};
static const struct pvma_option stream_options[] = {
    {"host", PVMA_OPTION_CHOICE, FIELD(host), 0, 0, "hp|ibm"},
    {"stack", PVMA_OPTION_CHOICE, FIELD(stack), 0, 0, "fore34|fore5|tcp|udp"}, /* enum tum_stack */
    {"network", PVMA_OPTION_CHOICE, FIELD(network), 0, 0, "atm|ethernet"},
    {"size", PVMA_OPTION_COUNT, FIELD(size), 1, 65536, NULL},
    {"buffer", PVMA_OPTION_COUNT, FIELD(buffer), 1024, 65535, NULL},
    {"paced", PVMA_OPTION_FLAG, FIELD(paced), 0, 0, NULL},
    {0}};

const struct sweep_model sweep_models_tum[] = {
    {.name = "tum-echo",
     .options = echo_options,
     .initial = {.stack = TUM_TCP, .size = 1},
     .results = {{"trip", "us"}, {"latency", "us"}, {"throughput", "MB/s"}},
     .check = check_echo,
     .prepare = prepare,
     .run = run_echo},
    {.name = "tum-stream",
     .options = stream_options,
     .initial = {.stack = TUM_TCP, .size = 8192, .buffer = 32768},
     .results = {{"sender", "Mibit/s"}, {"receiver", "Mibit/s"}, {"arrived", "%"}},
     .check = check_stream,
     .prepare = prepare,
     .run = run_stream},
    {0}};
