/* bottleneck.c - see bottleneck.h. */
#include "bottleneck.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "assured/connection.h"
#include "digest.h"
#include "network/network.h"

enum {
    TASKS = 4,
    NEIGHBOURS = 2,
    PVCS = 4,
    TEXT_MAX = 2048,
    MESSAGE_MAX = 12288,
    ITEM_BYTES = 8,
    OPEN_MAX = 8, /* messages underway between two tasks: those of two rounds */
    WINDOW_BYTES = 64 << 20,
};

/* ---- programs ---- */

/* Computing: the total of Table 2.2 less its communication, divided by the rounds. */
static const struct program {
    unsigned rounds, messages; /* a round's, to each neighbour */
    pvma_ps computing;
} programs[] = {
    [BOTTLENECK_PDE1] = {700, 1, 17857 * PVMA_US},
    [BOTTLENECK_PDE2] = {1008, 1, 24355 * PVMA_US},
    [BOTTLENECK_SOLVER] = {224, 2, 52679 * PVMA_US},
};

unsigned bottleneck_rounds(enum bottleneck_program program)
{
    return programs[program].rounds;
}

pvma_ps bottleneck_computing(enum bottleneck_program program)
{
    return programs[program].computing;
}

static uint32_t length_of(enum bottleneck_program program, unsigned round, unsigned neighbour)
{
    switch (program) {
    case BOTTLENECK_PDE1:
        return 8192;
    case BOTTLENECK_PDE2:
        return round % 5 ? 40 : 424;
    case BOTTLENECK_SOLVER:
        break;
    }
    return neighbour ? 12288 : 6144;
}

struct bottleneck_setup bottleneck_defaults(enum bottleneck_program program, enum bottleneck_protocol protocol)
{
    return (struct bottleneck_setup){.program = program,
                                     .protocol = protocol,
                                     .rounds = programs[program].rounds,
                                     .on_share = 0.84,
                                     .on_mean = 400 * PVMA_US,
                                     .buffer_cells = 200,
                                     .poll_interval = 500 * PVMA_MS,
                                     .computing = programs[program].computing,
                                     .send_cost = 100 * PVMA_US,
                                     .receive_cost = 175 * PVMA_US,
                                     .limit = 60 * PVMA_S,
                                     .rate_bps = 155520000,
                                     .seed = 1};
}

/* ---- the network ---- */

static enum pvma_protocol protocol_of(const struct bottleneck_setup *setup)
{
    static const enum pvma_protocol protocols[] = {PVMA_SSCOP, PVMA_PCAAL_1, PVMA_PCAAL_N};
    return protocols[setup->protocol];
}

/* Tasks 0 and 1 are on one side, 2 and 3 on the other; PVCs are in the order of `pairs`. */
static const unsigned pairs[PVCS][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};

static void write_network(const struct bottleneck_setup *setup, char text[TEXT_MAX])
{
    const char *layer = pvma_protocol_aal(protocol_of(setup)) == PVMA_AAL5 ? "5" : "raw";
    long long rate = (long long)setup->rate_bps;
    int length = snprintf(text, TEXT_MAX,
                          "profile task like=ideal tx_cell=8250ns rx_cell=8250ns tx_bus=850ns rx_bus=850ns "
                          "tx_again=50us rx_fifo=100000\nhost t[0-3] profile=task\n"
                          "switch s latency=500ns buffer=%u\nswitch r latency=500ns buffer=%u\n"
                          "link t[0-1] s rate=%lld\nlink t[2-3] r rate=%lld\nlink s r rate=%lld\n",
                          setup->buffer_cells, setup->buffer_cells, rate, rate, rate);
    for (unsigned i = 0; i < PVCS; i++)
        length +=
            snprintf(text + length, TEXT_MAX - (size_t)length, "pvc t%u t%u aal=%s\n", pairs[i][0], pairs[i][1], layer);
    for (unsigned i = 0; i < 2 && setup->on_mbps > 0; i++)
        length += snprintf(text + length, TEXT_MAX - (size_t)length,
                           "source x%u at=%c type=onoff rate=%.0fk off-rate=10M on=%lldps off=%lldps copy=0.5\n", i,
                           "sr"[i], setup -> on_mbps * 1000, (long long)setup -> on_mean,
                           (long long)((double)setup->on_mean * (1 - setup->on_share) / setup->on_share));
}

