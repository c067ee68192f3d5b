/* endpoint.c - see endpoint.h. */
#include "endpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "assured.h"
#include "circuits.h"
#include "client.h"
#include "inside.h"
#include "limits.h"

#define FREE_ASAP_FIRST 1024 /* lowest one that atm_bind() chooses */
#define CALLERS_MAX     128
#define READER_BYTES    (1 << 20) /* unread bytes per endpoint; the system may allow less */
#define UNREAD_OVERHEAD 1024      /* of the kernel for each record, about */
#define BITS_PER_CELL   PVMA_CELL_BITS

static struct pvma_endpoint *closing; /* endpoints with packets still to be sent */

static const struct pvma_vc_handler nobody;

/* The first circuit that the peer sees end tells it why, and it must not take a loss for the end of the stream. */
static void release(struct pvma_endpoint *e)
{
    enum pvma_cause cause = e->lost ? PVMA_CAUSE_TIMEOUT : PVMA_CAUSE_NORMAL;
    pvma_assured_free(e);
    if (e->vc)
        pvma_vc_handle(e->vc, &nobody, NULL);
    if (e->call)
        pvma_call_abandon(e->call, cause);
    pvma_circuits_free(e, cause);
    free(e);
}

void pvma_endpoint_let_go(struct pvma_endpoint *e)
{
    DL_DELETE(closing, e);
    release(e);
}

/* ---- addresses ---- */

Atm_address pvma_endpoint_nsap(const struct pvma_host *host)
{
    struct pvma_address a = pvma_host_address(host);
    uint32_t words[2] = {htonl(a.switch_id), htonl(a.port)};
    Atm_address nsap;
    memcpy(nsap.addr, words, sizeof nsap.addr);
    return nsap;
}

static Atm_address nsap_of(struct pvma_address a)
{
    uint32_t words[2] = {htonl(a.switch_id), htonl(a.port)};
    Atm_address nsap;
    memcpy(nsap.addr, words, sizeof nsap.addr);
    return nsap;
}

static struct pvma_address address_of(const Atm_address *nsap)
{
    uint32_t words[2];
    memcpy(words, nsap->addr, sizeof words);
    return (struct pvma_address){.switch_id = ntohl(words[0]), .port = ntohl(words[1])};
}

/* ---- contracts ---- */

static enum pvma_aal aal_of(Aal_type aal)
{
    return aal == aal_type_5 ? PVMA_AAL5 : PVMA_AAL34;
}

static int32_t cells_of(uint32_t kbit)
{
    int64_t cells = ((int64_t)kbit * 1000 + BITS_PER_CELL - 1) / BITS_PER_CELL;
    return cells < INT32_MAX ? (int32_t)cells : INT32_MAX;
}

static struct pvma_bandwidth bandwidth_of(const Atm_qos *q, bool minimum)
{
    return (struct pvma_bandwidth){
        .peak_bps = INT64_C(1000) * (minimum ? q->peak_bandwidth.minimum : q->peak_bandwidth.target),
        .mean_bps = INT64_C(1000) * (minimum ? q->mean_bandwidth.minimum : q->mean_bandwidth.target),
        .burst_cells = cells_of(minimum ? q->mean_burst.minimum : q->mean_burst.target)};
}

static struct pvma_contract contract_of(const struct pvma_fore_message *m)
{
    struct pvma_contract c = {.aal = aal_of(m->aal),
                              .flow = m->dataflow == simplex  ? PVMA_SIMPLEX
                                      : m->dataflow == duplex ? PVMA_DUPLEX
                                                              : PVMA_MULTICAST,
                              .wanted = bandwidth_of(&m->qos, false),
                              .minimum = bandwidth_of(&m->qos, true)};
    c.service = c.wanted.mean_bps ? PVMA_VBR : PVMA_UBR;
    c.paced = c.wanted.peak_bps;
    if (m->dataflow == duplex) {
        c.back_wanted = c.wanted;
        c.back_minimum = c.minimum;
    }
    return c;
}

