/* options.h - the command line of pvm-perf. */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include <stdbool.h>
#include "test.h"

enum { LIST_MAX = 256, TRANSPORTS_MAX = 16 };

struct int_list {
    int count;
    int values[LIST_MAX];
};

struct options {
    int test; /* index into tests[] */
    struct int_list bytes, tasks, queued, encodings;
    int transport_count;              /* 0: the environment chooses */
    char *transports[TRANSPORTS_MAX]; /* values of PVM_TRANSPORT */
    int host_count;                   /* 0: this host */
    char *hosts[HOSTS_MAX];
    int samples, time_us, warmup;
    int verify; /* enum verify */
    bool bind, json;
    const char *svg; /* --svg, or NULL */
};

/*
 * Parses the command line; on an error ends the program with a message and code 2. Texts point into argv, which is
 * modified.
 */
void options_read(int argc, char **argv, struct options *out);

#endif