/* ---- tasks ---- */

/* A task's connection with one neighbour. */
struct side {
    struct task *task;
    struct pvma_connection *connection;
    struct side *peer;
    unsigned number;          /* in length_of() */
    unsigned sent, came;      /* messages, since the start */
    uint32_t got;             /* octets of the next message */
    pvma_ps called[OPEN_MAX]; /* when the last messages were sent */
};

struct task {
    struct run *run;
    struct side sides[NEIGHBOURS];
    struct pvma_event next;
    unsigned round, sending; /* messages of this round that were sent */
    pvma_ps busy;            /* the processor, until then */
};

struct run {
    const struct bottleneck_setup *setup;
    struct pvma_topology topology;
    struct pvma_net *net;
    struct pvma_sim *sim;
    struct task tasks[TASKS];
    unsigned ended, messages;
    double latency_ps;
};

static unsigned messages_of(const struct run *r)
{
    return programs[r->setup->program].messages;
}

static pvma_ps occupy(struct task *task, pvma_ps cost)
{
    pvma_ps now = pvma_sim_now(task->run->sim);
    task->busy = (task->busy > now ? task->busy : now) + cost;
    return task->busy;
}

/* The window has room for all that two neighbours can be apart. */
static void send_one(struct task *task, struct side *side)
{
    static uint8_t data[MESSAGE_MAX];
    const struct bottleneck_setup *setup = task->run->setup;
    struct pvma_place place = {.tag = side->sent, .item_bytes = ITEM_BYTES};
    uint32_t bytes = length_of(setup->program, task->round, side->number);
    side->called[side->sent++ % OPEN_MAX] = pvma_sim_now(task->run->sim) - setup->send_cost;
    if (pvma_connection_write(side->connection, data, bytes, &place) != bytes)
        abort();
}

static bool has_all(const struct task *task)
{
    unsigned messages = (task->round + 1) * messages_of(task->run);
    return task->sides[0].came >= messages && task->sides[1].came >= messages;
}

/* Begins the next round once this one's messages are sent and have come. */
static void go_on(struct task *task)
{
    struct run *r = task->run;
    if (task->sending < NEIGHBOURS * messages_of(r) || !has_all(task))
        return;
    task->sending = 0;
    if (++task->round < r->setup->rounds)
        pvma_sim_at(r->sim, &task->next, occupy(task, r->setup->computing + r->setup->send_cost));
    else if (++r->ended == TASKS)
        pvma_sim_stop(r->sim);
}

static void send_next(struct pvma_event *event)
{
    struct task *task = PVMA_OF(event, struct task, next);
    struct run *r = task->run;
    send_one(task, &task->sides[task->sending++ % NEIGHBOURS]);
    if (task->sending < NEIGHBOURS * messages_of(r))
        pvma_sim_at(r->sim, &task->next, occupy(task, r->setup->send_cost));
    else
        go_on(task);
}

static void take(struct side *side)
{
    struct run *r = side->task->run;
    pvma_ps called = side->peer->called[side->came++ % OPEN_MAX];
    r->latency_ps += (double)(occupy(side->task, r->setup->receive_cost) - called);
    r->messages++;
    side->got = 0;
}

static void readable(void *arg)
{
    static uint8_t data[MESSAGE_MAX];
    struct side *side = arg;
    struct run *r = side->task->run;
    for (;;) {
        unsigned round = side->came / messages_of(r);
        uint32_t bytes = length_of(r->setup->program, round, side->peer->number);
        size_t more = pvma_connection_read(side->connection, data, bytes - side->got);
        if (!more)
            break;
        side->got += (uint32_t)more;
        if (side->got == bytes)
            take(side);
    }
    go_on(side->task);
}

