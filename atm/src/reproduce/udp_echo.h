/* udp_echo.h - echo over UDP sockets between two hosts of a lab, in which others may be busy. */
#ifndef PVMA_UDP_ECHO_H
#define PVMA_UDP_ECHO_H

#include "ip/udp.h"
#include "lab/lab.h"
#include "stats.h"

struct udp_echo {
    struct lab lab;
    struct pvma_udp client, server;
    unsigned client_host, server_host; /* from 0 */
    uint32_t bytes;
    unsigned rounds;
    double begin_us, pause_us; /* before the first round; after each round */
    struct stats trips;        /* round trips, us */
};

/* Opens the lab. The caller has set hosts, bytes, rounds and times, and may start more processes in it. */
void udp_echo_open(struct udp_echo *echo, const struct lab_setup *setup);

/* Runs until all rounds are over, at most limit_s. */
void udp_echo_run(struct udp_echo *echo, double limit_s);

/* Closes the sockets and the lab; adds to *events. */
void udp_echo_close(struct udp_echo *echo, unsigned long long *events);

#endif
