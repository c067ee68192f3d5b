/* workload_load.c - a load: traffic on the PVCs of a topology, as atm-sim run offers it. */
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"
#include "core/error.h"
#include "core/log.h"
#include "measure.h"
#include "topology/topology_reader.h"
#include "workload.h"

/* A point's load, read from its lines. */
struct load {
    struct pvma_topology topology;
    struct pvma_traffic_options traffic;
    uint32_t size, count;
    pvma_ps time, warmup;
};

static void read_words(struct pvma_reader *r, char *text, struct load *load)
{
#define FIELD(name) offsetof(struct load, name)
    static const struct pvma_option options[] = {{"size", PVMA_OPTION_COUNT, FIELD(size), 0, PVMA_PDU_MAX, NULL},
                                                 {"count", PVMA_OPTION_COUNT, FIELD(count), 1, 1000000000, NULL},
                                                 {"interval", PVMA_OPTION_TIME, FIELD(traffic.interval), 0, 0, NULL},
                                                 {0}};
#undef FIELD
    pvma_reader_split(r, text);
    if (!r->words || !pvma_load_find(r->word[0], &load->traffic.kind)) {
        pvma_reader_complain(r, r->line, "load %.40s: give greedy, echo, cbr, poisson or none",
                             r->words ? r->word[0] : "");
        return;
    }
    pvma_reader_options(r, 1, options, load);
    bool paced = pvma_load_is_paced(load->traffic.kind);
    if (!r->errors && paced != (load->traffic.interval != 0))
        pvma_reader_complain(r, r->line,
                             paced ? "this load needs the mean time between PDUs: interval=TIME"
                                   : "interval= is for cbr and poisson");
    load->traffic.bytes = load->size;
    load->traffic.count = load->count;
}

static void read_time(struct pvma_reader *r, const struct sweep_run *run, const struct sweep_text *text, pvma_ps min,
                      pvma_ps *time)
{
    char *value = sweep_substitute(run, text->text);
    if (!value || pvma_time_parse(value, 1000000 * PVMA_S, time) || *time < min)
        pvma_reader_complain(r, text->line, "\"%.40s\" is not a time of %s; write %s100ms or 2s", value ? value : "",
                             min ? "1us or more" : "0 or more", min ? "" : "MSER-5, ");
    free(value);
}

static int read_topology(const struct sweep_run *run, struct load *load)
{
    int error;
    char *name, *text = sweep_topology_text(run, &name, &error);
    if (text)
        error = pvma_topology_parse(name, text, strlen(text), &load->topology);
    free(text);
    free(name);
    return error;
}

static int read_load(const struct sweep_run *run, struct load *load)
{
    const struct sweep_experiment *e = run->experiment;
    struct pvma_reader r = {.name = e->path, .line = e->work.line};
    char *text = sweep_substitute(run, e->work.text);
    *load = (struct load){.size = 1024, .time = 100 * PVMA_MS, .traffic.record = true};
    if (text)
        read_words(&r, text, load);
    free(text);
    if (e->time.text)
        read_time(&r, run, &e->time, PVMA_US, &load->time);
    if (e->warmup == SWEEP_WARMUP_TIME)
        read_time(&r, run, &e->warmup_time, 0, &load->warmup);
    if (!r.errors && load->warmup >= load->time)
        pvma_reader_complain(&r, e->warmup_time.line, "the warm-up is as long as the run; give a longer time");
    return r.errors ? PVMC_EFORMAT : read_topology(run, load);
}

/* ---- the run ---- */

enum { LONGER = 8 }; /* so many times the time until MSER-5 gives up */

/* PVMC_EAGAIN: MSER-5 finds no end of the warm-up. */
static int simulate(struct sweep_record *record, const struct load *load, struct sweep_results *results)
{
    const struct sweep_experiment *e = record->experiment;
    pvma_ps from = load->warmup;
    if (!sweep_record_begin(record))
        return PVMC_EFORMAT;
    sweep_record_read(record, 0);
    for (unsigned i = 1; i <= SWEEP_INTERVALS; i++) {
        pvma_sim_run_until(pvma_net_sim(record->net), record->time / SWEEP_INTERVALS * i);
        sweep_record_read(record, i);
    }
    if (e->warmup == SWEEP_WARMUP_MSER5)
        from = sweep_record_warmup(record);
    if (from == PVMA_NEVER)
        return PVMC_EAGAIN;
    bool good = true;
    for (size_t i = 0; i < e->column_count && good; i++)
        good = sweep_record_result(record, i, from, &results->values[i]);
    results->warmup_us = (double)from / (double)PVMA_US;
    return good ? 0 : PVMC_ELIMIT;
}

/* A new network with its traffic, which begins when it runs. PVMC_EFORMAT (logged): there is none. */
static int open_record(struct sweep_record *record, const struct sweep_run *run, const struct load *load, pvma_ps time)
{
    *record = (struct sweep_record){.experiment = run->experiment,
                                    .net = pvma_net_new(&load->topology, run->seed),
                                    .time = time / SWEEP_INTERVALS * SWEEP_INTERVALS,
                                    .flow_count = load->topology.pvc_count};
    if (!record->net)
        return PVMC_EFORMAT;
    record->flows = pvma_new((record->flow_count + 1) * sizeof(struct pvma_traffic *));
    for (size_t i = 0; i < record->flow_count; i++)
        record->flows[i] = pvma_traffic_new(record->net, i, &load->traffic);
    return 0;
}

static void close_record(struct sweep_record *record)
{
    sweep_record_end(record);
    for (size_t i = 0; i < record->flow_count; i++)
        pvma_traffic_free(record->flows[i]);
    free(record->flows);
    pvma_net_free(record->net);
}

/* Also whether the network has the queues and the PVCs that the results name. */
int sweep_load_check(const struct sweep_run *run)
{
    struct load load;
    struct sweep_record record;
    int error = read_load(run, &load);
    if (error)
        return error;
    error = open_record(&record, run, &load, load.time);
    if (!error) {
        error = sweep_record_begin(&record) ? 0 : PVMC_EFORMAT;
        close_record(&record);
    }
    pvma_topology_free(&load.topology);
    return error;
}

/* Runs a new network for a time. Errors as above. */
static int run_for(const struct sweep_run *run, const struct load *load, pvma_ps time, struct sweep_results *results)
{
    struct sweep_record record;
    int error = open_record(&record, run, load, time);
    if (error)
        return error;
    error = simulate(&record, load, results);
    close_record(&record);
    return error;
}

int sweep_load_run(const struct sweep_run *run, struct sweep_results *results)
{
    const struct sweep_experiment *e = run->experiment;
    struct load load;
    int error = read_load(run, &load);
    if (error)
        return error;
    error = PVMC_EAGAIN;
    for (int times = 1; times <= LONGER && error == PVMC_EAGAIN; times *= 2)
        error = run_for(run, &load, load.time * times, results);
    if (error == PVMC_EAGAIN)
        pvmc_log(PVMC_LOG_ERROR,
                 "%s:%u: MSER-5 finds no end of the warm-up in the first half of %s, also when the run takes %d times "
                 "as long: give a longer time, or a load that the network can carry",
                 e->path, e->warmup_time.line, e->columns[0].name, LONGER);
    pvma_topology_free(&load.topology);
    return error;
}
