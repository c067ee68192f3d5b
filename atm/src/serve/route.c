/* route.c - see route.h. */
#include "route.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"

#define HEADERS       32 /* in a packet of the daemons: theirs, and that of PVM's fragment */
#define ENVELOPES     36 /* around it: UDP and IP 28, LLC 8 */
#define HELD_MAX      8  /* fragments for one host that the daemon accepts from tasks and has not got rid of */
#define RETRY_AFTER   (500 * PVMA_MS)
#define RETRY_MAX     (30 * PVMA_S)
#define GIVE_UP_AFTER (300 * PVMA_S) /* of virtual time without an acknowledgement */

enum { DATA = 1, ACKNOWLEDGEMENT };

/* At the beginning of a packet; the rest are zeros. */
struct header {
    uint32_t kind, sequence;
};

struct receiver {
    struct pvma_route_end end;
    struct pvma_host *host;
    uint32_t missing; /* fragments that it has not taken */
};

/* The shadow of one message. */
struct shadow {
    struct pvma_host *host; /* the sender's */
    uint32_t task;          /* the sender's */
    uint32_t client;        /* and its number */
    uint64_t bytes;
    uint32_t parts, handed; /* fragments, and how many of them the daemon has */
    uint32_t refs;          /* receivers and jobs that still need it */
    unsigned path_count;
    struct path **paths; /* to the other hosts of receivers */
    unsigned receiver_count;
    struct shadow *prev, *next;
    struct shadow *next_held; /* in the list of those that wait for room */
    struct receiver receivers[];
};

/* A fragment in the hands of a processor, or of a daemon that has to send it. */
struct part {
    struct pvma_job job;
    struct shadow *shadow;
    uint32_t bytes;
    struct pvma_host *at;
    struct receiver *receiver; /* that takes it now */
    struct part *next_sent;    /* in the queue of a path */
    struct part *prev, *next;  /* of all */
};

/* From one host's daemon to another's. */
struct path {
    struct hosts {
        struct pvma_host *from, *to;
    } hosts;
    struct pvma_vc *near, *far; /* ends of its circuit; NULL: there is none now */
    struct part *first, **last; /* to be sent, the first one in flight */
    unsigned held;              /* fragments accepted for it and not acknowledged */
    uint32_t sequence;          /* of the packet in flight */
    uint32_t expected;          /* of the last one that has arrived */
    bool flying;
    bool owes;     /* an acknowledgement, for which the driver had no room */
    bool repeated; /* the packet in flight was sent again */
    pvma_ps since; /* when it was first sent */
    pvma_ps after; /* so long without an acknowledgement, it is sent again; 0: as at the start */
    struct pvma_event retry;
    bool dead; /* no acknowledgement has come since it gave up */
    bool told; /* the log has named it */
    UT_hash_handle hh;
};

static struct shadow *shadows;
static struct part *parts;
static struct shadow *held, **held_tail = &held; /* those that wait for room at a path */
static struct path *paths;

static pvma_ps now(void)
{
    return pvma_sim_now(pvma_serving.sim);
}

/* ---- shadows ---- */

static void unref(struct shadow *s)
{
    if (--s->refs)
        return;
    DL_DELETE(shadows, s);
    free(s->paths);
    free(s);
}

static struct part *part_new(struct shadow *s, uint32_t bytes, struct pvma_host *at)
{
    struct part *p = pvma_new(sizeof *p);
    *p = (struct part){.shadow = s, .bytes = bytes, .at = at};
    s->refs++;
    DL_APPEND(parts, p);
    return p;
}

static void part_free(struct part *p)
{
    unref(p->shadow);
    DL_DELETE(parts, p);
    free(p);
}

/* The processor handles a fragment at one of the places of the route. */
static void handle(struct part *p, void (*done)(struct pvma_job *job))
{
    const int64_t *cost = pvma_host_profile(p->at)->cost;
    p->job.done = done;
    pvma_stage_put(pvma_host_processor(p->at), &p->job,
                   cost[PVMA_COST_pvmd_fragment] + cost[PVMA_COST_pvmd_byte] * (int64_t)p->bytes);
}

