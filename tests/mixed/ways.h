/*
 * ways.h - the ways in which values get from one task to another: each has its column in the table. A row is a type, or
 * one of the two below.
 */
#ifndef WAYS_H
#define WAYS_H

#include "values.h"

enum { ROW_STRING = TYPES, ROW_OVERFLOW, ROWS };

enum way {
    WAY_DEFAULT,
    WAY_RAW,
    WAY_INPLACE,
    WAY_STRIDED, /* packed with one stride and unpacked with another */
    WAY_LARGE,   /* a message of several frames */
    WAY_PSEND,   /* pvm_psend() and pvm_precv() */
    WAY_PSEND_LARGE,
    WAY_PACKF,
    WAY_FORWARD, /* pvm_pkmesg() by a task in between, if possible of a third architecture */
    WAY_MAILBOX,
    WAY_MCAST,
    WAYS
};

extern const char *const way_names[WAYS];
extern const char *row_name(int row);

/* Whether the combination exists: strings, for example, are not sent in place. */
int way_has(enum way way, int row);

/* Message tag of a case, from 1000 on. */
int way_tag(enum way way, int row);

/*
 * Sends a row to each of n receivers. `via` gives the forwarder for each of them (WAY_FORWARD). 0, or the error code.
 */
int way_send(enum way way, int row, int n, const int *receivers, const int *via);

/* Forwards a message that `from` has sent by WAY_FORWARD. */
int way_forward(int row, int from, int to);

/*
 * Receives a row from `from`, which arrived by `via`. The sender's long has `long_bytes` bytes. NULL, or the fault in
 * static storage.
 */
const char *way_receive(enum way way, int row, int from, int via, int long_bytes);

#endif
