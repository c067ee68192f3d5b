/* udp_echo.h - echo over UDP sockets, between two hosts of a lab where others may be busy. */
#ifndef PVMA_UDP_ECHO_H
#define PVMA_UDP_ECHO_H

#include "../ip/udp.h"
#include "lab.h"
#include "stats.h"

struct udp_echo {
    struct lab lab;
    struct pvma_udp client, server;
    unsigned client_host, server_host; /* from 0 */
    uint32_t bytes;
    unsigned rounds;
    double begin_us, pause_us; /* before the first round; after each */
    struct stats trips;        /* round trips, us */
};

/* Opens the lab; the caller has set hosts, bytes, rounds and times, and may start more there. */
void udp_echo_open(struct udp_echo *echo, const struct lab_setup *setup);

/* Runs until all rounds are over, or that long. */
void udp_echo_run(struct udp_echo *echo, double limit_s);

/* Closes the sockets and the lab; *events grows. */
void udp_echo_close(struct udp_echo *echo, unsigned long long *events);

#endif
