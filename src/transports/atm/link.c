/*
 * link.c - a connection between two tasks over a duplex virtual circuit.
 *
 * Who offers listens at an access point of the link's own, and takes the one caller that the answer to its offer named.
 * Who joins calls there. Neither waits: calls are answered from progress().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "atm_transport.h"

#define WINDOW_MAX 16 /* packets; what the network keeps for a slow reader must hold so many */
#define WINDOW_MIN 2
#define WINDOW_BYTES                                                                                                   \
    150000 /* the shared buffer of a switch must hold them, also where they go to two tasks of a host */
#define CALLERS_MAX  4
#define RETRY_MIN_US 20000  /* hosts of that time take milliseconds for a packet */
#define RETRY_MAX_US 250000 /* where half of the packets get lost, 20 tries in a row may be in vain; 60 are not */
#define ACK_DELAY_US 2000

static struct atm_transport *transport_of(const struct atm_link *l)
{
    return (struct atm_transport *)l->base.transport;
}

/* What a failed Fore call comes to. */
static int system_error(void)
{
    return errno == EMFILE || errno == ENFILE ? PVMI_ELIMIT : errno == ENOMEM ? PVMI_ENOMEM : PVMI_ESYSTEM;
}

/* ---- descriptors ---- */

static int ready(struct atm_watch *w);

static int watch(struct atm_link *l)
{
    return pvmi_atm_watch(transport_of(l), l->fd, &l->watch);
}

/* Where we are now: a process that has no descriptors leaves the network, which may then choose another host for it. */
static int find_address(const struct atm_transport *t, Atm_address *own)
{
    return t->host[0] ? t->library->gethostbyname(t->host, own) : t->library->sim_address(own);
}

/* A bound descriptor at an access point of its own; callers: how many may wait, 0: it is to call. */
static int open_descriptor(struct atm_link *l, int callers)
{
    struct atm_transport *t = transport_of(l);
    l->fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (l->fd < 0 || t->library->bind(l->fd, 0, &l->own.endpoint.asap, callers) ||
        find_address(t, &l->own.endpoint.nsap))
        return system_error();
    return 0;
}

/* ---- packets out ---- */

static int emit(struct pvmi_frames *frames, const struct iovec *pieces, unsigned count)
{
    struct atm_link *l = (struct atm_link *)frames->ep;
    struct atm_transport *t = transport_of(l);
    if (l->state != ATM_UP || l->over)
        return l->over ? PVMI_EDOWN : PVMI_EAGAIN;
    if (t->joint)
        return pvmi_atm_joint_add(l, pieces, count);
    size_t length = 0;
    for (unsigned i = 0; i < count; i++) {
        memcpy(t->packet + length, pieces[i].iov_base, pieces[i].iov_len);
        length += pieces[i].iov_len;
    }
    return t->library->send(l->fd, (const char *)t->packet, (int)length) < 0 ? PVMI_EDOWN : 0;
}

/* ---- beginning ---- */

static int draw_incarnation(uint32_t *out)
{
    do
        if (getrandom(out, sizeof *out, 0) != sizeof *out)
            return PVMI_ESYSTEM;
    while (!*out);
    return 0;
}

static int make(struct atm_transport *t, void *owner, int callers, struct atm_link **out)
{
    struct atm_link *l = calloc(1, sizeof *l);
    if (!l)
        return PVMI_ENOMEM;
    l->base = (struct pvmi_endpoint){.transport = &t->base, .owner = owner};
    pvmi_atm_door_open(t);
    l->own = (struct pvmi_atm_offer){.mtu = t->mtu, .aal = t->aal, .leaf_asap = t->door_asap};
    l->watch.ready = ready;
    l->fd = -1;
    int rc = draw_incarnation(&l->own.incarnation);
    if (!rc)
        rc = open_descriptor(l, callers);
    if (rc) {
        pvmi_atm_link_free(l);
        return rc;
    }
    DL_APPEND(t->links, l);
    *out = l;
    return 0;
}

static uint32_t window_for(uint32_t packet_bytes)
{
    uint32_t window = WINDOW_MAX;
    while (window > WINDOW_MIN && window * packet_bytes > WINDOW_BYTES)
        window /= 2;
    return window;
}

