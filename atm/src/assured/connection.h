/*
 * connection.h - an assured connection: a stream of octets in each direction over VCs that lose cells. Nothing is
 * lost, doubled or out of order until the connection itself is lost. A side that has written learns that by itself, one
 * that only reads from the peer, if an END arrives, or from the end of its VC.
 *
 *     SSCOP       frames of up to 65,528 octets over a duplex VC of AAL5 (sscop.h)
 *     PC-AAL      frames of one cell over a duplex raw VC (pcaal.h), with one item in a cell or as many as fit
 *     ECE         PC-AAL, with several items, over three duplex raw VCs: UBR, ABR, and VBR for control (ece.h)
 *
 * A connection polls its peer while anything is unacknowledged, so an idle one schedules no event. It takes the VCs'
 * handlers. All calls are for the simulation's thread, between or within its events.
 */
#ifndef PVMA_CONNECTION_H
#define PVMA_CONNECTION_H

#include "ece.h"
#include "nodes/host.h"

enum pvma_protocol {
    PVMA_NATIVE, /* packets of an AAL, without any of this: no connection has it */
    PVMA_SSCOP,
    PVMA_PCAAL_1,
    PVMA_PCAAL_N,
    PVMA_ECE_SWITCHING,
    PVMA_ECE_DUPLICATING,
};

enum { PVMA_ITEM_MAX = 28 }; /* octets in an item, which PC-AAL never divides; ECE has room for 25 */

/* "native", "sscop", "pcaal-1", "pcaal-n", "ece-switching", "ece-duplicating". */
const char *pvma_protocol_name(enum pvma_protocol protocol);
bool pvma_protocol_parse(const char *name, enum pvma_protocol *protocol);

/* The adaptation layer of its VCs; of PVMA_NATIVE, AAL5. */
enum pvma_aal pvma_protocol_aal(enum pvma_protocol protocol);

struct pvma_connection_settings {
    enum pvma_protocol protocol;
    pvma_ps poll_interval; /* T_POLL; of ECE, that of its own settings */
    pvma_ps patience;      /* a peer that answers no POLL for so long, and not three of them, is lost */
    size_t window_bytes;   /* octets written that the peer may have left unacknowledged, or received but unread */
    struct pvma_ece_settings ece;
};

/* What the thesis used, and what it left open: T_POLL 0.5 s (ECE: 0.1 s), patience of 120 POLLs, a window of 4 MiB. */
struct pvma_connection_settings pvma_connection_defaults(enum pvma_protocol protocol);

/* VCs of a connection; each must send and receive. Those of a protocol with one VC: `ordinary`, the others NULL. */
struct pvma_connection_vcs {
    struct pvma_vc *ordinary, *backup, *control;
};

/*
 * What a connection tells, from events only, never from a call of its owner. Any may be NULL. `lost` may free the
 * connection, the others must not.
 */
struct pvma_connection_events {
    void (*readable)(void *arg); /* octets have come that can be read */
    void (*writable)(void *arg); /* the window has room again, after a write that it cut short */
    /* The last event: a VC was closed, the peer gave up, or it did not answer. Octets that came can still be read. */
    void (*lost)(void *arg, enum pvma_cause cause);
};

struct pvma_connection_statistics {
    uint64_t sds, sd_bytes;      /* frames with data sent for the first time, and their users' octets */
    uint64_t again, again_bytes; /* frames sent again */
    uint64_t again_stat, again_ustat, again_lstat; /* ... by what asked for them */
    uint64_t inhibited;                            /* listed as missing, but not sent again: they were underway */
    uint64_t polls, stats, ustats, lstats;         /* frames sent; of a STAT in several cells, each */
    uint64_t received;                             /* frames with data taken, each once */
    uint64_t duplicates;                           /* frames with data that had come before */
    uint64_t refused;                              /* PDUs that are none, or that nobody honest sends */
    uint64_t useless_cells;                        /* cells of frames that came in part */
    uint64_t ubr_bytes, abr_bytes, vbr_bytes;      /* octets of cells sent, by the service of the VC; with RM cells */
    /* ECE */
    uint64_t ordinary_sds, backup_sds; /* frames with data by each VC; `replicas` of them are doubled, by backup */
    uint64_t replicas, stamps;         /* stamps: periodic cells that are no POLLs */
    uint64_t doubled_later;            /* SDs that Retransmit3 found; those that are acknowledged are not sent */
    uint64_t modes;                    /* changes of the sender's mode */
    uint64_t came[PVMA_PATHS];         /* frames of any kind that came by each VC; without ECE, by the first */
};

struct pvma_connection;

/*
 * Both ends create theirs, before either writes. It never fails: a window that is too small becomes the smallest, and
 * with an MTU below 48 octets nothing arrives until patience is over.
 */
struct pvma_connection *pvma_connection_new(const struct pvma_connection_vcs *vcs,
                                            const struct pvma_connection_settings *settings,
                                            const struct pvma_connection_events *events, void *arg);

/*
 * Frees a connection and tells the peer that it is over, if the VCs live on: they remain, without a handler. NULL is
 * allowed.
 */
void pvma_connection_free(struct pvma_connection *connection);

/* The place of octets in a message: PC-AAL's cells carry it, and no cell or frame mixes two writes. */
struct pvma_place {
    uint32_t tag;        /* of the message, for its reader */
    uint32_t offset;     /* of the first octet in the message */
    unsigned item_bytes; /* of each item, 1 to PVMA_ITEM_MAX; a last, shorter one is allowed */
};

/*
 * Takes as many octets as the window has room for and returns their number: with PC-AAL whole items, except the last.
 * After less than `bytes`, `writable` follows. Returns 0 on a lost connection.
 */
size_t pvma_connection_write(struct pvma_connection *connection, const void *data, size_t bytes,
                             const struct pvma_place *place);

/* Nothing more will be written: the peer is asked at once what it has. */
void pvma_connection_finish(struct pvma_connection *connection);

/*
 * Moves up to `bytes` octets that have come, in order, to `buffer` and returns their number. What has come behind a gap
 * cannot be read before the gap is filled.
 */
size_t pvma_connection_read(struct pvma_connection *connection, void *buffer, size_t bytes);

/* Octets that can be read now. */
size_t pvma_connection_readable(const struct pvma_connection *connection);

/* Tag and offset of the next of them, as its sender wrote (PC-AAL; SSCOP: 0, 0). False: none can be read. */
bool pvma_connection_next_place(const struct pvma_connection *connection, struct pvma_place *place);

/* Octets written and not acknowledged, short frames rounded up; 0: the peer has all. */
size_t pvma_connection_unacknowledged(const struct pvma_connection *connection);

/* When it will send of its own accord, to poll or to measure latency; PVMA_NEVER: not before a call or a PDU. */
pvma_ps pvma_connection_due(const struct pvma_connection *connection);

/* 0 while the connection lives. */
enum pvma_cause pvma_connection_lost(const struct pvma_connection *connection);

const struct pvma_connection_statistics *pvma_connection_statistics(struct pvma_connection *connection);

#endif
