/*
 * peer.h - the endpoints that one has sent to or heard of, and how to reach them. Found by a hash, so that thousands of
 * strangers cost the calls nothing.
 */
#ifndef PVMI_DP_PEER_H
#define PVMI_DP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/hash.h"
#include "../transports/dp/port.h"

#define PVMI_PEERS_MAX     65536
#define PVMI_STRANGERS_MAX 4096 /* of them: those of whom there is nothing but a hello; the oldest is forgotten */

struct pvmi_endpoint;
struct pvmi_session;
struct pvmi_outlet;

struct pvmi_peer {
    struct pvmi_dp_point point;
    uint8_t headers[PVMI_DP_HEADERS_BYTES]; /* of a message to it, but for the length */
    bool strange;                           /* it said hello, and that is all */
    bool resolved;                          /* its hardware address is known; else messages go to all */
    int64_t ask_us;                         /* when to ask for it, or to ask again */
    int64_t pause_us;                       /* between two questions */
    bool local;                             /* of this host */
    struct pvmi_outlet *outlet;             /* then: the channel to it; NULL: none yet */
    struct pvmi_session *session;           /* reliable modes; NULL: none yet */
    UT_hash_handle hh;
};

/* The peer of that name, made if it is new. NULL: no memory, or PVMI_PEERS_MAX are there. */
struct pvmi_peer *pvmi_peer_get(struct pvmi_endpoint *e, struct pvmi_dp_point point);

/* The same, NULL if it is new. */
struct pvmi_peer *pvmi_peer_find(struct pvmi_endpoint *e, struct pvmi_dp_point point);

/* The peer that said hello. NULL: no memory. */
struct pvmi_peer *pvmi_peer_meet(struct pvmi_endpoint *e, struct pvmi_dp_point point);

/* Its hardware address has come, and is in the table. */
void pvmi_peer_confirm(struct pvmi_endpoint *e, struct pvmi_peer *p, int64_t now_us);

void pvmi_peer_free_all(struct pvmi_endpoint *e);

/*
 * Looks its hardware address up, and asks the network for it if that is unknown or old. To be called before something
 * is sent to a peer that is not resolved, and now and then for one that is.
 */
void pvmi_peer_resolve(struct pvmi_endpoint *e, struct pvmi_peer *p, int64_t now_us);

#endif
