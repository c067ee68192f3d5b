/*
 * serve.h - the network process, atm-sim serve: programs connect to it, and their packets cross the simulated network.
 *
 *   program A --command--> client.c --call, packet--> ../call.h, ../host.h --> endpoint.c --packet--> program B
 *
 * With the real clock the simulation follows it. In virtual time it goes on only while every program waits: then the
 * next thing happens, be it in the network or that some program's time has come, and who is woken by it computes, while
 * time stands still, until it waits again. So a program that costs what it declares is simulated to the last digit.
 */
#ifndef PVMA_SERVE_H
#define PVMA_SERVE_H

#include <stdbool.h>
#include <stdio.h>
#include "../network.h"

struct pvma_serve_options {
    const char *topology; /* file */
    const char *socket;   /* path to listen on */
    bool is_virtual;
    uint64_t seed;
    unsigned wait_for; /* virtual: clients that must have come before time begins */
    bool once;         /* ends when the last client has gone */
    bool report;       /* counters on standard output at the end */
};

/* The process: serves until SIGTERM, SIGINT or, if `once`, the last client goes. Returns its exit code. */
int pvma_serve(const struct pvma_serve_options *options);

/* ---- what the parts share ---- */

struct pvma_serve {
    struct pvma_net *net;
    struct pvma_sim *sim;
    bool is_virtual;
    int epoll_fd;
};

extern struct pvma_serve pvma_serving;

/* Something in the epoll set: what to do when its descriptor is ready. First member of what it belongs to. */
struct pvma_watch {
    void (*ready)(struct pvma_watch *watch);
};

/* 0 or PVMI_ESYSTEM. A descriptor also leaves the set when it is closed. */
int pvma_serve_watch(int fd, struct pvma_watch *watch);
void pvma_serve_unwatch(int fd);

/* Whole nanoseconds, rounded, as programs are told them. */
static inline int64_t pvma_serve_ns(pvma_ps time)
{
    return (time + PVMA_NS / 2) / PVMA_NS;
}

#endif
