/* station.c - stations of the overlay: their processors, and what the server and the hop tell them. */
#include "station.h"

enum {
    WORK_MAX = 4096,        /* messages that wait for the processor, of either direction */
    CONNECTIONS_MAX = 4096, /* of a station */
};

/* ---- the processor ---- */

static void act(struct pvma_overlay_station *station, struct pvma_overlay_message *m)
{
    switch (m->type) {
    case PVMA_OVERLAY_ADDRESS:
        pvma_overlay_take_address(station, m);
        break;
    case PVMA_OVERLAY_SETUP:
        pvma_overlay_take_setup(station, m);
        break;
    case PVMA_OVERLAY_CONNECT:
        pvma_overlay_take_connect(station, m);
        break;
    case PVMA_OVERLAY_RELEASE:
    case PVMA_OVERLAY_RELEASED:
        pvma_overlay_take_release(station, m);
        break;
    case PVMA_OVERLAY_RESOLVE:
        pvma_overlay_counters_of(station)->refused++;
        break;
    case PVMA_OVERLAY_DATA:
    case PVMA_OVERLAY_ACK:
        break;
    }
}

static unsigned *waiting(struct pvma_overlay_station *station, bool is_out)
{
    return is_out ? &station->work_out : &station->work_in;
}

static void done(struct pvma_job *job)
{
    struct pvma_work *work = PVMA_OF(job, struct pvma_work, job);
    struct pvma_overlay_station *station = work->owner;
    bool is_stale = work->m.epoch != station->end->hop->epoch;
    --*waiting(station, work->is_out);
    pvma_sim_note(station->overlay->sim, (uint64_t)work->m.type << 40 ^ work->m.mid);
    if (!is_stale && work->is_out)
        pvma_hop_signal(station->end, &work->m);
    else if (!is_stale)
        act(station, &work->m);
    pvma_work_free(&station->work, work);
}

static void spend(struct pvma_overlay_station *station, const struct pvma_overlay_message *m, bool is_out)
{
    struct pvma_work *work = pvma_work_new(&station->work, station, station->end, m, NULL, 0);
    work->m.epoch = station->end->hop->epoch;
    work->is_out = is_out;
    work->job.done = done;
    ++*waiting(station, is_out);
    pvma_stage_put(pvma_host_processor(station->host), &work->job,
                   pvma_host_profile(station->host)->cost[PVMA_COST_signal]);
}

void pvma_overlay_station_send(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    spend(station, m, true);
}

bool pvma_overlay_station_has_room(const struct pvma_overlay_station *station)
{
    return station->connection_count <= CONNECTIONS_MAX && station->work_out < WORK_MAX &&
           !pvma_hop_is_congested(station->end);
}

static bool take_signal(void *arg, struct pvma_hop_end *hop_end, const struct pvma_overlay_message *m)
{
    struct pvma_overlay_station *station = arg;
    (void)hop_end;
    if (station->work_in >= WORK_MAX)
        return false; /* it comes again */
    spend(station, m, false);
    return true;
}

static void lose(void *arg, struct pvma_hop_end *hop_end)
{
    (void)hop_end;
    pvma_overlay_connections_end(arg);
}

const struct pvma_hop_user pvma_overlay_station_user = {.signal = take_signal,
                                                        .packet = pvma_overlay_packet_came,
                                                        .taken = pvma_overlay_packet_taken,
                                                        .sent = pvma_overlay_packet_sent,
                                                        .dropped = pvma_overlay_packet_dropped,
                                                        .room = pvma_overlay_room,
                                                        .lost = lose};

/* ---- life ---- */

size_t pvma_overlay_station_in_use(const struct pvma_overlay_station *station)
{
    return station->connection_count + station->end->mids.used + station->work_in + station->work_out;
}

void pvma_overlay_station_close(struct pvma_overlay_station *station)
{
    pvma_overlay_connections_free(station);
    pvma_overlay_flights_free(station);
    while (station->work)
        pvma_work_free(&station->work, station->work);
}
