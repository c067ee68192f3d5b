/*
 * fddi.c - see fddi.h. The token circulates in events only while a station has something to send. On an idle ring its
 * position follows from the time.
 */
#include <stdlib.h>
#include <utlist.h>
#include "fddi.h"
#include "frames.h"

enum { OVERHEAD_BYTES = 28 + 8, TOKEN_BYTES = 11 }; /* preamble, frame control, addresses, checksum, status; LLC/SNAP */

struct attachment {
    struct pvma_interface interface;
    struct pvma_fddi *net;
    struct pvma_frames frames;
    unsigned place;       /* on the ring, from 0 */
    pvma_ps token_before; /* when the token last arrived */
};

/* A frame in transit around the ring, which has left its sender. */
struct flight {
    struct flight *prev, *next; /* of the ring's */
    struct pvma_fddi *net;
    struct pvma_frame *frame;
};

struct pvma_fddi {
    struct pvma_sim *sim;
    pvma_ps target, hop, byte_time;
    struct attachment *stations[PVMA_FDDI_STATIONS_MAX];
    struct flight *flights;
    unsigned count, waiting;  /* stations; frames in their queues */
    unsigned holder;          /* index of the station that has the token or gets it next */
    bool moving;              /* the token circulates in events */
    pvma_ps passed, hold_end; /* when it left for the holder; until when the holder may begin another frame */
    struct pvma_event step;   /* the token reaches the holder, or the holder's frame ends */
    struct pvma_fddi_counters counters;
};

static pvma_ps duration_of(const struct pvma_fddi *net, const struct pvma_frame *frame)
{
    return (frame->length + OVERHEAD_BYTES) * net->byte_time;
}

static pvma_ps token_hop(const struct pvma_fddi *net)
{
    return net->hop + TOKEN_BYTES * net->byte_time;
}

static void land(void *arg)
{
    struct flight *flight = arg;
    struct pvma_fddi *net = flight->net;
    struct pvma_frame *frame = flight->frame;

    if (frame->to >= 1 && frame->to <= net->count && net->stations[frame->to - 1]->interface.station)
        pvma_station_arrived(net->stations[frame->to - 1]->interface.station, frame->packet, frame->length);
    DL_DELETE(net->flights, flight);
    free(frame);
    free(flight);
}

static void launch(struct attachment *a, struct pvma_frame *frame, pvma_ps duration)
{
    struct pvma_fddi *net = a->net;
    struct flight *flight = pvma_new(sizeof *flight);
    unsigned hops = (frame->to - 1 + net->count - a->place) % net->count;

    flight->net = net;
    flight->frame = frame;
    DL_APPEND(net->flights, flight);
    net->counters.frames++;
    pvma_sim_call(net->sim, pvma_sim_now(net->sim) + duration + hops * net->hop, land, flight);
}

static void pass_on(struct pvma_fddi *net)
{
    net->holder = (net->holder + 1) % net->count;
    net->passed = pvma_sim_now(net->sim);
    net->hold_end = -1;
    net->moving = net->waiting > 0;
    if (net->moving)
        pvma_sim_after(net->sim, &net->step, token_hop(net));
}

/* The timed token rule: the holding time is the time by which the token is early. */
static void take_token(struct pvma_fddi *net, struct attachment *a)
{
    pvma_ps now = pvma_sim_now(net->sim), rotation = now - a->token_before;

    if (rotation > net->counters.longest_rotation && a->token_before > 0)
        net->counters.longest_rotation = rotation;
    net->counters.rotations += a->place == 0;
    net->hold_end = rotation < net->target ? now + net->target - rotation : now;
    a->token_before = now;
}

static void step(struct pvma_event *event)
{
    struct pvma_fddi *net = PVMA_OF(event, struct pvma_fddi, step);
    struct attachment *a = net->stations[net->holder];
    struct pvma_frame *frame;
    pvma_ps duration;

    if (net->hold_end < 0)
        take_token(net, a);
    if (!a->frames.first || pvma_sim_now(net->sim) >= net->hold_end) {
        pass_on(net);
        return;
    }
    frame = pvma_frames_take(&a->frames);
    net->waiting--;
    duration = duration_of(net, frame);
    launch(a, frame, duration);
    pvma_sim_after(net->sim, &net->step, duration);
}

/* Starts the token where it would be by now on the idle ring; it was early at every station on its last round. */
static void find_token(struct pvma_fddi *net)
{
    pvma_ps hop = token_hop(net), now = pvma_sim_now(net->sim), idle = now - net->passed;
    uint64_t hops = (uint64_t)(idle / hop);

    net->holder = (unsigned)((net->holder + hops) % net->count);
    net->passed += (pvma_ps)hops * hop;
    if (hops > net->count)
        for (unsigned i = 0; i < net->count; i++)
            net->stations[i]->token_before = net->passed - net->count * hop;
    net->moving = true;
    pvma_sim_at(net->sim, &net->step, net->passed + hop);
}

static void put_frame(struct pvma_interface *interface, uint32_t to, const uint8_t *packet, uint32_t length)
{
    struct attachment *a = PVMA_OF(interface, struct attachment, interface);
    struct pvma_fddi *net = a->net;

    if (!pvma_frames_put(&a->frames, PVMA_FDDI_QUEUE, to, packet, length)) {
        net->counters.queue_drops++;
        interface->dropped++;
        return;
    }
    net->waiting++;
    if (!net->moving)
        find_token(net);
}

struct pvma_fddi *pvma_fddi_new(struct pvma_sim *sim, pvma_ps target, pvma_ps hop, unsigned speed)
{
    struct pvma_fddi *net = pvma_new(sizeof *net);

    net->sim = sim;
    net->target = target;
    net->hop = hop / speed;
    net->byte_time = 80 * PVMA_NS / speed;
    net->hold_end = -1;
    pvma_event_init(&net->step, PVMA_EVENT_USER, step);
    return net;
}

void pvma_fddi_free(struct pvma_fddi *net)
{
    struct flight *flight, *next;

    DL_FOREACH_SAFE (net->flights, flight, next) {
        free(flight->frame);
        free(flight);
    }
    for (unsigned i = 0; i < net->count; i++) {
        pvma_frames_clear(&net->stations[i]->frames);
        free(net->stations[i]);
    }
    pvma_sim_cancel(net->sim, &net->step);
    free(net);
}

struct pvma_interface *pvma_fddi_join(struct pvma_fddi *net)
{
    struct attachment *a;

    if (net->count == PVMA_FDDI_STATIONS_MAX)
        return NULL;
    a = pvma_new(sizeof *a);
    a->net = net;
    a->place = net->count;
    a->interface.mtu = PVMA_FDDI_MTU;
    a->interface.send = put_frame;
    pvma_frames_init(&a->frames);
    net->stations[net->count++] = a;
    return &a->interface;
}

const struct pvma_fddi_counters *pvma_fddi_counters(const struct pvma_fddi *net)
{
    return &net->counters;
}
