/* flight.c - packets of a station's relayed connections: those that leave, and those that have come. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "station.h"

enum { EARLY_MAX = 64 }; /* packets that arrive before the connection is there */

struct pvma_early {
    struct pvma_early *prev, *next;
    size_t length;
    uint8_t data[];
};

struct pvma_flight {
    struct pvma_overlay_station *station;
    struct pvma_connection *connection; /* NULL: it has ended */
    uint64_t cookie;                    /* of the program */
    bool is_taken, is_sent;
    struct pvma_flight *prev, *next;
};

/* ---- those that leave ---- */

int pvma_overlay_carry_packet(void *connection, const void *data, size_t length, uint64_t cookie)
{
    struct pvma_connection *c = connection;
    if (c->state != CONNECTED)
        return PVMC_EDOWN;
    struct pvma_flight *flight = pvma_new(sizeof *flight);
    *flight = (struct pvma_flight){.station = c->station, .connection = c, .cookie = cookie};
    int rc = pvma_hop_send(c->station->end, c->mid, data, length, (uint64_t)(uintptr_t)flight);
    if (rc) {
        c->wants_room = rc == PVMC_EAGAIN;
        free(flight);
        return rc;
    }
    DL_APPEND(c->station->flights, flight);
    pvma_vc_count_queued(c->vc, 1);
    return 0;
}

/* Frees a flight of which nothing more will be heard. */
static void land(struct pvma_flight *flight)
{
    DL_DELETE(flight->station->flights, flight);
    free(flight);
}

static struct pvma_flight *flight_of(uint64_t cookie)
{
    return (struct pvma_flight *)(uintptr_t)cookie;
}

/* Both follow, in either order: the processor has taken the packet, and it has left the queue. */
static void move_on(struct pvma_flight *flight, bool is_sent)
{
    struct pvma_connection *c = flight->connection;
    uint64_t cookie = flight->cookie;
    flight->is_sent |= is_sent;
    flight->is_taken |= !is_sent;
    if (flight->is_sent && flight->is_taken)
        land(flight);
    if (!c)
        return;
    void *user;
    const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
    void (*tell)(void *arg, struct pvma_vc *vc, uint64_t cookie) = is_sent ? handler->sent : handler->taken;
    if (is_sent)
        pvma_vc_count_queued(c->vc, -1);
    if (tell)
        tell(user, c->vc, cookie);
}

void pvma_overlay_packet_taken(void *station, uint64_t cookie)
{
    (void)station;
    move_on(flight_of(cookie), false);
}

void pvma_overlay_packet_sent(void *station, uint64_t cookie)
{
    (void)station;
    move_on(flight_of(cookie), true);
}

void pvma_overlay_packet_dropped(void *station, uint64_t cookie, enum pvma_drop why)
{
    struct pvma_flight *flight = flight_of(cookie);
    struct pvma_connection *c = flight->connection;
    uint64_t own = flight->cookie;
    (void)station;
    land(flight);
    if (!c)
        return;
    void *user;
    const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
    pvma_vc_count_queued(c->vc, -1);
    if (handler->dropped)
        handler->dropped(user, c->vc, own, why);
}

/* A handler may release any connection, or want room again, so those to be told are marked first. */
void pvma_overlay_room(void *arg, struct pvma_hop_end *end)
{
    struct pvma_overlay_station *station = arg;
    struct pvma_connection *c, *next;
    (void)end;
    DL_FOREACH (station->connections, c) {
        c->is_marked = c->wants_room;
        c->wants_room = false;
    }
    for (c = station->connections; c; c = next) {
        next = c->next;
        if (!c->is_marked)
            continue;
        c->is_marked = false;
        void *user;
        const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
        if (handler->room)
            handler->room(user, c->vc);
        next = station->connections;
    }
}

/* ---- those that have come ---- */

static struct pvma_early *take_early(struct pvma_connection *c)
{
    struct pvma_early *packet = c->early;
    DL_DELETE(c->early, packet);
    c->early_count--;
    return packet;
}

static void deliver(struct pvma_connection *c, const uint8_t *data, size_t length)
{
    void *user;
    const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
    if (handler->received)
        handler->received(user, c->vc, data, length);
    else
        pvma_host_counters(c->station->host)->reader_drops++;
}

static void hold(struct pvma_connection *c, const uint8_t *data, size_t length)
{
    if (c->early_count >= EARLY_MAX) {
        pvma_overlay_counters_of(c->station)->lost++;
        return;
    }
    struct pvma_early *packet = pvma_new(sizeof *packet + length);
    packet->length = length;
    if (length)
        memcpy(packet->data, data, length);
    DL_APPEND(c->early, packet);
    c->early_count++;
}

void pvma_overlay_packet_came(void *arg, struct pvma_hop_end *end, uint16_t mid, const uint8_t *data, size_t length)
{
    struct pvma_overlay_station *station = arg;
    struct pvma_connection *c = pvma_hop_mid(end, mid);
    if (!c || c->state == OFFERED)
        pvma_overlay_counters_of(station)->late++;
    else if (c->state == SETTING_UP) /* its CONNECT is still at the processor */
        hold(c, data, length);
    else
        deliver(c, data, length);
}

void pvma_overlay_release_early(struct pvma_overlay_station *station, uint16_t mid)
{
    for (;;) {
        struct pvma_connection *c = pvma_hop_mid(station->end, mid);
        if (!c || !c->early)
            return;
        struct pvma_early *packet = take_early(c);
        deliver(c, packet->data, packet->length);
        free(packet);
    }
}

/* ---- the end ---- */

void pvma_overlay_flights_forget(struct pvma_connection *connection)
{
    struct pvma_flight *flight;
    DL_FOREACH (connection->station->flights, flight)
        if (flight->connection == connection)
            flight->connection = NULL;
    while (connection->early)
        free(take_early(connection));
}

void pvma_overlay_flights_free(struct pvma_overlay_station *station)
{
    while (station->flights)
        land(station->flights);
}
