/*
 * pvmd.c - a model of PVM's default route, see end.h: a task hands fragments to its daemon, which sends each as a UDP
 * packet to the other daemon and keeps it until it is acknowledged (one in flight, retransmitted after a timeout). That
 * daemon hands them to its task.
 */
#include <stdlib.h>
#include <string.h>
#include "end.h"
#include "lan/fiber.h"
#include "udp.h"

enum {
    PORT = 700,
    HEADER = 16,
    PVMD_BUFFER = 65536,
    QUEUE_MAX = 8,
    PEERS_MAX = 64,
    TASKS_MAX = 64,
    LOCAL_BUFFER = 4096
};

static const pvma_ps retry_after = 500 * PVMA_MS;

/* A fragment in transit, from a task or from another daemon. */
struct fragment {
    struct fragment *next;
    uint32_t station, task; /* destination; both are 0 in the receiving task's inbox */
    uint32_t length;
    uint8_t data[];
};

struct queue {
    struct fragment *first, **last;
    unsigned count;
};

/* The wire header between daemons, before a fragment's bytes. */
struct header {
    uint32_t kind, sequence;
    uint32_t task; /* index at the receiving daemon, from 0; stands for a tid */
    uint32_t reserved;
};

enum { DATA = 1, ACK };

struct pvma_daemon {
    struct pvma_station *station;
    uint32_t packet_bytes;
    struct pvma_udp udp;
    struct queue from_tasks;
    struct end_pvmd *tasks[TASKS_MAX];
    unsigned task_count;
    uint32_t sequence, expected[PEERS_MAX];
    bool acknowledged;
    struct pvma_event retry;
    struct pvma_fiber *sender, *receiver; /* the daemon's two fibers */
    bool sender_waits;
    struct pvma_fiber *blocked; /* a task that waits for room in from_tasks */
    uint64_t resent;
};

struct end_pvmd {
    struct pvma_end end;
    struct pvma_daemon *daemon;
    uint32_t task;           /* this end's index at the daemon */
    uint32_t station, other; /* station and index of the other end */
    struct queue inbox;
    struct pvma_fiber *reader;
};

static struct end_pvmd *pvmd_of(struct pvma_end *end)
{
    return PVMA_OF(end, struct end_pvmd, end);
}

static void queue_put(struct queue *q, uint32_t station, uint32_t task, const void *data, uint32_t length)
{
    struct fragment *f = pvma_new(sizeof *f + length);

    f->station = station;
    f->task = task;
    f->length = length;
    memcpy(f->data, data, length);
    *q->last = f;
    q->last = &f->next;
    q->count++;
}

static struct fragment *queue_take(struct queue *q)
{
    struct fragment *f = q->first;

    q->first = f->next;
    if (!q->first)
        q->last = &q->first;
    q->count--;
    return f;
}

static void queue_clear(struct queue *q)
{
    while (q->first)
        free(queue_take(q));
}

static void go_on(void *arg)
{
    pvma_fiber_resume(arg);
}

static void wake(struct pvma_station *station, struct pvma_fiber **waiting)
{
    struct pvma_fiber *fiber = *waiting;

    *waiting = NULL;
    if (fiber)
        pvma_cpu_run(&station->cpu, PVMA_CPU_PROCESS, pvma_price_of(station->costs.wakeup, 0), go_on, fiber);
}

static void use(struct pvma_station *station, struct pvma_price price, uint32_t bytes)
{
    pvma_cpu_use(&station->cpu, pvma_price_of(price, bytes));
}

/* Charges a fragment between task and daemon. Their socket holds 4 KB, so a longer one is written and read in turns. */
static void use_local(struct pvma_station *station, uint32_t bytes)
{
    struct pvma_price price = station->costs.local;

    price.fixed_us *= (bytes + LOCAL_BUFFER - 1) / LOCAL_BUFFER + (bytes == 0);
    use(station, price, bytes);
}

/* ---- daemon ---- */

static void wake_sender(struct pvma_daemon *d)
{
    struct pvma_fiber *fiber = d->sender_waits ? d->sender : NULL;

    d->sender_waits = false;
    wake(d->station, &fiber);
}

static void wait_as_sender(struct pvma_daemon *d)
{
    d->sender_waits = true;
    pvma_fiber_pause();
}

static void retry(struct pvma_event *event)
{
    wake_sender(PVMA_OF(event, struct pvma_daemon, retry));
}

/* Sends a fragment until it is acknowledged, and nothing else in the meantime. */
static void send_reliably(struct pvma_daemon *d, const struct fragment *f)
{
    uint32_t length = (uint32_t)sizeof(struct header) + f->length;
    uint8_t *packet = pvma_new(length);
    struct header header = {DATA, ++d->sequence, f->task, 0};

    memcpy(packet, &header, sizeof header);
    memcpy(packet + sizeof header, f->data, f->length);
    for (d->acknowledged = false; !d->acknowledged;) {
        pvma_udp_send(&d->udp, f->station, PORT, packet, length);
        pvma_sim_after(d->station->sim, &d->retry, retry_after);
        if (!d->acknowledged)
            wait_as_sender(d);
        d->resent += !d->acknowledged;
    }
    pvma_sim_cancel(d->station->sim, &d->retry);
    free(packet);
}

static void send_all(void *arg)
{
    struct pvma_daemon *d = arg;

    for (;;) {
        struct fragment *f;

        while (d->from_tasks.count == 0)
            wait_as_sender(d);
        use_local(d->station, d->from_tasks.first->length);
        f = queue_take(&d->from_tasks);
        wake(d->station, &d->blocked);
        use(d->station, d->station->costs.pvmd_fragment, f->length);
        send_reliably(d, f);
        free(f);
    }
}