/* A message's octets in one fragment from that host. */
static uint32_t room_at(const struct pvma_host *host)
{
    const int64_t *cost = pvma_host_profile(host)->cost;
    int64_t packet = cost[PVMA_COST_pvmd_packet], most = cost[PVMA_COST_mtu] - ENVELOPES;
    int64_t room = (packet < most ? packet : most) - HEADERS;
    return room > 1 ? (uint32_t)room : 1;
}

static uint32_t bytes_of(const struct shadow *s, uint32_t part)
{
    uint32_t room = room_at(s->host);
    uint64_t left = s->bytes - (uint64_t)part * room;
    return left < room ? (uint32_t)left : room;
}

/* ---- the receiving host ---- */

static void tell_task(uint32_t task)
{
    struct pvma_client *c = pvma_client_of_task(task);
    if (c)
        pvma_client_tell(c);
}

static void taken(struct pvma_job *job)
{
    struct part *p = PVMA_OF(job, struct part, job);
    if (!--p->receiver->missing) {
        tell_task(p->receiver->end.task);
        p->shadow->refs--; /* the receiver's; p has one, too */
    }
    part_free(p);
}

/* The daemon has a fragment: gives it to its tasks. */
static void distribute(struct pvma_job *job)
{
    struct part *p = PVMA_OF(job, struct part, job);
    struct shadow *s = p->shadow;
    for (unsigned i = 0; i < s->receiver_count; i++)
        if (s->receivers[i].host == p->at) {
            struct part *one = part_new(s, p->bytes, p->at);
            one->receiver = &s->receivers[i];
            handle(one, taken);
        }
    part_free(p);
}

/* ---- packets ---- */

static void send_first(struct path *path);
static void let_go_on(void);

static void end_flight(struct path *path)
{
    struct part *p = path->first;
    path->first = p->next_sent;
    if (!path->first)
        path->last = &path->first;
    path->flying = false;
    path->held--;
    pvma_sim_cancel(pvma_serving.sim, &path->retry);
    part_free(p);
    if (path->first)
        send_first(path);
    let_go_on();
}

/* The packet in flight has come to the other host, for the first time. */
static void arrive(struct path *path)
{
    path->expected = path->sequence;
    handle(part_new(path->first->shadow, path->first->bytes, path->hosts.to), distribute);
}

/* Sends a packet with so many octets of a message. False: the driver has no room, and says when it has. */
static bool put(struct pvma_vc *vc, uint32_t kind, uint32_t sequence, uint32_t bytes)
{
    uint8_t packet[PVMA_FORE_PDU_MAX] = {0};
    struct header header = {kind, sequence};
    size_t length = ENVELOPES + HEADERS + bytes, mtu = pvma_vc_mtu(vc);
    memcpy(packet, &header, sizeof header);
    return pvma_vc_send(vc, packet, length < mtu ? length : mtu, 0) != PVMC_EAGAIN;
}

static struct header header_of(const uint8_t *data, size_t length)
{
    struct header header = {0, 0};
    if (length >= sizeof header)
        memcpy(&header, data, sizeof header);
    return header;
}

static void far_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct path *path = arg;
    struct header header = header_of(data, length);
    if (header.kind != DATA)
        return;
    path->owes = !put(vc, ACKNOWLEDGEMENT, header.sequence, 0);
    if (path->flying && header.sequence == path->sequence && header.sequence != path->expected)
        arrive(path);
}

/*
 * Packets on a busy network must not be sent faster than it carries them, or it carries mostly copies. The time of a
 * packet that was sent again is unknown, so the longer interval stays for the next one.
 */
static void learn(struct path *path)
{
    if (!path->repeated)
        path->after = 2 * (now() - path->since);
    path->dead = false;
}

static void near_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct path *path = arg;
    struct header header = header_of(data, length);
    (void)vc;
    if (header.kind != ACKNOWLEDGEMENT || !path->flying || header.sequence != path->sequence)
        return;
    learn(path);
    end_flight(path);
}

static void far_room(void *arg, struct pvma_vc *vc)
{
    struct path *path = arg;
    path->owes = path->owes && !put(vc, ACKNOWLEDGEMENT, path->sequence, 0);
}

static void near_room(void *arg, struct pvma_vc *vc)
{
    struct path *path = arg;
    if (path->flying)
        put(vc, DATA, path->sequence, path->first->bytes);
}

