/*
 * link.c - the circuit of a link: duplex, between two tasks.
 *
 * The offering side listens at an access point of the link's own, and takes the one caller that the reply named. The
 * joining side calls there. Neither waits: calls are answered from progress().
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "atm_transport.h"

#define WINDOW_MAX   16 /* limit of packets in the network's queue for a slow reader */
#define WINDOW_MIN   2
#define WINDOW_BYTES 150000 /* limit that fits the shared buffer of a switch; also used between tasks of one host */
#define CALLERS_MAX  4
#define RETRY_MIN_US 20000  /* hosts of the 1990s need milliseconds for a packet */
#define RETRY_MAX_US 250000 /* at 50 % loss, 20 tries in a row may fail, but not 60 */
#define ACK_DELAY_US 2000

/*
 * In virtual time, where an answer takes a host of the 1990s milliseconds: an acknowledgement for each small message
 * would cost the sender as much of its processor as the message. Less than RETRY_MIN_US.
 */
#define VIRTUAL_ACK_DELAY_US 10000

static struct atm_transport *transport_of(const struct atm_link *l)
{
    return (struct atm_transport *)l->base.ep.transport;
}

/* The error code of a failed Fore call. */
static int system_error(void)
{
    return errno == EMFILE || errno == ENFILE ? PVMC_ELIMIT : errno == ENOMEM ? PVMC_ENOMEM : PVMC_ESYSTEM;
}

/* ---- descriptors ---- */

static int ready(struct atm_watch *w);

static int watch(struct atm_link *l)
{
    return pvmt_atm_watch(transport_of(l), l->fd, &l->watch);
}

/* Our current address. It may change: once all descriptors are closed, the network can choose another host. */
static int find_address(const struct atm_transport *t, Atm_address *own)
{
    return t->host[0] ? t->library->gethostbyname(t->host, own) : t->library->sim_address(own);
}

/* Binds a descriptor to an access point of its own. callers: the backlog; 0: this side calls. */
static int open_descriptor(struct atm_link *l, int callers)
{
    struct atm_transport *t = transport_of(l);
    l->fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (l->fd < 0)
        return system_error();
    int rc = pvmt_atm_assure(l);
    if (!rc && (t->library->bind(l->fd, 0, &l->own.endpoint.asap, callers) || find_address(t, &l->own.endpoint.nsap)))
        rc = system_error();
    return rc;
}

/* ---- outgoing packets ---- */

int pvmt_atm_link_emit(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count)
{
    struct atm_link *l = (struct atm_link *)ep;
    struct atm_transport *t = transport_of(l);
    if (!l->base.up || l->base.over)
        return l->base.over ? PVMC_EDOWN : PVMC_EAGAIN;
    if (t->joint)
        return pvmt_atm_joint_add(l, pieces, count);
    size_t length = 0;
    for (unsigned i = 0; i < count; i++) {
        memcpy(t->packet + length, pieces[i].iov_base, pieces[i].iov_len);
        length += pieces[i].iov_len;
    }
    return t->library->send(l->fd, (const char *)t->packet, (int)length) < 0 ? PVMC_EDOWN : 0;
}

/* ---- beginning ---- */

/* callers: as in open_descriptor(). */
static int start(struct atm_link *l, int callers)
{
    struct atm_transport *t = transport_of(l);
    if (!t->protocol) /* assured connections are point to point */
        pvmt_atm_door_open(t);
    l->own = (struct pvmt_atm_offer){
        .mtu = t->mtu, .aal = t->aal, .protocol = t->protocol, .leaf_asap = t->door_asap, .incarnation = l->base.own};
    l->watch.ready = ready;
    return open_descriptor(l, callers);
}

static uint32_t window_for(uint32_t packet_bytes)
{
    uint32_t window = WINDOW_MAX;
    while (window > WINDOW_MIN && window * packet_bytes > WINDOW_BYTES)
        window /= 2;
    return window;
}

static int connect_reliable(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    uint32_t packet_bytes = l->own.mtu < l->peer.mtu ? l->own.mtu : l->peer.mtu, window = window_for(packet_bytes);
    const struct pvmw_reliable_settings settings = {.packet_bytes = packet_bytes,
                                                    .window = window,
                                                    .credit = window,
                                                    .retry_min_us = RETRY_MIN_US,
                                                    .retry_max_us = RETRY_MAX_US,
                                                    .ack_delay_us = t->is_virtual ? VIRTUAL_ACK_DELAY_US : ACK_DELAY_US,
                                                    .dead_after_us = t->base.dead_after_us};
    return pvmt_datagram_connect(&l->base, &settings, l->peer.incarnation);
}

