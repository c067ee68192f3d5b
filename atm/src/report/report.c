/* report.c - see report.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"
#include "report.h"

static _Noreturn void undeclared(const char *a, const char *b, const char *c)
{
    fprintf(stderr, "atm-sim: reproduce: \"%s\" \"%s\" \"%s\" is not declared\n", a, b, c);
    exit(1);
}

/* ---- rows ---- */

static bool is_program_of(const struct report_program *p, const struct report_value *v)
{
    return strcmp(p->table, v->table) == 0 && strcmp(p->row, v->row) == 0 && strcmp(p->column, v->column) == 0;
}

static void add_row(struct report *report, struct report_row row)
{
    row.printed = row.value->paper;
    report->rows[report->row_count++] = row;
}

static void add_rows(struct report *report, const struct report_value *v)
{
    if (!report->only_programs)
        add_row(report, (struct report_row){.value = v, .by = REPORT_MODEL, .use = v->use, .why = v->why});
    for (size_t i = 0; i < report->program_count; i++) {
        const struct report_program *p = &report->programs[i];
        if (is_program_of(p, v))
            add_row(report, (struct report_row){.value = v, .by = REPORT_PROGRAM, .use = p->use, .why = p->why});
    }
}

void report_begin(struct report *report)
{
    report->rows = pvma_new((report->value_count + report->program_count + 1) * sizeof *report->rows);
    report->row_count = 0;
    for (size_t i = 0; i < report->value_count; i++)
        add_rows(report, &report->values[i]);
    report->verdicts = pvma_new((report->claim_count + 1) * sizeof *report->verdicts);
    report->program_verdicts = pvma_new((report->claim_count + 1) * sizeof *report->program_verdicts);
    report->by = REPORT_MODEL;
    report->events = 0;
    report->digest = 0;
}

static bool is_of(const struct report_value *v, const char *table, const char *row, const char *column)
{
    return strncmp(v->table, table, strlen(table)) == 0 && strcmp(v->row, row) == 0 && strcmp(v->column, column) == 0;
}

static struct report_row *find(const struct report *report, enum report_by by, const char *table, const char *row,
                               const char *column)
{
    for (size_t i = 0; i < report->row_count; i++)
        if (report->rows[i].by == by && is_of(report->rows[i].value, table, row, column))
            return &report->rows[i];
    undeclared(table, row, column);
}

static void set(struct report_row *row, double simulated, double interval)
{
    row->simulated = simulated;
    row->interval = interval;
    row->known = true;
}

void report_set(struct report *report, const char *table, const char *row, const char *column, double simulated,
                double interval)
{
    set(find(report, REPORT_MODEL, table, row, column), simulated, interval);
}

void report_set_program(struct report *report, const char *table, const char *row, const char *column, double simulated,
                        double interval)
{
    set(find(report, REPORT_PROGRAM, table, row, column), simulated, interval);
}

void report_null_programs(struct report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        struct report_row *r = &report->rows[i];
        if (r->by != REPORT_PROGRAM)
            continue;
        r->null = r->simulated;
        r->has_null = r->known;
        r->known = false;
    }
    for (size_t i = 0; i < report->claim_count; i++) {
        struct report_verdict *v = &report->program_verdicts[i];
        v->null_known = v->known;
        v->null_holds = v->holds;
        v->known = false;
    }
}

double report_get(const struct report *report, const char *table, const char *row, const char *column)
{
    return find(report, REPORT_MODEL, table, row, column)->simulated;
}

void report_beyond(struct report *report, const char *table, const char *row, const char *column, double printed,
                   double computing)
{
    (void)find(report, report->only_programs ? REPORT_PROGRAM : REPORT_MODEL, table, row, column);
    for (size_t i = 0; i < report->row_count; i++) {
        struct report_row *r = &report->rows[i];
        if (!is_of(r->value, table, row, column))
            continue;
        r->printed = printed;
        r->computing = computing;
        r->beyond = true;
    }
}

void report_null(struct report *report, const char *table, const char *row, const char *column, double null)
{
    (void)find(report, REPORT_MODEL, table, row, column);
    for (size_t i = 0; i < report->row_count; i++) {
        struct report_row *r = &report->rows[i];
        if (!is_of(r->value, table, row, column))
            continue;
        r->null = null;
        r->has_null = true;
    }
}

