/* link.c - life cycle of a link over a carrier that may lose packets. See datagram.h. */
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "datagram.h"

static struct pvmt_datagram *transport_of(const struct pvmt_datagram_link *l)
{
    return (struct pvmt_datagram *)l->ep.transport;
}

/* ---- the end ---- */

/* Takes the link out of service. Its memory stays until nobody on the stack can be using it. */
static void retire(struct pvmt_datagram_link *l)
{
    struct pvmt_datagram *t = transport_of(l);
    if (l->dead)
        return;
    l->dead = true;
    pvmt_frames_end(&l->frames, l->up && t->pid == getpid(), t->now_us);
    pvmt_datagram_flush(t); /* before the frames that it may refer to are freed */
    t->carrier->leave(l);
    if (t->last == l)
        t->last = NULL;
    pvmw_timers_set(&t->timers, &l->timer, INT64_MAX);
    HASH_DELETE(hh, t->links, l);
    DL_APPEND(t->graveyard, l);
}

void pvmt_datagram_bury(struct pvmt_datagram *t)
{
    struct pvmt_datagram_link *l, *next;
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        pvmt_frames_close(&l->frames);
        if (!l->told || l->touched || l->owing)
            continue;
        DL_DELETE(t->graveyard, l);
        free(l);
    }
}

void pvmt_datagram_drop(struct pvmt_datagram *t)
{
    struct pvmt_datagram_link *l, *next;
    HASH_ITER (hh, t->links, l, next)
        retire(l);
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        pvmt_frames_close(&l->frames);
        free(l);
    }
}

void pvmt_datagram_disconnect(struct pvmt_endpoint *ep)
{
    struct pvmt_datagram_link *l = (struct pvmt_datagram_link *)ep;
    struct pvmt_datagram *t = transport_of(l);
    pvmt_datagram_enter(t);
    retire(l);
    l->told = true;
    if (!t->in_progress)
        pvmt_datagram_bury(t);
}

static int down(struct pvmt_datagram_link *l, int reason)
{
    struct pvmt_transport *t = l->ep.transport;
    retire(l);
    t->callbacks->down(t->arg, &l->ep, reason);
    return 1;
}

void pvmt_datagram_lose(struct pvmt_datagram_link *l, int reason)
{
    l->over = true;
    l->reason = reason;
    pvmt_datagram_touch(l);
}

/* ---- beginning ---- */

struct pvmt_datagram_link *pvmt_datagram_find(struct pvmt_datagram *t, uint32_t own)
{
    struct pvmt_datagram_link *l = t->last;
    if (l && l->own == own)
        return l;
    HASH_FIND(hh, t->links, &own, sizeof own, l);
    t->last = l;
    return l;
}

static int draw_incarnation(const struct pvmt_datagram *t, uint32_t *out)
{
    struct pvmt_datagram_link *taken;
    do {
        if (getrandom(out, sizeof *out, 0) != sizeof *out)
            return PVMC_ESYSTEM;
        HASH_FIND(hh, t->links, out, sizeof *out, taken);
    } while (!*out || taken);
    return 0;
}

static int make(struct pvmt_datagram *t, void *owner, struct pvmt_datagram_link **out)
{
    struct pvmt_datagram_link *l = calloc(1, t->carrier->link_bytes);
    int rc = l ? draw_incarnation(t, &l->own) : PVMC_ENOMEM;
    if (!rc) {
        l->ep = (struct pvmt_endpoint){.transport = &t->transport, .owner = owner};
        l->up_until_us = INT64_MAX;
        rc = PVMC_HASH_ADD(hh, t->links, own, l) ? 0 : PVMC_ENOMEM;
    }
    if (rc)
        free(l);
    else
        *out = l;
    return rc;
}

/* Handles the result of offering or joining: a length, or an error that ends the link. */
static int made(struct pvmt_datagram_link *l, int rc, struct pvmt_endpoint **out)
{
    if (rc < 0)
        pvmt_datagram_disconnect(&l->ep);
    else
        *out = &l->ep;
    return rc;
}

int pvmt_datagram_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                        struct pvmt_endpoint **out)
{
    struct pvmt_datagram *t = (struct pvmt_datagram *)base;
    struct pvmt_datagram_link *l;
    *fd = -1;
    int rc = make(t, owner, &l);
    return rc ? rc : made(l, t->carrier->offer(l, blob), out);
}

int pvmt_datagram_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                       uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    struct pvmt_datagram *t = (struct pvmt_datagram *)base;
    struct pvmt_datagram_link *l;
    if (fd >= 0)
        close(fd);
    t->now_us = pvmc_clock_us();
    int rc = make(t, owner, &l);
    if (rc)
        return rc;
    rc = t->carrier->join(l, blob, length, reply);
    pvmt_datagram_flush(t);
    return made(l, rc, out);
}