static Atm_range range_of(int64_t target, int64_t minimum)
{
    return (Atm_range){(u_int)target, (u_int)minimum};
}

static Atm_qos qos_of(const struct pvma_bandwidth *wanted, const struct pvma_bandwidth *minimum)
{
    return (Atm_qos){.peak_bandwidth = range_of(wanted->peak_bps / 1000, minimum->peak_bps / 1000),
                     .mean_bandwidth = range_of(wanted->mean_bps / 1000, minimum->mean_bps / 1000),
                     .mean_burst = range_of((int64_t)wanted->burst_cells * BITS_PER_CELL / 1000,
                                            (int64_t)minimum->burst_cells * BITS_PER_CELL / 1000)};
}

static int errno_of(int cause)
{
    switch (cause) {
    case PVMA_CAUSE_BUSY:
    case PVMA_CAUSE_NO_LISTENER:
        return ECONNREFUSED;
    case PVMA_CAUSE_PROTOCOL:
        return EPROTOTYPE;
    case PVMA_CAUSE_NO_ROUTE:
        return EHOSTUNREACH;
    case PVMA_CAUSE_NO_BANDWIDTH:
    case PVMA_CAUSE_NO_BUFFER:
    case PVMA_CAUSE_NO_VCI:
        return ENOBUFS;
    default:
        return ECONNABORTED;
    }
}

/* ---- to the program ---- */

/* What the kernel keeps for a program, which is more than the packets themselves. */
static size_t unread_bytes(const struct pvma_client *c)
{
    const struct pvma_endpoint *e;
    size_t sum = 0;
    int bytes;
    DL_FOREACH (c->endpoints, e)
        if (e->fd >= 0 && !ioctl(e->fd, SIOCOUTQ, &bytes) && bytes > 0)
            sum += (size_t)bytes;
    return sum;
}

/* Only when so much has come since the last look can it be too much. */
static bool reads_too_little(struct pvma_client *c, size_t length)
{
    c->unread += length + UNREAD_OVERHEAD;
    if (c->unread <= PVMA_UNREAD_BYTES)
        return false;
    c->unread = unread_bytes(c);
    if (c->unread <= PVMA_UNREAD_BYTES)
        return false;
    pvmc_log_once(PVMC_LOG_ERROR, "process %d does not read what arrives for it: packets are lost", (int)c->pid);
    return true;
}

/* Assured endpoints get one NEWS, and no packets: it must not be lost because others are not read. */
bool pvma_endpoint_tell(struct pvma_endpoint *e, const struct pvma_fore_message *m)
{
    bool can_be_much = e->protocol == PVMA_NATIVE;
    if (e->fd < 0 || (can_be_much && reads_too_little(e->client, m->length)) ||
        pvma_fore_message_send(e->fd, m, -1, false))
        return false;
    pvma_client_tell(e->client);
    return true;
}

/* The peer has gone: the program reads end of file. */
void pvma_endpoint_end(struct pvma_endpoint *e, int cause)
{
    if (e->vc && !e->connection)
        pvma_vc_handle(e->vc, NULL, NULL); /* it drops what it has not sent after this */
    e->call = NULL;
    e->vc = NULL;
    if (e->state == PVMA_ENDPOINT_CLOSING) {
        pvma_endpoint_let_go(e);
        return;
    }
    if (e->protocol) {
        pvma_assured_end(e, cause == PVMA_CAUSE_NORMAL);
        return;
    }
    e->state = PVMA_ENDPOINT_ENDED;
    shutdown(e->fd, SHUT_RDWR);
    bool waited = e->sending || e->stuck;
    struct pvma_client *client = e->client;
    e->sending = e->stuck = false;
    pvma_client_tell(client);
    if (waited)
        pvma_client_done(client, 0, NULL); /* its next command may free e, or the client itself */
}

/* ---- packets ---- */

