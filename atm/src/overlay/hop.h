/*
 * hop.h - a permanent VC of the overlay, between neighbouring servers or a server and a station, with its two ends.
 *
 *   signalling  arrives in order and once: numbered, acknowledged, and sent again until it is. A receiver that has no
 *               room for a message does not acknowledge it.
 *   packets     of relayed connections are best effort, and share the VC by their MIDs
 *
 * When the way or a user of an end is down for the overlay's `detect` time, both ends are told (continuity checks of
 * I.610 would find it, whose cells are not simulated). Then everything of the VC begins anew in another epoch.
 */
#ifndef PVMA_OVERLAY_HOP_H
#define PVMA_OVERLAY_HOP_H

#include "cells/vctable.h"
#include "message.h"

/* An end without this many unacknowledged messages takes requests; answers and releases are always taken. */
#define PVMA_HOP_REQUESTS_MAX 1024

struct pvma_hop;
struct pvma_hop_end;

/* Callbacks to the user of an end, from events only. */
struct pvma_hop_user {
    /* False: no room for the message now. It comes again. */
    bool (*signal)(void *arg, struct pvma_hop_end *end, const struct pvma_overlay_message *m);
    /* A packet has arrived; the octets are valid during the call. */
    void (*packet)(void *arg, struct pvma_hop_end *end, uint16_t mid, const uint8_t *data, size_t length);
    /* About a packet of pvma_hop_send(), by its cookie: see the callbacks of host.h. NULL: packets have no cookies. */
    void (*taken)(void *arg, uint64_t cookie);
    void (*sent)(void *arg, uint64_t cookie);
    void (*dropped)(void *arg, uint64_t cookie, enum pvma_drop why);
    /* There is room again after PVMC_EAGAIN. */
    void (*room)(void *arg, struct pvma_hop_end *end);
    /* The VC has begun anew: connections over it are gone, and all MIDs are free. */
    void (*lost)(void *arg, struct pvma_hop_end *end);
};

struct pvma_hop_counters {
    uint64_t messages;  /* of signalling, sent for the first time */
    uint64_t repeated;  /* sent again */
    uint64_t malformed; /* PDUs that are no message, or of another epoch */
    uint64_t lost;      /* packets that found no room */
};

/* A PDU that waits for the driver, or a message that waits for its acknowledgement. */
struct pvma_hop_pdu {
    struct pvma_hop_pdu *next;
    bool is_packet;
    uint32_t sequence;
    size_t length;
    uint8_t data[];
};

struct pvma_hop_queue {
    struct pvma_hop_pdu *head, **tail;
    unsigned length;
};

struct pvma_hop_end {
    struct pvma_hop *hop;
    struct pvma_vc *vc;
    const struct pvma_hop_user *user; /* NULL: nobody is there, and what arrives is lost */
    void *arg;
    struct pvma_vctable mids;      /* those in use, from vpi 0 */
    uint16_t last_mid;             /* allocated by this end */
    uint32_t next, expected;       /* sequence numbers */
    struct pvma_hop_queue unacked; /* messages, the first one to be acknowledged next */
    struct pvma_hop_queue waiting; /* PDUs for which the driver has no room */
    unsigned waiting_packets;
    unsigned tries; /* of the first message */
    struct pvma_event retry;
};

struct pvma_hop {
    struct pvma_sim *sim;
    const struct pvma_topo_overlay *options;
    struct pvma_hop_counters *counters; /* of the whole overlay */
    size_t pvc;                         /* its number in the network */
    uint8_t epoch;
    bool is_down; /* both ends know */
    struct pvma_event detect;
    struct pvma_hop_end end[2];
};

/* Sets up the VC between two hosts; `counts`: it is one of the VCIs of the first. Returns NULL and a cause if it does
 * not fit. */
struct pvma_hop *pvma_hop_new(struct pvma_net *net, struct pvma_host *a, struct pvma_host *b, bool counts,
                              const struct pvma_topo_overlay *options, struct pvma_hop_counters *counters, int *cause);
void pvma_hop_free(struct pvma_hop *hop);

/* Sets the user of an end; NULL: the process there has ended. */
void pvma_hop_use(struct pvma_hop_end *end, const struct pvma_hop_user *user, void *arg);

/* Sends a signalling message; sequence and epoch are filled in. While the VC is down, it is dropped. */
void pvma_hop_signal(struct pvma_hop_end *end, const struct pvma_overlay_message *m);

/* Whether a request should be refused, because many messages wait. */
bool pvma_hop_is_congested(const struct pvma_hop_end *end);

/* Sends a packet: 0 or PVMC_EAGAIN, after which room() follows. */
int pvma_hop_send(struct pvma_hop_end *end, uint16_t mid, const void *data, size_t length, uint64_t cookie);

/* Sends a packet for which nobody waits: it waits in the queue, or is lost when that is full. */
void pvma_hop_relay(struct pvma_hop_end *end, uint16_t mid, const void *data, size_t length);

/* ---- MIDs: those of the even numbers are given by end 0, the odd ones by end 1 ---- */

/* Takes a free MID for `value`; 0: none is free. */
uint16_t pvma_hop_take_mid(struct pvma_hop_end *end, void *value);

/* Notes a MID that the other end gave; false: it is not free, or not the other end's to give. */
bool pvma_hop_note_mid(struct pvma_hop_end *end, uint16_t mid, void *value);

/* What a MID stands for; NULL: it is free, or waits for the other end to release it. */
void *pvma_hop_mid(const struct pvma_hop_end *end, uint16_t mid);

/* Releases a MID: sends RELEASE, and the MID is free when the other end has answered. */
void pvma_hop_release_mid(struct pvma_hop_end *end, uint16_t mid, int cause);

/* Refuses a MID that the other end gave and that was not noted: it is free there at once. */
void pvma_hop_refuse_mid(struct pvma_hop_end *end, uint16_t mid, int cause);

/* Like pvma_hop_release_mid(), for an end that sends RELEASE itself, later. */
void pvma_hop_forget_mid(struct pvma_hop_end *end, uint16_t mid);

/*
 * Handles RELEASE (from the other end, answered here) and RELEASED. Returns what the MID stood for, which is free now;
 * NULL: nothing.
 */
void *pvma_hop_take_release(struct pvma_hop_end *end, const struct pvma_overlay_message *m);

/* ---- failures ---- */

/* Something has changed: a link, or a user. Begins or ends the time after which both ends notice. */
void pvma_hop_check(struct pvma_net *net, struct pvma_hop *hop);

/* Begins anew at once: a process that ended is back, and knows nothing. */
void pvma_hop_restart(struct pvma_hop *hop);

#endif
