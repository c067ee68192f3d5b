/* workload.c - see workload.h. */
#include "workload.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "measure.h"
#include "topology/topology_reader.h"

/* ---- topologies ---- */

/* A file's name is relative to the experiment's folder. */
static char *path_of(const struct sweep_experiment *e, const char *file)
{
    const char *slash = strrchr(e->path, '/');
    int folder = *file == '/' || !slash ? 0 : (int)(slash + 1 - e->path);
    size_t size = (size_t)folder + strlen(file) + 1;
    char *path = pvma_new(size);
    snprintf(path, size, "%.*s%s", folder, e->path, file);
    return path;
}

static char *read_file(const char *path, const struct sweep_text *from, const struct sweep_experiment *e, int *error)
{
    FILE *file = fopen(path, "re");
    size_t length = 0, unknown_length;
    char *text = file ? pvma_text_read(file, &length) : NULL;
    const char *unknown = NULL;
    if (!file || ferror(file) || length > SWEEP_BYTES_MAX) {
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: cannot read the topology %s: %s", e->path, from->line, path,
                 length > SWEEP_BYTES_MAX ? "too long" : strerror(errno));
        *error = PVMC_ESYSTEM;
    }
    if (file)
        fclose(file);
    if (*error) {
        free(text);
        return NULL;
    }
    unknown = sweep_unknown_name(e, text, &unknown_length);
    if (!unknown)
        return text;
    pvmc_log(PVMC_LOG_ERROR, "%s: there is no variable \"%.*s\"; declare it in %s", path, (int)unknown_length, unknown,
             e->path);
    *error = PVMC_EFORMAT;
    free(text);
    return NULL;
}

static char *substitute_or_complain(const struct sweep_run *run, const char *text, int *error)
{
    char *result = sweep_substitute(run, text);
    if (result)
        return result;
    pvmc_log(PVMC_LOG_ERROR, "%s: a text is longer than %d octets when its variables are replaced",
             run->experiment->path, SWEEP_TEXT_MAX);
    *error = PVMC_ELIMIT;
    return NULL;
}

char *sweep_topology_text(const struct sweep_run *run, char **name, int *error)
{
    const struct sweep_experiment *e = run->experiment;
    *error = 0;
    *name = NULL;
    if (e->block.text) {
        *name = pvma_copy_text(e->path);
        return substitute_or_complain(run, e->block.text, error);
    }
    char *file = e->file.text ? substitute_or_complain(run, e->file.text, error) : NULL;
    if (!file)
        return NULL;
    *name = path_of(e, file);
    char *raw = read_file(*name, &e->file, e, error);
    char *text = raw ? substitute_or_complain(run, raw, error) : NULL;
    free(raw);
    free(file);
    return text;
}

/* ---- checks ---- */

static int check_columns(const struct sweep_experiment *e)
{
    int error = 0;
    for (size_t i = 0; i < e->column_count; i++) {
        const struct sweep_column *c = &e->columns[i];
        bool load = e->workload == SWEEP_LOAD;
        if (c->pattern || (load ? sweep_measure_unit(c->name) : sweep_model_unit(e, c->name)))
            continue;
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s cannot be measured here; there are %s", e->path, c->line, c->name,
                 load ? sweep_measure_names() : sweep_model_results(e));
        error = PVMC_EFORMAT;
    }
    return error;
}

/* Whether a program's topology can be read; the program reads what is in it. */
static int check_text(const struct sweep_run *run)
{
    int error;
    char *name, *text = sweep_topology_text(run, &name, &error);
    free(text);
    free(name);
    return error;
}

static int check_point(const struct sweep_run *run)
{
    switch (run->experiment->workload) {
    case SWEEP_LOAD:
        return sweep_load_check(run);
    case SWEEP_MODEL:
        return sweep_model_check(run);
    default:
        return check_text(run);
    }
}

int sweep_workload_check(const struct sweep_experiment *e)
{
    struct sweep_run run = {.experiment = e, .replication = 1, .seed = e->seed};
    int error = check_columns(e);
    for (; run.point < sweep_point_count(e) && !error; run.point++) {
        if (sweep_point_is_skipped(e, run.point))
            continue;
        error = check_point(&run);
        char where[512];
        sweep_point_format(e, run.point, where, sizeof where);
        if (error && *where)
            pvmc_log(PVMC_LOG_ERROR, "%s: this is at %s", e->path, where);
    }
    return error;
}

/* ---- runs ---- */

void sweep_workload_prepare(const struct sweep_experiment *e)
{
    if (e->workload == SWEEP_MODEL)
        sweep_model_prepare(e);
}

/* Writes the point's topology into the folder, for programs. */
static int write_topology(struct sweep_run *run, const char *folder, char path[4096])
{
    int error;
    char *name, *text = sweep_topology_text(run, &name, &error);
    FILE *file = NULL;
    snprintf(path, 4096, "%s/topology.atm", folder);
    if (text)
        file = fopen(path, "we");
    bool bad = text && (!file || fputs(text, file) < 0);
    bad = (file && fclose(file)) || bad;
    if (bad)
        pvmc_log(PVMC_LOG_ERROR, "cannot write %s: %s", path, strerror(errno));
    run->topology = text ? path : NULL;
    free(text);
    free(name);
    return bad ? PVMC_ESYSTEM : error;
}

int sweep_workload_run(struct sweep_run *run, const char *folder, struct sweep_results *results)
{
    char path[4096];
    int error;
    *results = (struct sweep_results){0};
    switch (run->experiment->workload) {
    case SWEEP_LOAD:
        return sweep_load_run(run, results);
    case SWEEP_MODEL:
        return sweep_model_run(run, results);
    default:
        error = write_topology(run, folder, path);
        return error ? error : sweep_program_run(run, folder, results);
    }
}

const char *sweep_workload_unit(const struct sweep_experiment *e, size_t column)
{
    const char *name = e->columns[column].name;
    const char *unit = e->workload == SWEEP_LOAD    ? sweep_measure_unit(name)
                       : e->workload == SWEEP_MODEL ? sweep_model_unit(e, name)
                                                    : NULL;
    return unit ? unit : "";
}