void pvma_endpoint_deliver(struct pvma_endpoint *e, struct pvma_host *host, const uint8_t *data, size_t length)
{
    struct pvma_fore_message m = {.type = PVMA_FORE_DATA,
                                  .time_ns = pvma_serve_ns(pvma_sim_now(pvma_serving.sim)),
                                  .data = data,
                                  .length = (uint32_t)length};
    if (!pvma_endpoint_tell(e, &m))
        pvma_host_counters(host)->reader_drops++;
}

static void received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    pvma_endpoint_deliver(arg, pvma_vc_host(vc), data, length);
}

/* The driver's call is over, whether or not the packet was sent. */
void pvma_endpoint_call_over(struct pvma_endpoint *e)
{
    if (!e->sending)
        return;
    e->sending = false;
    pvma_client_done(e->client, 0, NULL);
}

static void taken(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    (void)vc;
    (void)cookie;
    pvma_endpoint_call_over(arg);
}

/* Runs from an event, because a VC must not be released in its own callback. */
static void let_go(void *arg)
{
    struct pvma_endpoint *e;
    uint32_t number = (uint32_t)(uintptr_t)arg;
    DL_FOREACH (closing, e)
        if (e->number == number)
            break;
    if (!e)
        return; /* the peer closed first */
    pvma_endpoint_let_go(e);
}

static void sent(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    struct pvma_endpoint *e = arg;
    (void)cookie;
    if (e->state == PVMA_ENDPOINT_CLOSING && !pvma_vc_queued(vc))
        pvma_sim_call(pvma_serving.sim, pvma_sim_now(pvma_serving.sim), let_go, (void *)(uintptr_t)e->number);
}

static void dropped(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why)
{
    (void)why;
    pvma_endpoint_call_over(arg);
    sent(arg, vc, cookie);
}

static void room(void *arg, struct pvma_vc *vc)
{
    struct pvma_endpoint *e = arg;
    (void)vc;
    if (!e->stuck)
        return;
    e->stuck = false;
    pvma_client_again(e->client);
}

static const struct pvma_vc_handler packets = {
    .received = received, .taken = taken, .sent = sent, .dropped = dropped, .room = room};

int pvma_endpoint_send(struct pvma_endpoint *e, const uint8_t *data, size_t length)
{
    if (e->protocol)
        return PVMC_EDOWN; /* it sends no packets */
    if (e->state == PVMA_ENDPOINT_CONNECTED && e->inside) {
        pvma_inside_send(e, data, length);
        return 0;
    }
    if (e->state != PVMA_ENDPOINT_CONNECTED || !e->vc)
        return PVMC_EDOWN;
    int rc = pvma_vc_send(e->vc, data, length, 0);
    e->sending = !rc;
    e->stuck = rc == PVMC_EAGAIN;
    return rc;
}

/* ---- callers ---- */

void pvma_endpoint_forget_caller(struct pvma_endpoint *e, struct pvma_caller *caller)
{
    pvma_circuits_refuse(caller);
    DL_DELETE(e->callers, caller);
    e->caller_count--;
    free(caller);
}

/* The asap of a caller, which signalling does not carry. 0: the caller has closed in the meantime. */
static uint32_t asap_of_caller(const struct pvma_call *offered)
{
    const struct pvma_client *c;
    const struct pvma_endpoint *e;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, e)
            if (e->call && pvma_call_is_other_end(offered, e->call))
                return e->asap;
    return 0;
}

/* The caller gave up before the program answered, so its answer will fail. */
static void caller_is_gone(void *arg, struct pvma_call *call, int cause)
{
    struct pvma_caller *caller = arg;
    (void)call;
    (void)cause;
    pvma_endpoint_forget_caller(caller->called, caller);
}

static const struct pvma_call_handler waiting = {.ended = caller_is_gone};

