/* services.c - see services.h. */
#include "services.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "assured/connection.h"
#include "assured/pcaal.h"
#include "digest.h"
#include "network/network.h"

enum { TEXT_MAX = 4096, MESSAGE_MAX = 1 << 20, ITEM_BYTES = 8 };

const char *services_name(enum services_kind kind)
{
    static const char *const names[] = {"UBR only", "ABR only", "switching", "duplicating"};
    return names[kind];
}

/* ---- setups ---- */

struct services_setup services_defaults(enum services_kind kind)
{
    struct services_setup setup = {.kind = kind,
                                   .item_bytes = ITEM_BYTES,
                                   .sources = 8,
                                   .abr_sources = 3,
                                   .on_share = 0.15,
                                   .on_mean = 100 * PVMA_MS,
                                   .buffer_cells = 200,
                                   .rate_bps = 155000000,
                                   .peak_mbps = 50,
                                   .ece = pvma_ece_defaults(kind == SERVICES_DUPLICATING),
                                   .seed = 1};
    setup.ece.linger = 10 * PVMA_S; /* always, as far as this trace knows */
    return setup;
}

/* PC-AAL's cells of a message. */
static unsigned cells_of(uint32_t bytes)
{
    static const struct pvma_pcaal format = {.several = true};
    unsigned cell_bytes = pvma_pcaal_sd_bytes(&format, ITEM_BYTES);
    return (bytes + cell_bytes - 1) / cell_bytes;
}

static uint32_t length_of(enum services_trace trace, struct pvma_random *random)
{
    if (trace == SERVICES_PDE1)
        return 8192;
    return pvma_random_below(random, 5) ? 40 : 424;
}

/* In units of any size: in each iteration a task of PDE1 does the same work, and then sends to both neighbours. */
static pvma_ps time_of(enum services_trace trace, unsigned number, pvma_ps before, struct pvma_random *random)
{
    if (trace == SERVICES_PDE1)
        return (number / 2 + 1) * PVMA_S;
    return before + pvma_random_exponential(random, PVMA_S);
}

struct services_message *services_trace(enum services_trace trace, unsigned count, uint64_t seed)
{
    static const double bps[] = {[SERVICES_PDE1] = 266.4e3, [SERVICES_PDE2] = 280e3};
    struct services_message *messages = pvma_new(count * sizeof *messages);
    struct pvma_random random;
    uint64_t cells = 0;
    pvma_ps at = 0;
    pvma_random_init(&random, seed, "trace");
    for (unsigned i = 0; i < count; i++) {
        at = time_of(trace, i, at, &random);
        messages[i] = (struct services_message){at, length_of(trace, &random)};
        cells += cells_of(messages[i].bytes);
    }
    double scale = (double)cells * PVMA_CELL_BITS / bps[trace] * (double)PVMA_S / (double)at;
    for (unsigned i = 0; i < count; i++)
        messages[i].at = (pvma_ps)((double)messages[i].at * scale);
    return messages;
}

/* ---- the network ---- */

static struct pvma_source_options background(const struct services_setup *setup)
{
    double mean = setup->load * (double)setup->rate_bps / setup->sources, off = setup->off_mbps * 1e6;
    return (struct pvma_source_options){
        .type = PVMA_ONOFF,
        .rate_bps = (int64_t)((mean - (1 - setup->on_share) * off) / setup->on_share),
        .off_rate_bps = (int64_t)off,
        .on_mean = setup->on_mean,
        .off_mean = (pvma_ps)((double)setup->on_mean * (1 - setup->on_share) / setup->on_share)};
}

/*
 * Switch s has the loaded output. Behind it, r only parts the task's cells from the background, in no time, because the
 * task's adapter would need 8.25 us for each of them. The interrupt's 12.5 us are a delay of the link: a processor that
 * took them one after the other would fall behind cells that come each 8.25 us.
 */
static void write_network(const struct services_setup *setup, char text[TEXT_MAX])
{
    struct pvma_source_options source = background(setup);
    long long rate_bps = setup->rate_bps;
    int length =
        snprintf(text, TEXT_MAX,
                 "profile task like=thesis-ch6 rx_pdu=0ps\nhost d profile=task\nhost t profile=task\nhost u\n"
                 "switch s latency=500ns ports=%u buffer=%u\nswitch r\n"
                 "link d s rate=%lld\nlink s r rate=%lld\nlink t r rate=100G delay=12500ns\nlink u r rate=100G\n"
                 "pvc d t aal=raw\npvc d t aal=raw service=abr peak=%.0fk",
                 setup->sources + 3, setup->buffer_cells, rate_bps, rate_bps, setup->peak_mbps * 1000);
    if (setup->minimum_mbps > 0)
        length += snprintf(text + length, TEXT_MAX - (size_t)length, " mcr=%.0fk", setup->minimum_mbps * 1000);
    length += snprintf(text + length, TEXT_MAX - (size_t)length, "\npvc d t aal=raw service=vbr mean=1M\n");
    for (unsigned i = 0; i < setup->sources && setup->load > 0; i++) {
        const char *service = i < setup->abr_sources ? "abr" : "ubr";
        length += snprintf(text + length, TEXT_MAX - (size_t)length,
                           "host b%u\nlink b%u s rate=%lld\nsource x%u from=b%u to=u type=onoff rate=%lld on=%lldps "
                           "off=%lldps service=%s",
                           i, i, source.rate_bps > rate_bps ? 2LL * source.rate_bps : rate_bps, i, i,
                           (long long)source.rate_bps, (long long)source.on_mean, (long long)source.off_mean, service);
        if (source.off_rate_bps)
            length +=
                snprintf(text + length, TEXT_MAX - (size_t)length, " off-rate=%lld", (long long)source.off_rate_bps);
        length += snprintf(text + length, TEXT_MAX - (size_t)length, "\n");
    }
}

