/* model_suns.c - the Sun workstations of the four-APIs paper: echo, and programs on four of them. */
#include "core/error.h"
#include "lab/layout.h"
#include "model.h"
#include "papers/suns_programs.h"
#include "reproduce/echo.h"
#include "reproduce/experiment.h"
#include "reproduce/mesh.h"

enum { LARGE = 1 << 18 }; /* of such messages one round is steady */

enum host { SUN_4_690, SUN_SPARC2, SUN_SPARC1, SUN_SPARC1_SBA100 };

#define HOSTS    "4/690|sparc2|sparc1|sparc1-sba100"
#define STACKS   "fore34|fore5|tcp|rpc|pvm-direct|pvm-daemon" /* enum lab_stack */
#define NETWORKS "atm|ethernet|fddi"                          /* enum lab_network */

static struct suns suns;
static unsigned long long events;

static void prepare(void)
{
    suns_fit(&suns, &paper_four_apis);
}

static bool is_fore(const struct sweep_model_options *o)
{
    return o->stack == LAB_FORE34 || o->stack == LAB_FORE5;
}

static const char *check(const struct sweep_model_options *o)
{
    if (is_fore(o) && o->network != LAB_ATM)
        return "the Fore API needs network=atm";
    if (o->stack == LAB_FORE34 && o->host != SUN_4_690)
        return "the paper has AAL3/4 on the 4/690 only; give stack=fore5";
    if (!is_fore(o) && o->host == SUN_SPARC1_SBA100)
        return "the paper has the SBA-100 with the Fore API only; give host=sparc1";
    if (o->buffer && (o->buffer < 1024 || o->buffer > 65535))
        return "buffer= is from 1024 to 65535";
    if (o->background > 0 && o->network != LAB_ETHERNET)
        return "background= is the load of an Ethernet; give network=ethernet";
    return NULL;
}

static const struct pvma_profile *adapter_of(const struct sweep_model_options *o)
{
    if (!is_fore(o))
        return &suns.adapter;
    if (o->stack == LAB_FORE34)
        return &suns.aal34;
    return o->host == SUN_SPARC2          ? &suns.sparc2
           : o->host == SUN_SPARC1        ? &suns.sparc1_200
           : o->host == SUN_SPARC1_SBA100 ? &suns.sparc1_100
                                          : &suns.aal5;
}

/* Costs above the adapter, by the paper's t_0 of the Fore API on these hosts. */
static double slowness_of(const struct sweep_model_options *o)
{
    return o->host == SUN_SPARC2 ? 469.0 / 858 : o->host == SUN_4_690 ? 1 : 742.0 / 869;
}

/* The caller frees the topology. */
static struct lab_setup setup_of(const struct sweep_model_options *o, unsigned hosts, double slowness,
                                 struct pvma_topology *topology)
{
    struct lab_setup setup = suns_setup(&suns, (enum lab_network)o->network, hosts, topology);
    setup.costs = suns_scaled(&setup.costs, slowness);
    if (o->buffer)
        setup.tcp.send_bytes = setup.tcp.receive_bytes = o->buffer;
    setup.tcp.no_delay = o->nodelay;
    setup.seed = o->seed;
    suns_network(topology, (enum suns_layout)o->layout, hosts, adapter_of(o));
    return setup;
}

static bool is_pvm(const struct sweep_model_options *o)
{
    return o->stack == LAB_PVM_DIRECT || o->stack == LAB_PVM_DAEMON;
}

static double packing_us(const struct pvma_host_costs *costs, uint32_t bytes)
{
    return costs->pvm_send.fixed_us + costs->pvm_send.byte_us * bytes;
}

static int run_echo(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct pvma_topology topology;
    struct lab_setup setup = setup_of(o, 2, slowness_of(o), &topology);
    bool large = o->size >= LARGE;
    struct echo_result r = echo_run(&setup, (enum lab_stack)o->stack, o->size, large ? 1 : 8, large ? 1 : 4, &events);
    layout_free(&topology);
    results[0] = r.trip_us;
    results[1] = r.trip_us / 2;
    results[2] = r.done && r.trip_us > 0 ? 2.0 * o->size / r.trip_us : 0;
    results[3] = is_pvm(o) ? 2 * packing_us(&setup.costs, o->size) : 0;
    return r.done ? 0 : PVMC_ELIMIT;
}

static int run_metrics(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct pvma_topology topology;
    struct lab_setup setup = setup_of(o, 2, slowness_of(o), &topology);
    struct echo_metrics m = echo_measure(&setup, (enum lab_stack)o->stack, NULL, NULL, &events);
    layout_free(&topology);
    results[0] = m.r_max;
    results[1] = m.t_zero;
    results[2] = m.n_half;
    return 0;
}

