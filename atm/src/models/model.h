/* model.h - the papers' models as workloads: a table of models, each with its options and results. */
#ifndef SWEEP_MODEL_H
#define SWEEP_MODEL_H

#include "lab/lab.h"
#include "topology/topology_option.h"

/* The options of all models; each names those that it has. */
struct sweep_model_options {
    int host, stack, network, layout, kernel, daemons, protocol;
    uint32_t size, buffer, packet, n, streams, credits, sessions, switches, cells, times;
    pvma_ps delay, time, on;
    double load, background, loss;
    int64_t peak_bps, minimum_bps;
    bool nodelay, computing, paced;
    uint64_t seed;
};

enum { SWEEP_MODEL_RESULTS = 8 };

struct sweep_model {
    const char *name;
    const struct pvma_option *options;
    struct sweep_model_options initial;
    struct {
        const char *name, *unit;
    } results[SWEEP_MODEL_RESULTS];
    /* Whether the options fit together; NULL, or what to do. */
    const char *(*check)(const struct sweep_model_options *o);
    /* Fits costs once, before all runs of an experiment; may be NULL. */
    void (*prepare)(void);
    /* Fills in the results, in the table's order; NAN: none. Returns 0, or PVMC_ELIMIT: it does not end. */
    int (*run)(const struct sweep_model_options *o, double results[SWEEP_MODEL_RESULTS]);
};

/* The models of one paper each, up to one without a name. */
extern const struct sweep_model sweep_models_suns[], sweep_models_tum[], sweep_models_an2[], sweep_models_thesis[];

#endif