static void deliver(struct pvma_daemon *d, const struct header *header, const struct pvma_packet *packet)
{
    struct end_pvmd *task = d->tasks[header->task];
    uint32_t length = packet->length - (uint32_t)sizeof *header;

    use(d->station, d->station->costs.pvmd_fragment, length);
    use_local(d->station, length);
    queue_put(&task->inbox, 0, 0, packet->data + sizeof *header, length);
    wake(d->station, &task->reader);
}

static void take_packet(struct pvma_daemon *d, const struct pvma_packet *packet)
{
    struct header header, ack;
    uint32_t *expected = &d->expected[packet->source % PEERS_MAX];

    memcpy(&header, packet->data, sizeof header);
    if (header.kind == ACK) {
        d->acknowledged |= header.sequence == d->sequence;
        if (d->acknowledged)
            wake_sender(d);
        return;
    }
    ack = (struct header){ACK, header.sequence, 0, 0};
    pvma_udp_send(&d->udp, packet->source, PORT, &ack, sizeof ack);
    if (header.sequence == *expected || header.task >= d->task_count)
        return; /* a duplicate: its acknowledgement was lost */
    *expected = header.sequence;
    deliver(d, &header, packet);
}

static void receive_all(void *arg)
{
    struct pvma_daemon *d = arg;

    for (;;) {
        struct pvma_packet *packet = pvma_udp_receive(&d->udp);

        if (packet->length >= sizeof(struct header))
            take_packet(d, packet);
        free(packet);
    }
}

static void begin(void *arg)
{
    struct pvma_daemon *d = arg;

    pvma_fiber_resume(d->receiver);
    pvma_fiber_resume(d->sender);
}

struct pvma_daemon *pvma_daemon_new(struct pvma_station *station, uint32_t packet_bytes)
{
    struct pvma_daemon *d = pvma_new(sizeof *d);

    d->station = station;
    d->packet_bytes = packet_bytes;
    d->from_tasks.last = &d->from_tasks.first;
    pvma_udp_open(&d->udp, station, PORT, PVMD_BUFFER);
    pvma_event_init(&d->retry, PVMA_EVENT_USER, retry);
    d->sender = pvma_fiber_new(send_all, d);
    d->receiver = pvma_fiber_new(receive_all, d);
    pvma_sim_call(station->sim, pvma_sim_now(station->sim), begin, d);
    return d;
}

void pvma_daemon_free(struct pvma_daemon *d)
{
    pvma_sim_cancel(d->station->sim, &d->retry);
    pvma_udp_close(&d->udp);
    queue_clear(&d->from_tasks);
    pvma_fiber_free(d->sender);
    pvma_fiber_free(d->receiver);
    free(d);
}

/* ---- tasks ---- */

/* Messages are split at the daemons' packet limit, too. */
static uint32_t fragment_room(const struct pvma_daemon *d)
{
    return d->packet_bytes - HEADER - (uint32_t)sizeof(struct header);
}

static void task_send(struct pvma_end *end, const void *data, uint32_t length)
{
    struct end_pvmd *c = pvmd_of(end);
    struct pvma_station *station = c->daemon->station;
    uint32_t room = fragment_room(c->daemon), at = 0;

    use(station, station->costs.pvm_send, length);
    if (length > 0)
        use(station, station->costs.pvm_data, 0);
    do {
        uint32_t piece = length - at < room ? length - at : room;

        while (c->daemon->from_tasks.count >= QUEUE_MAX) {
            c->daemon->blocked = pvma_fiber_current();
            pvma_fiber_pause();
        }
        use(station, station->costs.pvm_fragment, 0);
        use_local(station, piece);
        queue_put(&c->daemon->from_tasks, c->station, c->other, (const uint8_t *)data + at, piece);
        wake_sender(c->daemon);
        at += piece;
    } while (at < length);
}

static void task_receive(struct pvma_end *end, void *data, uint32_t length)
{
    struct end_pvmd *c = pvmd_of(end);
    struct pvma_station *station = c->daemon->station;
    uint32_t at = 0;

    do {
        struct fragment *f;

        while (c->inbox.count == 0) {
            c->reader = pvma_fiber_current();
            pvma_fiber_pause();
        }
        f = queue_take(&c->inbox);
        use_local(station, f->length);
        use(station, station->costs.pvm_fragment, 0);
        memcpy((uint8_t *)data + at, f->data, f->length);
        at += f->length;
        free(f);
    } while (at < length);
    if (length > 0)
        use(station, station->costs.pvm_data, 0);
    use(station, station->costs.pvm_receive, length);
}

static void task_free(struct pvma_end *end)
{
    queue_clear(&pvmd_of(end)->inbox);
    free(pvmd_of(end));
}

static struct end_pvmd *make(struct pvma_daemon *daemon, const struct pvma_daemon *peer)
{
    struct end_pvmd *c = pvma_new(sizeof *c);

    c->end = (struct pvma_end){task_send, task_receive, task_free};
    c->daemon = daemon;
    c->station = peer->station->number;
    c->task = daemon->task_count++;
    daemon->tasks[c->task] = c;
    c->inbox.last = &c->inbox.first;
    return c;
}

void pvma_end_pvm_daemon(struct pvma_daemon *at_a, struct pvma_daemon *at_b, struct pvma_end **a, struct pvma_end **b)
{
    struct end_pvmd *one = make(at_a, at_b), *two = make(at_b, at_a);

    one->other = two->task;
    two->other = one->task;
    *a = &one->end;
    *b = &two->end;
}