/* The costs of SPARC 2 above the adapter are those that the paper's report declares for programs. */
static double program_slowness_of(const struct sweep_model_options *o)
{
    return o->host == SUN_SPARC2 ? report_parameter(&paper_four_apis, "SPARC 2", "CPU, as to 4/690") : slowness_of(o);
}

static struct suns_program program_of(const struct sweep_model_options *o)
{
    return (struct suns_program){.stack = (enum lab_stack)o->stack,
                                 .background = o->background,
                                 .n = o->n,
                                 .computes = o->computing || o->time > 0,
                                 .sequential_s = (double)o->time / (double)PVMA_S,
                                 .iterations = o->n * o->times};
}

static int run_matmul(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct suns_program program = program_of(o);
    struct pvma_topology topology;
    struct lab_setup lab = setup_of(o, 4, program_slowness_of(o), &topology);
    double seconds = suns_matmul_s(&suns, &lab, &program, &events);
    layout_free(&topology);
    results[0] = seconds;
    results[1] = seconds - suns_matmul_computing_s(&program);
    results[2] = seconds > 0 ? program.sequential_s / seconds : 0;
    return seconds < 0 ? PVMC_ELIMIT : 0;
}

static int run_pde(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct suns_program program = program_of(o);
    struct pvma_topology topology;
    struct lab_setup lab = setup_of(o, 4, program_slowness_of(o), &topology);
    double seconds = suns_pde_s(&suns, &lab, &program, &events);
    layout_free(&topology);
    results[0] = seconds;
    results[1] = seconds - suns_pde_computing_s(&suns, &program);
    results[2] = 1000 * results[1] / program.iterations;
    results[3] = 100 * mesh_ethernet_load();
    return seconds < 0 ? PVMC_ELIMIT : 0;
}

#define FIELD(name) offsetof(struct sweep_model_options, name)
#define COMMON                                                                                                         \
    {"host", PVMA_OPTION_CHOICE, FIELD(host), 0, 0, HOSTS}, {"stack", PVMA_OPTION_CHOICE, FIELD(stack), 0, 0, STACKS}, \
        {"network", PVMA_OPTION_CHOICE, FIELD(network), 0, 0, NETWORKS},                                               \
        {"buffer", PVMA_OPTION_COUNT, FIELD(buffer), 0, 65535, NULL},                                                  \
    {                                                                                                                  \
        "nodelay", PVMA_OPTION_FLAG, FIELD(nodelay), 0, 0, NULL                                                        \
    }

static const struct pvma_option echo_options[] = {COMMON,
                                                  {"layout", PVMA_OPTION_CHOICE, FIELD(layout), 0, 0, "switch|direct"},
                                                  {"size", PVMA_OPTION_COUNT, FIELD(size), 1, 1 << 20, NULL},
                                                  {0}};
#define PROGRAM                                                                                                        \
    COMMON, {"n", PVMA_OPTION_COUNT, FIELD(n), 8, 1024, NULL},                                                         \
    {                                                                                                                  \
        "background", PVMA_OPTION_CHANCE, FIELD(background), 0, 0, NULL                                                \
    }

static const struct pvma_option matmul_options[] = {
    PROGRAM, {"sequential", PVMA_OPTION_TIME, FIELD(time), 0, 0, NULL}, {0}};
static const struct pvma_option pde_options[] = {PROGRAM,
                                                 {"iterations", PVMA_OPTION_COUNT, FIELD(times), 1, 16, NULL},
                                                 {"computing", PVMA_OPTION_FLAG, FIELD(computing), 0, 0, NULL},
                                                 {0}};

const struct sweep_model sweep_models_suns[] = {
    {.name = "suns-echo",
     .options = echo_options,
     .initial = {.stack = LAB_TCP, .size = 4, .nodelay = true},
     .results = {{"trip", "us"}, {"latency", "us"}, {"throughput", "MB/s"}, {"packing", "us"}},
     .check = check,
     .prepare = prepare,
     .run = run_echo},
    {.name = "suns-metrics",
     .options = echo_options,
     .initial = {.stack = LAB_TCP, .size = 4, .nodelay = true},
     .results = {{"r_max", "MB/s"}, {"t_0", "us"}, {"n_half", "B"}},
     .check = check,
     .prepare = prepare,
     .run = run_metrics},
    {.name = "suns-matmul",
     .options = matmul_options,
     .initial = {.host = SUN_SPARC2, .stack = LAB_TCP, .n = 256, .nodelay = true},
     .results = {{"seconds", "s"}, {"beyond", "s"}, {"speedup", ""}},
     .check = check,
     .prepare = prepare,
     .run = run_matmul},
    {.name = "suns-pde",
     .options = pde_options,
     .initial = {.host = SUN_SPARC2, .stack = LAB_TCP, .n = 64, .times = 1, .nodelay = true},
     .results = {{"seconds", "s"}, {"beyond", "s"}, {"iteration", "ms"}, {"load", "%"}},
     .check = check,
     .prepare = prepare,
     .run = run_pde},
    {0}};
