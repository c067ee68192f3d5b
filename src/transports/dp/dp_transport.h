/*
 * dp_transport.h - the parts of the transport dp and what they share. It carries the packets of datagram/ in raw
 * Ethernet frames, over the ports of libdp (dp/src/frames/frames.h), whose public header is dp.h.
 *
 * dp.c        the tables of functions, settings, opening and closing
 *   move.c      packets from the rings, interfaces that go down, waiting
 *   link.c      the paths of a link: which interfaces its packets use
 *   offer.c     what the two sides exchange beforehand
 *   listing.c   output of pvm-info
 */
#ifndef PVMT_DP_TRANSPORT_H
#define PVMT_DP_TRANSPORT_H

#include "transports/datagram/datagram.h"
#include "dp/src/frames/frames.h"
#include "offer.h"

#define DP_WAYS_MAX    (PVMT_DP_PLACES_MAX * PVMT_DP_PLACES_MAX)
#define DP_EARLY_BYTES 128
#define DP_MTU_MAX     16384 /* bytes; with the loopback's 64 KiB a ring would have few slots */

struct dp_settings {
    char interfaces[256]; /* PVM_DP_IF */
    uint16_t ethertype;
};

/* A path from one of our ports to one of the peer's. */
struct dp_way {
    unsigned port;
    uint8_t hardware[6];
    uint16_t node, point;
};

struct dp_link {
    struct pvmt_datagram_link base;
    struct dp_way ways[DP_WAYS_MAX];
    unsigned way_count, way;       /* way: the path of the peer's latest packet */
    uint32_t room;                 /* bytes of a packet that fits all paths */
    uint8_t early[DP_EARLY_BYTES]; /* a packet received before joined() */
    unsigned early_length;
};

struct dp_port {
    struct dpi_port port;
    int64_t down_until_us; /* when to retry an interface that was down or gone; 0: it is up */
};

struct dp_transport {
    struct pvmt_datagram base;
    struct dp_settings settings;
    uint8_t host[PVMW_HOST_IDENTITY_BYTES];
    uint16_t node;
    struct dp_port ports[PVMT_DP_PLACES_MAX];
    unsigned port_count;
    unsigned link_count; /* links that share the rings */
    uint32_t credit;     /* packets of a ring that each link may fill */
    bool slept;
    struct dpi_batch batch;
};

/* ---- dp.c ---- */

extern const struct pvmt_transport_ops pvmt_dp_ops;

/*
 * Like look_again(), but also reopens ports whose interface was removed and added again. Must not be called from a
 * callback of this transport. 0, or PVMC_EDOWN: no port is usable.
 */
int pvmt_dp_ports_renew(struct dp_transport *t);

/* ---- link.c: functions of datagram.h ---- */

int pvmt_dp_link_offer(struct pvmt_datagram_link *base, uint8_t blob[PVMT_OFFER_MAX]);
int pvmt_dp_link_join(struct pvmt_datagram_link *base, const uint8_t *blob, size_t length,
                      uint8_t reply[PVMT_OFFER_MAX]);
int pvmt_dp_link_joined(struct pvmt_datagram_link *base, const uint8_t *reply, size_t length);
void pvmt_dp_link_leave(struct pvmt_datagram_link *base);
int pvmt_dp_link_emit(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count);

/*
 * A packet for this link arrived at port `port` from that interface. 0, or why it was refused; PVMC_EDENIED: its sender
 * mistakes us for another link.
 */
int pvmt_dp_link_take(struct dp_link *l, unsigned port, const uint8_t *hardware, const struct dpi_message *m,
                      const uint8_t *packet);

/* Call after look_again(): ends the links that have no path left. */
void pvmt_dp_links_check(struct dp_transport *t);

/* Sets how much of the rings each peer may fill. Called once the ports are open. */
void pvmt_dp_links_share(struct dp_transport *t);

/* ---- listing.c ---- */

/* Like describe() of transport.h. */
void pvmt_dp_describe(void (*line)(void *arg, const char *text), void *arg);

/* ---- move.c ---- */

int pvmt_dp_progress(struct pvmt_transport *base);
int pvmt_dp_hear(struct pvmt_datagram *base);
bool pvmt_dp_has_packets(struct pvmt_datagram *base);
int pvmt_dp_sleep_until(struct pvmt_datagram *base, int64_t due_us);

/* Sends the packets gathered so far. */
void pvmt_dp_flush(struct pvmt_datagram *base);

/* Whether the port's interface was up when last used, or is due for a retry. */
bool pvmt_dp_port_is_usable(const struct dp_transport *t, const struct dp_port *p);

/* Finds out which interfaces are up again. Returns whether any is usable. */
bool pvmt_dp_ports_look_again(struct dp_transport *t);

#endif
