/* survey.c - see survey.h. */
#include "survey.h"
#include <stdlib.h>
#include "base/random.h"
#include "parts.h"

#define SAP     7
#define TIME_UP (60 * PVMA_S) /* of one step, which lasts milliseconds */

struct probe {
    struct pvma_call *call; /* of the caller; NULL: none, or it has ended */
    struct pvma_vc *vc;
    bool has_answer;
    int cause;
};

struct run {
    struct pvma_overlay *overlay;
    struct pvma_overlay_station **stations;
    struct pvma_survey *survey;
    struct probe *probes;
    unsigned *pairs; /* drawn already: caller * stations + called */
    bool has_arrived;
};

/* ---- programs ---- */

static void received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct run *run = arg;
    (void)vc, (void)data, (void)length;
    run->has_arrived = true;
}

static void offered(void *arg, struct pvma_call *call, struct pvma_address caller, const struct pvma_contract *contract)
{
    static const struct pvma_vc_handler handler = {.received = received};
    (void)caller, (void)contract;
    pvma_vc_handle(pvma_call_accept(call, NULL, NULL, NULL), &handler, arg);
}

static void connected(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted)
{
    struct probe *probe = arg;
    (void)call, (void)granted;
    probe->vc = vc;
    probe->has_answer = true;
}

static void ended(void *arg, struct pvma_call *call, int cause)
{
    struct probe *probe = arg;
    (void)call;
    *probe = (struct probe){.has_answer = true, .cause = cause};
}

/* ---- steps ---- */

/* Runs until a flag is set. */
static void wait_for(struct pvma_sim *sim, const bool *flag)
{
    pvma_ps end = pvma_sim_now(sim) + TIME_UP;
    while (!*flag && pvma_sim_next(sim) <= end && pvma_sim_step(sim))
        ;
}

static pvma_ps send_packet(struct run *run, const struct probe *probe)
{
    static const uint8_t packet[PVMA_SURVEY_BYTES];
    struct pvma_sim *sim = run->overlay->sim;
    pvma_ps start = pvma_sim_now(sim);
    run->has_arrived = false;
    pvma_vc_send(probe->vc, packet, sizeof packet, 0);
    wait_for(sim, &run->has_arrived);
    return pvma_sim_now(sim) - start;
}

static unsigned vcis_at(const struct pvma_overlay_station *station)
{
    const struct pvma_node *node = pvma_host_node(station->host);
    unsigned most = 0;
    for (unsigned port = 0; port < node->ports; port++)
        if (node->port[port].out && node->port[port].out->vci_count > most)
            most = node->port[port].out->vci_count;
    return most;
}

static void add(struct run *run, const struct pvma_survey_call *call)
{
    struct pvma_survey *s = run->survey;
    s->calls++;
    s->hops += call->hops;
    s->hops_max = call->hops > s->hops_max ? call->hops : s->hops_max;
    s->failed += call->cause != 0;
    s->relayed += !call->cause && call->relayed;
    s->direct += !call->cause && !call->relayed;
    if (call->cause)
        return;
    s->set_up += call->set_up;
    s->set_up_max = call->set_up > s->set_up_max ? call->set_up : s->set_up_max;
    s->packet += call->packet;
}

static struct pvma_survey_call try_call(struct run *run, struct probe *probe, unsigned from, unsigned to)
{
    static const struct pvma_call_handler handler = {.connected = connected, .ended = ended};
    static const struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    struct pvma_sim *sim = run->overlay->sim;
    struct pvma_overlay_station *caller = run->stations[from], *called = run->stations[to];
    struct pvma_overlay_counters before = pvma_overlay_count(run->overlay);
    struct pvma_survey_call call = {.from = caller->server->number, .to = called->server->number};
    pvma_ps start = pvma_sim_now(sim);
    probe->call = pvma_call_open(caller->host, pvma_host_address(called->host), SAP, &contract, &handler, probe);
    wait_for(sim, &probe->has_answer);
    struct pvma_overlay_counters after = pvma_overlay_count(run->overlay);
    call.hops = (unsigned)(after.hops - before.hops);
    call.relayed = after.relayed > before.relayed;
    call.set_up = pvma_sim_now(sim) - start;
    call.cause = probe->vc ? 0 : probe->has_answer ? probe->cause : PVMA_CAUSE_TIMEOUT;
    if (probe->vc)
        call.packet = send_packet(run, probe);
    return call;
}

