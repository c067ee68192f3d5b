/* report.c - see report.h. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"
#include "report.h"

static const double limit_percent[] = {
    [REPORT_FIXES] = 10,
    [REPORT_PREDICTS] = 20,
    [REPORT_BOUND] = 0.1,
};

static const char *const use_name[] = {
    [REPORT_FIXES] = "fitted",
    [REPORT_PREDICTS] = "predicted",
    [REPORT_BOUND] = "computed",
};

static _Noreturn void undeclared(const char *a, const char *b, const char *c)
{
    fprintf(stderr, "atm-sim: reproduce: \"%s\" \"%s\" \"%s\" is not declared\n", a, b, c);
    exit(1);
}

void report_begin(struct report *report)
{
    report->outcomes = pvma_new((report->value_count + 1) * sizeof *report->outcomes);
    report->verdicts = pvma_new((report->claim_count + 1) * sizeof *report->verdicts);
    report->events = 0;
}

/* The first value whose table begins with `table`. */
static size_t find(const struct report *report, const char *table, const char *row, const char *column)
{
    for (size_t i = 0; i < report->value_count; i++) {
        const struct report_value *v = &report->values[i];
        if (strncmp(v->table, table, strlen(table)) == 0 && strcmp(v->row, row) == 0 && strcmp(v->column, column) == 0)
            return i;
    }
    undeclared(table, row, column);
}

void report_set(struct report *report, const char *table, const char *row, const char *column, double simulated,
                double interval)
{
    report->outcomes[find(report, table, row, column)] = (struct report_outcome){simulated, interval, true};
}

double report_get(const struct report *report, const char *table, const char *row, const char *column)
{
    return report->outcomes[find(report, table, row, column)].simulated;
}

double report_printed(const struct report *report, const char *table, const char *row, const char *column)
{
    return report->values[find(report, table, row, column)].paper;
}

void report_claim(struct report *report, const char *id, bool holds, const char *detail, ...)
{
    va_list args;

    for (size_t i = 0; i < report->claim_count; i++) {
        struct report_verdict *v = &report->verdicts[i];
        if (strcmp(report->claims[i].id, id) != 0)
            continue;
        v->known = true;
        v->holds = holds;
        va_start(args, detail);
        vsnprintf(v->detail, sizeof v->detail, detail, args);
        va_end(args);
        return;
    }
    undeclared("claim", id, "");
}

double report_parameter(const struct report *report, const char *profile, const char *name)
{
    for (size_t i = 0; i < report->parameter_count; i++)
        if (strcmp(report->parameters[i].profile, profile) == 0 && strcmp(report->parameters[i].name, name) == 0)
            return report->parameters[i].value;
    undeclared("parameter", profile, name);
}

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

static double error_percent(const struct report *report, size_t i)
{
    double paper = report->values[i].paper, simulated = report->outcomes[i].simulated;

    return paper == 0 ? simulated : (simulated / paper - 1) * 100; /* values printed as 0 are percentages themselves */
}

static bool is_good(const struct report *report, size_t i)
{
    return fabs(error_percent(report, i)) <= limit_percent[report->values[i].use] + 1e-9;
}

void report_score(const struct report *report, struct report_score *score)
{
    *score = (struct report_score){0};
    for (size_t i = 0; i < report->value_count; i++) {
        if (!report->outcomes[i].known) {
            score->unknown += report->values[i].paper != REPORT_NONE;
        } else if (report->values[i].use == REPORT_FIXES) {
            score->fixing++;
            score->fixing_good += is_good(report, i);
        } else {
            score->predicted++;
            score->predicted_good += is_good(report, i);
        }
    }
    for (size_t i = 0; i < report->claim_count; i++) {
        bool fitted = report->claims[i].fitted;
        score->claims_fitted += fitted;
        score->claims += !fitted;
        score->claims_good += !fitted && report->verdicts[i].known && report->verdicts[i].holds;
    }
}

/* ---- text ---- */

static void print_value(const struct report *report, size_t i, FILE *out)
{
    const struct report_value *v = &report->values[i];
    const struct report_outcome *o = &report->outcomes[i];
    char interval[32] = "";

    if (o->interval > 0)
        snprintf(interval, sizeof interval, " +-%.3g", o->interval);
    fprintf(out, "%-34s %-10s %10.6g %10.5g %-6s %+8.1f%%  %-9s %s%s\n", v->row, v->column, v->paper, o->simulated,
            v->unit, error_percent(report, i), use_name[v->use], is_good(report, i) ? "ok" : "MISS", interval);
}

