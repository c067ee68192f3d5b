/*
 * lab.h - the hosts and the network of an experiment: two or more stations of one kind on one network, with processes
 * that communicate through the stack under test.
 */
#ifndef PVMA_LAB_H
#define PVMA_LAB_H

#include "ip/end.h"
#include "lan/ethernet.h"
#include "lan/fddi.h"
#include "lan/fiber.h"
#include "ip/ip_atm.h"
#include "network/network.h"

enum { LAB_HOSTS_MAX = 16, LAB_ENDS_MAX = 128, LAB_PROCESSES_MAX = 64 };

enum lab_network { LAB_ATM, LAB_ETHERNET, LAB_FDDI };

enum lab_stack { LAB_FORE34, LAB_FORE5, LAB_TCP, LAB_RPC, LAB_PVM_DIRECT, LAB_PVM_DAEMON };

struct lab_setup {
    enum lab_network network;
    unsigned hosts;
    struct pvma_host_costs costs; /* of IP and the layers above; the Fore API's are in the topology's profile */
    struct pvma_tcp_settings tcp;
    struct pvma_topology *topology; /* of ATM, with hosts h1, h2, ...; the caller keeps it */
    double frame_loss;              /* of an Ethernet, as a probability */
    uint32_t ip_mtu;                /* over ATM; 0: 9180 */
    uint32_t pvm_fragment_bytes;    /* data in a fragment of PVM's direct route */
    uint32_t daemon_packet_bytes;   /* 0: 4096 */
    uint64_t seed;
};

struct lab {
    struct lab_setup setup;
    struct pvma_sim *sim;
    struct pvma_net *net;
    struct pvma_ip_atm *ip;
    struct pvma_ethernet *ethernet;
    struct pvma_fddi *fddi;
    struct pvma_station stations[LAB_HOSTS_MAX];
    struct pvma_daemon *daemons[LAB_HOSTS_MAX];
    struct pvma_end *ends[LAB_ENDS_MAX];
    unsigned end_count;
    struct pvma_fiber *processes[LAB_PROCESSES_MAX];
    unsigned process_count;
};

/* Builds the network. Ends the program on failure, since the topology is built in. */
void lab_open(struct lab *lab, const struct lab_setup *setup);

/* Releases everything; adds the number of events to *events, and the simulation to lab_digest(). */
void lab_close(struct lab *lab, unsigned long long *events);

/* Connects processes on hosts a and b (from 0). The lab owns the ends. */
void lab_connect(struct lab *lab, enum lab_stack stack, unsigned a, unsigned b, struct pvma_end **end_a,
                 struct pvma_end **end_b);

/* Starts a process now. */
void lab_start(struct lab *lab, pvma_fiber_main *program, void *arg);

/* Computes on a host for that long, in the calling process. */
void lab_compute(struct lab *lab, unsigned host, double us);

/* Runs until a process stops the simulation, at most limit_s. */
void lab_run(struct lab *lab, double limit_s);

double lab_now_us(const struct lab *lab);

#endif
