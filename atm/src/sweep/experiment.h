/*
 * experiment.h - an experiment as a text (atm-experiment(5)): a network, what runs on it, what varies, what is measured
 * and drawn. Reads it, with line numbers in messages; the meaning of each workload is in workload.h.
 */
#ifndef SWEEP_EXPERIMENT_H
#define SWEEP_EXPERIMENT_H

#include "base/sim.h"

enum {
    SWEEP_NAME_MAX = 63,
    SWEEP_VARIABLES_MAX = 32,
    SWEEP_VALUES_MAX = 1024, /* of a variable */
    SWEEP_COLUMNS_MAX = 64,
    SWEEP_PLOTS_MAX = 32,
    SWEEP_SKIPS_MAX = 64,
    SWEEP_EXCEPTIONS_MAX = 16,
    SWEEP_CONDITIONS_MAX = 8, /* on a line */
    SWEEP_POINTS_MAX = 100000,
    SWEEP_REPLICATIONS_MAX = 1000,
    SWEEP_RUNS_MAX = 1000000, /* points, with the most replications of any */
    SWEEP_TEXT_MAX = 65536,   /* a text after substitution */
};

#define SWEEP_BYTES_MAX ((size_t)1 << 20)

/* A variable of `set` (one value) or `vary`. Those of one line have as many values, and change together. */
struct sweep_variable {
    char name[SWEEP_NAME_MAX + 1];
    unsigned line;
    bool varies;
    size_t leader; /* the first variable of its line; itself if it is alone */
    char **values;
    size_t count;
};

/* What is measured: a column of results. Of a program: the number in the first group of a regular expression. */
struct sweep_column {
    char name[SWEEP_NAME_MAX + 1];
    unsigned line;
    char *pattern; /* NULL: not of a program */
};

/* Some points: those where all of these hold. */
struct sweep_condition {
    struct {
        int variable;
        char sign; /* '=': this value; '!': another; '<', '>': a number below, above it */
        char *value;
    } parts[SWEEP_CONDITIONS_MAX];
    size_t count;
};

struct sweep_plot {
    char name[SWEEP_NAME_MAX + 1];
    unsigned line;
    char *title;
    int x, series; /* variables; series -1: none */
    int y;         /* column */
    bool log_x, log_y;
    struct sweep_condition only; /* points that it draws */
};

/* Points with another number of replications. */
struct sweep_exception {
    struct sweep_condition condition;
    uint32_t replications;
};

/* A text with the line on which it stands; NULL: it is not there. */
struct sweep_text {
    char *text;
    unsigned line;
};

enum sweep_workload { SWEEP_NOTHING, SWEEP_LOAD, SWEEP_PROGRAM, SWEEP_MODEL };

enum sweep_warmup { SWEEP_WARMUP_NONE, SWEEP_WARMUP_TIME, SWEEP_WARMUP_MSER5 };

struct sweep_experiment {
    char *path; /* as given */
    char *name; /* of the file, without folder and ending */
    struct sweep_text title;
    struct sweep_text file;  /* of the topology */
    struct sweep_text block; /* the topology itself, behind so many line ends that its lines have their numbers */
    enum sweep_workload workload;
    struct sweep_text work; /* the workload's line without its first word */
    struct sweep_text time, warmup_time;
    enum sweep_warmup warmup;
    struct sweep_text limit; /* real time of a run */
    struct sweep_variable variables[SWEEP_VARIABLES_MAX];
    size_t variable_count;
    struct sweep_column columns[SWEEP_COLUMNS_MAX];
    size_t column_count;
    struct sweep_plot plots[SWEEP_PLOTS_MAX];
    size_t plot_count;
    struct sweep_condition skips[SWEEP_SKIPS_MAX];
    size_t skip_count;
    struct sweep_exception exceptions[SWEEP_EXCEPTIONS_MAX];
    size_t exception_count;
    uint32_t replications; /* of points without an exception */
    uint32_t seed, confidence;
    bool median; /* of the runs at a point, instead of the mean */
};

/*
 * Reads an experiment. `path` begins each message: "PATH:LINE: what is wrong; what to do". Returns 0, PVMC_EFORMAT
 * (logged, with up to ten messages; *e is empty then) or PVMC_ELIMIT (too long).
 */
int sweep_experiment_parse(const char *path, const char *text, size_t length, struct sweep_experiment *e);

/* Reads a file; "-" is standard input. Errors as above, and PVMC_ESYSTEM (logged). */
int sweep_experiment_load(const char *path, struct sweep_experiment *e);

void sweep_experiment_free(struct sweep_experiment *e);

/* Number of a variable or column; -1 when there is none. */
int sweep_experiment_variable(const struct sweep_experiment *e, const char *name, size_t length);
int sweep_experiment_column(const struct sweep_experiment *e, const char *name);

#endif