/* Both sides must use the same protocol. 0 or PVMC_EUNSUPPORTED, logged. */
static int compare_protocols(const struct atm_link *l)
{
    if (l->own.protocol == l->peer.protocol)
        return 0;
    pvmc_log_once(PVMC_LOG_WARNING,
                  "no direct ATM link: the peer has PVM_ATM_PROTOCOL=%s, this task %s, and both must have the same",
                  pvmt_atm_protocol_name(l->peer.protocol), pvmt_atm_protocol_name(l->own.protocol));
    return PVMC_EUNSUPPORTED;
}

/* The peer is known: starts the connection. */
static int begin(struct atm_link *l, enum atm_state state)
{
    struct atm_transport *t = transport_of(l);
    int rc = compare_protocols(l);
    if (!rc)
        rc = t->protocol ? pvmt_atm_connect_assured(l) : connect_reliable(l);
    if (!rc)
        rc = watch(l);
    l->state = state;
    return rc;
}

int pvmt_atm_link_offer(struct pvmt_datagram_link *base, uint8_t blob[PVMT_OFFER_MAX])
{
    struct atm_link *l = (struct atm_link *)base;
    int rc = start(l, CALLERS_MAX);
    return rc ? rc : pvmt_atm_offer_encode(&l->own, blob);
}

/* Calls the offering side. The answer arrives on the descriptor. */
static int call(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    int rc = begin(l, ATM_CALLING);
    if (!rc && t->library->connect(l->fd, &l->peer.endpoint, NULL, NULL, l->peer.aal, duplex) && errno != EINPROGRESS)
        rc = PVMC_EUNREACHABLE;
    return rc;
}

int pvmt_atm_link_join(struct pvmt_datagram_link *base, const uint8_t *blob, size_t length,
                       uint8_t reply[PVMT_OFFER_MAX])
{
    struct atm_link *l = (struct atm_link *)base;
    int rc = start(l, 0);
    if (!rc)
        rc = pvmt_atm_offer_decode(blob, length, &l->peer);
    if (!rc)
        rc = call(l);
    return rc ? rc : pvmt_atm_offer_encode(&l->own, reply);
}

int pvmt_atm_link_joined(struct pvmt_datagram_link *base, const uint8_t *reply, size_t length)
{
    struct atm_link *l = (struct atm_link *)base;
    int rc = pvmt_atm_offer_decode(reply, length, &l->peer);
    return rc ? rc : begin(l, ATM_EXPECTED);
}

/* ---- the end ---- */

/* Closes the descriptor at once, because it would wake us until the owner disconnects the dead link. */
void pvmt_atm_link_leave(struct pvmt_datagram_link *base)
{
    struct atm_link *l = (struct atm_link *)base;
    pvmt_atm_trees_leave(l);
    pvmt_atm_close(transport_of(l), &l->fd);
}

/* The circuit is gone. Returns 1, the number of events. */
static int lose(struct atm_link *l, int reason)
{
    pvmt_datagram_lose(&l->base, reason);
    pvmt_atm_link_leave(&l->base);
    return 1;
}

/* ---- events of the descriptor ---- */

/* Accepts the caller that the reply named, and rejects others. */
static int take_caller(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    Atm_endpoint caller;
    int number;
    if (t->library->listen(l->fd, &number, &caller, NULL, NULL))
        return errno == EAGAIN ? 0 : lose(l, PVMC_EDOWN);
    if (caller.asap != l->peer.endpoint.asap || memcmp(&caller.nsap, &l->peer.endpoint.nsap, sizeof caller.nsap)) {
        t->library->reject(l->fd, number);
        return 1;
    }
    int listener = l->fd, fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (fd < 0)
        return lose(l, system_error());
    bool accepted = !t->library->accept(listener, fd, number, NULL, duplex);
    t->library->close(listener);
    l->fd = fd;
    if (!accepted || watch(l))
        return lose(l, PVMC_EDOWN);
    pvmt_datagram_up(&l->base);
    return 1;
}

static int take_answer(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    if (!t->library->connect(l->fd, &l->peer.endpoint, NULL, NULL, l->peer.aal, duplex)) {
        pvmt_datagram_up(&l->base);
        return 1;
    }
    return errno == EALREADY ? 0 : lose(l, PVMC_EUNREACHABLE);
}

static int take_packet(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    if (t->protocol) {
        pvmt_datagram_hear(&l->base);
        return 1;
    }
    int n = t->library->recv(l->fd, (char *)t->packet, sizeof t->packet);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        return lose(l, PVMC_EDOWN);
    pvmt_datagram_take(&l->base, t->packet, (size_t)n);
    return 1;
}

static int ready(struct atm_watch *w)
{
    struct atm_link *l = (struct atm_link *)((char *)w - offsetof(struct atm_link, watch));
    if (l->base.dead || l->base.over)
        return 0;
    if (l->base.up)
        return take_packet(l);
    switch (l->state) {
    case ATM_EXPECTED:
        return take_caller(l);
    case ATM_CALLING:
        return take_answer(l);
    default:
        return 0;
    }
}
