/* fuzz_atm_experiment.c - experiments: the points of an accepted one can be named, and its texts filled in. */
#include "fuzz.h"
#include <stdio.h>
#include <string.h>
#include "atm/src/sweep/point.h"
#include "atm/src/sweep/workload.h"
#include "core/log.h"

static void ignore(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    MUST(strlen(line) < 2048);
}

static void fill_in(const struct sweep_run *run, const char *text)
{
    char *result = text ? sweep_substitute(run, text) : NULL;
    MUST(!result || strlen(result) <= SWEEP_TEXT_MAX);
    free(result);
}

static void try_point(const struct sweep_experiment *e, size_t point)
{
    struct sweep_run run = {.experiment = e, .point = point, .replication = 1, .seed = e->seed, .topology = "/t"};
    char where[512];
    sweep_point_format(e, point, where, sizeof where);
    MUST(strlen(where) < sizeof where);
    sweep_point_is_skipped(e, point);
    fill_in(&run, e->title.text);
    fill_in(&run, e->block.text);
    fill_in(&run, e->work.text);
    for (size_t i = 0; i < e->column_count; i++)
        fill_in(&run, e->columns[i].pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { POINTS = 20 };
    struct sweep_experiment e;
    pvmc_log_to(ignore, NULL, PVMC_LOG_DEBUG);
    if (sweep_experiment_parse("fuzz", (const char *)data, size, &e)) {
        MUST(!e.path && !e.variable_count && !e.column_count);
        return 0;
    }
    MUST(e.column_count && e.workload != SWEEP_NOTHING && sweep_point_count(&e) <= SWEEP_POINTS_MAX);
    for (size_t i = 0; i < POINTS && i < sweep_point_count(&e); i++)
        try_point(&e, i);
    if (!e.file.text && sweep_point_count(&e) <= POINTS) /* no files of foreign names */
        sweep_workload_check(&e);
    sweep_experiment_free(&e);
    return 0;
}