/* ---- the task and its peer ---- */

struct run {
    const struct services_setup *setup;
    struct pvma_topology topology;
    struct pvma_net *net;
    struct pvma_sim *sim;
    struct pvma_connection *task, *peer;
    struct pvma_event next, look;
    uint64_t came;               /* SDs that had come when it last looked */
    unsigned sending, receiving; /* messages */
    uint32_t sent, received;     /* octets of them */
    double latency_ps;
    uint8_t data[MESSAGE_MAX];
};

static void await_next(struct run *r)
{
    if (r->sending < r->setup->count && !r->sent) {
        pvma_ps at = r->setup->messages[r->sending].at, now = pvma_sim_now(r->sim);
        pvma_sim_at(r->sim, &r->next, at > now ? at : now);
    }
}

static void send_more(struct run *r)
{
    const struct services_message *message = &r->setup->messages[r->sending];
    struct pvma_place place = {r->sending, r->sent, r->setup->item_bytes};
    r->sent += (uint32_t)pvma_connection_write(r->task, r->data, message->bytes - r->sent, &place);
    if (r->sent < message->bytes)
        return;
    r->sent = 0;
    r->sending++;
    await_next(r);
}

static void send_next(struct pvma_event *event)
{
    send_more(PVMA_OF(event, struct run, next));
}

static void writable(void *arg)
{
    struct run *r = arg;
    if (r->sent)
        send_more(r);
}

static void readable(void *arg)
{
    struct run *r = arg;
    for (size_t bytes; r->receiving < r->setup->count;) {
        const struct services_message *message = &r->setup->messages[r->receiving];
        bytes = pvma_connection_read(r->peer, r->data, message->bytes - r->received);
        if (!bytes)
            return;
        r->received += (uint32_t)bytes;
        if (r->received < message->bytes)
            continue;
        r->received = 0;
        r->receiving++;
        r->latency_ps += (double)(pvma_sim_now(r->sim) - message->at);
    }
    pvma_sim_stop(r->sim);
}

static const struct pvma_connection_events task_events = {.writable = writable}, peer_events = {.readable = readable};

static struct pvma_connection *connect(struct run *r, bool peer)
{
    static const enum pvma_protocol protocols[] = {PVMA_PCAAL_N, PVMA_PCAAL_N, PVMA_ECE_SWITCHING,
                                                   PVMA_ECE_DUPLICATING};
    enum services_kind kind = r->setup->kind;
    struct pvma_connection_settings settings = pvma_connection_defaults(protocols[kind]);
    struct pvma_connection_vcs vcs = {pvma_net_pvc_end(r->net, kind == SERVICES_ABR, peer),
                                      pvma_net_pvc_end(r->net, 1, peer), pvma_net_pvc_end(r->net, 2, peer)};
    settings.ece = r->setup->ece;
    settings.ece.duplicating = kind == SERVICES_DUPLICATING;
    settings.poll_interval = settings.ece.lme.interval; /* Table 6.2 */
    return pvma_connection_new(&vcs, &settings, peer ? &peer_events : &task_events, r);
}

/* ---- background that nobody sees ---- */

static const pvma_ps look_interval = PVMA_MS;

static bool is_quiet(struct run *r)
{
    const struct pvma_connection_statistics *peer = pvma_connection_statistics(r->peer);
    uint64_t came = peer->received + peer->duplicates, before = r->came;
    r->came = came;
    return came == before && !r->sent && r->receiving == r->sending;
}

/* When a message or one of the connection's own cells comes next. */
static pvma_ps next_cell(const struct run *r)
{
    pvma_ps task = pvma_connection_due(r->task), peer = pvma_connection_due(r->peer);
    pvma_ps message = r->sending < r->setup->count ? r->setup->messages[r->sending].at : PVMA_NEVER;
    pvma_ps due = task < peer ? task : peer;
    return message < due ? message : due;
}

/*
 * Nobody sees the background between messages and periodic cells, and sources do not remember their cells. So it is
 * left out until shortly before the next cell, five times the time in which the link empties the buffer.
 */
