/* wire.c - see wire.h. */
#include <stdlib.h>
#include <string.h>
#include "wire.h"

struct flight {
    struct wire *wire;
    uint32_t to, length;
    uint8_t packet[];
};

static struct pvma_fiber *processes[8];
static unsigned process_count;

static void land(void *arg)
{
    struct flight *f = arg;

    pvma_station_arrived(&f->wire->stations[f->to - 1], f->packet, f->length);
    free(f);
}

static void put(struct pvma_interface *interface, uint32_t to, const uint8_t *packet, uint32_t length)
{
    uint32_t from = interface->station->number;
    struct wire *wire = PVMA_OF(interface - (from - 1), struct wire, interfaces);
    pvma_ps now = pvma_sim_now(wire->sim), *free_at = &wire->free_at[from - 1];
    struct flight *f;

    wire->packets++;
    *free_at = (*free_at > now ? *free_at : now) + length * wire->byte_time;
    if (wire->loses && wire->loses(wire, packet, length)) {
        wire->lost++;
        return;
    }
    f = pvma_new(sizeof *f + length);
    *f = (struct flight){wire, to, length};
    memcpy(f->packet, packet, length);
    pvma_sim_call(wire->sim, *free_at + wire->delay, land, f);
}

void wire_open(struct wire *wire, uint32_t mtu, const struct pvma_host_costs *costs)
{
    wire->sim = pvma_sim_new(1);
    for (uint32_t i = 0; i < WIRE_STATIONS; i++) {
        wire->interfaces[i] = (struct pvma_interface){.mtu = mtu, .send = put};
        pvma_station_init(&wire->stations[i], wire->sim, i + 1, costs, &wire->interfaces[i]);
    }
}

void wire_close(struct wire *wire)
{
    for (unsigned i = 0; i < process_count; i++)
        pvma_fiber_free(processes[i]);
    process_count = 0;
    for (int i = 0; i < WIRE_STATIONS; i++)
        pvma_station_clear(&wire->stations[i]);
    pvma_sim_free(wire->sim);
}

static void begin(void *arg)
{
    pvma_fiber_resume(arg);
}

void wire_process(struct wire *wire, pvma_fiber_main *program, void *arg)
{
    struct pvma_fiber *f = pvma_fiber_new(program, arg);

    processes[process_count++] = f;
    pvma_sim_call(wire->sim, pvma_sim_now(wire->sim), begin, f);
}

void wire_run(struct wire *wire, pvma_ps limit)
{
    pvma_sim_run_until(wire->sim, pvma_sim_now(wire->sim) + limit);
}
