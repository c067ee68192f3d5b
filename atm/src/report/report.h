/*
 * report.h - the result of an experiment: printed beside simulated values, and the paper's claims with verdicts. The
 * paper's side is declared in one file per paper (paper_*.c). An experiment fills in the other side by name, and cannot
 * add anything that is not declared.
 */
#ifndef PVMA_REPORT_H
#define PVMA_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a printed value is used. */
enum report_use {
    REPORT_FIXES,    /* parameters were fitted to it: within 10 % */
    REPORT_PREDICTS, /* nothing was fitted to it: within 20 % */
    REPORT_BOUND,    /* follows from the model's arithmetic: within 0.1 % */
};

/* Stands for "-" in the paper. */
#define REPORT_NONE (-1.0)

struct report_value {
    const char *table, *row, *column, *unit;
    double paper;
    enum report_use use;
    const char *why; /* known reason for a miss; NULL: none known */
};

/* The simulated result for a value. */
struct report_outcome {
    double simulated, interval; /* half width of the 90 % confidence interval; 0: one run, nothing random */
    bool known;
};

struct report_claim {
    const char *id, *text;
    const char *why;    /* known reason for not holding; NULL: none */
    const char *fitted; /* what was set so that the claim holds, which then does not count; NULL: nothing */
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

/* The axes of a figure, with units. */
struct report_figure {
    const char *name, *title, *x, *y;
    bool log_x, log_y;
};

/* A curve of a figure. */
struct report_curve {
    const char *figure; /* its declared name */
    char *name;
    bool paper; /* what the paper prints for the simulated curve of that name */
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

/* Declares a paper's report from arrays called values, claims, parameters and figures. */
#define REPORT(its_name, its_title)                                                                                    \
    {                                                                                                                  \
        .name = its_name, .title = its_title, .values = values, .value_count = sizeof values / sizeof values[0],       \
        .claims = claims, .claim_count = sizeof claims / sizeof claims[0], .parameters = parameters,                   \
        .parameter_count = sizeof parameters / sizeof parameters[0], .figures = figures,                               \
        .figure_count = sizeof figures / sizeof figures[0]                                                             \
    }

/* Prepares a report for its experiment. Release it with report_free(). */
void report_begin(struct report *report);

/* End the program if the value is not declared, which is a spelling mistake in the experiment. */
void report_set(struct report *report, const char *table, const char *row, const char *column, double simulated,
                double interval);
double report_get(const struct report *report, const char *table, const char *row, const char *column);

/* The paper's value, which fits start from; the table by a prefix of its name. Ends the program likewise. */
double report_printed(const struct report *report, const char *table, const char *row, const char *column);

/* Sets the verdict on a claim; `detail` (printf style) gives the deciding numbers. Ends the program likewise. */
void report_claim(struct report *report, const char *id, bool holds, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a point to a curve of a declared figure; the curve's name is copied. */
void report_point(struct report *report, const char *figure, const char *curve, double x, double y);

/*
 * Adds a point that the paper prints, or that follows from printed values alone, to the marks beside a simulated curve.
 * REPORT_NONE as y adds nothing. Values read off a figure do not belong here.
 */
void report_paper_point(struct report *report, const char *figure, const char *curve, double x, double y);

/* A parameter's value; ends the program when it is not declared. */
double report_parameter(const struct report *report, const char *profile, const char *name);

struct report_score {
    unsigned fixing, fixing_good, predicted, predicted_good, claims, claims_good, claims_fitted, unknown;
};

void report_score(const struct report *report, struct report_score *score);

/* Prints tables, claims and parameters. */
void report_print(const struct report *report, FILE *out);

/* Write NAME.csv and NAME-FIGURE.csv, or NAME-FIGURE.svg with gnuplot. Return 0, or -1 after a message on stderr. */
int report_write_csv(const struct report *report, const char *folder);
int report_write_svg(const struct report *report, const char *folder);

void report_free(struct report *report);

#endif