bool pvma_endpoint_announce(struct pvma_endpoint *e, const struct pvma_caller *who, const Atm_endpoint *from)
{
    static uint32_t last_number;
    static const Atm_dataflow flows[] = {
        [PVMA_SIMPLEX] = simplex, [PVMA_DUPLEX] = duplex, [PVMA_MULTICAST] = multicast};
    if (e->caller_count >= e->length)
        return false;
    struct pvma_caller *caller = pvma_new(sizeof *caller);
    *caller = *who;
    caller->called = e;
    caller->number = ++last_number & INT32_MAX;
    DL_APPEND(e->callers, caller);
    e->caller_count++;
    struct pvma_fore_message m = {.type = PVMA_FORE_CALLER,
                                  .number = caller->number,
                                  .address = *from,
                                  .qos = qos_of(&who->contract.wanted, &who->contract.minimum),
                                  .aal = who->contract.aal == PVMA_AAL5 ? aal_type_5 : aal_type_4,
                                  .dataflow = flows[who->contract.flow]};
    if (!pvma_endpoint_tell(e, &m)) {
        pvma_endpoint_forget_caller(e, caller);
        return false;
    }
    if (caller->call)
        pvma_call_watch(caller->call, &waiting, caller);
    return true;
}

static void offered(void *arg, struct pvma_call *call, struct pvma_address from, const struct pvma_contract *contract)
{
    struct pvma_endpoint *e = arg;
    struct pvma_caller caller = {.call = call, .contract = *contract};
    if (contract->protocol != e->protocol) {
        pvma_call_refuse(call, PVMA_CAUSE_PROTOCOL);
        return;
    }
    Atm_endpoint address = {asap_of_caller(call), nsap_of(from)};
    if (!pvma_endpoint_announce(e, &caller, &address))
        pvma_call_refuse(call, PVMA_CAUSE_BUSY);
}

static struct pvma_caller *find_caller(struct pvma_endpoint *e, uint32_t number)
{
    struct pvma_caller *caller;
    DL_FOREACH (e->callers, caller)
        if (caller->number == number)
            return caller;
    return NULL;
}

/* ---- calls ---- */

/* Reports the result of a CONNECT. */
static void tell_result(struct pvma_endpoint *e, int error, struct pvma_fore_message *m)
{
    if (!e->early) {
        pvma_client_done(e->client, error, m);
        return;
    }
    m->type = PVMA_FORE_CONNECTED;
    m->error = error;
    e->early = false;
    pvma_endpoint_tell(e, m);
}

/* The endpoint's circuit is there. */
static void attach(struct pvma_endpoint *e, struct pvma_vc *vc)
{
    e->vc = vc;
    if (!e->protocol)
        pvma_vc_handle(vc, &packets, e);
    else if (pvma_circuits_are_up(e))
        pvma_assured_begin(e);
}

static void connected(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted)
{
    struct pvma_endpoint *e = arg;
    (void)call;
    static const struct pvma_bandwidth nothing;
    struct pvma_fore_message result = {.qos = qos_of(&granted->wanted, &nothing)};
    attach(e, vc);
    if (!pvma_circuits_are_up(e))
        return;
    e->state = PVMA_ENDPOINT_CONNECTED;
    tell_result(e, 0, &result);
}

void pvma_endpoint_circuit_up(struct pvma_endpoint *e)
{
    if (!pvma_circuits_are_up(e))
        return;
    pvma_assured_begin(e);
    if (e->state != PVMA_ENDPOINT_CONNECTING)
        return;
    e->state = PVMA_ENDPOINT_CONNECTED;
    tell_result(e, 0, &(struct pvma_fore_message){0});
}

void pvma_endpoint_circuit_refused(struct pvma_endpoint *e, int cause)
{
    pvma_circuits_free(e, PVMA_CAUSE_NORMAL);
    if (e->call)
        pvma_call_release(e->call);
    e->call = NULL;
    e->vc = NULL;
    e->state = PVMA_ENDPOINT_BOUND;
    tell_result(e, errno_of(cause), &(struct pvma_fore_message){0});
}

