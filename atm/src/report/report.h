/*
 * report.h - the result of an experiment: printed beside simulated values, and the paper's claims with verdicts. The
 * paper's side is declared in one file per paper (paper_*.c). An experiment fills in the other side by name, and cannot
 * add anything that is not declared.
 */
#ifndef PVMA_REPORT_H
#define PVMA_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a printed value is used. */
enum report_use {
    REPORT_FIXES,    /* parameters were fitted to it: within 10 % */
    REPORT_PREDICTS, /* nothing was fitted to it: within 20 % */
    REPORT_BOUND,    /* follows from the model's arithmetic: within 0.1 %; counted apart */
};

/* What gave a simulated value. */
enum report_by {
    REPORT_MODEL,   /* the experiment's model of the paper's program */
    REPORT_PROGRAM, /* a real PVM program in virtual time */
};

/* Stands for "-" in the paper. */
#define REPORT_NONE (-1.0)

struct report_value {
    const char *table, *row, *column, *unit;
    double paper;
    enum report_use use;
    const char *why; /* known reason for a miss; NULL: none known */
};

/* A printed value that a real program gives, too: its row follows the model's. */
struct report_program {
    const char *table, *row, *column; /* of the printed value */
    enum report_use use;
    const char *why; /* known reason for a miss; NULL: none known */
};

/* A line of the result: a printed value, and what one of the two gives for it. */
struct report_row {
    const struct report_value *value;
    enum report_by by;
    enum report_use use;
    const char *why;
    double simulated, interval; /* half width of the 90 % confidence interval; 0: one run, nothing random */
    double computing;           /* the part of `simulated` that no network adds, which is not scored */
    double printed;             /* what is scored: the paper's value, or what it is beyond computing */
    double null;                /* `simulated` by the null model: without a network */
    bool known, beyond, has_null;
};

enum { REPORT_RANGES_MAX = 6 };

/* The numbers that a claim's own text gives for one of ours. */
struct report_range {
    double low, high; /* both belong to it */
};

/*
 * A claim holds if the experiment says so and each of its numbers is in its range. What follows from fitted, chosen or
 * computed figures is called that instead of "holds", and is not counted.
 */
struct report_claim {
    const char *id, *text;
    const char *why;      /* known reason for not holding; NULL: none */
    const char *fitted;   /* which fitted values it compares */
    const char *chosen;   /* which chosen constants it follows from */
    const char *computed; /* which arithmetic it follows from */
    struct report_range ranges[REPORT_RANGES_MAX];
    unsigned range_count;
};

struct report_verdict {
    bool known, holds;
    bool null_known, null_holds; /* without a network */
    char detail[200];
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
    const struct report_program *programs; /* optional; set it beside REPORT() */
    size_t program_count;
    bool with_programs; /* real programs run, too, for rows or claims */
    bool only_programs; /* no model runs: all values are those of programs, and there are no claims */
    /* filled in: */
    struct report_row *rows; /* of the values in their order; a program's follows the model's */
    size_t row_count;
    struct report_verdict *verdicts; /* on the claims */
    struct report_verdict *program_verdicts;
    enum report_by by; /* what judges claims now: REPORT_MODEL, or programs, which judge some of them, too */
    struct report_curve *curves;
    size_t curve_count;
    unsigned long long events; /* of all simulations */
    uint64_t digest;           /* over the kind and time of each event of all simulations */
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

/* The same for a real program's result; the value is declared among `programs`. */
void report_set_program(struct report *report, const char *table, const char *row, const char *column, double simulated,
                        double interval);

/* What programs have given up to now is the null model's: leaves their rows without values, claims without verdicts. */
void report_null_programs(struct report *report);

/*
 * Scores what the network adds, in the rows of the model and of the program: `printed` is the paper's value for that,
 * and `computing` is taken off the simulated value.
 */
void report_beyond(struct report *report, const char *table, const char *row, const char *column, double printed,
                   double computing);

/* Sets what the null model gives for a value, in the value's unit. */
void report_null(struct report *report, const char *table, const char *row, const char *column, double null);

/* The paper's value, which fits start from; the table by a prefix of its name. Ends the program likewise. */
double report_printed(const struct report *report, const char *table, const char *row, const char *column);

/*
 * Sets the verdict on a claim without ranges; `detail` (printf style) gives the deciding numbers. Ends the program
 * likewise, also if the claim has ranges.
 */
void report_claim(struct report *report, const char *id, bool holds, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a claim with ranges: `numbers` has one for each, in their order; `holds` is what else must be so. */
void report_claim_numbers(struct report *report, const char *id, bool holds, const double *numbers, const char *detail,
                          ...) __attribute__((format(printf, 5, 6)));

/* Adds a point to a curve of a declared figure; the curve's name is copied. */
void report_point(struct report *report, const char *figure, const char *curve, double x, double y);

/*
 * Adds a point that the paper prints, or that follows from printed values alone, to the marks beside a simulated curve.
 * REPORT_NONE as y adds nothing. Values read off a figure do not belong here.
 */
void report_paper_point(struct report *report, const char *figure, const char *curve, double x, double y);

/* Whether a figure has a curve, and so is drawn. */
bool report_has_curve(const struct report *report, const char *figure);

/* A parameter's value; ends the program when it is not declared. */
double report_parameter(const struct report *report, const char *profile, const char *name);

void report_free(struct report *report);

#endif
