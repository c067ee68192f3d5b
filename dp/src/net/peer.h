/*
 * peer.h - the endpoints that this one has sent to or heard from, and how to reach them. A hash keeps calls fast even
 * with thousands of strangers.
 */
#ifndef DPI_DP_PEER_H
#define DPI_DP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include "core/hash.h"
#include "frames/port.h"

#define DPI_PEERS_MAX     65536
#define DPI_STRANGERS_MAX 4096 /* limit of peers known only by a hello; beyond it the oldest is forgotten */

struct dpi_endpoint;
struct dpi_session;
struct dpi_writer;

struct dpi_peer {
    struct dpi_point point;
    uint8_t headers[DPI_HEADERS_BYTES]; /* of a message to it, except the length */
    bool strange;                       /* known only by its hello */
    bool resolved;                      /* its hardware address is known; else messages are broadcast */
    int64_t ask_us;                     /* when to ask for its address, the first time or again */
    int64_t pause_us;                   /* between two requests */
    bool local;                         /* of this host */
    struct dpi_writer *writer;          /* then: our end of the channel to it; NULL: none yet */
    struct dpi_session *session;        /* reliable modes; NULL: none yet */
    UT_hash_handle hh;
};

/* The peer with that address, made if it is new. NULL: no memory, or there are DPI_PEERS_MAX. */
struct dpi_peer *dpi_peer_get(struct dpi_endpoint *e, struct dpi_point point);

/* The peer with that address; NULL if there is none. */
struct dpi_peer *dpi_peer_find(struct dpi_endpoint *e, struct dpi_point point);

/* Returns the peer of a point that said hello, created as a stranger if it is new. NULL: no memory. */
struct dpi_peer *dpi_peer_meet(struct dpi_endpoint *e, struct dpi_point point);

/* Its hardware address has been received, and is in the table. */
void dpi_peer_confirm(struct dpi_endpoint *e, struct dpi_peer *p, int64_t now_us);

void dpi_peer_free_all(struct dpi_endpoint *e);

/*
 * Looks up its hardware address, and asks the network if the address is unknown or old. Call it before sending to a
 * peer that is not resolved, and now and then for one that is.
 */
void dpi_peer_resolve(struct dpi_endpoint *e, struct dpi_peer *p, int64_t now_us);

#endif
