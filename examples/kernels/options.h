/*
 * options.h - the command line of a kernel: problem class, number of tasks, what to print.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

/* What differs between kernels. */
struct kernel {
    const char *purpose;                         /* one line for --help */
    const char *classes;                         /* letters, the default first, as "SWA" */
    const char *class_help;                      /* their sizes, for --help */
    bool (*tasks_allowed)(int tasks);            /* NULL: any number */
    const char *tasks_help;                      /* such as "a power of two" */
    int (*default_tasks)(char class);            /* NULL: 4 */
    bool (*class_allows)(char class, int tasks); /* NULL: all numbers above, in each class */
};

struct options {
    char class;
    int tasks;
    bool verify;  /* print whether the result is right; if it is wrong the exit status is 1 */
    bool stats;   /* call team_report() */
    long pace_us; /* the team waits so long before each call that communicates, as if it computed */
};

/* Parses the arguments. Prints an error and exits if they are wrong, and for --help. */
struct options options_parse(int argc, char **argv, const struct kernel *kernel);

/* Powers of two, for kernel.tasks_allowed. */
bool options_power_of_two(int tasks);

#endif
