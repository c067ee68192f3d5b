/* circuits.c - see circuits.h. */
#include "circuits.h"
#include <utlist.h>
#include "client.h"

#define PROTOCOL_BITS 3
#define BACKUP_BPS    INT64_C(50000000) /* the thesis's peak of the circuit with guarantees */
#define CONTROL_BPS   INT64_C(2000000)  /* reserved for control: a few thousand cells a second */

static const struct pvma_vc_handler nobody;

unsigned pvma_circuits_of(enum pvma_protocol protocol)
{
    return protocol >= PVMA_ECE_SWITCHING ? PVMA_FURTHER : 0;
}

static unsigned number_of(const struct pvma_contract *contract)
{
    return contract->protocol >> PROTOCOL_BITS;
}

bool pvma_circuits_are_up(const struct pvma_endpoint *e)
{
    bool all = e->vc;
    for (unsigned i = 0; i < pvma_circuits_of(e->protocol); i++)
        all = all && e->circuits.vc[i];
    return all;
}

/* The index of one of the endpoint's calls. */
static unsigned index_of(const struct pvma_endpoint *e, const struct pvma_call *call)
{
    return e->circuits.call[1] == call;
}

/* ---- the calling side ---- */

static void connected(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted)
{
    struct pvma_endpoint *e = arg;
    (void)granted;
    e->circuits.vc[index_of(e, call)] = vc;
    pvma_endpoint_circuit_up(e);
}

/* If the endpoint is connected already, its connection sees the end of the VC. */
static void ended(void *arg, struct pvma_call *call, int cause)
{
    struct pvma_endpoint *e = arg;
    unsigned i = index_of(e, call);
    e->circuits.call[i] = NULL;
    e->circuits.vc[i] = NULL;
    if (e->state == PVMA_ENDPOINT_CONNECTING)
        pvma_endpoint_circuit_refused(e, cause);
}

static const struct pvma_call_handler calls = {.connected = connected, .ended = ended};

static struct pvma_contract contract_of(const struct pvma_endpoint *e, unsigned i)
{
    struct pvma_bandwidth wanted = {.peak_bps = i ? 0 : BACKUP_BPS, .mean_bps = i ? CONTROL_BPS : 0};
    struct pvma_contract c = {.aal = pvma_protocol_aal(e->protocol),
                              .flow = PVMA_DUPLEX,
                              .service = i ? PVMA_VBR : PVMA_ABR,
                              .protocol = (uint8_t)(e->protocol | (i + 1) << PROTOCOL_BITS),
                              .wanted = wanted,
                              .back_wanted = wanted};
    return c;
}

static void offered(void *arg, struct pvma_call *call, struct pvma_address from, const struct pvma_contract *contract);

void pvma_circuits_open(struct pvma_endpoint *e, struct pvma_address to)
{
    struct pvma_host *host = pvma_net_host_with(pvma_serving.net, to);
    if (host && pvma_circuits_of(e->protocol))
        pvma_host_listen(host, PVMA_CIRCUITS_ASAP, offered, NULL); /* it may do so already */
    for (unsigned i = 0; i < pvma_circuits_of(e->protocol); i++) {
        struct pvma_contract contract = contract_of(e, i);
        e->circuits.call[i] = pvma_call_open(e->host, to, PVMA_CIRCUITS_ASAP, &contract, &calls, e);
    }
}

/* ---- the called side ---- */

static void caller_is_gone(void *arg, struct pvma_call *call, int cause)
{
    struct pvma_caller *caller = arg;
    (void)cause;
    caller->further[caller->further[1] == call] = NULL;
}

static const struct pvma_call_handler waiting = {.ended = caller_is_gone};

/* The endpoint that has opened the other end of a further call; NULL: it has closed. */
static struct pvma_endpoint *calling(const struct pvma_call *call, unsigned i)
{
    struct pvma_client *c;
    struct pvma_endpoint *e;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, e)
            if (e->call && e->circuits.call[i] && pvma_call_is_other_end(call, e->circuits.call[i]))
                return e;
    return NULL;
}

static void take(struct pvma_endpoint *fresh, struct pvma_call *call, unsigned i)
{
    fresh->circuits.call[i] = call;
    fresh->circuits.vc[i] = pvma_call_accept(call, NULL, &calls, fresh);
}

/* The endpoint that has accepted the first call of `e`; NULL: none has yet. */
static struct pvma_endpoint *called(const struct pvma_endpoint *e)
{
    struct pvma_client *c;
    struct pvma_endpoint *other;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, other)
            if (other->call && pvma_call_is_other_end(other->call, e->call))
                return other;
    return NULL;
}

/* The caller whose first call is the other end of that of `e`, and who waits for an answer; NULL: none. */
static struct pvma_caller *waiting_caller(const struct pvma_endpoint *e)
{
    struct pvma_client *c;
    struct pvma_endpoint *listener;
    struct pvma_caller *caller;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, listener)
            DL_FOREACH (listener->callers, caller)
                if (caller->call && pvma_call_is_other_end(caller->call, e->call))
                    return caller;
    return NULL;
}

/* A further call. Its first call came before it. */
static void offered(void *arg, struct pvma_call *call, struct pvma_address address,
                    const struct pvma_contract *contract)
{
    unsigned i = number_of(contract) - 1;
    struct pvma_endpoint *from = i < PVMA_FURTHER ? calling(call, i) : NULL, *fresh = from ? called(from) : NULL;
    struct pvma_caller *caller = from && !fresh ? waiting_caller(from) : NULL;
    (void)arg, (void)address;
    if (fresh) {
        take(fresh, call, i);
        pvma_endpoint_circuit_up(fresh);
    } else if (caller) {
        caller->further[i] = call;
        pvma_call_watch(call, &waiting, caller);
    } else {
        pvma_call_refuse(call, PVMA_CAUSE_BUSY);
    }
}

void pvma_circuits_accept(struct pvma_endpoint *fresh, struct pvma_caller *caller)
{
    for (unsigned i = 0; i < PVMA_FURTHER; i++)
        if (caller->further[i])
            take(fresh, caller->further[i], i);
    caller->further[0] = caller->further[1] = NULL;
}

void pvma_circuits_refuse(struct pvma_caller *caller)
{
    for (unsigned i = 0; i < PVMA_FURTHER; i++)
        if (caller->further[i])
            pvma_call_refuse(caller->further[i], PVMA_CAUSE_BUSY);
}

/* ---- the end ---- */

void pvma_circuits_free(struct pvma_endpoint *e, enum pvma_cause cause)
{
    for (unsigned i = 0; i < PVMA_FURTHER; i++) {
        if (e->circuits.vc[i])
            pvma_vc_handle(e->circuits.vc[i], &nobody, NULL);
        if (e->circuits.call[i])
            pvma_call_abandon(e->circuits.call[i], cause);
    }
    e->circuits = (struct pvma_circuits){0};
}
