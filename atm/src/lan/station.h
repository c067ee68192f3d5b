/*
 * station.h - a host on an IP network: its processor, one network interface, and the ports that packets are for.
 *
 * What protocols cost is charged to the processor before a packet leaves and before it is looked at. Stations of a
 * network are numbered from 1; an interface gets packets to a station by its number.
 */
#ifndef PVMA_STATION_H
#define PVMA_STATION_H

#include "price.h"
#include "cpu.h"
#include "packet.h"

struct pvma_station;

/* A network's side of a station; the network sets it up and fills in the first part. */
struct pvma_interface {
    uint32_t mtu; /* bytes of an IP packet */
    /* Takes a copy of a packet, or drops it when its queue is full. */
    void (*send)(struct pvma_interface *interface, uint32_t to, const uint8_t *packet, uint32_t length);
    struct pvma_station *station; /* set by pvma_station_init() */
    uint64_t sent, received, dropped;
};

/* Where packets end. Embedded in a socket. */
struct pvma_ip_port {
    struct pvma_ip_port *next;
    uint8_t protocol;
    uint16_t number;
    uint32_t peer; /* station and port that it is connected to; 0: any */
    uint16_t peer_port;
    void (*input)(struct pvma_ip_port *port, struct pvma_packet *packet); /* owns the packet */
};

/* A datagram whose fragments come in; they come in order, since no network here reorders. */
struct pvma_reassembly_ip {
    struct pvma_reassembly_ip *next;
    struct pvma_packet *packet; /* what came so far, with the fields of the first fragment; NULL: nothing */
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
    uint64_t malformed, unclaimed; /* packets that came and were dropped */
};

/* A station `number` with that interface, which stays the network's. */
void pvma_station_init(struct pvma_station *station, struct pvma_sim *sim, uint32_t number,
                       const struct pvma_host_costs *costs, struct pvma_interface *interface);

/* Forgets work and fragments; ports are their sockets'. */
void pvma_station_clear(struct pvma_station *station);

/* Opens a port that has protocol, peer and input set; number 0: any free one. It stays the caller's. */
void pvma_station_open(struct pvma_station *station, struct pvma_ip_port *port, uint16_t number);
void pvma_station_close(struct pvma_station *station, struct pvma_ip_port *port);

/* Sends a packet, which it owns from now on, after `cost` of the protocol and what the driver costs. */
void pvma_station_send(struct pvma_station *station, struct pvma_packet *packet, pvma_ps cost);

/* A network has brought a packet; the bytes stay the network's. */
void pvma_station_arrived(struct pvma_station *station, const uint8_t *bytes, size_t length);

#endif
