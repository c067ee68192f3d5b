/*
 * options.h - the command line of pvm run: one program or several, separated by ":", each with its copies and hosts.
 * Options of mpirun that have a counterpart are taken under mpirun's names, too.
 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include "places.h"

enum run_input { RUN_INPUT_FIRST, RUN_INPUT_ALL, RUN_INPUT_NONE };
enum run_prefix { RUN_PREFIX_NONE, RUN_PREFIX_TID, RUN_PREFIX_TAG };

enum { RUN_COPIES_MAX = 1 << 18 };

/* One program and its copies. */
struct run_program {
    int count;                /* 0: not given, until run_options_count() */
    struct run_places places; /* of --host and --hostfile; none: anywhere */
    const char *folder;       /* NULL: this one, if it exists there */
    const char *wrapper;      /* or NULL */
    char **words;             /* the program and its arguments, and NULL */
};

struct run_options {
    struct run_program *programs;
    int program_count;
    int copies; /* of all programs together */
    enum run_input input;
    enum run_prefix prefix;
    bool keep_going; /* when a task fails */
    int timeout_s;   /* 0: none */
};

/* Reads the command line; argv[0] is "pvm run". Ends the process after a message if it is wrong. */
void run_options_read(struct run_options *o, int argc, char **argv);
/* Gives programs without a number of copies one per slot of their hosts, and adds all up. False: there are too many. */
bool run_options_count(struct run_options *o);

void run_options_free(struct run_options *o);

#endif
