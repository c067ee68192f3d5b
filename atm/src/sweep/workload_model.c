/* workload_model.c - a model: an experiment of a paper at one point, by its name and options. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "models/model.h"
#include "topology/topology_reader.h"
#include "workload.h"

static const struct sweep_model *const papers[] = {sweep_models_suns, sweep_models_tum, sweep_models_an2,
                                                   sweep_models_thesis};

enum { PAPERS = sizeof papers / sizeof papers[0] };

static const struct sweep_model *find(const char *name)
{
    for (unsigned i = 0; i < PAPERS; i++)
        for (const struct sweep_model *m = papers[i]; m->name; m++)
            if (!strcmp(m->name, name))
                return m;
    return NULL;
}

/* The model of an experiment, whose name contains no variable. */
static const struct sweep_model *model_of(const struct sweep_experiment *e)
{
    char name[SWEEP_NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(e->work.text, " \t#"), e->work.text);
    return find(name);
}

static void complain_of_name(struct pvma_reader *r, const char *name)
{
    char names[400];
    size_t used = 0;
    for (unsigned i = 0; i < PAPERS; i++)
        for (const struct sweep_model *m = papers[i]; m->name && used < sizeof names; m++)
            used += (size_t)snprintf(names + used, sizeof names - used, " %s", m->name);
    pvma_reader_complain(r, r->line, "there is no model \"%.40s\"; there are%s", name, names);
}

/* Reads the options at a point. Returns the model, or NULL after a message. */
static const struct sweep_model *read_model(const struct sweep_run *run, struct sweep_model_options *o)
{
    const struct sweep_experiment *e = run->experiment;
    const struct sweep_model *model = model_of(e);
    struct pvma_reader r = {.name = e->path, .line = e->work.line};
    char *text = sweep_substitute(run, e->work.text);
    if (!text)
        return NULL;
    pvma_reader_split(&r, text);
    if (!model) {
        complain_of_name(&r, r.words ? r.word[0] : "");
    } else {
        *o = model->initial;
        o->seed = run->seed;
        pvma_reader_options(&r, 1, model->options, o);
        const char *wrong = model->check && !r.errors ? model->check(o) : NULL;
        if (wrong)
            pvma_reader_complain(&r, r.line, "%s: %s", model->name, wrong);
    }
    free(text);
    return r.errors ? NULL : model;
}

int sweep_model_check(const struct sweep_run *run)
{
    struct sweep_model_options o;
    return read_model(run, &o) ? 0 : PVMC_EFORMAT;
}

void sweep_model_prepare(const struct sweep_experiment *e)
{
    const struct sweep_model *model = model_of(e);
    if (model && model->prepare)
        model->prepare();
}

/* The place of a result in the model's table; -1: it is none. */
static int place_of(const struct sweep_model *model, const char *name)
{
    for (int i = 0; i < SWEEP_MODEL_RESULTS && model->results[i].name; i++)
        if (!strcmp(model->results[i].name, name))
            return i;
    return -1;
}

int sweep_model_run(const struct sweep_run *run, struct sweep_results *results)
{
    const struct sweep_experiment *e = run->experiment;
    double all[SWEEP_MODEL_RESULTS] = {0};
    struct sweep_model_options o;
    const struct sweep_model *model = read_model(run, &o);
    if (!model)
        return PVMC_EFORMAT;
    int error = model->run(&o, all);
    if (error)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: the model does not end within its limit of virtual time", e->path,
                 e->work.line);
    for (size_t i = 0; i < e->column_count; i++)
        results->values[i] = all[place_of(model, e->columns[i].name)];
    return error;
}

const char *sweep_model_unit(const struct sweep_experiment *e, const char *column)
{
    const struct sweep_model *model = model_of(e);
    int place = model ? place_of(model, column) : 0;
    return !model ? "" : place >= 0 ? model->results[place].unit : NULL; /* the point's check tells of no model */
}

const char *sweep_model_results(const struct sweep_experiment *e)
{
    static char names[200];
    const struct sweep_model *model = model_of(e);
    size_t used = 0;
    names[0] = 0;
    for (int i = 0; model && i < SWEEP_MODEL_RESULTS && model->results[i].name && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", model->results[i].name);
    return names;
}