/* ---- the whole ---- */

/* A pair that is not connected yet; false after many attempts: few are left. */
static bool draw_pair(struct run *run, struct pvma_random *random, unsigned *from, unsigned *to)
{
    unsigned stations = run->survey->stations;
    for (int tries = 0; stations > 1 && tries < 1000; tries++) {
        *from = (unsigned)pvma_random_below(random, stations);
        *to = (unsigned)pvma_random_below(random, stations);
        unsigned pair = *from * stations + *to, i = 0;
        while (i < run->survey->calls && run->pairs[i] != pair)
            i++;
        if (*from == *to || i < run->survey->calls)
            continue;
        run->pairs[i] = pair;
        return true;
    }
    return false;
}

static void listen_everywhere(struct run *run)
{
    for (size_t i = 0; i < run->overlay->node_count; i++) {
        struct pvma_overlay_station *station = &run->overlay->stations[i];
        if (!station->host)
            continue;
        run->stations[run->survey->stations++] = station;
        pvma_host_listen(station->host, SAP, offered, run);
    }
}

/* Releases all calls, and waits until nothing is left. */
static size_t release(struct run *run)
{
    struct pvma_sim *sim = run->overlay->sim;
    pvma_ps end = pvma_sim_now(sim) + TIME_UP;
    for (unsigned i = 0; i < run->survey->calls; i++)
        if (run->probes[i].call)
            pvma_call_release(run->probes[i].call);
    size_t left;
    do {
        left = pvma_overlay_in_use(run->overlay);
        for (unsigned i = 0; i < run->survey->stations; i++)
            left += vcis_at(run->stations[i]) - 1; /* that to the server */
    } while (left && pvma_sim_next(sim) <= end && pvma_sim_step(sim));
    return left;
}

static void call_all(struct run *run, const struct pvma_survey_options *options)
{
    struct pvma_random random;
    unsigned from, to;
    pvma_random_init(&random, options->seed, "survey");
    for (unsigned i = 0; i < options->calls && draw_pair(run, &random, &from, &to); i++) {
        struct pvma_survey_call call = try_call(run, &run->probes[i], from, to);
        add(run, &call);
        if (options->call)
            options->call(options->arg, &call);
    }
}

struct pvma_survey pvma_survey_run(struct pvma_overlay *overlay, const struct pvma_survey_options *options)
{
    struct pvma_survey survey = {.servers = (unsigned)overlay->server_count};
    struct run run = {.overlay = overlay,
                      .survey = &survey,
                      .stations = pvma_new(overlay->node_count * sizeof(struct pvma_overlay_station *)),
                      .probes = pvma_new((options->calls + 1) * sizeof *run.probes),
                      .pairs = pvma_new((options->calls + 1) * sizeof *run.pairs)};
    listen_everywhere(&run);
    call_all(&run, options);
    for (unsigned i = 0; i < survey.stations; i++) {
        unsigned vcis = vcis_at(run.stations[i]);
        survey.vcis_max = vcis > survey.vcis_max ? vcis : survey.vcis_max;
    }
    survey.left = release(&run);
    survey.messages = pvma_overlay_count(overlay).messages;
    for (unsigned i = 0; i < survey.stations; i++)
        pvma_host_unlisten(run.stations[i]->host, SAP);
    free(run.stations);
    free(run.probes);
    free(run.pairs);
    return survey;
}
