/* model_an2.c - the AN2 network: echo beside streams, PVM with and without TCP, congestion. */
#include "core/error.h"
#include "model.h"
#include "papers/an2.h"
#include "reproduce/experiment.h"

static int run_echo(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct an2_echo echo = an2_echo(&paper_an2, o->size, o->streams);
    results[0] = echo.trip_us;
    results[1] = echo.ratio;
    return 0;
}

static enum lab_stack stack_of(const struct sweep_model_options *o)
{
    return o->stack ? LAB_FORE5 : LAB_PVM_DIRECT;
}

static int run_pvm(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    results[0] = an2_pvm_us(&paper_an2, stack_of(o), o->size);
    return 0;
}

static int run_congestion(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct an2_loss loss = an2_congestion(&paper_an2, o->sessions, o->credits, o->seed);
    results[0] = loss.cells;
    results[1] = loss.packets;
    results[2] = loss.mbits;
    return 0;
}

static int run_molecules(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    results[0] = an2_molecules_s(&paper_an2, stack_of(o));
    return results[0] < 0 ? PVMC_ELIMIT : 0;
}

/* Sessions A to D, and after them their fair shares. */
static int run_parking(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    (void)o;
    an2_parking(&paper_an2, results);
    an2_shares(results + 4);
    return 0;
}

#define FIELD(name) offsetof(struct sweep_model_options, name)

static const struct pvma_option echo_options[] = {{"size", PVMA_OPTION_COUNT, FIELD(size), 1, 8192, NULL},
                                                  {"streams", PVMA_OPTION_COUNT, FIELD(streams), 0, 3, NULL},
                                                  {0}};
static const struct pvma_option pvm_options[] = {{"size", PVMA_OPTION_COUNT, FIELD(size), 1, 1 << 20, NULL},
                                                 {"stack", PVMA_OPTION_CHOICE, FIELD(stack), 0, 0, "tcp|direct"},
                                                 {0}};
static const struct pvma_option congestion_options[] = {{"sessions", PVMA_OPTION_COUNT, FIELD(sessions), 1, 6, NULL},
                                                        {"credits", PVMA_OPTION_COUNT, FIELD(credits), 0, 1000, NULL},
                                                        {0}};

static const struct pvma_option molecules_options[] = {{"stack", PVMA_OPTION_CHOICE, FIELD(stack), 0, 0, "tcp|direct"},
                                                       {0}};
static const struct pvma_option no_options[] = {{0}};

const struct sweep_model sweep_models_an2[] = {
    {.name = "an2-echo",
     .options = echo_options,
     .initial = {.size = 64},
     .results = {{"trip", "us"}, {"ratio", ""}},
     .run = run_echo},
    {.name = "an2-pvm", .options = pvm_options, .initial = {.size = 64}, .results = {{"trip", "us"}}, .run = run_pvm},
    {.name = "an2-congestion",
     .options = congestion_options,
     .initial = {.sessions = 6},
     .results = {{"cells_lost", "%"}, {"packets_lost", "%"}, {"throughput", "Mbit/s"}},
     .run = run_congestion},
    {.name = "an2-molecules", .options = molecules_options, .results = {{"seconds", "s"}}, .run = run_molecules},
    {.name = "an2-parking",
     .options = no_options,
     .results = {{"a", "Mbit/s"},
                 {"b", "Mbit/s"},
                 {"c", "Mbit/s"},
                 {"d", "Mbit/s"},
                 {"fair_a", "Mbit/s"},
                 {"fair_b", "Mbit/s"},
                 {"fair_c", "Mbit/s"},
                 {"fair_d", "Mbit/s"}},
     .run = run_parking},
    {0}};
