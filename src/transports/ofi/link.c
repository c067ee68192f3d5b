/* link.c - the life of a link: it goes from "offered" or "joining" to "up" to "down". */
#include <stdlib.h>
#include <sys/random.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "ofi_transport.h"

#define BYE_TICKS 4 /* time for our goodbye to leave */

/* ---- beginning ---- */

static int make(struct ofi_link *l)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (getrandom(&l->own_key, sizeof l->own_key, 0) != sizeof l->own_key)
        return PVMC_ESYSTEM;
    l->own_key |= !l->own_key;
    int rc = pvmt_ofi_lease_begin(l);
    if (!rc && !PVMC_HASH_ADD(hh, t->by_key, own_key, l))
        rc = PVMC_ENOMEM;
    if (rc)
        pvmt_ofi_lease_end(l);
    return rc;
}

/* 0, or why there can be no more links. */
static int check_room(const struct ofi_transport *t)
{
    if (t->retired_count < OFI_RETIRED_MAX)
        return t->dead;
    pvmc_log_once(PVMC_LOG_WARNING, "no more ofi links: too many ended while the peer was reading");
    return PVMC_ELIMIT;
}

struct ofi_link *pvmt_ofi_link_new(struct ofi_transport *t, void *owner, int *error)
{
    int refused = check_room(t);
    struct ofi_link *l = refused ? NULL : calloc(1, sizeof *l);
    *error = refused ? refused : PVMC_ENOMEM;
    if (!l)
        return NULL;
    l->base = (struct pvmt_endpoint){.transport = &t->base, .owner = owner};
    l->credits = OFI_WINDOW;
    *error = make(l);
    if (*error) {
        free(l);
        return NULL;
    }
    DL_APPEND(t->links, l);
    return l;
}

int pvmt_ofi_link_describe(const struct ofi_link *l, uint8_t blob[PVMT_OFFER_MAX])
{
    const struct ofi_transport *t = pvmt_ofi_of(l);
    struct pvmt_ofi_offer o = {.key = l->own_key,
                               .lease_at = pvmt_ofi_location(t, t->leases, l->lease),
                               .lease_rma_key = fi_mr_key(t->lease_region),
                               .address_length = t->address_length};
    strncpy(o.provider, t->info->fabric_attr->prov_name, sizeof o.provider - 1);
    memcpy(o.address, t->address, t->address_length);
    return pvmt_ofi_offer_encode(&o, blob);
}

int pvmt_ofi_link_connect(struct ofi_link *l, const struct pvmt_ofi_offer *peer)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (strcmp(peer->provider, t->info->fabric_attr->prov_name) || peer->address_length != t->address_length) {
        pvmc_log_once(PVMC_LOG_INFO, "no ofi link: libfabric's provider is %s here and %s at the other task",
                      t->info->fabric_attr->prov_name, peer->provider);
        return PVMC_EUNREACHABLE;
    }
    l->peer = pvmt_ofi_peer_get(t, peer->address, peer->address_length);
    l->peer_key = peer->key;
    l->peer_lease = (struct ofi_place){peer->lease_at, peer->lease_rma_key};
    l->awaiting = t->watching = true;
    return l->peer ? 0 : PVMC_EUNREACHABLE;
}

/* ---- the end ---- */

void pvmt_ofi_link_fail(struct ofi_link *l, int reason, const char *what)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (l->failed || l->state == OFI_DOWN)
        return;
    if (!l->parted && !l->ended)
        pvmc_log(reason == PVMC_EFORMAT ? PVMC_LOG_WARNING : PVMC_LOG_INFO, "ofi: a link over %s has ended: %s",
                 t->info->fabric_attr->prov_name, what);
    l->failed = t->attention = true;
    l->reason = reason;
}

