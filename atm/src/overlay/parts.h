/* parts.h - inside the overlay: its structs, and what its parts call of each other. */
#ifndef PVMA_OVERLAY_PARTS_H
#define PVMA_OVERLAY_PARTS_H

#include "hop.h"
#include "overlay.h"

struct pvma_overlay;
struct pvma_relay;      /* a relayed connection in a server */
struct pvma_connection; /* the station's part of a call */
struct pvma_flight;     /* a packet in a station that is not cells yet */

/* Work at a host's processor: a message, or a packet, that has arrived or is to be sent. */
struct pvma_work {
    struct pvma_job job;
    struct pvma_work *prev, *next; /* of its owner */
    void *owner;
    unsigned life; /* of a server when the work began */
    bool is_out;   /* of a station: a message to be sent */
    struct pvma_hop_end *end;
    struct pvma_overlay_message m;
    size_t length; /* of a packet, whose MID is in m */
    uint8_t data[];
};

struct pvma_overlay_server {
    struct pvma_overlay *overlay;
    unsigned number;
    const struct pvma_topo_server *topo;
    struct pvma_host *host;
    bool is_down;
    unsigned life;                    /* counts its ends */
    struct pvma_hop_end **neighbours; /* by the number of the server; NULL: it is none */
    struct pvma_relay *relays;
    struct pvma_work *work;
    unsigned work_messages, work_packets;
    struct pvma_event event; /* its next end or start */
};

struct pvma_overlay_station {
    struct pvma_overlay *overlay;
    struct pvma_host *host;
    struct pvma_overlay_server *server;
    struct pvma_hop_end *end;        /* at the station */
    struct pvma_hop_end *server_end; /* of the same hop */
    struct pvma_connection *connections;
    unsigned connection_count;
    struct pvma_flight *flights;
    struct pvma_work *work;
    unsigned work_in, work_out; /* messages that wait for the processor */
};

struct pvma_overlay {
    struct pvma_net *net;
    struct pvma_sim *sim;
    const struct pvma_topology *topology;
    const struct pvma_topo_overlay *options;
    struct pvma_hop **hops;
    size_t hop_count;
    struct pvma_overlay_server *servers;
    size_t server_count;
    struct pvma_overlay_station *stations; /* by the number of the node; host NULL: it is none */
    size_t node_count;
    struct pvma_overlay_counters counters;
    struct pvma_hop_counters hop_counters;
};

/* ---- overlay.c ---- */

/* The station of an address; NULL: it has none. */
struct pvma_overlay_station *pvma_overlay_station_of(const struct pvma_overlay *overlay, struct pvma_address address);

/* Adds a message to the list of its owner, who handles it later and frees it then; the data are copied. */
struct pvma_work *pvma_work_new(struct pvma_work **list, void *owner, struct pvma_hop_end *end,
                                const struct pvma_overlay_message *m, const uint8_t *data, size_t length);
void pvma_work_free(struct pvma_work **list, struct pvma_work *work);

/* ---- way.c: which neighbour is next ---- */

/* The server next to `at` on the way to `to`, another one; `turned`: against the order of a ring. */
unsigned pvma_overlay_next(const struct pvma_overlay *overlay, unsigned at, unsigned to, bool turned);

/* VCs between servers from one to another; in a ring in the order of servers, or, if `turned`, against it. */
unsigned pvma_overlay_distance(const struct pvma_overlay *overlay, unsigned from, unsigned to, bool turned);

/* ---- server.c ---- */

extern const struct pvma_hop_user pvma_overlay_server_user;

/* Ends or starts the process. */
void pvma_overlay_server_set_down(struct pvma_overlay_server *server, bool is_down);
size_t pvma_overlay_server_in_use(const struct pvma_overlay_server *server);
void pvma_overlay_server_close(struct pvma_overlay_server *server);

/* ---- station.c ---- */

extern const struct pvma_hop_user pvma_overlay_station_user;

size_t pvma_overlay_station_in_use(const struct pvma_overlay_station *station);
void pvma_overlay_station_close(struct pvma_overlay_station *station);

/* ---- connection.c: the calls of a station's programs ---- */

extern const struct pvma_broker pvma_overlay_station_broker;

#endif
