/* peer.c - peers and their addresses. */
#include "peer.h"
#include <stdlib.h>
#include <string.h>
#include "discovery.h"
#include "endpoint.h"
#include "local.h"

#define PAUSE_FIRST_US 1000 /* between questions for an address; doubles */
#define PAUSE_LAST_US  1000000
#define REFRESH_US     (PVMI_NART_AGE_US / 4) /* an address that was learned is asked for again */

static const uint8_t to_all[6] = {255, 255, 255, 255, 255, 255};

static void address(struct pvmi_endpoint *e, struct pvmi_peer *p, const uint8_t hardware[6])
{
    struct pvmi_dp_message m = {.kind = PVMI_DP_DATA, .to = p->point, .from = e->port.point};
    pvmi_dp_message_encode(&m, e->port.ethertype, hardware, e->port.interface.hardware, p->headers);
    if (e->target == p)
        memcpy(e->frame, p->headers, sizeof p->headers);
}

struct pvmi_peer *pvmi_peer_find(struct pvmi_endpoint *e, struct pvmi_dp_point point)
{
    struct pvmi_peer *p;
    HASH_FIND(hh, e->peers, &point, sizeof point, p);
    return p;
}

struct pvmi_peer *pvmi_peer_get(struct pvmi_endpoint *e, struct pvmi_dp_point point)
{
    struct pvmi_peer *p = pvmi_peer_find(e, point);
    if (p)
        return p;
    p = HASH_COUNT(e->peers) < PVMI_PEERS_MAX ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->point = point;
    p->pause_us = PAUSE_FIRST_US;
    p->local = point.node == e->port.point.node;
    address(e, p, to_all);
    if (!PVMI_HASH_ADD(hh, e->peers, point, p)) {
        free(p);
        return NULL;
    }
    return p;
}

static void forget(struct pvmi_endpoint *e, struct pvmi_peer *p)
{
    HASH_DELETE(hh, e->peers, p);
    pvmi_session_free(p->session);
    pvmi_outlet_free(p->outlet);
    free(p);
}

/* Strangers stand in a ring in which a new one takes the place of the oldest, if that is still one. */
struct pvmi_peer *pvmi_peer_meet(struct pvmi_endpoint *e, struct pvmi_dp_point point)
{
    struct pvmi_peer *p = pvmi_peer_find(e, point), *oldest;
    if (p)
        return p;
    if (!e->strangers && !(e->strangers = calloc(PVMI_STRANGERS_MAX, sizeof *e->strangers)))
        return NULL;
    struct pvmi_dp_point *place = &e->strangers[e->met++ % PVMI_STRANGERS_MAX];
    oldest = place->node ? pvmi_peer_find(e, *place) : NULL;
    if (oldest && oldest->strange)
        forget(e, oldest);
    p = pvmi_peer_get(e, point);
    if (!p)
        return NULL;
    p->strange = true;
    *place = point;
    return p;
}

void pvmi_peer_free_all(struct pvmi_endpoint *e)
{
    struct pvmi_peer *p, *next;
    HASH_ITER (hh, e->peers, p, next)
        forget(e, p);
    free(e->strangers);
}

static bool look_up(struct pvmi_endpoint *e, struct pvmi_peer *p, int64_t now_us)
{
    uint8_t hardware[6];
    int rc = pvmi_nart_find(e->nart, p->point.node, now_us, hardware);
    if (!rc || p->resolved)
        address(e, p, rc ? to_all : hardware);
    return !rc;
}

void pvmi_peer_confirm(struct pvmi_endpoint *e, struct pvmi_peer *p, int64_t now_us)
{
    p->resolved = look_up(e, p, now_us);
    p->ask_us = now_us + REFRESH_US;
    p->pause_us = PAUSE_FIRST_US;
}

void pvmi_peer_resolve(struct pvmi_endpoint *e, struct pvmi_peer *p, int64_t now_us)
{
    bool was = p->resolved;
    p->resolved = look_up(e, p, now_us);
    if (p->resolved && !was)
        p->ask_us = now_us + REFRESH_US;
    if (now_us < p->ask_us)
        return;
    pvmi_discovery_ask(e, p);
    p->ask_us = now_us + p->pause_us;
    p->pause_us = p->pause_us * 2 < PAUSE_LAST_US ? p->pause_us * 2 : PAUSE_LAST_US;
}
