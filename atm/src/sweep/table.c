/* table.c - see table.h; figures are in table_draw.c. */
#include "table.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 14 };

void sweep_table_begin(struct sweep_table *table, const struct sweep_experiment *e)
{
    uint32_t most = sweep_replications_most(e);
    size_t points = sweep_point_count(e), runs = points * most;
    *table = (struct sweep_table){.experiment = e,
                                  .points = points,
                                  .most = most,
                                  .results = pvma_new(runs * sizeof *table->results),
                                  .done = pvma_new(runs * sizeof *table->done)};
}

void sweep_table_end(struct sweep_table *table)
{
    free(table->results);
    free(table->done);
}

void sweep_table_put(struct sweep_table *table, const struct sweep_run *run, const struct sweep_results *results)
{
    size_t at = run->point * table->most + run->replication - 1;
    table->results[at] = *results;
    table->done[at] = true;
}

bool sweep_table_has(const struct sweep_table *table, size_t point)
{
    uint32_t runs = sweep_point_replications(table->experiment, point);
    for (uint32_t i = 0; i < runs; i++)
        if (!table->done[point * table->most + i])
            return false;
    return true;
}

/* A result of each run of a point: a column, or the warm-up. */
static struct sweep_estimate estimate(const struct sweep_table *table, size_t point, size_t column, bool warmup)
{
    uint32_t runs = sweep_point_replications(table->experiment, point);
    double values[SWEEP_REPLICATIONS_MAX];
    for (uint32_t i = 0; i < runs; i++) {
        const struct sweep_results *r = &table->results[point * table->most + i];
        values[i] = warmup ? r->warmup_us : r->values[column];
        if (isnan(values[i]))
            return (struct sweep_estimate){NAN, NAN, NAN, NAN};
    }
    double confidence = table->experiment->confidence / 100.0;
    return table->experiment->median && !warmup ? sweep_estimate_median(values, runs, confidence)
                                                : sweep_estimate(values, runs, confidence);
}

struct sweep_estimate sweep_table_estimate(const struct sweep_table *table, size_t point, size_t column)
{
    return estimate(table, point, column, false);
}

/* ---- for people ---- */

static int width_of(const struct sweep_table *table)
{
    return table->most > 1 ? 2 * WIDTH : WIDTH;
}

/* Columns of numbers are to the right of their width. */
static void print_heading(const struct sweep_table *table, FILE *out)
{
    const struct sweep_experiment *e = table->experiment;
    fprintf(out, "%s\n\n", e->title.text ? e->title.text : e->name);
    for (size_t i = 0; i < e->variable_count; i++)
        if (e->variables[i].varies)
            fprintf(out, "%-*s", WIDTH, e->variables[i].name);
    for (size_t i = 0; i < e->column_count; i++) {
        char heading[2 * SWEEP_NAME_MAX];
        const char *unit = sweep_workload_unit(e, i);
        snprintf(heading, sizeof heading, *unit ? "%s, %s" : "%s", e->columns[i].name, unit);
        fprintf(out, " %*s", width_of(table), heading);
    }
    fprintf(out, "\n");
}

static void print_point(const struct sweep_table *table, size_t point, FILE *out)
{
    const struct sweep_experiment *e = table->experiment;
    for (size_t i = 0; i < e->variable_count; i++)
        if (e->variables[i].varies)
            fprintf(out, "%-*s", WIDTH, sweep_point_value(e, point, i));
    for (size_t i = 0; i < e->column_count; i++) {
        struct sweep_estimate s = sweep_table_estimate(table, point, i);
        char text[64];
        if (isnan(s.mean))
            snprintf(text, sizeof text, "-");
        else if (sweep_point_replications(e, point) > 1)
            snprintf(text, sizeof text, "%.6g +- %.3g", s.mean, s.half_width);
        else
            snprintf(text, sizeof text, "%.6g", s.mean);
        fprintf(out, " %*s", width_of(table), text);
    }
    fprintf(out, "\n");
}

void sweep_table_print(const struct sweep_table *table, FILE *out)
{
    const struct sweep_experiment *e = table->experiment;
    print_heading(table, out);
    for (size_t p = 0; p < table->points; p++)
        if (sweep_table_has(table, p))
            print_point(table, p, out);
    if (table->most > 1)
        fprintf(out, "\n%s +- %s the %u %% confidence interval over %s%u runs\n", e->median ? "median" : "mean",
                e->median ? "the farther end of" : "half the width of", e->confidence,
                e->exception_count ? "up to " : "", table->most);
}

/* ---- CSV ---- */

/* Quotes a text if CSV needs it. */
static void write_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\" ")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
    fputc('"', out);
}

/* "latency_us", with "_ci95" behind it for its confidence interval. */
static void write_heading(const struct sweep_experiment *e, size_t column, FILE *out)
{
    const char *unit = sweep_workload_unit(e, column), *ends[] = {"", "_ci"};
    for (unsigned i = 0; i < 2; i++) {
        fprintf(out, ",%s%s", e->columns[column].name, *unit ? "_" : "");
        for (const char *c = unit; *c; c++)
            fputc(*c == '/' ? 'p' : *c == ' ' ? '_' : *c, out);
        fputs(ends[i], out);
    }
    fprintf(out, "%u", e->confidence);
}

static void write_point(const struct sweep_table *table, size_t point, FILE *out)
{
    const struct sweep_experiment *e = table->experiment;
    for (size_t i = 0; i < e->variable_count; i++) {
        if (!e->variables[i].varies)
            continue;
        write_text(out, sweep_point_value(e, point, i));
        fputc(',', out);
    }
    fprintf(out, "%u", sweep_point_replications(e, point));
    if (e->workload == SWEEP_LOAD)
        fprintf(out, ",%.8g", estimate(table, point, 0, true).mean);
    for (size_t i = 0; i < e->column_count; i++) {
        struct sweep_estimate s = sweep_table_estimate(table, point, i);
        if (isnan(s.mean))
            fprintf(out, ",,");
        else if (sweep_point_replications(e, point) > 1)
            fprintf(out, ",%.8g,%.4g", s.mean, s.half_width);
        else
            fprintf(out, ",%.8g,", s.mean);
    }
    fprintf(out, "\n");
}

void sweep_table_csv(const struct sweep_table *table, FILE *out)
{
    const struct sweep_experiment *e = table->experiment;
    for (size_t i = 0; i < e->variable_count; i++)
        if (e->variables[i].varies)
            fprintf(out, "%s,", e->variables[i].name);
    fprintf(out, "replications%s", e->workload == SWEEP_LOAD ? ",warmup_us" : "");
    for (size_t i = 0; i < e->column_count; i++)
        write_heading(e, i, out);
    fprintf(out, "\n");
    for (size_t p = 0; p < table->points; p++)
        if (sweep_table_has(table, p))
            write_point(table, p, out);
}
