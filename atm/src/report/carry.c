/*
 * carry.c - see carry.h. One process is a fork of the other, so values go as they are in memory, also pointers to what
 * is declared.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"
#include "carry.h"

struct curve {
    char figure[64], name[64];
    bool paper;
    size_t count;
};

static void put(FILE *file, const void *data, size_t size)
{
    (void)fwrite(data, size, 1, file);
}

static bool get(FILE *file, void *data, size_t size)
{
    return size == 0 || fread(data, size, 1, file) == 1;
}

static void put_curve(const struct report_curve *c, FILE *file)
{
    struct curve head;

    memset(&head, 0, sizeof head);
    snprintf(head.figure, sizeof head.figure, "%s", c->figure);
    snprintf(head.name, sizeof head.name, "%s", c->name);
    head.paper = c->paper;
    head.count = c->count;
    put(file, &head, sizeof head);
    put(file, c->x, c->count * sizeof *c->x);
    put(file, c->y, c->count * sizeof *c->y);
}

int carry_out(const struct report *report, FILE *file)
{
    put(file, report->rows, report->row_count * sizeof *report->rows);
    put(file, report->verdicts, report->claim_count * sizeof *report->verdicts);
    put(file, report->program_verdicts, report->claim_count * sizeof *report->program_verdicts);
    put(file, &report->events, sizeof report->events);
    put(file, &report->digest, sizeof report->digest);
    put(file, &report->curve_count, sizeof report->curve_count);
    for (size_t i = 0; i < report->curve_count; i++)
        put_curve(&report->curves[i], file);
    return fflush(file) == 0 && !ferror(file) ? 0 : -1;
}

static bool get_curve(struct report *report, FILE *file)
{
    struct curve head;
    double *points;
    bool whole;

    if (!get(file, &head, sizeof head))
        return false;
    points = pvma_new(2 * head.count * sizeof *points);
    whole = get(file, points, 2 * head.count * sizeof *points);
    for (size_t i = 0; whole && i < head.count; i++) {
        if (head.paper)
            report_paper_point(report, head.figure, head.name, points[i], points[head.count + i]);
        else
            report_point(report, head.figure, head.name, points[i], points[head.count + i]);
    }
    free(points);
    return whole;
}

/* Reads rows and gives each to `take`, which puts what it wants into the row here. */
static int get_rows(struct report *report, FILE *file,
                    void (*take)(struct report_row *here, const struct report_row *there))
{
    struct report_row there;

    for (size_t i = 0; i < report->row_count; i++) {
        if (!get(file, &there, sizeof there))
            return -1;
        take(&report->rows[i], &there);
    }
    return 0;
}

static int get_verdicts(struct report *report, struct report_verdict *verdicts, FILE *file,
                        void (*take)(struct report_verdict *here, const struct report_verdict *there))
{
    struct report_verdict there;

    for (size_t i = 0; i < report->claim_count; i++) {
        if (!get(file, &there, sizeof there))
            return -1;
        if (take)
            take(&verdicts[i], &there);
    }
    return 0;
}

static void take_result(struct report_row *here, const struct report_row *there)
{
    here->simulated = there->simulated;
    here->interval = there->interval;
    here->known = there->known;
}

static void take_beyond(struct report_row *here, const struct report_row *there)
{
    here->computing = there->computing;
    here->printed = there->printed;
    here->beyond = there->beyond;
}

/* The model says for a program's row, too, what is beyond computing. */
static void take_model(struct report_row *here, const struct report_row *there)
{
    take_beyond(here, there);
    if (here->by == REPORT_MODEL)
        take_result(here, there);
}

static void take_null(struct report_row *here, const struct report_row *there)
{
    if (here->by != REPORT_MODEL)
        return;
    here->null = there->simulated;
    here->has_null = there->known;
}

static void take_program(struct report_row *here, const struct report_row *there)
{
    if (here->by != REPORT_PROGRAM)
        return;
    take_result(here, there);
    if (there->beyond) /* there is no model */
        take_beyond(here, there);
    here->null = there->null;
    here->has_null = there->has_null;
}

static void take_verdict(struct report_verdict *here, const struct report_verdict *there)
{
    here->known = there->known;
    here->holds = there->holds;
    memcpy(here->detail, there->detail, sizeof here->detail);
}

static void take_null_verdict(struct report_verdict *here, const struct report_verdict *there)
{
    here->null_known = there->known;
    here->null_holds = there->holds;
}

static void take_program_verdict(struct report_verdict *here, const struct report_verdict *there)
{
    *here = *there;
}

int carry_in(struct report *report, FILE *file)
{
    size_t curves;

    if (get_rows(report, file, take_model) < 0 || get_verdicts(report, report->verdicts, file, take_verdict) < 0 ||
        get_verdicts(report, NULL, file, NULL) < 0)
        return -1;
    if (!get(file, &report->events, sizeof report->events) || !get(file, &report->digest, sizeof report->digest) ||
        !get(file, &curves, sizeof curves))
        return -1;
    while (curves-- > 0)
        if (!get_curve(report, file))
            return -1;
    return 0;
}

int carry_in_null(struct report *report, FILE *file)
{
    return get_rows(report, file, take_null) < 0 ? -1 : get_verdicts(report, report->verdicts, file, take_null_verdict);
}

int carry_in_programs(struct report *report, FILE *file)
{
    if (get_rows(report, file, take_program) < 0 || get_verdicts(report, NULL, file, NULL) < 0)
        return -1;
    return get_verdicts(report, report->program_verdicts, file, take_program_verdict);
}