static void print_values(const struct report *report, FILE *out)
{
    const char *table = "";

    for (size_t i = 0; i < report->value_count; i++) {
        const char *next = report->values[i].table;
        if (!report->outcomes[i].known)
            continue;
        if (strcmp(next, table) != 0)
            fprintf(out, "\n%s\n%-34s %-10s %10s %10s %-6s %9s\n", next, "", "", "paper", "simulated", "", "error");
        table = next;
        print_value(report, i, out);
    }
}

static const char *verdict_on(const struct report *report, size_t i)
{
    const struct report_verdict *v = &report->verdicts[i];

    if (!v->known)
        return "not run";
    if (!v->holds)
        return "does not hold";
    return report->claims[i].fitted ? "fitted" : "holds";
}

static void print_claims(const struct report *report, FILE *out)
{
    if (report->claim_count > 0)
        fprintf(out, "\nClaims\n");
    for (size_t i = 0; i < report->claim_count; i++) {
        const struct report_claim *c = &report->claims[i];
        const struct report_verdict *v = &report->verdicts[i];
        fprintf(out, "%-5s %-13s %s%s%s\n", c->id, verdict_on(report, i), c->text, v->detail[0] ? ": " : "", v->detail);
    }
}

/* Prints each reason once, followed by all adjacent values that it explains. */
static void print_reasons(const struct report *report, FILE *out)
{
    const char *said = NULL;

    for (size_t i = 0; i < report->value_count; i++) {
        const struct report_value *v = &report->values[i];
        if (!report->outcomes[i].known || is_good(report, i))
            continue;
        if (v->why && v->why == said)
            fprintf(out, "        and %s, %s\n", v->row, v->column);
        else
            fprintf(out, "Missed: %s, %s, %s: %s\n", v->table, v->row, v->column, v->why ? v->why : "no reason known");
        said = v->why;
    }
    for (size_t i = 0; i < report->claim_count; i++) {
        const struct report_claim *c = &report->claims[i];
        if (report->verdicts[i].known && !report->verdicts[i].holds)
            fprintf(out, "Missed: claim %s: %s\n", c->id, c->why ? c->why : "no reason known");
        if (c->fitted)
            fprintf(out, "Not counted: claim %s: %s\n", c->id, c->fitted);
    }
}

static void print_parameters(const struct report *report, FILE *out)
{
    const char *profile = "";

    fprintf(out, "\nParameters and where they come from\n");
    for (size_t i = 0; i < report->parameter_count; i++) {
        const struct report_parameter *p = &report->parameters[i];
        if (strcmp(p->profile, profile) != 0)
            fprintf(out, "%s\n", p->profile);
        profile = p->profile;
        fprintf(out, "    %-28s %10.6g %-6s %s\n", p->name, p->value, p->unit, p->origin);
    }
}

void report_print(const struct report *report, FILE *out)
{
    struct report_score s;

    report_score(report, &s);
    fprintf(out, "==== %s: %s\n", report->name, report->title);
    print_values(report, out);
    print_claims(report, out);
    fprintf(out, "\n");
    print_reasons(report, out);
    print_parameters(report, out);
    fprintf(out,
            "\n%s: %u of %u fitted values within 10 %%, %u of %u predicted ones within 20 %%, %u of %u claims hold, "
            "%u fitted ones not counted; %u values not run; %.1f million events\n\n",
            report->name, s.fixing_good, s.fixing, s.predicted_good, s.predicted, s.claims_good, s.claims,
            s.claims_fitted, s.unknown, (double)report->events / 1e6);
}

/* ---- files ---- */

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

static int write_values(const struct report *report, const char *folder)
{
    FILE *out = create(folder, report->name, "", ".csv");

    if (!out)
        return -1;
    fprintf(out, "table,row,column,unit,use,paper,simulated,interval90,error_percent\n");
    for (size_t i = 0; i < report->value_count; i++) {
        const struct report_value *v = &report->values[i];
        const struct report_outcome *o = &report->outcomes[i];
        if (o->known)
            fprintf(out, "\"%s\",\"%s\",\"%s\",%s,%s,%.6g,%.6g,%.3g,%.2f\n", v->table, v->row, v->column, v->unit,
                    use_name[v->use], v->paper, o->simulated, o->interval, error_percent(report, i));
    }
    return finish(out);
}

static bool is_first_of_figure(const struct report *report, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(report->curves[j].figure, report->curves[i].figure) == 0)
            return false;
    return true;
}