static void ended(void *arg, struct pvma_call *call, int cause)
{
    struct pvma_endpoint *e = arg;
    (void)call;
    if (e->state != PVMA_ENDPOINT_CONNECTING) {
        pvma_endpoint_end(e, cause);
        return;
    }
    pvma_circuits_free(e, PVMA_CAUSE_NORMAL);
    e->call = NULL;
    e->vc = NULL;
    e->state = PVMA_ENDPOINT_BOUND;
    tell_result(e, errno_of(cause), &(struct pvma_fore_message){0});
}

static void party(void *arg, struct pvma_call *call, uint16_t number, int cause)
{
    struct pvma_endpoint *e = arg;
    (void)call;
    (void)number;
    if (e->state != PVMA_ENDPOINT_CLOSING)
        tell_result(e, cause ? errno_of(cause) : 0, &(struct pvma_fore_message){0});
}

static const struct pvma_call_handler calls = {.connected = connected, .ended = ended, .party = party};

/* Adds a receiver. */
static int add_party(struct pvma_endpoint *e, const struct pvma_fore_message *m)
{
    if (m->dataflow != multicast || e->state != PVMA_ENDPOINT_CONNECTED || !e->calls)
        return EISCONN;
    return pvma_call_add_party(e->call, address_of(&m->address.nsap), m->address.asap) < 0 ? EINVAL : 0;
}

int pvma_endpoint_connect(struct pvma_endpoint *e, const struct pvma_fore_message *m)
{
    if (e->early)
        return EALREADY;
    e->early = m->number;
    if (e->call || e->inside)
        return e->inside ? EISCONN : add_party(e, m);
    if (e->state != PVMA_ENDPOINT_BOUND)
        return e->state == PVMA_ENDPOINT_OPEN ? EINVAL : EISCONN;
    if (e->protocol && m->dataflow != duplex)
        return EOPNOTSUPP;
    struct pvma_contract contract = contract_of(m);
    if (e->protocol) {
        contract.protocol = e->protocol;
        contract.aal = pvma_protocol_aal(e->protocol);
    }
    e->calls = true;
    if (pvma_inside_is_own(e, &m->address.nsap)) {
        int error = pvma_inside_connect(e, m, &contract);
        e->state = error ? PVMA_ENDPOINT_BOUND : PVMA_ENDPOINT_CONNECTING;
        return error;
    }
    e->state = PVMA_ENDPOINT_CONNECTING;
    e->call = pvma_call_open(e->host, address_of(&m->address.nsap), m->address.asap, &contract, &calls, e);
    pvma_circuits_open(e, address_of(&m->address.nsap));
    return 0;
}

/* Computes the bandwidth that the called side wants of the offer; false if that is below the caller's minimum. */
static bool narrow(const struct pvma_contract *offered_contract, const Atm_qos *qos, struct pvma_bandwidth *granted)
{
    struct pvma_bandwidth want = bandwidth_of(qos, false);
    *granted = offered_contract->wanted;
    if (want.peak_bps && want.peak_bps < granted->peak_bps)
        granted->peak_bps = want.peak_bps;
    if (want.mean_bps && want.mean_bps < granted->mean_bps)
        granted->mean_bps = want.mean_bps;
    if (want.burst_cells && want.burst_cells < granted->burst_cells)
        granted->burst_cells = want.burst_cells;
    return granted->peak_bps >= offered_contract->minimum.peak_bps &&
           granted->mean_bps >= offered_contract->minimum.mean_bps &&
           granted->burst_cells >= offered_contract->minimum.burst_cells;
}

static const enum pvma_flow flow_of[] = {
    [simplex] = PVMA_SIMPLEX, [duplex] = PVMA_DUPLEX, [multicast] = PVMA_MULTICAST};