/* The network has taken the circuit down; the next packet sets up another one. */
static void closed(void *arg, struct pvma_vc *vc, int cause)
{
    struct path *path = arg;
    (void)cause;
    if (path->near == vc)
        path->near = NULL;
    if (path->far == vc)
        path->far = NULL;
}

static bool connect_path(struct path *path)
{
    static const struct pvma_vc_handler near = {.received = near_received, .room = near_room, .closed = closed};
    static const struct pvma_vc_handler far = {.received = far_received, .room = far_room, .closed = closed};
    static const struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    if (path->near && path->far)
        return true;
    if (pvma_net_pvc(pvma_serving.net, path->hosts.from, path->hosts.to, &contract, &path->near, &path->far)) {
        path->near = path->far = NULL;
        return false;
    }
    pvma_vc_handle(path->near, &near, path);
    pvma_vc_handle(path->far, &far, path);
    return true;
}

/* The interval until it is sent again lies within the bounds. */
static void send_packet(struct path *path)
{
    if (connect_path(path))
        put(path->near, DATA, path->sequence, path->first->bytes);
    path->after = path->after < RETRY_AFTER ? RETRY_AFTER : path->after > RETRY_MAX ? RETRY_MAX : path->after;
    pvma_sim_after(pvma_serving.sim, &path->retry, path->after);
}

/* While the driver still has the packet, another copy would only wait behind it. */
static void send_again(struct path *path)
{
    if (path->near && pvma_vc_queued(path->near)) {
        pvma_sim_after(pvma_serving.sim, &path->retry, path->after);
        return;
    }
    path->repeated = true;
    path->after *= 2;
    send_packet(path);
}

static void send_first(struct path *path)
{
    path->sequence++;
    path->flying = true;
    path->repeated = false;
    path->since = now();
    send_packet(path);
}

static void tell_dead(struct path *path)
{
    if (!path->told)
        pvmc_log(PVMC_LOG_ERROR,
                 "the daemon on host %s gets no answer from host %s for %lld s: what it sends there arrives all the "
                 "same, late",
                 pvma_host_name(path->hosts.from), pvma_host_name(path->hosts.to), (long long)(GIVE_UP_AFTER / PVMA_S));
    path->told = path->dead = true;
}

/*
 * No acknowledgement has come. A path that carries nothing must not keep programs waiting for ever. Once it has given
 * up, each packet is a probe, which waits for the first interval only.
 */
static void retry(struct pvma_event *event)
{
    struct path *path = PVMA_OF(event, struct path, retry);
    if (!path->dead && now() - path->since < GIVE_UP_AFTER) {
        send_again(path);
        return;
    }
    tell_dead(path);
    if (path->expected != path->sequence)
        arrive(path);
    path->after = RETRY_AFTER;
    end_flight(path);
}

static struct path *path_between(struct pvma_host *from, struct pvma_host *to)
{
    struct hosts hosts;
    struct path *path;
    memset(&hosts, 0, sizeof hosts);
    hosts.from = from;
    hosts.to = to;
    HASH_FIND(hh, paths, &hosts, sizeof hosts, path);
    if (path)
        return path;
    path = pvma_new(sizeof *path);
    memset(path, 0, sizeof *path);
    path->hosts = hosts;
    path->last = &path->first;
    pvma_event_init(&path->retry, PVMA_EVENT_USER, retry);
    if (!PVMC_HASH_ADD(hh, paths, hosts, path))
        pvma_out_of_memory();
    return path;
}

/* ---- the sending host ---- */

static void hand_over(struct shadow *s);

static void enqueue(struct path *path, struct shadow *s, uint32_t bytes)
{
    struct part *p = part_new(s, bytes, NULL);
    *path->last = p;
    path->last = &p->next_sent;
    if (!path->flying)
        send_first(path);
}

static bool has_own(const struct shadow *s)
{
    for (unsigned i = 0; i < s->receiver_count; i++)
        if (s->receivers[i].host == s->host)
            return true;
    return false;
}

/* The daemon has handled a fragment of one of its tasks. */
static void forward(struct pvma_job *job)
{
    struct part *p = PVMA_OF(job, struct part, job);
    struct shadow *s = p->shadow;
    for (unsigned i = 0; i < s->path_count; i++)
        enqueue(s->paths[i], s, p->bytes);
    if (has_own(s))
        distribute(job);
    else
        part_free(p);
}

