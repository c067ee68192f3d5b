/* wire.h - two or more stations on a network of the test's own, with a delay and losses that the test controls. */
#ifndef WIRE_H
#define WIRE_H

#include "atm/src/lan/fiber.h"
#include "atm/src/lan/station.h"

enum { WIRE_STATIONS = 2 };

struct wire {
    struct pvma_sim *sim;
    pvma_ps delay, byte_time;
    pvma_ps free_at[WIRE_STATIONS]; /* when the wire from a station is free */
    struct pvma_interface interfaces[WIRE_STATIONS];
    struct pvma_station stations[WIRE_STATIONS];
    bool (*loses)(struct wire *wire, const uint8_t *packet, uint32_t length); /* true: loses it; NULL: no losses */
    unsigned packets, lost;
    uint32_t mtu;
};

/* A network of two stations, numbered 1 and 2. */
void wire_open(struct wire *wire, uint32_t mtu, const struct pvma_host_costs *costs);
void wire_close(struct wire *wire);

/* Runs program(arg) as a process from now on. wire_run() frees the process. */
void wire_process(struct wire *wire, pvma_fiber_main *program, void *arg);

/* Runs until no event is left, at most for that long. */
void wire_run(struct wire *wire, pvma_ps limit);

#endif
