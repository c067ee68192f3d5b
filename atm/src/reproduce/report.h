/*
 * report.h - the result of an experiment: what a paper printed beside what the simulation gives, and what the paper
 * claims beside whether it holds here. The paper's side is declared in one file per paper (paper_*.c); an experiment
 * fills in the other by names, and can write nothing that is not declared.
 */
#ifndef PVMA_REPORT_H
#define PVMA_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a printed value is to us. */
enum report_use {
    REPORT_FIXES,    /* parameters were fitted to it: within 10 % */
    REPORT_PREDICTS, /* nothing was fitted to it: within 20 % */
    REPORT_BOUND,    /* follows from the model's arithmetic: within 0.1 % */
};

/* Fits a "-" in the paper. */
#define REPORT_NONE (-1.0)

struct report_value {
    const char *table, *row, *column, *unit;
    double paper;
    enum report_use use;
    const char *why; /* known reason for a miss; NULL: none known */
};

/* What the experiment says to a value. */
struct report_outcome {
    double simulated, interval; /* half width of the 90 % confidence interval; 0: one run, nothing random */
    bool known;
};

struct report_claim {
    const char *id, *text;
    const char *why;    /* known reason for not holding; NULL */
    const char *fitted; /* what was set so that it comes out: then it shows nothing, and counts as no claim; NULL */
};

struct report_verdict {
    bool known, holds;
    char detail[160];
};

/* A parameter of the models behind a report. */
struct report_parameter {
    const char *profile, *name;
    double value;
    const char *unit, *origin;
};

/* What a figure's axes are. */
struct report_figure {
    const char *name, *title, *x, *y; /* axes with units */
    bool log_x, log_y;
};

/* A curve of a figure. */
struct report_curve {
    const char *figure; /* its name as declared */
    char *name;
    size_t count;
    double *x, *y;
};

struct report {
    const char *name, *title;
    const struct report_value *values;
    size_t value_count;
    const struct report_claim *claims;
    size_t claim_count;
    const struct report_parameter *parameters;
    size_t parameter_count;
    const struct report_figure *figures;
    size_t figure_count;
    /* filled in: */
    struct report_outcome *outcomes; /* of the values */
    struct report_verdict *verdicts; /* on the claims */
    struct report_curve *curves;
    size_t curve_count;
    unsigned long long events; /* of all simulations */
};

/* A report of a paper's data: arrays called values, claims, parameters and figures. */
#define REPORT(its_name, its_title)                                                                                    \
    {                                                                                                                  \
        .name = its_name, .title = its_title, .values = values, .value_count = sizeof values / sizeof values[0],       \
        .claims = claims, .claim_count = sizeof claims / sizeof claims[0], .parameters = parameters,                   \
        .parameter_count = sizeof parameters / sizeof parameters[0], .figures = figures,                               \
        .figure_count = sizeof figures / sizeof figures[0]                                                             \
    }

/* Prepares a report for its experiment; report_free() it. */
void report_begin(struct report *report);

/* Ends the program when no such value is declared: a spelling mistake of ours. */
void report_set(struct report *report, const char *table, const char *row, const char *column, double simulated,
                double interval);
double report_get(const struct report *report, const char *table, const char *row, const char *column);

/* What the paper says, which fits begin with; a table by how its name begins. Ends the program as well. */
double report_printed(const struct report *report, const char *table, const char *row, const char *column);

/* The same for a claim; `detail` (printf style) gives the numbers that decided. */
void report_claim(struct report *report, const char *id, bool holds, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a point to a curve of a declared figure; the curve's name is copied. */
void report_point(struct report *report, const char *figure, const char *curve, double x, double y);

/* A parameter's value; ends the program when there is none of the name. */
double report_parameter(const struct report *report, const char *profile, const char *name);

struct report_score {
    unsigned fixing, fixing_good, predicted, predicted_good, claims, claims_good, claims_fitted, unknown;
};

void report_score(const struct report *report, struct report_score *score);

/* Prints tables, claims and parameters. */
void report_print(const struct report *report, FILE *out);

/* Writes NAME.csv and NAME-FIGURE.csv, or NAME-FIGURE.svg by gnuplot. 0, or -1 (said on stderr). */
int report_write_csv(const struct report *report, const char *folder);
int report_write_svg(const struct report *report, const char *folder);

void report_free(struct report *report);

#endif