/* The peer is known: the connection of frames begins. */
static int begin(struct atm_link *l, enum atm_state state)
{
    struct atm_transport *t = transport_of(l);
    uint32_t packet_bytes = l->own.mtu < l->peer.mtu ? l->own.mtu : l->peer.mtu, window = window_for(packet_bytes);
    const struct pvmi_reliable_settings settings = {.packet_bytes = packet_bytes,
                                                    .window = window,
                                                    .credit = window,
                                                    .retry_min_us = RETRY_MIN_US,
                                                    .retry_max_us = RETRY_MAX_US,
                                                    .ack_delay_us = ACK_DELAY_US,
                                                    .dead_after_us = t->dead_after_us};
    int rc = pvmi_frames_open(&l->frames, &l->base, &settings, l->own.incarnation, l->peer.incarnation, emit);
    if (!rc)
        rc = watch(l);
    l->state = state;
    return rc;
}

static void up(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    l->state = ATM_UP;
    pvmi_reliable_greet(l->frames.reliable, t->now_us);
    pvmi_atm_touch(l);
}

int pvmi_atm_link_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                        struct pvmi_endpoint **out)
{
    struct atm_link *l;
    *fd = -1;
    int rc = make((struct atm_transport *)base, owner, CALLERS_MAX, &l);
    if (rc)
        return rc;
    rc = pvmi_atm_offer_encode(&l->own, blob);
    if (rc < 0)
        pvmi_atm_link_disconnect(&l->base);
    else
        *out = &l->base;
    return rc;
}

/* Calls who offered. The answer comes by the descriptor. */
static int call(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    int rc = begin(l, ATM_CALLING);
    if (!rc && t->library->connect(l->fd, &l->peer.endpoint, NULL, NULL, l->peer.aal, duplex) && errno != EINPROGRESS)
        rc = PVMI_EUNREACHABLE;
    return rc;
}

int pvmi_atm_link_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                       uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out)
{
    struct atm_transport *t = (struct atm_transport *)base;
    struct pvmi_atm_offer peer;
    struct atm_link *l;
    if (fd >= 0)
        close(fd);
    t->now_us = pvmi_clock_us();
    int rc = pvmi_atm_offer_decode(blob, length, &peer);
    if (!rc)
        rc = make(t, owner, 0, &l);
    if (rc)
        return rc;
    l->peer = peer;
    rc = call(l);
    if (!rc)
        rc = pvmi_atm_offer_encode(&l->own, reply);
    if (rc < 0)
        pvmi_atm_link_disconnect(&l->base);
    else
        *out = &l->base;
    return rc;
}

int pvmi_atm_link_joined(struct pvmi_endpoint *base, const uint8_t *reply, size_t length)
{
    struct atm_link *l = (struct atm_link *)base;
    struct atm_transport *t = transport_of(l);
    struct pvmi_atm_offer peer;
    t->now_us = pvmi_clock_us();
    int rc = l->state == ATM_OFFERED && !l->dead ? pvmi_atm_offer_decode(reply, length, &peer) : PVMI_EEXISTS;
    if (rc)
        return rc;
    l->peer = peer;
    l->frames.refused = true; /* tx_ready is due, whether it was refused or not */
    return begin(l, ATM_EXPECTED);
}

/* ---- the end ---- */

void pvmi_atm_link_free(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    l->frames.silent = true;
    if (l->frames.reliable && l->state == ATM_UP && !l->over && t->pid == getpid())
        pvmi_reliable_end(l->frames.reliable, t->now_us);
    pvmi_atm_close(t, &l->fd);
    pvmi_frames_close(&l->frames);
    free(l);
}

/* Takes it out of service; its memory stays until nobody on the stack can be using it. */
static void bury(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    if (l->dead)
        return;
    l->dead = l->frames.silent = true;
    pvmi_atm_trees_leave(l);
    pvmi_agenda_set(&t->agenda, &l->agenda, INT64_MAX);
    DL_DELETE(t->links, l);
    DL_APPEND(t->graveyard, l);
}

void pvmi_atm_links_bury(struct atm_transport *t)
{
    struct atm_link *l, *next;
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        if (!l->told || l->touched)
            continue;
        DL_DELETE(t->graveyard, l);
        pvmi_atm_link_free(l);
    }
}

