/* peer.c - peers and their addresses. */
#include "peer.h"
#include <stdlib.h>
#include <string.h>
#include "discovery.h"
#include "endpoint.h"
#include "local.h"

#define PAUSE_FIRST_US 1000 /* between requests for an address; doubles */
#define PAUSE_LAST_US  1000000
#define REFRESH_US     (DPI_NART_AGE_US / 4) /* a learned address is requested again */

static const uint8_t to_all[6] = {255, 255, 255, 255, 255, 255};

static void address(struct dpi_endpoint *e, struct dpi_peer *p, const uint8_t hardware[6])
{
    struct dpi_message m = {.kind = DPI_DATA, .to = p->point, .from = e->port.point};
    dpi_message_encode(&m, e->port.ethertype, hardware, e->port.interface.hardware, p->headers);
    if (e->target == p)
        memcpy(e->frame, p->headers, sizeof p->headers);
}

struct dpi_peer *dpi_peer_find(struct dpi_endpoint *e, struct dpi_point point)
{
    struct dpi_peer *p;
    HASH_FIND(hh, e->peers, &point, sizeof point, p);
    return p;
}

struct dpi_peer *dpi_peer_get(struct dpi_endpoint *e, struct dpi_point point)
{
    struct dpi_peer *p = dpi_peer_find(e, point);
    if (p)
        return p;
    p = HASH_COUNT(e->peers) < DPI_PEERS_MAX ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->point = point;
    p->pause_us = PAUSE_FIRST_US;
    p->local = point.node == e->port.point.node;
    address(e, p, to_all);
    if (!PVMC_HASH_ADD(hh, e->peers, point, p)) {
        free(p);
        return NULL;
    }
    return p;
}

static void forget(struct dpi_endpoint *e, struct dpi_peer *p)
{
    HASH_DELETE(hh, e->peers, p);
    dpi_session_free(p->session);
    dpi_writer_free(p->writer);
    free(p);
}

/* Strangers are in a ring, in which a new one replaces the oldest if that is still a stranger. */
struct dpi_peer *dpi_peer_meet(struct dpi_endpoint *e, struct dpi_point point)
{
    struct dpi_peer *p = dpi_peer_find(e, point), *oldest;
    if (p)
        return p;
    if (!e->strangers && !(e->strangers = calloc(DPI_STRANGERS_MAX, sizeof *e->strangers)))
        return NULL;
    struct dpi_point *place = &e->strangers[e->met++ % DPI_STRANGERS_MAX];
    oldest = place->node ? dpi_peer_find(e, *place) : NULL;
    if (oldest && oldest->strange)
        forget(e, oldest);
    p = dpi_peer_get(e, point);
    if (!p)
        return NULL;
    p->strange = true;
    *place = point;
    return p;
}

void dpi_peer_free_all(struct dpi_endpoint *e)
{
    struct dpi_peer *p, *next;
    HASH_ITER (hh, e->peers, p, next)
        forget(e, p);
    free(e->strangers);
}

static bool look_up(struct dpi_endpoint *e, struct dpi_peer *p, int64_t now_us)
{
    uint8_t hardware[6];
    int rc = dpi_nart_find(e->nart, p->point.node, now_us, hardware);
    if (!rc || p->resolved)
        address(e, p, rc ? to_all : hardware);
    return !rc;
}

void dpi_peer_confirm(struct dpi_endpoint *e, struct dpi_peer *p, int64_t now_us)
{
    p->resolved = look_up(e, p, now_us);
    p->ask_us = now_us + REFRESH_US;
    p->pause_us = PAUSE_FIRST_US;
}

void dpi_peer_resolve(struct dpi_endpoint *e, struct dpi_peer *p, int64_t now_us)
{
    bool was = p->resolved;
    p->resolved = look_up(e, p, now_us);
    if (p->resolved && !was)
        p->ask_us = now_us + REFRESH_US;
    if (now_us < p->ask_us)
        return;
    dpi_discovery_ask(e, p);
    p->ask_us = now_us + p->pause_us;
    p->pause_us = p->pause_us * 2 < PAUSE_LAST_US ? p->pause_us * 2 : PAUSE_LAST_US;
}
