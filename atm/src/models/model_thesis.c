/* model_thesis.c - the emulator of the thesis: four kernels on a chain of loaded switches, and bursts of cells. */
#include "core/error.h"
#include "model.h"
#include "papers/thesis.h"
#include "reproduce/experiment.h"

static int run_kernel(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct thesis_run run = {.kernel = (enum thesis_kernel)o->kernel,
                             .switches = o->switches,
                             .load = o->load,
                             .delay_us = (double)o->delay / (double)PVMA_US,
                             .counted_cells = o->cells,
                             .computing_s = o->time == PVMA_NEVER ? -1 : (double)o->time / (double)PVMA_S,
                             .seed = o->seed};
    struct thesis_result r = thesis_kernel(&paper_thesis, &run);
    results[0] = r.seconds;
    results[1] = r.communication_s;
    results[2] = r.excess;
    return r.seconds < 0 ? PVMC_ELIMIT : 0;
}

static int run_bursts(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    results[0] = thesis_burst_us(&paper_thesis, o->n / 100.0, o->cells, o->seed);
    return 0;
}

#define FIELD(name) offsetof(struct sweep_model_options, name)

static const struct pvma_option kernel_options[] = {
    {"kernel", PVMA_OPTION_CHOICE, FIELD(kernel), 0, 0, "pde1|pde2|cg|ft|solver|is|mg"}, /* enum thesis_kernel */
    {"switches", PVMA_OPTION_COUNT, FIELD(switches), 1, 4, NULL},
    {"load", PVMA_OPTION_CHANCE, FIELD(load), 0, 0, NULL},
    {"computing", PVMA_OPTION_TIME, FIELD(time), 0, 0, NULL},
    {"delay", PVMA_OPTION_TIME, FIELD(delay), 0, 0, NULL},
    {"buffer", PVMA_OPTION_COUNT, FIELD(cells), 1, 1000000, NULL},
    {0}};
static const struct pvma_option burst_options[] = {{"percent", PVMA_OPTION_COUNT, FIELD(n), 1, 200, NULL},
                                                   {"cells", PVMA_OPTION_COUNT, FIELD(cells), 1, 500, NULL},
                                                   {0}};

const struct sweep_model sweep_models_thesis[] = {
    {.name = "thesis-kernel",
     .options = kernel_options,
     .initial = {.switches = 1, .time = PVMA_NEVER},
     .results = {{"seconds", "s"}, {"communication", "s"}, {"excess", ""}},
     .run = run_kernel},
    {.name = "thesis-bursts",
     .options = burst_options,
     .initial = {.n = 70, .cells = 1},
     .results = {{"latency", "us"}},
     .run = run_bursts},
    {0}};
