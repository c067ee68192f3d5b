/* experiment_lines.c - parsers of the kinds of lines. */
#include "experiment_lines.h"
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"
#include "point.h"

#define COMPLAIN(s, ...) pvma_reader_complain(&(s)->r, (s)->r.line, __VA_ARGS__)

bool sweep_is_name(struct sweep_reader *s, const char *text, const char *more)
{
    bool good = isalpha((unsigned char)*text) && strlen(text) <= SWEEP_NAME_MAX;
    for (const char *c = text; *c && good; c++)
        good = isalnum((unsigned char)*c) || strchr(more, *c);
    if (!good)
        COMPLAIN(s, "\"%.40s\" is not a name; begin with a letter, continue with letters, digits and %s, up to %d",
                 text, more, SWEEP_NAME_MAX);
    return good;
}

/* Sets a text that a file has once. */
static void set_text(struct sweep_reader *s, struct sweep_text *text, const char *value)
{
    size_t length;
    const char *unknown = sweep_unknown_name(s->e, value, &length);
    if (text->text) {
        COMPLAIN(s, "%s is already on line %u; give it once", s->r.word[0], text->line);
        return;
    }
    if (unknown)
        COMPLAIN(s, "there is no variable \"%.*s\"; add above: vary %.*s VALUE..., or write $$ for a dollar sign",
                 (int)(length < 40 ? length : 40), unknown, (int)(length < 40 ? length : 40), unknown);
    *text = (struct sweep_text){pvma_copy_text(value), s->r.line};
}

void sweep_read_title(struct sweep_reader *s)
{
    set_text(s, &s->e->title, s->rest);
}

void sweep_read_topology(struct sweep_reader *s)
{
    struct sweep_experiment *e = s->e;
    if (e->file.text || e->block.text) {
        COMPLAIN(s, "the topology is already on line %u; give it once", e->file.text ? e->file.line : e->block.line);
    } else if (strcmp(s->r.word[1], "{") != 0) {
        set_text(s, &e->file, s->r.word[1]);
    } else {
        s->block_out = open_memstream(&s->block, &s->block_size);
        if (!s->block_out)
            pvma_out_of_memory();
        e->block.line = s->r.line;
        for (unsigned i = 0; i < s->r.line; i++)
            fputc('\n', s->block_out);
    }
}

/* ---- workloads ---- */

static void set_workload(struct sweep_reader *s, enum sweep_workload workload)
{
    if (s->e->workload != SWEEP_NOTHING) {
        COMPLAIN(s, "the workload is already on line %u; give one load, program or model", s->e->work.line);
        return;
    }
    s->e->workload = workload;
    set_text(s, &s->e->work, s->rest);
}

void sweep_read_load(struct sweep_reader *s)
{
    set_workload(s, SWEEP_LOAD);
}

void sweep_read_program(struct sweep_reader *s)
{
    set_workload(s, SWEEP_PROGRAM);
}

void sweep_read_model(struct sweep_reader *s)
{
    set_workload(s, SWEEP_MODEL);
}

/* ---- the run ---- */

void sweep_read_time(struct sweep_reader *s)
{
    set_text(s, &s->e->time, s->r.word[1]);
}

void sweep_read_limit(struct sweep_reader *s)
{
    pvma_ps limit;
    set_text(s, &s->e->limit, s->r.word[1]);
    if (pvma_time_parse(s->r.word[1], 1000000 * PVMA_S, &limit) || limit < PVMA_MS)
        COMPLAIN(s, "limit %.40s: give a time of 1ms or more, such as 30s", s->r.word[1]);
}

void sweep_read_warmup(struct sweep_reader *s)
{
    set_text(s, &s->e->warmup_time, s->r.word[1]);
    s->e->warmup = !strcmp(s->r.word[1], "MSER-5") ? SWEEP_WARMUP_MSER5 : SWEEP_WARMUP_TIME;
}

/* False after a message. */
static bool set_number(struct sweep_reader *s, uint32_t *number, uint32_t min, uint32_t max)
{
    int64_t value;
    bool good = !pvma_count_parse(s->r.word[1], max, &value) && value >= min;
    if (good)
        *number = (uint32_t)value;
    else
        COMPLAIN(s, "%s %.40s: give a number from %u to %u", s->r.word[0], s->r.word[1], min, max);
    return good;
}

void sweep_read_replications(struct sweep_reader *s)
{
    struct sweep_experiment *e = s->e;
    uint32_t number;
    if (!set_number(s, &number, 1, SWEEP_REPLICATIONS_MAX))
        return;
    if (s->r.words == 2) {
        e->replications = number;
    } else if (e->exception_count == SWEEP_EXCEPTIONS_MAX) {
        COMPLAIN(s, "more than %d replications lines with conditions", SWEEP_EXCEPTIONS_MAX);
    } else {
        struct sweep_exception *exception = &e->exceptions[e->exception_count++];
        *exception = (struct sweep_exception){.replications = number};
        sweep_read_condition(s, 2, &exception->condition);
    }
}

void sweep_read_seed(struct sweep_reader *s)
{
    set_number(s, &s->e->seed, 0, INT32_MAX);
}