int pvma_endpoint_accept(struct pvma_endpoint *e, struct pvma_endpoint *fresh, struct pvma_fore_message *m)
{
    struct pvma_caller *caller = find_caller(e, m->number);
    struct pvma_bandwidth granted;
    if (!caller)
        return ECONNABORTED;
    if (caller->contract.flow != flow_of[m->dataflow] || !narrow(&caller->contract, &m->qos, &granted))
        return EINVAL;
    if (fresh->state > PVMA_ENDPOINT_BOUND || fresh->listening)
        return EISCONN;
    if (fresh->host != e->host)
        return EXDEV;
    if (fresh->protocol != e->protocol) {
        int error = fresh->protocol ? EPROTOTYPE : pvma_assured_choose(fresh, e->protocol);
        if (error)
            return error;
    }
    m->qos = qos_of(&granted, &granted);
    if (caller->inside) {
        pvma_inside_accept(fresh, caller->inside);
        tell_result(caller->inside, 0, &(struct pvma_fore_message){.qos = m->qos});
    } else {
        fresh->call = caller->call;
        fresh->state = PVMA_ENDPOINT_CONNECTED;
        pvma_circuits_accept(fresh, caller);
        attach(fresh, pvma_call_accept(caller->call, &granted, &calls, fresh));
    }
    pvma_endpoint_forget_caller(e, caller);
    return 0;
}

int pvma_endpoint_reject(struct pvma_endpoint *e, uint32_t number)
{
    struct pvma_caller *caller = find_caller(e, number);
    if (!caller)
        return ECONNABORTED;
    struct pvma_call *call = caller->call;
    struct pvma_endpoint *inside = caller->inside;
    pvma_endpoint_forget_caller(e, caller);
    if (call) {
        pvma_call_refuse(call, PVMA_CAUSE_BUSY);
    } else {
        inside->state = PVMA_ENDPOINT_BOUND;
        tell_result(inside, ECONNREFUSED, &(struct pvma_fore_message){0});
    }
    return 0;
}

/* ---- binding ---- */

static bool is_taken(const struct pvma_host *host, uint32_t asap)
{
    const struct pvma_client *c;
    const struct pvma_endpoint *e;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, e)
            if (e->host == host && e->asap == asap)
                return true;
    return false;
}

/* Marks those at a host that are among the first `count` free to be chosen. */
static void mark_taken(const struct pvma_host *host, bool *taken, size_t count)
{
    const struct pvma_client *c;
    const struct pvma_endpoint *e;
    DL_FOREACH (pvma_clients, c)
        DL_FOREACH (c->endpoints, e)
            if (e->host == host && e->asap >= FREE_ASAP_FIRST && e->asap - FREE_ASAP_FIRST < count)
                taken[e->asap - FREE_ASAP_FIRST] = true;
}

/* The lowest one. One more than there are endpoints must have a free one. */
static uint32_t free_asap(const struct pvma_host *host)
{
    const struct pvma_client *c;
    size_t count = 1, first = 0;
    DL_FOREACH (pvma_clients, c)
        count += c->endpoint_count;
    bool *taken = pvma_new(count * sizeof *taken);
    mark_taken(host, taken, count);
    while (taken[first])
        first++;
    free(taken);
    return FREE_ASAP_FIRST + (uint32_t)first;
}

int pvma_endpoint_bind(struct pvma_endpoint *e, uint32_t asap, uint32_t length)
{
    struct pvma_host *host = e->host;
    if (e->state != PVMA_ENDPOINT_OPEN)
        return EINVAL;
    if (asap == PVMA_CIRCUITS_ASAP || (asap && is_taken(host, asap)))
        return EADDRINUSE;
    uint32_t chosen = asap ? asap : free_asap(host);
    if (length && pvma_host_listen(host, chosen, offered, e))
        return EADDRINUSE;
    e->asap = chosen;
    e->length = length < CALLERS_MAX ? length : CALLERS_MAX;
    e->listening = length;
    e->state = PVMA_ENDPOINT_BOUND;
    return 0;
}