/* The task has written a fragment. */
static void handed(struct pvma_job *job)
{
    struct part *p = PVMA_OF(job, struct part, job);
    struct shadow *s = p->shadow;
    s->handed++;
    handle(p, forward);
    if (s->handed < s->parts)
        hand_over(s);
    else
        tell_task(s->task);
}

static bool has_room(const struct shadow *s)
{
    for (unsigned i = 0; i < s->path_count; i++)
        if (s->paths[i]->held >= HELD_MAX)
            return false;
    return true;
}

static void begin_part(struct shadow *s)
{
    for (unsigned i = 0; i < s->path_count; i++)
        s->paths[i]->held++;
    handle(part_new(s, bytes_of(s, s->handed), s->host), handed);
}

/* Hands the next fragment to the daemon, as soon as it has room. */
static void hand_over(struct shadow *s)
{
    if (has_room(s)) {
        begin_part(s);
        return;
    }
    s->next_held = NULL;
    *held_tail = s;
    held_tail = &s->next_held;
}

/* There is room: those that have waited longest go first. */
static void let_go_on(void)
{
    struct shadow **at = &held, *s;
    while ((s = *at))
        if (has_room(s)) {
            *at = s->next_held;
            if (!*at)
                held_tail = at;
            begin_part(s);
        } else {
            at = &s->next_held;
        }
}

/* ---- interface ---- */

static void add_path(struct shadow *s, struct pvma_host *to)
{
    struct path *path = path_between(s->host, to);
    for (unsigned i = 0; i < s->path_count; i++)
        if (s->paths[i] == path)
            return;
    s->paths[s->path_count++] = path;
}

static void add_receiver(struct shadow *s, const struct pvma_route_end *end, struct pvma_host *host)
{
    s->receivers[s->receiver_count++] = (struct receiver){.end = *end, .host = host, .missing = s->parts};
    s->refs++;
    if (host != s->host)
        add_path(s, host);
}

unsigned pvma_route_begin(struct pvma_client *c, const struct pvma_route_end *to, unsigned count, uint64_t bytes)
{
    struct shadow *s = pvma_new(sizeof *s + count * sizeof s->receivers[0]);
    *s = (struct shadow){.host = c->host, .task = c->task, .client = c->number, .bytes = bytes};
    uint32_t room = room_at(s->host);
    s->parts = bytes ? (uint32_t)((bytes + room - 1) / room) : 1;
    s->paths = pvma_new(count * sizeof s->paths[0]);
    DL_APPEND(shadows, s);
    s->refs = 1; /* this function's */
    for (unsigned i = 0; i < count; i++) {
        const struct pvma_client *other = pvma_client_of_task(to[i].task);
        if (other)
            add_receiver(s, &to[i], other->host);
    }
    unsigned known = s->receiver_count;
    if (known)
        hand_over(s);
    unref(s);
    return count - known;
}

unsigned pvma_route_handing(const struct pvma_client *c)
{
    const struct shadow *s;
    unsigned count = 0;
    DL_FOREACH (shadows, s)
        count += s->client == c->number && s->handed < s->parts;
    return count;
}

unsigned pvma_route_under_way(const struct pvma_client *c, unsigned first, struct pvma_route_end *list)
{
    const struct shadow *s;
    unsigned count = 0, seen = 0;
    if (!c->task)
        return 0;
    DL_FOREACH (shadows, s)
        for (unsigned i = 0; i < s->receiver_count && count < PVMA_ROUTE_ENDS_MAX; i++)
            if (s->receivers[i].end.task == c->task && s->receivers[i].missing && seen++ >= first)
                list[count++] = (struct pvma_route_end){s->task, s->receivers[i].end.number};
    return count;
}

/* Jobs at processors are forgotten with the network, which is freed afterwards. */
void pvma_route_free_all(void)
{
    struct path *path, *after;
    struct part *p, *next;
    HASH_ITER (hh, paths, path, after) {
        pvma_sim_cancel(pvma_serving.sim, &path->retry);
        HASH_DEL(paths, path);
        free(path);
    }
    DL_FOREACH_SAFE (parts, p, next)
        part_free(p);
    while (shadows) {
        shadows->refs = 1;
        unref(shadows);
    }
    held = NULL;
    held_tail = &held;
}