void sweep_read_estimate(struct sweep_reader *s)
{
    s->e->median = !strcmp(s->r.word[1], "median");
    if (!s->e->median && strcmp(s->r.word[1], "mean") != 0)
        COMPLAIN(s, "estimate %.40s: give mean or median", s->r.word[1]);
}

void sweep_read_confidence(struct sweep_reader *s)
{
    set_number(s, &s->e->confidence, 50, 99);
}

/* ---- columns ---- */

static struct sweep_column *add_column(struct sweep_reader *s, const char *name)
{
    struct sweep_experiment *e = s->e;
    int other = sweep_experiment_column(e, name);
    if (!sweep_is_name(s, name, "_-.@>"))
        return NULL;
    int variable = sweep_experiment_variable(e, name, strlen(name));
    if (other >= 0 || variable >= 0) {
        COMPLAIN(s, "%s is already on line %u; give each variable and each result a name of its own", name,
                 other >= 0 ? e->columns[other].line : e->variables[variable].line);
        return NULL;
    }
    if (e->column_count == SWEEP_COLUMNS_MAX) {
        COMPLAIN(s, "more than %d results; measure fewer", SWEEP_COLUMNS_MAX);
        return NULL;
    }
    struct sweep_column *column = &e->columns[e->column_count++];
    *column = (struct sweep_column){.line = s->r.line};
    strcpy(column->name, name);
    return column;
}

void sweep_read_measure(struct sweep_reader *s)
{
    for (unsigned i = 1; i < s->r.words; i++)
        add_column(s, s->r.word[i]);
}

/* Whether a pattern at the first point has a group. Counts in braces are refused, because they can need any memory. */
static bool has_group(const struct sweep_experiment *e, const char *pattern)
{
    struct sweep_run first = {.experiment = e, .replication = 1};
    char *text = sweep_substitute(&first, pattern);
    regex_t regex;
    bool good = text && !strchr(text, '{') && !regcomp(&regex, text, REG_EXTENDED | REG_NEWLINE);
    free(text);
    if (!good)
        return false;
    good = regex.re_nsub > 0;
    regfree(&regex);
    return good;
}

void sweep_read_value(struct sweep_reader *s)
{
    const char *pattern = s->rest + strcspn(s->rest, " \t");
    struct sweep_column *column = add_column(s, s->r.word[1]);
    pattern += strspn(pattern, " \t");
    if (!column || !sweep_check_value(s, pattern))
        return;
    column->pattern = pvma_copy_text(pattern);
    if (!has_group(s->e, pattern))
        COMPLAIN(s, "\"%.60s\" is not a regular expression with a group and no braces; write the number as ([0-9.]+)",
                 pattern);
}

/* ---- plots ---- */

static void set_axis(struct sweep_reader *s, struct sweep_plot *plot, const char *word)
{
    const char *x = pvma_reader_value(word, "x"), *y = pvma_reader_value(word, "y");
    const char *series = pvma_reader_value(word, "series"), *log = pvma_reader_value(word, "log");
    const char *only = pvma_reader_value(word, "only");
    if (x)
        plot->x = sweep_experiment_variable(s->e, x, strlen(x));
    else if (y)
        plot->y = sweep_experiment_column(s->e, y);
    else if (series && (plot->series = sweep_experiment_variable(s->e, series, strlen(series))) < 0)
        COMPLAIN(s, "series=%.40s: there is no such variable on an earlier line", series);
    else if (log && (!*log || log[strspn(log, "xy")]))
        COMPLAIN(s, "log=%.40s: give x, y or xy", log);
    else if (log)
        plot->log_x = strchr(log, 'x') != NULL, plot->log_y = strchr(log, 'y') != NULL;
    else if (only && plot->only.count == SWEEP_CONDITIONS_MAX)
        COMPLAIN(s, "more than %d conditions on a line", SWEEP_CONDITIONS_MAX);
    else if (only)
        sweep_read_part(s, only, &plot->only);
    else if (!series)
        COMPLAIN(s,
                 "\"%.40s\": give x=VARIABLE y=RESULT series=VARIABLE only=VARIABLE=VALUE log=x, log=y or log=xy, and "
                 "title= at the end",
                 word);
}

void sweep_read_plot(struct sweep_reader *s)
{
    struct sweep_experiment *e = s->e;
    if (!sweep_is_name(s, s->r.word[1], "_-."))
        return;
    if (e->plot_count == SWEEP_PLOTS_MAX) {
        COMPLAIN(s, "more than %d plots", SWEEP_PLOTS_MAX);
        return;
    }
    struct sweep_plot *plot = &e->plots[e->plot_count++];
    *plot = (struct sweep_plot){.line = s->r.line, .x = -1, .y = -1, .series = -1};
    strcpy(plot->name, s->r.word[1]);
    const char *title = strstr(s->rest, "title=");
    for (unsigned i = 2; i < s->r.words && strncmp(s->r.word[i], "title=", 6) != 0; i++)
        set_axis(s, plot, s->r.word[i]);
    plot->title = pvma_copy_text(title ? title + 6 : s->r.word[1]);
    if (plot->x < 0 || plot->y < 0)
        COMPLAIN(s, "plot %s: x= must name a variable, y= a result, each of an earlier line", plot->name);
}
