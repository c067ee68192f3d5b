/*
 * ethernet.c - see ethernet.h. All stations are a cable's length apart: two that begin within the propagation time of
 * each other collide.
 */
#include <stdio.h>
#include <stdlib.h>
#include "ethernet.h"
#include "frames.h"

enum {
    OVERHEAD_BYTES = 8 + 14 + 4, /* preamble, addresses and type, checksum */
    PACKET_MIN = 46,
    ATTEMPTS_MAX = 16,
    BACKOFF_EXPONENT_MAX = 10,
};

struct attachment {
    struct pvma_interface interface;
    struct pvma_ethernet *net;
    struct pvma_frames frames;
    struct pvma_event attempt; /* to send the first frame */
    unsigned attempts;         /* at the first frame so far */
    struct pvma_random random;
};

struct pvma_ethernet {
    struct pvma_sim *sim;
    pvma_ps propagation, byte_time, gap, slot, jam;
    struct attachment *stations[PVMA_ETHERNET_STATIONS_MAX];
    unsigned count;
    struct attachment *sender; /* of the frame on the cable; NULL: silence */
    pvma_ps began;             /* when that frame began */
    pvma_ps silent_from;       /* when the cable will fall or fell silent */
    struct pvma_event end;     /* of the frame on the cable */
    struct pvma_random losses;
    uint64_t loss_odds;
    struct pvma_ethernet_counters counters;
};

static pvma_ps duration_of(const struct pvma_ethernet *net, const struct pvma_frame *frame)
{
    uint32_t bytes = frame->length < PACKET_MIN ? PACKET_MIN : frame->length;

    return (bytes + OVERHEAD_BYTES) * net->byte_time;
}

/* Schedules an attempt `wait` after the cable has been silent for the gap. */
static void try_later(struct attachment *a, pvma_ps wait)
{
    struct pvma_ethernet *net = a->net;
    pvma_ps now = pvma_sim_now(net->sim), at = net->silent_from + net->gap;

    pvma_sim_at(net->sim, &a->attempt, (at > now ? at : now) + wait);
}

static void try_next(struct attachment *a)
{
    a->attempts = 0;
    if (a->frames.first)
        try_later(a, 0);
}

static void give_up(struct attachment *a)
{
    a->net->counters.given_up++;
    a->interface.dropped++;
    free(pvma_frames_take(&a->frames));
    try_next(a);
}

static void back_off(struct attachment *a)
{
    unsigned exponent = ++a->attempts < BACKOFF_EXPONENT_MAX ? a->attempts : BACKOFF_EXPONENT_MAX;

    if (a->attempts >= ATTEMPTS_MAX) {
        give_up(a);
        return;
    }
    try_later(a, (pvma_ps)pvma_random_below(&a->random, 1u << exponent) * a->net->slot);
}

/* Both began before they heard each other: both jam and back off. */
static void collide(struct pvma_ethernet *net, struct attachment *second)
{
    struct attachment *first = net->sender;

    net->counters.collisions++;
    pvma_sim_cancel(net->sim, &net->end);
    net->sender = NULL;
    net->silent_from = pvma_sim_now(net->sim) + net->propagation + net->jam;
    back_off(first);
    back_off(second);
}

static void attempt(struct pvma_event *event)
{
    struct attachment *a = PVMA_OF(event, struct attachment, attempt);
    struct pvma_ethernet *net = a->net;
    pvma_ps now = pvma_sim_now(net->sim);

    if (net->sender && now - net->began < net->propagation) {
        collide(net, a);
        return;
    }
    if (net->sender || now < net->silent_from + net->gap) {
        try_later(a, 0);
        return;
    }
    net->sender = a;
    net->began = now;
    net->silent_from = now + duration_of(net, a->frames.first) + net->propagation;
    pvma_sim_at(net->sim, &net->end, net->silent_from);
}

static void frame_ended(struct pvma_event *event)
{
    struct pvma_ethernet *net = PVMA_OF(event, struct pvma_ethernet, end);
    struct attachment *a = net->sender;
    struct pvma_frame *frame = pvma_frames_take(&a->frames);

    net->sender = NULL;
    net->counters.frames++;
    net->counters.busy += duration_of(net, frame);
    try_next(a);
    if (pvma_random_chance(&net->losses, net->loss_odds))
        net->counters.lost++;
    else if (frame->to >= 1 && frame->to <= net->count && net->stations[frame->to - 1]->interface.station)
        pvma_station_arrived(net->stations[frame->to - 1]->interface.station, frame->packet, frame->length);
    free(frame);
}

static void put_frame(struct pvma_interface *interface, uint32_t to, const uint8_t *packet, uint32_t length)
{
    struct attachment *a = PVMA_OF(interface, struct attachment, interface);

    if (!pvma_frames_put(&a->frames, PVMA_ETHERNET_QUEUE, to, packet, length)) {
        a->net->counters.queue_drops++;
        interface->dropped++;
        return;
    }
    if (a->frames.count == 1)
        try_next(a);
}

struct pvma_ethernet *pvma_ethernet_new(struct pvma_sim *sim, pvma_ps propagation, unsigned speed)
{
    struct pvma_ethernet *net = pvma_new(sizeof *net);

    net->sim = sim;
    net->propagation = propagation / speed;
    net->byte_time = 800 * PVMA_NS / speed;
    net->gap = 9600 * PVMA_NS / speed;
    net->slot = 51200 * PVMA_NS / speed;
    net->jam = 3200 * PVMA_NS / speed;
    net->silent_from = -net->gap;
    pvma_event_init(&net->end, PVMA_EVENT_USER, frame_ended);
    pvma_random_init(&net->losses, pvma_sim_seed(sim), "ethernet losses");
    return net;
}

void pvma_ethernet_lose(struct pvma_ethernet *net, double probability)
{
    net->loss_odds = pvma_random_odds(probability);
}

void pvma_ethernet_free(struct pvma_ethernet *net)
{
    for (unsigned i = 0; i < net->count; i++) {
        pvma_sim_cancel(net->sim, &net->stations[i]->attempt);
        pvma_frames_clear(&net->stations[i]->frames);
        free(net->stations[i]);
    }
    pvma_sim_cancel(net->sim, &net->end);
    free(net);
}

struct pvma_interface *pvma_ethernet_join(struct pvma_ethernet *net)
{
    struct attachment *a;
    char name[32];

    if (net->count == PVMA_ETHERNET_STATIONS_MAX)
        return NULL;
    a = pvma_new(sizeof *a);
    a->net = net;
    a->interface.mtu = PVMA_ETHERNET_MTU;
    a->interface.send = put_frame;
    pvma_frames_init(&a->frames);
    pvma_event_init(&a->attempt, PVMA_EVENT_USER, attempt);
    net->stations[net->count++] = a;
    snprintf(name, sizeof name, "ethernet %u", net->count);
    pvma_random_init(&a->random, pvma_sim_seed(net->sim), name);
    return &a->interface;
}

const struct pvma_ethernet_counters *pvma_ethernet_counters(const struct pvma_ethernet *net)
{
    return &net->counters;
}
