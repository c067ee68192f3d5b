/*
 * sides.h - used by the tests of connections on a simulated network: two sides, a and b, which write a pattern, and
 * check that what they read is the pattern of the other side.
 */
#ifndef SIDES_H
#define SIDES_H

#include "../lab.h"
#include "atm/src/assured/connection.h"

struct side {
    struct pvma_connection *connection;
    size_t write, written; /* octets to write, and those taken */
    size_t got;
    size_t echo; /* octets that are answered with as many; 0: none */
    bool deaf;   /* reads nothing */
    pvma_ps last;
    unsigned item;
    enum pvma_cause lost;
};

static struct lab lab;
static struct side a, b;

static inline uint8_t pattern(size_t at)
{
    return (uint8_t)(at * 7 + at / 251);
}

static inline void write_more(struct side *side)
{
    uint8_t data[4800]; /* whole cells of items of 4 and 8 octets */
    for (size_t taken = 1; taken && side->written < side->write;) {
        size_t part = side->write - side->written < sizeof data ? side->write - side->written : sizeof data;
        struct pvma_place place = {.tag = 1, .item_bytes = side->item};
        for (size_t i = 0; i < part; i++)
            data[i] = pattern(side->written + i);
        taken = pvma_connection_write(side->connection, data, part, &place);
        side->written += taken;
    }
}

static inline void read_all(struct side *side)
{
    uint8_t data[1000];
    for (size_t bytes; (bytes = pvma_connection_read(side->connection, data, sizeof data)) > 0;)
        for (size_t i = 0; i < bytes; i++, side->got++)
            if (data[i] != pattern(side->got))
                ck_abort_msg("octet %zu", side->got);
    side->last = pvma_sim_now(lab.sim);
}

static inline void side_readable(void *arg)
{
    struct side *side = arg;
    if (side->deaf)
        return;
    read_all(side);
    if (side->echo && side->got == side->echo) {
        side->write = side->echo;
        write_more(side);
    }
}

static inline void side_writable(void *arg)
{
    write_more(arg);
}

static inline void side_lost(void *arg, enum pvma_cause cause)
{
    ((struct side *)arg)->lost = cause;
}

static const struct pvma_connection_events side_events = {
    .readable = side_readable, .writable = side_writable, .lost = side_lost};

/* `called`: the far ends of the network's PVCs. The first is for data; with ECE, three are used. */
static inline void open_side(struct side *side, bool called, const struct pvma_connection_settings *settings)
{
    bool is_ece = settings->protocol >= PVMA_ECE_SWITCHING;
    struct pvma_connection_vcs vcs = {pvma_net_pvc_end(lab.net, 0, called),
                                      is_ece ? pvma_net_pvc_end(lab.net, 1, called) : NULL,
                                      is_ece ? pvma_net_pvc_end(lab.net, 2, called) : NULL};
    *side = (struct side){.item = 8};
    side->connection = pvma_connection_new(&vcs, settings, &side_events, side);
}

/* The network's PVCs must have the protocol's layer. */
static inline void open_both(const char *text, const struct pvma_connection_settings *settings)
{
    lab_open(&lab, text, 1);
    open_side(&a, false, settings);
    open_side(&b, true, settings);
}

static inline void close_both(void)
{
    pvma_connection_free(a.connection);
    pvma_connection_free(b.connection);
    lab_close(&lab);
}

#endif