static void look(struct pvma_event *event)
{
    struct run *r = PVMA_OF(event, struct run, look);
    pvma_ps now = pvma_sim_now(r->sim), next = next_cell(r);
    pvma_ps settling = 5 * r->setup->buffer_cells * pvma_link_cell_time(r->setup->rate_bps);
    if (is_quiet(r) && next != PVMA_NEVER && next - settling > now) {
        for (size_t i = 0; i < r->topology.source_count; i++)
            pvma_source_skip(pvma_net_source(r->net, i), next - settling);
        now = next - settling;
    }
    pvma_sim_at(r->sim, &r->look, now + look_interval);
}

static bool open_run(struct run *r, const struct services_setup *setup)
{
    char text[TEXT_MAX];
    r->setup = setup;
    write_network(setup, text);
    if (pvma_topology_parse("services", text, strlen(text), &r->topology))
        return false;
    r->net = pvma_net_new(&r->topology, setup->seed);
    r->sim = pvma_net_sim(r->net);
    r->task = connect(r, false);
    r->peer = connect(r, true);
    pvma_event_init(&r->next, PVMA_EVENT_USER, send_next);
    await_next(r);
    pvma_event_init(&r->look, PVMA_EVENT_USER, look);
    if (r->topology.source_count > 0)
        pvma_sim_at(r->sim, &r->look, look_interval);
    return true;
}

static void close_run(struct run *r)
{
    pvma_connection_free(r->task);
    pvma_connection_free(r->peer);
    pvma_net_free(r->net);
    pvma_topology_free(&r->topology);
    free(r);
}

/* ---- what came of it ---- */

static double kbps(uint64_t cells, pvma_ps span)
{
    return (double)cells * PVMA_CELL_BITS / ((double)span / (double)PVMA_S) / 1000;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double background_load(struct run *r, pvma_ps span)
{
    uint64_t cells = 0;
    for (size_t i = 0; i < r->topology.source_count; i++)
        cells += pvma_source_cells(pvma_net_source(r->net, i));
    return kbps(cells, span) * 1000 / (double)r->setup->rate_bps;
}

/* Of the task's VC; the background's sources of ABR may lose cells. */
static uint64_t abr_lost(struct run *r)
{
    enum { LINK_OF_TASK = 0 }; /* the first one in the text */
    uint16_t vpi, vci;
    pvma_vc_identifiers(pvma_net_pvc_end(r->net, 1, false), &vpi, &vci);
    return pvma_switch_route(pvma_net_switch(r->net, "s"), LINK_OF_TASK, vpi, vci)->dropped;
}

static struct services_result measure(struct run *r)
{
    const struct services_setup *setup = r->setup;
    const struct pvma_connection_statistics *task = pvma_connection_statistics(r->task);
    const struct pvma_connection_statistics *peer = pvma_connection_statistics(r->peer);
    pvma_ps span = pvma_sim_now(r->sim);
    bool by_ece = setup->kind >= SERVICES_SWITCHING, only_abr = setup->kind == SERVICES_ABR;
    uint64_t ordinary = by_ece ? task->ordinary_sds : task->sds + task->again, sent = ordinary + task->backup_sds;
    uint64_t came = peer->received + peer->duplicates;
    struct services_result result = {.ended = r->receiving == setup->count,
                                     .latency_us = r->latency_ps / (r->receiving ? r->receiving : 1) / (double)PVMA_US,
                                     .loss = share_of(sent > came ? sent - came : 0, sent),
                                     .load = background_load(r, span),
                                     .lstats = peer->lstats,
                                     .modes = task->modes,
                                     .again = task->again,
                                     .sds = task->sds,
                                     .replicas = task->replicas,
                                     .doubled_later = task->doubled_later,
                                     .duplicates = peer->duplicates,
                                     .abr_lost = abr_lost(r),
                                     .events = pvma_sim_event_count(r->sim)};
    /* The task's VC is the only one of ABR that ends there. */
    uint64_t came_rm = pvma_host_counters(pvma_net_host(r->net, "t"))->rm_turned;
    double first_kbps = kbps(task->ubr_bytes / PVMA_CELL_BYTES, span),
           came_kbps = kbps(peer->came[PVMA_ORDINARY], span);
    result.ubr_kbps = only_abr ? 0 : first_kbps;
    result.ubr_came_kbps = only_abr ? 0 : came_kbps;
    result.abr_kbps = only_abr ? first_kbps : kbps(task->abr_bytes / PVMA_CELL_BYTES, span);
    result.abr_came_kbps = kbps(peer->came[only_abr ? PVMA_ORDINARY : PVMA_BACKUP] + came_rm, span);
    result.vbr_kbps = kbps(peer->vbr_bytes / PVMA_CELL_BYTES, span);
    result.abr_share = only_abr ? 1 : share_of(task->backup_sds, setup->kind == SERVICES_DUPLICATING ? ordinary : sent);
    return result;
}

struct services_result services_run(const struct services_setup *setup)
{
    struct run *r = pvma_new(sizeof *r);
    if (!open_run(r, setup)) {
        free(r);
        return (struct services_result){0};
    }
    pvma_sim_run_until(r->sim, setup->messages[setup->count - 1].at + 60 * PVMA_S);
    struct services_result result = measure(r);
    lab_note(r->sim);
    close_run(r);
    return result;
}