static void print_points(const struct report_curve *c, const char *between, FILE *out)
{
    for (size_t k = 0; k < c->count; k++)
        fprintf(out, "%.8g%s%.8g\n", c->x[k], between, c->y[k]);
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

    for (size_t i = 0; status == 0 && i < report->curve_count; i++)
        if (is_first_of_figure(report, i))
            status = write_figure(report, folder, report->curves[i].figure);
    return status;
}

static void plot_axes(const struct report *report, const char *folder, const struct report_figure *f, FILE *gnuplot)
{
    fprintf(gnuplot,
            "set terminal svg size 860,420 font 'sans,12' background 'white'\nset grid\nset key outside right top "
            "reverse Left\n"
            "set output '%s/%s-%s.svg'\nset title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n",
            folder, report->name, f->name, f->title, f->x, f->y);
    fprintf(gnuplot, "%s\n%s\n",
            f->log_x ? "set logscale x 2\nset format x '%.0b%B'" : "unset logscale x\nset format x",
            f->log_y ? "set logscale y" : "unset logscale y");
}

/* Okabe and Ito's colours, which colour-blind people can tell apart; dashes differ, too. */
static const char style[] = "set linetype 1 lc rgb '#0072b2' dt 1 lw 1.5\nset linetype 2 lc rgb '#d55e00' dt 2 lw 1.5\n"
                            "set linetype 3 lc rgb '#009e73' dt 4 lw 1.5\nset linetype 4 lc rgb '#cc79a7' dt 5 lw 1.5\n"
                            "set linetype 5 lc rgb '#000000' dt 3 lw 1.5\nset linetype 6 lc rgb '#e69f00' dt 1 lw 1.5\n"
                            "set linetype 7 lc rgb '#56b4e9' dt 2 lw 1.5\nset linetype cycle 7\n";

/* The number of the simulated curve of that name among those of its figure, from 1. Each has a colour and a mark. */
static unsigned colour_of(const struct report *report, const struct report_curve *c)
{
    unsigned number = 1;

    for (size_t i = 0; i < report->curve_count; i++) {
        const struct report_curve *other = &report->curves[i];
        if (other->paper || strcmp(other->figure, c->figure) != 0)
            continue;
        if (strcmp(other->name, c->name) == 0)
            return number;
        number++;
    }
    return number;
}

/* Simulated points are small and joined by a line, the paper's are large and hollow. */
static void plot_curve(const struct report *report, const struct report_curve *c, FILE *gnuplot)
{
    static const unsigned hollow[] = {6, 4, 8, 10, 12, 14, 2}, filled[] = {7, 5, 9, 11, 13, 15, 1};
    unsigned number = colour_of(report, c), mark = (number - 1) % 7;

    if (c->paper)
        fprintf(gnuplot, "'-' with points lt %u pt %u ps 1.3 title '%s (paper)'", number, hollow[mark], c->name);
    else
        fprintf(gnuplot, "'-' with linespoints lt %u pt %u ps 0.4 title '%s'", number, filled[mark], c->name);
}

static void plot_figure(const struct report *report, const char *folder, const struct report_figure *f, FILE *gnuplot)
{
    const char *between = "plot ";

    fputs(style, gnuplot);
    plot_axes(report, folder, f, gnuplot);
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, f->name) == 0) {
            fputs(between, gnuplot);
            plot_curve(report, &report->curves[i], gnuplot);
            between = ", ";
        }
    fprintf(gnuplot, "\n");
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, f->name) == 0) {
            print_points(&report->curves[i], " ", gnuplot);
            fprintf(gnuplot, "e\n");
        }
}

int report_write_svg(const struct report *report, const char *folder)
{
    FILE *gnuplot = popen("gnuplot", "w");
    int status;

    if (!gnuplot)
        return -1;
    for (size_t i = 0; i < report->curve_count; i++)
        if (is_first_of_figure(report, i))
            plot_figure(report, folder, figure_of(report, report->curves[i].figure), gnuplot);
    status = pclose(gnuplot);
    if (status != 0)
        fprintf(stderr, "atm-sim: gnuplot could not draw the figures of %s; is gnuplot-nox installed?\n", report->name);
    return status == 0 ? 0 : -1;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->curve_count; i++) {
        free(report->curves[i].name);
        free(report->curves[i].x);
        free(report->curves[i].y);
    }
    free(report->curves);
    free(report->outcomes);
    free(report->verdicts);
    report->outcomes = NULL;
    report->verdicts = NULL;
    report->curves = NULL;
    report->curve_count = 0;
}
