/*
 * serve.h - the network process, atm-sim serve: programs connect to it, and their packets cross the simulated network.
 *
 *   program A --command--> client.c --call, packet--> the simulated network --> endpoint.c --packet--> program B
 *
 * With the real clock the simulation follows it. Virtual time advances only while every program waits: then the next
 * event runs, in the network or in a program whose time has come. A program that the event wakes computes, while time
 * stands still, until it waits again. A program that is charged only its declared costs is therefore simulated to the
 * last digit.
 */
#ifndef PVMA_SERVE_H
#define PVMA_SERVE_H

#include <stdbool.h>
#include <stdio.h>
#include "capture/capture.h"

struct pvma_serve_options {
    const char *topology; /* file */
    const char *socket;   /* path to listen on */
    bool is_virtual;
    uint64_t seed;
    unsigned wait_for;  /* virtual: clients that must connect before time begins */
    bool once;          /* ends when the last client has left */
    bool report;        /* counters on standard output at the end and on SIGUSR1 */
    bool digest;        /* likewise the digest of all events */
    bool time;          /* virtual: and the time at which the last program that no daemon had started left */
    bool deadlock_ends; /* virtual: ends if all programs wait for longer than PVM_ATM_PATIENCE, and nothing is due */
    struct pvma_capture_options capture;
};

/* Serves until SIGTERM, SIGINT or, if `once`, the last client leaves. Returns the exit code. */
int pvma_serve(const struct pvma_serve_options *options);

/* ---- shared by the parts ---- */

struct pvma_serve {
    struct pvma_net *net;
    struct pvma_sim *sim;
    bool is_virtual;
    int epoll_fd;
    pvma_ps left; /* when the last client that no daemon had announced left */
};

extern struct pvma_serve pvma_serving;

/* Handler of a descriptor in the epoll set; first member of the struct that owns the descriptor. */
struct pvma_watch {
    void (*ready)(struct pvma_watch *watch);
};

/* Adds a descriptor to the set, which close() also removes. Returns 0 or PVMC_ESYSTEM. */
int pvma_serve_watch(int fd, struct pvma_watch *watch);
void pvma_serve_unwatch(int fd);

/* Time as reported to programs: nanoseconds, rounded. */
static inline int64_t pvma_serve_ns(pvma_ps time)
{
    return (time + PVMA_NS / 2) / PVMA_NS;
}

#endif
