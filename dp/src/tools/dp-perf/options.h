/* options.h - the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "tools/dp-perf/carriers/carrier.h"

enum test { TEST_SERVE, TEST_LAT, TEST_UNI, TEST_BIDIR, TEST_MODEL, TESTS };
enum form { FORM_TABLE, FORM_JSON, FORM_LINES };

enum { SIZES_MAX = 32, TRANSFER_BYTES = 10000000 };

struct options {
    enum test test;
    uint16_t nid; /* of the server */
    const char *interface;
    int over[CARRIERS]; /* indices into carriers */
    int over_count;
    uint32_t sizes[SIZES_MAX]; /* bytes of a message; none: the test's default */
    int size_count;
    uint32_t turns;
    uint32_t bytes; /* of a transfer */
    bool spin;
    int cpu; /* -1: any; -2: choose one */
    int patience_s, idle_s;
    enum form form;
    const char *plot;
};

extern const char *const test_names[TESTS];

/* Parses the command line; ends the program when it is wrong. */
void options_read(int argc, char **argv, struct options *o);

#endif
