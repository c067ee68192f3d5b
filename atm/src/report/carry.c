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

int carry_in(struct report *report, FILE *file)
{
    size_t curves;

    for (size_t i = 0; i < report->row_count; i++) {
        struct report_row *r = &report->rows[i], there;
        if (!get(file, &there, sizeof there))
            return -1;
        there.null = r->null;
        there.has_null = r->has_null;
        *r = there;
    }
    for (size_t i = 0; i < report->claim_count; i++) {
        struct report_verdict *v = &report->verdicts[i], there;
        if (!get(file, &there, sizeof there))
            return -1;
        v->known = there.known;
        v->holds = there.holds;
        memcpy(v->detail, there.detail, sizeof v->detail);
    }
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
    for (size_t i = 0; i < report->row_count; i++) {
        struct report_row *r = &report->rows[i], there;
        if (!get(file, &there, sizeof there))
            return -1;
        r->null = there.simulated;
        r->has_null = there.known;
    }
    for (size_t i = 0; i < report->claim_count; i++) {
        struct report_verdict *v = &report->verdicts[i], there;
        if (!get(file, &there, sizeof there))
            return -1;
        v->null_known = there.known;
        v->null_holds = there.holds;
    }
    return 0;
}
