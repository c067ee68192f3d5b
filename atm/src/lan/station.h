/*
 * station.h - a host on an IP network: its processor, one network interface, and its ports.
 *
 * Protocol costs are charged to the processor before a packet leaves and before an arriving packet is examined.
 * Stations of a network are numbered from 1; an interface addresses a station by its number.
 */
#ifndef PVMA_STATION_H
#define PVMA_STATION_H

#include "price.h"
#include "cpu.h"
#include "ip/packet.h"

struct pvma_station;

/* The network's side of a station. The network initialises it and the first two fields. */
struct pvma_interface {
    uint32_t mtu; /* bytes of an IP packet */
    /* Takes a copy of a packet, or drops it when its queue is full. */
    void (*send)(struct pvma_interface *interface, uint32_t to, const uint8_t *packet, uint32_t length);
    struct pvma_station *station; /* set by pvma_station_init() */
    uint64_t sent, received, dropped;
};

/* A destination of packets, embedded in a socket. */
struct pvma_ip_port {
    struct pvma_ip_port *next;
    uint8_t protocol;
    uint16_t number;
    uint32_t peer; /* station that it is connected to; 0: any */
    uint16_t peer_port;
    void (*input)(struct pvma_ip_port *port, struct pvma_packet *packet); /* owns the packet */
};

/* Reassembly of a datagram. Fragments arrive in order, since no network here reorders. */
struct pvma_reassembly_ip {
    struct pvma_reassembly_ip *next;
    struct pvma_packet *packet; /* data so far, with the fields of the first fragment; NULL: nothing */
};

struct pvma_station {
    struct pvma_sim *sim;
    uint32_t number;
    struct pvma_cpu cpu;
    struct pvma_host_costs costs;
    struct pvma_interface *interface;
    struct pvma_ip_port *ports;
    struct pvma_reassembly_ip *fragments;
    struct pvma_passage *passages; /* packets that the processor works on */
    uint16_t next_id, next_port;
    uint64_t malformed, unclaimed; /* packets received and discarded */
};

/* Initialises a station on an interface, which the network keeps. */
void pvma_station_init(struct pvma_station *station, struct pvma_sim *sim, uint32_t number,
                       const struct pvma_host_costs *costs, struct pvma_interface *interface);

/* Discards work and fragments; ports belong to their sockets. */
void pvma_station_clear(struct pvma_station *station);

/* Opens a port whose protocol, peer and input are set; number 0: any free one. The caller keeps the port. */
void pvma_station_open(struct pvma_station *station, struct pvma_ip_port *port, uint16_t number);
void pvma_station_close(struct pvma_station *station, struct pvma_ip_port *port);

/* Takes a packet and sends it after `cost` for the protocol and the driver's cost. */
void pvma_station_send(struct pvma_station *station, struct pvma_packet *packet, pvma_ps cost);

/* Called by the network for an arrived packet; copies the bytes. */
void pvma_station_arrived(struct pvma_station *station, const uint8_t *bytes, size_t length);

#endif
