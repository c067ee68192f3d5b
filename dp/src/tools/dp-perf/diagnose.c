/* diagnose.c - the messages. */
#include "diagnose.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int diagnose_open(const char *interface)
{
    if (errno == EACCES)
        fprintf(stderr, "dp-perf: raw sockets are not allowed: CAP_NET_RAW or the helper dp-socket is needed, "
                        "see dp(7)\n");
    else if (errno == ENODEV)
        fprintf(stderr, "dp-perf: %s is not an Ethernet interface that is up: name one with --interface\n",
                interface ? interface : "there");
    else if (errno == EADDRINUSE)
        fprintf(stderr, "dp-perf: another dp-perf serves on this host already\n");
    else
        fprintf(stderr, "dp-perf: no endpoint can be opened: %s\n", strerror(errno));
    return EXIT_FAILURE;
}

int diagnose_exercise(const char *carrier, uint16_t nid, int patience_s)
{
    if (errno == ETIMEDOUT)
        fprintf(
            stderr,
            "dp-perf: over %s nothing has arrived from node %u for %d s: it is gone, or messages were lost, which only "
            "reliable, go-back-n and tcp repair\n",
            carrier, nid, patience_s);
    else if (errno == EHOSTDOWN)
        fprintf(
            stderr,
            "dp-perf: node %u does not answer: is `dp-perf serve' running there? It prints the id of its node, which "
            "DP_NID sets there\n",
            nid);
    else if (errno == ECONNRESET)
        fprintf(stderr, "dp-perf: over %s node %u has closed its end\n", carrier, nid);
    else if (errno == EADDRNOTAVAIL)
        fprintf(stderr, "dp-perf: over %s: the interfaces need IPv4 addresses\n", carrier);
    else
        fprintf(stderr, "dp-perf: over %s with node %u: %s\n", carrier, nid, strerror(errno));
    return EXIT_FAILURE;
}
