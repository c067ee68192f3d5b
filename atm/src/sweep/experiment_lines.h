/* experiment_lines.h - inside the parser of experiments: one function for each kind of line. Those for variables are in
 * experiment_variables.c. */
#ifndef SWEEP_EXPERIMENT_LINES_H
#define SWEEP_EXPERIMENT_LINES_H

#include "experiment.h"
#include "topology/topology_reader.h"

/* A file being read. */
struct sweep_reader {
    struct pvma_reader r; /* the words of the line, without its comment */
    struct sweep_experiment *e;
    const char *rest; /* the line after its first word, with everything */
    char *block;      /* the topology in braces, as far as it is read; NULL: outside */
    size_t block_size;
    FILE *block_out;
};

typedef void sweep_read_line(struct sweep_reader *s);

sweep_read_line sweep_read_title, sweep_read_topology, sweep_read_set, sweep_read_vary, sweep_read_skip,
    sweep_read_load, sweep_read_program, sweep_read_model, sweep_read_time, sweep_read_warmup, sweep_read_limit,
    sweep_read_replications, sweep_read_seed, sweep_read_estimate, sweep_read_confidence, sweep_read_measure,
    sweep_read_value, sweep_read_plot;

/* Reads NAME=VALUE, NAME<NUMBER or NAME>NUMBER; complains if it is none of these. */
void sweep_read_part(struct sweep_reader *s, const char *word, struct sweep_condition *condition);

/* Reads the words NAME=VALUE, NAME<NUMBER and NAME>NUMBER from `first` on; complains about what is not there. */
void sweep_read_condition(struct sweep_reader *s, unsigned first, struct sweep_condition *condition);

/* Whether a text may be the name of a variable, or with characters of `more` also of something else; else complains. */
bool sweep_is_name(struct sweep_reader *s, const char *text, const char *more);

/* Whether all variables of a text are declared; else complains. */
bool sweep_check_value(struct sweep_reader *s, const char *value);

#endif
