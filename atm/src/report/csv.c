/* csv.c - a report as CSV, see print.h. */
#include <stdio.h>
#include <string.h>
#include "print.h"
#include "score.h"

static FILE *create(const char *folder, const char *name, const char *figure, const char *end)
{
    char path[4096];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s%s%s%s", folder, name, figure[0] ? "-" : "", figure, end);
    out = fopen(path, "w");
    if (!out)
        fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
    return out;
}

static int finish(FILE *out)
{
    if (fclose(out) == 0)
        return 0;
    fprintf(stderr, "atm-sim: cannot write a result: %m\n");
    return -1;
}

/* Texts have no quotation marks in them. */
static void print_row(const struct report *report, const struct report_row *row, FILE *out)
{
    const struct report_value *v = row->value;

    fprintf(out, "%s,\"%s\",\"%s\",\"%s\",%s,%s,%s,%.6g,%.6g,%.3g,%s,%.6g,%.6g,%.2f,%s,", report->name, v->table,
            v->row, v->column, row->by == REPORT_PROGRAM ? "program" : "model", v->unit, score_use_name(row->use),
            v->paper, row->simulated, row->interval, row->beyond ? "beyond computing" : "value", row->printed,
            row->simulated - row->computing, score_error(row), score_is_good(row) ? "ok" : "miss");
    if (row->has_null)
        fprintf(out, "%.6g,%s\n", row->null, score_null_is_good(row) ? "ok" : "miss");
    else
        fprintf(out, ",\n");
}

void report_print_csv_head(FILE *out)
{
    fprintf(out, "paper,table,row,column,by,unit,class,printed,simulated,interval90,scored,scored_printed,"
                 "scored_simulated,error_percent,verdict,null,null_verdict\n");
}

void report_print_csv(const struct report *report, FILE *out)
{
    for (size_t i = 0; i < report->row_count; i++)
        if (report->rows[i].known)
            print_row(report, &report->rows[i], out);
}

static int write_values(const struct report *report, const char *folder)
{
    FILE *out = create(folder, report->name, "", ".csv");

    if (!out)
        return -1;
    report_print_csv_head(out);
    report_print_csv(report, out);
    return finish(out);
}

static int write_figure(const struct report *report, const char *folder, const char *figure)
{
    FILE *out = create(folder, report->name, figure, ".csv");

    if (!out)
        return -1;
    fprintf(out, "curve,x,y\n");
    for (size_t i = 0; i < report->curve_count; i++) {
        const struct report_curve *c = &report->curves[i];
        for (size_t k = 0; strcmp(c->figure, figure) == 0 && k < c->count; k++)
            fprintf(out, "\"%s%s\",%.8g,%.8g\n", c->name, c->paper ? " (paper)" : "", c->x[k], c->y[k]);
    }
    return finish(out);
}

int report_write_csv(const struct report *report, const char *folder)
{
    int status = write_values(report, folder);

    for (size_t i = 0; status == 0 && i < report->figure_count; i++)
        if (report_has_curve(report, report->figures[i].name))
            status = write_figure(report, folder, report->figures[i].name);
    return status;
}