static const struct pvma_connection_events events = {.readable = readable};

/* ---- a run ---- */

static void connect(struct run *r, unsigned pvc)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(protocol_of(r->setup));
    settings.poll_interval = r->setup->poll_interval;
    settings.patience = r->setup->limit; /* nobody gives up */
    settings.window_bytes = (size_t)WINDOW_BYTES;
    for (unsigned end = 0; end < 2; end++) {
        struct task *task = &r->tasks[pairs[pvc][end]], *other = &r->tasks[pairs[pvc][!end]];
        struct side *side = &task->sides[pvc / 2];
        struct pvma_connection_vcs vcs = {.ordinary = pvma_net_pvc_end(r->net, pvc, end)};
        *side = (struct side){.task = task, .peer = &other->sides[pvc / 2], .number = pvc / 2};
        side->connection = pvma_connection_new(&vcs, &settings, &events, side);
    }
}

static bool open_run(struct run *r, const struct bottleneck_setup *setup)
{
    char text[TEXT_MAX];
    r->setup = setup;
    write_network(setup, text);
    if (pvma_topology_parse("bottleneck", text, strlen(text), &r->topology))
        return false;
    r->net = pvma_net_new(&r->topology, setup->seed);
    r->sim = pvma_net_sim(r->net);
    for (unsigned i = 0; i < PVCS; i++)
        connect(r, i);
    for (unsigned i = 0; i < TASKS; i++) {
        r->tasks[i].run = r;
        pvma_event_init(&r->tasks[i].next, PVMA_EVENT_USER, send_next);
        pvma_sim_at(r->sim, &r->tasks[i].next, occupy(&r->tasks[i], setup->computing + setup->send_cost));
    }
    return true;
}

static void close_run(struct run *r)
{
    for (unsigned i = 0; i < TASKS; i++)
        for (unsigned k = 0; k < NEIGHBOURS; k++)
            pvma_connection_free(r->tasks[i].sides[k].connection);
    pvma_net_free(r->net);
    pvma_topology_free(&r->topology);
    free(r);
}

/* ---- what came of it ---- */

static void count(struct run *r, struct bottleneck_result *result)
{
    uint64_t sent = 0, came = 0, background = 0;
    for (unsigned i = 0; i < TASKS; i++) {
        const struct pvma_host_counters *host = pvma_host_counters(pvma_net_host_at(r->net, i));
        sent += host->cells_sent;
        came += host->cells_received - host->rx_background;
        for (unsigned k = 0; k < NEIGHBOURS; k++) {
            const struct pvma_connection_statistics *side = pvma_connection_statistics(r->tasks[i].sides[k].connection);
            result->again += side->again;
            result->sent += side->sds + side->again;
            result->useless += side->useless_cells;
        }
    }
    for (size_t i = 0; i < r->topology.source_count; i++)
        background += pvma_source_cells(pvma_net_source(r->net, i));
    result->loss = sent ? (double)(sent - came) / (double)sent : 0;
    result->load = (double)background / 4 * PVMA_CELL_BITS / result->seconds / (double)r->setup->rate_bps;
}

struct bottleneck_result bottleneck_run(const struct bottleneck_setup *setup)
{
    struct run *r = pvma_new(sizeof *r);
    if (!open_run(r, setup)) {
        free(r);
        return (struct bottleneck_result){0};
    }
    pvma_sim_run_until(r->sim, setup->limit);
    struct bottleneck_result result = {.ended = r->ended == TASKS,
                                       .seconds = (double)pvma_sim_now(r->sim) / (double)PVMA_S,
                                       .latency_us = r->latency_ps / (r->messages ? r->messages : 1) / (double)PVMA_US,
                                       .messages = r->messages,
                                       .events = pvma_sim_event_count(r->sim)};
    count(r, &result);
    lab_note(r->sim);
    close_run(r);
    return result;
}
