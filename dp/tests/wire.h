/*
 * wire.h - a pair of Ethernet interfaces v0 and v1 in a network namespace of the test's own, which ends with the test.
 * The nodes at its ends are 1 and 2, by the hardware addresses 02:00:00:00:00:01 and 02.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>

enum { WIRE_NODE_0 = 1, WIRE_NODE_1 = 2 };

/* Creates the pair, for this process and the processes that it starts afterwards. */
void wire_make(int mtu);

/* The same with tests/lab/cable and these settings between them; it ends with the test. */
void wire_make_bad(int mtu, const char *settings);

/* Runs a shell command that must succeed. */
void wire_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether a descriptor is readable within a time. */
bool wire_readable(int fd, int timeout_ms);

/* Opens two endpoints, on v0 and v1, that have each other as target. */
void wire_pair(int mtu, int mode, int *a, int *b);

/* The exit code if this test cannot run here, after printing the reason; 0: it can. */
int wire_missing(void);

#endif