/* ---- opening and closing ---- */

/* Descriptors of endpoints leave some for connections. Returns 0 or an errno. */
static int make_pair(int pair[2])
{
    struct rlimit limit;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return errno;
    int highest = pair[0] > pair[1] ? pair[0] : pair[1];
    if (getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)highest + PVMA_DESCRIPTORS_SPARED < limit.rlim_cur)
        return 0;
    close(pair[0]);
    close(pair[1]);
    return EMFILE;
}

int pvma_endpoint_open(struct pvma_client *client, struct pvma_host *host, int *fd, struct pvma_endpoint **out)
{
    static const int bytes = READER_BYTES;
    int pair[2];
    if (client->endpoint_count >= PVMA_ENDPOINTS_MAX) {
        pvmc_log_once(PVMC_LOG_ERROR, "process %d has %d endpoints: it cannot open more", (int)client->pid,
                      PVMA_ENDPOINTS_MAX);
        return ENOBUFS;
    }
    int error = make_pair(pair);
    if (error)
        return error;
    client->endpoint_count++;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    struct pvma_endpoint *e = pvma_new(sizeof *e);
    *e = (struct pvma_endpoint){.client = client, .host = host, .number = ++client->last_endpoint, .fd = pair[0]};
    pvma_assured_open(e);
    DL_APPEND(client->endpoints, e);
    *fd = pair[1];
    *out = e;
    return 0;
}

static void take_down(struct pvma_endpoint *e)
{
    while (e->callers)
        pvma_endpoint_reject(e, e->callers->number);
    if (e->listening)
        pvma_host_unlisten(e->host, e->asap);
    if (!e->call)
        pvma_inside_leave(e);
    DL_DELETE(e->client->endpoints, e);
    e->client->endpoint_count--;
    close(e->fd);
    e->fd = -1;
    e->asap = 0;
}

static bool is_unsent(const struct pvma_endpoint *e)
{
    if (e->state != PVMA_ENDPOINT_CONNECTED || !e->vc)
        return false;
    return e->protocol ? pvma_assured_is_unsent(e) : pvma_vc_sends(e->vc) && pvma_vc_queued(e->vc);
}

/* Counts the assured endpoints of a client, or of all (0), that are closing. The first of them is the oldest. */
static unsigned assured_closing(uint32_t owner, struct pvma_endpoint **oldest)
{
    struct pvma_endpoint *e;
    unsigned count = 0;
    DL_FOREACH (closing, e) {
        if (!e->protocol || (owner && e->owner != owner))
            continue;
        if (!count++)
            *oldest = e;
    }
    return count;
}

/* Assured endpoints wait for acknowledgements, which may take long. If they are many, the program's oldest loses. */
static void linger(struct pvma_endpoint *e)
{
    struct pvma_endpoint *oldest = e;
    pvma_assured_linger(e);
    if (assured_closing(e->owner, &oldest) <= PVMA_ASSURED_CLOSING_MAX &&
        assured_closing(0, &oldest) <= PVMA_ASSURED_CLOSING_ALL_MAX)
        return;
    pvmc_log_once(PVMC_LOG_ERROR,
                  "too many closed endpoints wait for acknowledgements: the oldest lose their last bytes");
    oldest->lost = true;
    pvma_endpoint_let_go(oldest);
}

void pvma_endpoint_close(struct pvma_endpoint *e)
{
    static uint32_t last;
    take_down(e);
    if (!is_unsent(e)) {
        release(e);
        return;
    }
    e->state = PVMA_ENDPOINT_CLOSING;
    e->owner = e->client->number;
    e->client = NULL;
    e->number = ++last; /* unique among closing endpoints */
    DL_APPEND(closing, e);
    if (e->protocol)
        linger(e);
}

void pvma_endpoint_free_closing(void)
{
    while (closing) {
        pvma_endpoint_let_go(closing);
    }
}