/* Says goodbye, and takes back all memory. No message of the peer reaches the link from here on. */
static void stop(struct ofi_link *l)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (l->state == OFI_DOWN)
        return;
    unsigned bye = l->failed || l->loans ? OFI_BYE | OFI_REVOKED : OFI_BYE;
    if ((l->state == OFI_UP || l->state == OFI_GREETING) && !l->ended && !pvmt_ofi_send_own(l, bye))
        l->bye_due = bye;
    l->state = OFI_DOWN;
    HASH_DEL(t->by_key, l);
    pvmt_ofi_loans_revoke(l, false);
    pvmt_ofi_drop_early(l);
    pvmt_ofi_read_orphan(l);
    pvmt_ofi_slots_orphan(l);
}

void pvmt_ofi_link_bury(struct ofi_link *l)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    t->burials++;
    stop(l);
    pvmt_ofi_slots_orphan(l); /* a late goodbye */
    pvmt_ofi_peer_put(t, l->peer);
    l->peer = NULL;
    DL_DELETE(t->links, l);
    DL_APPEND(t->graveyard, l);
}

void pvmt_ofi_link_part(struct ofi_link *l)
{
    l->parted = true;
    l->base.owner = NULL;
    stop(l);
    l->silent_ticks = 0;
    if (!l->bye_due)
        pvmt_ofi_link_bury(l);
}

/* ---- what is due ---- */

/* A goodbye that the provider did not take at once. */
static void say_bye(struct ofi_link *l)
{
    if (pvmt_ofi_send_own(l, l->bye_due) || l->silent_ticks > BYE_TICKS)
        l->bye_due = 0;
    if (l->parted && !l->bye_due)
        pvmt_ofi_link_bury(l);
}

static int tell_ready(struct ofi_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    if (!l->ready_due && !(l->refused && pvmt_ofi_can_send(l)))
        return 0;
    l->ready_due = l->refused = false;
    t->callbacks->tx_ready(t->arg, &l->base);
    return 1;
}

static int tell_down(struct ofi_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    stop(l);
    t->callbacks->down(t->arg, &l->base, l->reason);
    return 1;
}

/*
 * Whether the peer's goodbye takes effect: all frames before it have been delivered, or never will be. A peer that
 * takes its memory back may not have heard yet that we have read all of it.
 */
static bool is_over(struct ofi_link *l)
{
    bool whole = l->rx_next == l->end;
    if (l->ended && !l->failed && !l->read && (l->revoked || whole)) {
        l->failed = true;
        l->reason = whole ? 0 : PVMC_EDOWN;
    }
    return l->failed;
}

static bool owes_much(const struct ofi_link *l)
{
    return l->owed * 2 >= OFI_WINDOW || l->read_frames;
}

static bool may_tell_news(const struct ofi_link *l)
{
    bool open = l->state == OFI_UP || l->state == OFI_GREETING;
    return open && !l->failed && !l->ended && (l->news_due || owes_much(l));
}

int pvmt_ofi_link_attend(struct ofi_link *l)
{
    int n = 0;
    if (l->bye_due)
        say_bye(l);
    if (l->state == OFI_DOWN)
        return 0;
    if (l->read)
        pvmt_ofi_read_post(l->read);
    if (l->state == OFI_UP && !l->failed && !l->ended)
        n += tell_ready(l);
    if (may_tell_news(l))
        l->news_due = !pvmt_ofi_send_own(l, OFI_NEWS | (l->awaiting ? OFI_ANSWER : 0));
    if (l->state != OFI_DOWN && is_over(l))
        n += tell_down(l);
    return n;
}

bool pvmt_ofi_link_tick(struct ofi_link *l)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    if (l->state == OFI_DOWN) {
        l->silent_ticks++;
        t->attention |= l->bye_due != 0;
        return l->bye_due;
    }
    bool keeps = pvmt_ofi_loans_tick(l);
    bool due = l->awaiting || l->loans || l->refused || l->early_count || l->read || l->ended;
    if (l->state == OFI_OFFERED || l->failed || !due)
        return keeps;
    if (++l->silent_ticks > t->ticks_limit) {
        pvmt_ofi_link_fail(l, PVMC_ETIMEOUT, "the peer does not answer");
        return false;
    }
    l->awaiting = true;
    l->news_due = t->attention = true;
    return true;
}