double report_printed(const struct report *report, const char *table, const char *row, const char *column)
{
    for (size_t i = 0; i < report->value_count; i++)
        if (is_of(&report->values[i], table, row, column))
            return report->values[i].paper;
    undeclared(table, row, column);
}

/* ---- claims ---- */

static size_t claim_at(const struct report *report, const char *id)
{
    for (size_t i = 0; i < report->claim_count; i++)
        if (strcmp(report->claims[i].id, id) == 0)
            return i;
    undeclared("claim", id, "");
}

static __attribute__((format(printf, 4, 0))) void judge(struct report *report, size_t claim, bool holds,
                                                        const char *detail, va_list args)
{
    struct report_verdict *v = &(report->by == REPORT_PROGRAM ? report->program_verdicts : report->verdicts)[claim];

    v->known = true;
    v->holds = holds;
    vsnprintf(v->detail, sizeof v->detail, detail, args);
}

void report_claim(struct report *report, const char *id, bool holds, const char *detail, ...)
{
    size_t claim = claim_at(report, id);
    va_list args;

    if (report->claims[claim].range_count > 0)
        undeclared("claim without ranges", id, "");
    va_start(args, detail);
    judge(report, claim, holds, detail, args);
    va_end(args);
}

void report_claim_numbers(struct report *report, const char *id, bool holds, const double *numbers, const char *detail,
                          ...)
{
    size_t claim = claim_at(report, id);
    const struct report_claim *c = &report->claims[claim];
    va_list args;

    if (c->range_count == 0)
        undeclared("claim with ranges", id, "");
    for (unsigned i = 0; i < c->range_count; i++)
        holds = holds && numbers[i] >= c->ranges[i].low && numbers[i] <= c->ranges[i].high;
    va_start(args, detail);
    judge(report, claim, holds, detail, args);
    va_end(args);
}

double report_parameter(const struct report *report, const char *profile, const char *name)
{
    for (size_t i = 0; i < report->parameter_count; i++)
        if (strcmp(report->parameters[i].profile, profile) == 0 && strcmp(report->parameters[i].name, name) == 0)
            return report->parameters[i].value;
    undeclared("parameter", profile, name);
}

/* ---- figures ---- */

static const struct report_figure *figure_of(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->figure_count; i++)
        if (strcmp(report->figures[i].name, name) == 0)
            return &report->figures[i];
    undeclared("figure", name, "");
}

static struct report_curve *curve_of(struct report *report, const char *figure, const char *name, bool paper)
{
    struct report_curve *c;

    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, figure) == 0 && strcmp(report->curves[i].name, name) == 0 &&
            report->curves[i].paper == paper)
            return &report->curves[i];
    report->curves = pvma_renew(report->curves, (report->curve_count + 1) * sizeof *report->curves);
    c = &report->curves[report->curve_count++];
    *c = (struct report_curve){.figure = figure_of(report, figure)->name, .name = pvma_copy_text(name), .paper = paper};
    return c;
}

static void add_point(struct report_curve *c, double x, double y)
{
    c->x = pvma_renew(c->x, (c->count + 1) * sizeof *c->x);
    c->y = pvma_renew(c->y, (c->count + 1) * sizeof *c->y);
    c->x[c->count] = x;
    c->y[c->count++] = y;
}

void report_point(struct report *report, const char *figure, const char *curve, double x, double y)
{
    add_point(curve_of(report, figure, curve, false), x, y);
}

void report_paper_point(struct report *report, const char *figure, const char *curve, double x, double y)
{
    if (y != REPORT_NONE)
        add_point(curve_of(report, figure, curve, true), x, y);
}

bool report_has_curve(const struct report *report, const char *figure)
{
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, figure) == 0)
            return true;
    return false;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->curve_count; i++) {
        free(report->curves[i].name);
        free(report->curves[i].x);
        free(report->curves[i].y);
    }
    free(report->curves);
    free(report->rows);
    free(report->verdicts);
    free(report->program_verdicts);
    report->rows = NULL;
    report->verdicts = report->program_verdicts = NULL;
    report->curves = NULL;
    report->curve_count = 0;
    report->row_count = 0;
}