int pvmt_datagram_joined(struct pvmt_endpoint *ep, const uint8_t *reply, size_t length)
{
    struct pvmt_datagram_link *l = (struct pvmt_datagram_link *)ep;
    struct pvmt_datagram *t = transport_of(l);
    t->now_us = pvmc_clock_us();
    int rc = pvmt_frames_is_open(&l->frames) || l->dead ? PVMC_EEXISTS : t->carrier->joined(l, reply, length);
    if (rc)
        return rc;
    l->frames.refused = true; /* tx_ready is due even if no frame was refused */
    pvmt_datagram_flush(t);
    return 0;
}

/* Handles the result of opening the connection. */
static int opened(struct pvmt_datagram_link *l, int rc)
{
    const struct pvmt_datagram *t = transport_of(l);
    if (rc)
        return rc;
    l->up_until_us = t->now_us + t->dead_after_us;
    pvmt_datagram_set_timer(l);
    return 0;
}

int pvmt_datagram_connect(struct pvmt_datagram_link *l, const struct pvmw_reliable_settings *settings, uint32_t peer)
{
    const struct pvmt_datagram *t = transport_of(l);
    return opened(l, pvmt_frames_open(&l->frames, &l->ep, settings, l->own, peer, t->carrier->emit));
}

int pvmt_datagram_connect_assured(struct pvmt_datagram_link *l, const struct pvmt_assured_carrier *assured)
{
    return opened(l, pvmt_frames_open_assured(&l->frames, &l->ep, assured));
}

void pvmt_datagram_up(struct pvmt_datagram_link *l)
{
    l->up = true;
    if (l->frames.reliable)
        pvmw_reliable_greet(l->frames.reliable, transport_of(l)->now_us);
    pvmt_datagram_touch(l);
}

void pvmt_datagram_set_timer(struct pvmt_datagram_link *l)
{
    int64_t due_us = l->up ? pvmt_frames_due_us(&l->frames) : l->up_until_us;
    pvmw_timers_set(&transport_of(l)->timers, &l->timer, due_us);
}

/* ---- frames ---- */

int pvmt_datagram_send(struct pvmt_endpoint *ep, struct pvmc_frame *f)
{
    struct pvmt_datagram_link *l = (struct pvmt_datagram_link *)ep;
    struct pvmt_datagram *t = transport_of(l);
    if (l->dead || l->over)
        return PVMC_EDOWN;
    pvmt_datagram_enter(t);
    int rc = pvmt_frames_send(&l->frames, f, t->now_us);
    if (rc)
        return rc;
    pvmt_datagram_flush(t); /* at once: an acknowledgement may free what it refers to at any time */
    if (!l->touched)
        pvmt_datagram_set_timer(l);
    return 0;
}

int pvmt_datagram_take(struct pvmt_datagram_link *l, const uint8_t *packet, size_t length)
{
    pvmt_datagram_touch(l);
    return pvmt_frames_take(&l->frames, packet, length, transport_of(l)->now_us);
}

void pvmt_datagram_hear(struct pvmt_datagram_link *l)
{
    pvmt_datagram_touch(l);
    pvmt_frames_hear(&l->frames);
}

static void note_debt(struct pvmt_datagram_link *l)
{
    struct pvmt_datagram *t = transport_of(l);
    if (l->owing || !l->frames.reliable || !pvmw_reliable_owes(l->frames.reliable))
        return;
    l->owing = true;
    l->next_owing = t->owing;
    t->owing = l;
}

int pvmt_datagram_settle(struct pvmt_datagram_link *l)
{
    struct pvmt_datagram *t = transport_of(l);
    int reason = 0;
    if (l->dead)
        return 0;
    int n = l->up ? pvmt_frames_progress(&l->frames, t->now_us, &reason) : 0;
    if (l->dead)
        return 1;
    if (n < 0 || l->over)
        return down(l, n < 0 ? reason : l->reason); /* the peer may have been lost while sending */
    if (!l->up && t->now_us >= l->up_until_us)
        return down(l, PVMC_ETIMEOUT);
    if (l->up)
        note_debt(l);
    pvmt_datagram_set_timer(l);
    return n;
}

size_t pvmt_datagram_pending(const struct pvmt_endpoint *ep)
{
    return pvmt_frames_pending(&((const struct pvmt_datagram_link *)ep)->frames);
}

size_t pvmt_datagram_unsent(const struct pvmt_endpoint *ep)
{
    return pvmt_frames_unsent(&((const struct pvmt_datagram_link *)ep)->frames);
}