void pvmi_atm_link_disconnect(struct pvmi_endpoint *base)
{
    struct atm_link *l = (struct atm_link *)base;
    struct atm_transport *t = transport_of(l);
    if (!t->in_progress)
        t->now_us = pvmi_clock_us();
    bury(l);
    l->told = true;
    if (!t->in_progress)
        pvmi_atm_links_bury(t);
}

static int down(struct atm_link *l, int reason)
{
    struct pvmi_transport *t = l->base.transport;
    l->over = true;
    bury(l);
    pvmi_atm_close(transport_of(l), &l->fd); /* what comes yet would wake us as long as the owner lets it lie */
    t->callbacks->down(t->arg, &l->base, reason);
    return 1;
}

/* From now on its descriptor brings nothing. */
static int finish(struct atm_link *l, int reason)
{
    l->over = true;
    l->reason = reason;
    pvmi_atm_trees_leave(l);
    pvmi_atm_close(transport_of(l), &l->fd);
    pvmi_atm_touch(l);
    return 1;
}

/* ---- what its descriptor brings ---- */

/* Takes the caller that our offer was answered by, and sends others away. */
static int take_caller(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    Atm_endpoint caller;
    int number;
    if (t->library->listen(l->fd, &number, &caller, NULL, NULL))
        return errno == EAGAIN ? 0 : finish(l, PVMI_EDOWN);
    if (caller.asap != l->peer.endpoint.asap || memcmp(&caller.nsap, &l->peer.endpoint.nsap, sizeof caller.nsap)) {
        t->library->reject(l->fd, number);
        return 1;
    }
    int listener = l->fd, fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (fd < 0)
        return finish(l, system_error());
    bool accepted = !t->library->accept(listener, fd, number, NULL, duplex);
    t->library->close(listener);
    l->fd = fd;
    if (!accepted || watch(l))
        return finish(l, PVMI_EDOWN);
    up(l);
    return 1;
}

static int take_answer(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    if (!t->library->connect(l->fd, &l->peer.endpoint, NULL, NULL, l->peer.aal, duplex)) {
        up(l);
        return 1;
    }
    return errno == EALREADY ? 0 : finish(l, PVMI_EUNREACHABLE);
}

static int take_packet(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    int n = t->library->recv(l->fd, (char *)t->packet, sizeof t->packet);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        return finish(l, PVMI_EDOWN);
    pvmi_frames_take(&l->frames, t->packet, (size_t)n, t->now_us);
    pvmi_atm_touch(l);
    return 1;
}

static int ready(struct atm_watch *w)
{
    struct atm_link *l = (struct atm_link *)((char *)w - offsetof(struct atm_link, watch));
    if (l->dead || l->over)
        return 0;
    switch (l->state) {
    case ATM_EXPECTED:
        return take_caller(l);
    case ATM_CALLING:
        return take_answer(l);
    case ATM_UP:
        return take_packet(l);
    default:
        return 0;
    }
}

/* ---- frames ---- */

int pvmi_atm_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f)
{
    struct atm_link *l = (struct atm_link *)base;
    struct atm_transport *t = transport_of(l);
    if (l->dead || l->over)
        return PVMI_EDOWN;
    if (!t->in_progress)
        t->now_us = pvmi_clock_us();
    int rc = pvmi_frames_send(&l->frames, f, t->now_us);
    if (!rc && !l->touched)
        pvmi_agenda_set(&t->agenda, &l->agenda, pvmi_reliable_due_us(l->frames.reliable));
    return rc;
}

int pvmi_atm_link_settle(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    int reason = l->reason;
    if (l->dead)
        return 0;
    int n = l->frames.reliable && l->state == ATM_UP ? pvmi_frames_progress(&l->frames, t->now_us, &reason) : 0;
    if (!l->dead && n >= 0 && l->is_in_tree && pvmi_reliable_is_unanswered(l->frames.reliable))
        pvmi_atm_trees_fell(t); /* others must not wait for this one */
    if (!l->dead && (n < 0 || l->over))
        return down(l, reason);
    if (!l->dead && l->state == ATM_UP)
        pvmi_agenda_set(&t->agenda, &l->agenda, pvmi_reliable_due_us(l->frames.reliable));
    return l->dead ? 1 : n;
}
