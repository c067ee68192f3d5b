/*
 * station.h - inside a station of the overlay: station.c has its processor, connection.c the calls of its programs,
 * flight.c the packets of relayed connections.
 */
#ifndef PVMA_OVERLAY_STATION_H
#define PVMA_OVERLAY_STATION_H

#include "parts.h"

enum pvma_overlay_state {
    ASKING,   /* for the address */
    FAILING,  /* there is no way to the server: ends at once, but not within the caller's call */
    DIALLING, /* the network makes the call */
    SETTING_UP,
    OFFERED, /* to this station */
    CONNECTED,
    ENDED,
};

struct pvma_early; /* a packet that has arrived before the connection is there */

struct pvma_connection {
    struct pvma_overlay_station *station;
    struct pvma_call *call;
    struct pvma_call_request request;
    enum pvma_overlay_state state;
    bool second;     /* of the question, then of the set-up: the other way round a ring */
    uint16_t server; /* of the called station */
    uint16_t mid;    /* 0: none */
    struct pvma_vc *vc;
    bool wants_room, is_marked;
    struct pvma_early *early;
    unsigned early_count;
    struct pvma_event timer;
    struct pvma_connection *prev, *next;
};

static inline struct pvma_overlay_counters *pvma_overlay_counters_of(const struct pvma_overlay_station *station)
{
    return &station->overlay->counters;
}

/* ---- station.c ---- */

/* Sends a message to the server, when the processor has had time for it. */
void pvma_overlay_station_send(struct pvma_overlay_station *station, const struct pvma_overlay_message *m);

/* A program may open and release calls faster than their messages leave. */
bool pvma_overlay_station_has_room(const struct pvma_overlay_station *station);

/* ---- connection.c ---- */

/* Messages of the server, when the processor has had time for them. */
void pvma_overlay_take_address(struct pvma_overlay_station *station, const struct pvma_overlay_message *m);
void pvma_overlay_take_setup(struct pvma_overlay_station *station, const struct pvma_overlay_message *m);
void pvma_overlay_take_connect(struct pvma_overlay_station *station, const struct pvma_overlay_message *m);
void pvma_overlay_take_release(struct pvma_overlay_station *station, const struct pvma_overlay_message *m);

/* The VC to the server has begun anew: all that is not dialled ends. */
void pvma_overlay_connections_end(struct pvma_overlay_station *station);

/* Frees all, and tells nobody. */
void pvma_overlay_connections_free(struct pvma_overlay_station *station);

/* ---- flight.c ---- */

/* Sends a packet of a connection: the function of its VC. */
int pvma_overlay_carry_packet(void *connection, const void *data, size_t length, uint64_t cookie);

/* Delivers what came early; a handler may release the connection. */
void pvma_overlay_release_early(struct pvma_overlay_station *station, uint16_t mid);

/* Forgets a connection that ends. Its packets that are on their way to the adapter go on alone. */
void pvma_overlay_flights_forget(struct pvma_connection *connection);
void pvma_overlay_flights_free(struct pvma_overlay_station *station);

/* Of struct pvma_hop_user. */
void pvma_overlay_packet_came(void *station, struct pvma_hop_end *end, uint16_t mid, const uint8_t *data,
                              size_t length);
void pvma_overlay_packet_taken(void *station, uint64_t cookie);
void pvma_overlay_packet_sent(void *station, uint64_t cookie);
void pvma_overlay_packet_dropped(void *station, uint64_t cookie, enum pvma_drop why);
void pvma_overlay_room(void *station, struct pvma_hop_end *end);

#endif
