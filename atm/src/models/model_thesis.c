/*
 * model_thesis.c - the thesis: its emulator, with seven kernels on a chain of loaded switches and bursts of cells;
 * programs between two loaded switches (chapter 5); a task's messages by UBR and ABR (chapter 6).
 */
#include "core/error.h"
#include <math.h>
#include <stdlib.h>
#include "lab/bottleneck.h"
#include "lab/services.h"
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

static int run_services(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    struct services_message *messages = services_trace((enum services_trace)o->kernel, o->n, o->seed);
    struct services_setup setup = services_defaults((enum services_kind)o->stack);
    setup.messages = messages;
    setup.count = o->n;
    setup.load = o->cells / 100.0;
    setup.buffer_cells = o->buffer;
    setup.peak_mbps = (double)o->peak_bps / 1e6;
    setup.minimum_mbps = (double)o->minimum_bps / 1e6;
    setup.seed = o->seed;
    struct services_result r = services_run(&setup);
    free(messages);
    const double all[SWEEP_MODEL_RESULTS] = {r.latency_us, r.ubr_came_kbps, r.abr_came_kbps, r.vbr_kbps,
                                             r.abr_share,  r.loss,          r.load,          (double)r.lstats};
    for (int i = 0; i < SWEEP_MODEL_RESULTS; i++)
        results[i] = all[i];
    return r.ended ? 0 : PVMC_ELIMIT;
}

/* A program that has not ended by the limit is a result here: the thesis's finding about SSCOP. It has no times. */
static int run_bottleneck(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS])
{
    enum bottleneck_program program = (enum bottleneck_program)o->kernel;
    struct bottleneck_setup setup = bottleneck_defaults(program, (enum bottleneck_protocol)o->protocol);
    setup.rounds = o->n;
    setup.on_mbps = (double)o->peak_bps / 1e6;
    setup.buffer_cells = o->buffer;
    setup.poll_interval = o->delay;
    setup.limit = o->time;
    setup.on_mean = o->on;
    setup.seed = o->seed;
    struct bottleneck_result r = bottleneck_run(&setup);
    const double all[SWEEP_MODEL_RESULTS] = {r.ended,
                                             r.ended ? r.seconds : NAN,
                                             r.ended ? r.latency_us / 1e6 : NAN,
                                             r.loss,
                                             r.load,
                                             (double)r.messages,
                                             (double)r.again,
                                             (double)r.useless};
    for (int i = 0; i < SWEEP_MODEL_RESULTS; i++)
        results[i] = all[i];
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
static const struct pvma_option services_options[] = {
    {"trace", PVMA_OPTION_CHOICE, FIELD(kernel), 0, 0, "pde1|pde2"},                      /* enum services_trace */
    {"service", PVMA_OPTION_CHOICE, FIELD(stack), 0, 0, "ubr|abr|switching|duplicating"}, /* enum services_kind */
    {"percent", PVMA_OPTION_COUNT, FIELD(cells), 0, 200, NULL},
    {"messages", PVMA_OPTION_COUNT, FIELD(n), 1, 1000000, NULL},
    {"buffer", PVMA_OPTION_COUNT, FIELD(buffer), 1, 1000000, NULL},
    {"peak", PVMA_OPTION_RATE, FIELD(peak_bps), 0, 0, NULL},
    {"mcr", PVMA_OPTION_RATE, FIELD(minimum_bps), 0, 0, NULL},
    {0}};

static const struct pvma_option bottleneck_options[] = {
    {"program", PVMA_OPTION_CHOICE, FIELD(kernel), 0, 0, "pde1|pde2|solver"},         /* enum bottleneck_program */
    {"protocol", PVMA_OPTION_CHOICE, FIELD(protocol), 0, 0, "sscop|pcaal-1|pcaal-n"}, /* enum bottleneck_protocol */
    {"on-rate", PVMA_OPTION_RATE, FIELD(peak_bps), 0, 0, NULL},
    {"rounds", PVMA_OPTION_COUNT, FIELD(n), 1, 100000, NULL},
    {"buffer", PVMA_OPTION_COUNT, FIELD(buffer), 1, 1000000, NULL},
    {"poll", PVMA_OPTION_TIME, FIELD(delay), 0, 0, NULL},
    {"limit", PVMA_OPTION_TIME, FIELD(time), 0, 0, NULL},
    {"on", PVMA_OPTION_TIME, FIELD(on), 0, 0, NULL},
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
    {.name = "thesis-services",
     .options = services_options,
     .initial = {.n = 100, .cells = 70, .buffer = 200, .peak_bps = 50000000},
     .results = {{"latency", "us"},
                 {"ubr", "Kbit/s"},
                 {"abr", "Kbit/s"},
                 {"vbr", "Kbit/s"},
                 {"share", ""},
                 {"loss", ""},
                 {"load", ""},
                 {"lstats", ""}},
     .run = run_services},
    {.name = "thesis-bottleneck",
     .options = bottleneck_options,
     .initial = {.n = 20, .buffer = 200, .delay = 500 * PVMA_MS, .time = 60 * PVMA_S, .on = 400 * PVMA_US},
     .results = {{"ended", ""},
                 {"seconds", "s"},
                 {"latency", "s"},
                 {"loss", ""},
                 {"load", ""},
                 {"messages", ""},
                 {"again", ""},
                 {"useless", ""}},
     .run = run_bottleneck},
    {0}};
