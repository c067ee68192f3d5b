/*
 * ofi_transport.h - the parts of the transport ofi and what they share: frames over the reliable datagram endpoints of
 * libfabric.
 *
 *  ofi.c        the table of functions, opening and closing, progress
 *   link.c      the life of a link
 *   send.c      messages on their way out: small frames, and where large ones lie
 *   receive.c   messages that came in, put in order; credits
 *   read.c      large frames: reads from the peer's memory
 *   loan.c      large frames that the peer reads
 *   wait.c      the descriptor, the timer
 *   slot.c, peer.c, region.c, lease.c   buffers, addresses, registered memory
 *   provider.c, variable.c, offer.c, fabric.c  what the others use
 *
 * All links share one endpoint, to which anyone may send. Each message therefore begins with two random numbers, one
 * from each side of the link, which only the two tasks and their daemons know; all other messages are dropped.
 *
 * Frames are numbered and put in order here, because a provider may complete a long message after a later short one.
 * A sender has at most OFI_WINDOW frames in flight, its credits, which come back in messages of the other direction.
 *
 * The end of a link does not end the reads of its large frames: many providers carry them out in software, and caches
 * of registrations keep old keys valid. So the lender lends copies, to whose place nothing else ever comes (loan.c);
 * reads go to memory of their own, and count only if a later look at the peer's lease shows that the frame was still
 * lent.
 */
#ifndef PVMT_OFI_TRANSPORT_H
#define PVMT_OFI_TRANSPORT_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include "core/hash.h"
#include "core/message/frame.h"
#include "transports/transport.h"
#include "fabric.h"
#include "offer.h"

#define OFI_WINDOW        32    /* frames in flight; a power of 2 */
#define OFI_LOANS_MAX     8     /* large frames of one link that wait to be read by the peer */
#define OFI_RETIRED_MAX   16384 /* loans that a peer may read for ever; with more there are no new links */
#define OFI_MESSAGE_BYTES 16256 /* of the longest message; tcp;ofi_rxm copies up to 16 KiB */
#define OFI_PREFIX_BYTES  24
#define OFI_LEASES        4096   /* so many links at most */
#define OFI_LOOK_MIN_US   50     /* a sleeping task looks for completions at this interval at first, ... */
#define OFI_LOOK_MAX_US   1000   /* ... and later at this one, if the provider has no descriptor that tells */
#define OFI_TICK_US       250000 /* between two looks at links that await something */

enum ofi_kind {
    OFI_FRAME = 1,      /* a header and the payload */
    OFI_LARGE,          /* a header and where the payload lies */
    OFI_NEWS,           /* only what the prefix says */
    OFI_BYE,            /* the last message; its number is that of the frame that would come next */
    OFI_ANSWER = 0x80,  /* with any of these: send something back */
    OFI_REVOKED = 0x40, /* with OFI_BYE: what has not been read by now is lost */
};

enum ofi_task { OFI_RECEIVE, OFI_SEND, OFI_READ };

struct ofi_link;
struct ofi_read;

/* An operation that libfabric carries out. */
struct ofi_work {
    struct fi_context2 context; /* first: completions name it */
    enum ofi_task task;
    uint8_t *data;
    void *descriptor;      /* of data */
    struct ofi_peer *peer; /* of an operation under way */
    struct ofi_link *link; /* whose message it is; NULL: the link is gone */
    struct ofi_read *read;
    struct ofi_work *next; /* if it is free */
};

/* Buffers that are registered together. */
struct ofi_chunk;

/* An endpoint of another task. */
struct ofi_peer {
    uint8_t address[PVMT_OFI_ADDRESS_BYTES];
    fi_addr_t number;
    bool gone;     /* it was of this process, and has been closed */
    unsigned uses; /* links and operations under way */
    UT_hash_handle hh;
};

/* A large frame for the peer to read. */
struct ofi_loan {
    uint8_t *data; /* the copy, mapped for this */
    struct fid_mr *region;
    struct ofi_loan *prev, *next;
};

/* Registered memory of a peer. */
struct ofi_place {
    uint64_t at, key;
};

enum { OFI_READ_FRAME, OFI_READ_LEASE, OFI_READS };

/* A large frame that is being read. Ends with its last operation, which may be after its link. */
struct ofi_read {
    struct ofi_link *link; /* NULL: it is gone, and the result with it */
    struct pvmc_frame_header h;
    uint8_t *place, *to; /* where the payload belongs, and the buffer that it is read to */
    struct fid_mr *region;
    struct ofi_place from;
    unsigned posted, done; /* operations */
    bool failed;
    struct ofi_work works[OFI_READS];
    struct ofi_read *prev, *next;
};

enum ofi_state {
    OFI_OFFERED,  /* waits for a reply */
    OFI_GREETING, /* has got it: waits for the joining side's first message, an answer to ours */
    OFI_JOINING,  /* waits for the offering side's first message */
    OFI_UP,
    OFI_DOWN, /* its owner has been told and must disconnect it */
};

/* A message that came too early, and waits for its turn. */
struct ofi_early {
    uint8_t *data; /* NULL: none */
    size_t length;
};

struct ofi_link {
    struct pvmt_endpoint base;
    enum ofi_state state;
    uint64_t own_key, peer_key; /* in messages to us, and from us, next to each other */
    struct ofi_peer *peer;
    uint64_t *lease; /* own_key, little-endian, or 0: what we lent is no longer valid */
    struct ofi_place peer_lease;

    bool parted;    /* disconnected by its owner */
    bool failed;    /* down is due, for this reason */
    bool ended;     /* the peer has said goodbye: down is due after frame `end` */
    bool revoked;   /* ... and what has not been read by now is lost */
    bool ready_due; /* the peer has joined: tx_ready is due */
    bool refused;   /* tx_ready is due when there is room */
    bool news_due;
    unsigned bye_due; /* the kind of goodbye that the provider has not taken yet; 0: none */
    bool awaiting;    /* something that we sent is to be answered */
    int reason;
    uint32_t end;
    unsigned silent_ticks; /* since something was received, if something is due */

    unsigned credits; /* frames that we may send */
    uint32_t tx_next, rx_next;
    unsigned owed;          /* credits to be given back */
    unsigned read_frames;   /* the peer's large frames that were read and not yet reported */
    unsigned sending;       /* messages that libfabric has not finished sending */
    struct ofi_loan *loans; /* in the order in which the peer reads them */
    unsigned loan_count;
    struct ofi_loan *spare;
    unsigned spare_ticks;               /* since the last loan */
    struct ofi_early early[OFI_WINDOW]; /* by number */
    unsigned early_count;
    struct ofi_read *read; /* later frames wait for it */
    uint8_t *buffer;       /* for the next read that does not go to its place; NULL: none yet */

    UT_hash_handle hh; /* by own_key */
    struct ofi_link *prev, *next;
};

struct ofi_transport {
    struct pvmt_transport base;
    const struct pvmt_fabric *lib;
    struct fi_info *info;
    pid_t pid; /* the owner: a forked child has only a copy */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_ep *ep;
    uint8_t address[PVMT_OFI_ADDRESS_BYTES];
    unsigned address_length;
    unsigned eager_bytes; /* payload of the longest frame that is sent; longer ones are read */
    int epoll, timer;
    int descriptor;       /* of the provider, if it has one */
    bool has_descriptor;  /* the provider tells of completions; else we look */
    int64_t timer_us;     /* expiry; 0: not set */
    int64_t tick_us;      /* when links are looked at next; 0: nothing is awaited */
    unsigned look_us;     /* until the next look, without a descriptor */
    unsigned ticks_limit; /* silence after which a peer counts as lost */

    struct ofi_chunk *chunks;
    unsigned chunk_count;
    struct ofi_work *free_sends, *idle_receives;
    uint64_t *leases; /* of all links; 0: free */
    struct fid_mr *lease_region;
    struct ofi_peer *peers;
    struct ofi_read *reads;
    struct ofi_loan *retired; /* taken back when a peer might have been reading; freed with the endpoint */
    unsigned retired_count;
    struct ofi_link *links, *by_key, *graveyard;
    unsigned operations; /* under way, without receives */
    unsigned burials;    /* number of links taken out of service */
    unsigned turn;
    bool slept;                        /* arm() was called: look at the descriptors */
    bool attention;                    /* something is due on some link */
    bool stuffed;                      /* the provider takes no more for now: try again soon */
    bool watching;                     /* a link may be awaiting something */
    struct ofi_transport *prev, *next; /* all open transports */
    int dead;                          /* PVMC_E code: the device is lost, and there are no more links */
};

static inline struct ofi_transport *pvmt_ofi_of(const struct ofi_link *l)
{
    return (struct ofi_transport *)l->base.transport;
}

/* ---- link.c ---- */

/* Creates a link that is not connected yet. NULL and *error. */
struct ofi_link *pvmt_ofi_link_new(struct ofi_transport *t, void *owner, int *error);

/* Writes what the peer must know of the link. Returns its length or a PVMC_E code. */
int pvmt_ofi_link_describe(const struct ofi_link *l, uint8_t blob[PVMT_OFFER_MAX]);

/* Makes the peer known to the endpoint. 0 or a PVMC_E code, logged. */
int pvmt_ofi_link_connect(struct ofi_link *l, const struct pvmt_ofi_offer *peer);

/* The link cannot go on: `what` is for the log. Down follows. */
void pvmt_ofi_link_fail(struct ofi_link *l, int reason, const char *what);

/* The owner has disconnected the link: says goodbye if it can, and frees the link afterwards. */
void pvmt_ofi_link_part(struct ofi_link *l);
void pvmt_ofi_link_bury(struct ofi_link *l);

/* Handles what is due. Returns the number of events. */
int pvmt_ofi_link_attend(struct ofi_link *l);

/* Called every OFI_TICK_US; whether the link awaits something. */
bool pvmt_ofi_link_tick(struct ofi_link *l);

/* ---- send.c ---- */

int pvmt_ofi_send(struct pvmt_endpoint *ep, struct pvmc_frame *f);
bool pvmt_ofi_can_send(const struct ofi_link *l);

/* Sends a message of the transport itself. False: not now. */
bool pvmt_ofi_send_own(struct ofi_link *l, unsigned kind);
void pvmt_ofi_sent(struct ofi_transport *t, struct ofi_work *w, int error);

/* Copies a frame's payload; returns where it ends. */
uint8_t *pvmt_ofi_gather(const struct pvmc_frame *f, uint8_t *to);

/* ---- receive.c ---- */

void pvmt_ofi_receive(struct ofi_transport *t, const uint8_t *data, size_t length);

/* Delivers frames whose turn it is. */
void pvmt_ofi_deliver_early(struct ofi_link *l);
void pvmt_ofi_drop_early(struct ofi_link *l);

/* ---- read.c ---- */

/* The payload of a frame with this header lies in the peer's memory. */
void pvmt_ofi_read_begin(struct ofi_link *l, const struct pvmc_frame_header *h, struct ofi_place from);

/* Posts the next operation if it has not been posted yet. */
void pvmt_ofi_read_post(struct ofi_read *r);
void pvmt_ofi_read_done(struct ofi_transport *t, struct ofi_work *w, int error);

/* The link ends: its read goes on without it. */
void pvmt_ofi_read_orphan(struct ofi_link *l);

/* Frees all; the endpoint is closed. */
void pvmt_ofi_reads_close(struct ofi_transport *t, bool foreign);

/* ---- loan.c ---- */

/* A copy of a frame's payload. Call pvmt_ofi_loan_begin() or pvmt_ofi_loan_spare(). NULL: no memory. */
struct ofi_loan *pvmt_ofi_lend(struct ofi_link *l, const struct pvmc_frame *f);

/* The peer has been told of it. */
void pvmt_ofi_loan_begin(struct ofi_link *l, struct ofi_loan *loan);

/* The peer does not read it, or no longer. */
void pvmt_ofi_loan_spare(struct ofi_link *l, struct ofi_loan *loan);

/* The peer has read so many large frames. False: fewer were lent to it. */
bool pvmt_ofi_loans_end(struct ofi_link *l, unsigned count);

/* Called every OFI_TICK_US: spare memory goes back after a while. Whether there is still some. */
bool pvmt_ofi_loans_tick(struct ofi_link *l);

/* Takes back everything: what the peer reads from now on does not count. */
void pvmt_ofi_loans_revoke(struct ofi_link *l, bool foreign);

/* Frees what peers might have been reading; the endpoint is closed. */
void pvmt_ofi_loans_close(struct ofi_transport *t, bool foreign);

/* ---- lease.c ---- */

/* Sets up the leases of all links. 0 or a PVMC_E code. */
int pvmt_ofi_leases_open(struct ofi_transport *t);
void pvmt_ofi_leases_close(struct ofi_transport *t, bool foreign);

/* Begins a link's lease: 0 or PVMC_ELIMIT. */
int pvmt_ofi_lease_begin(struct ofi_link *l);
void pvmt_ofi_lease_end(struct ofi_link *l);

/* ---- region.c ---- */

/* Registers memory for access (FI_REMOTE_READ, FI_READ, ...). NULL: it cannot be registered (logged). */
struct fid_mr *pvmt_ofi_register(struct ofi_transport *t, const void *data, size_t bytes, uint64_t access);

/* The location of `at`, within registered memory that begins at `data`, for a peer's read. */
uint64_t pvmt_ofi_location(const struct ofi_transport *t, const void *data, const void *at);

/* Whether the provider wants memory of local operations registered. */
static inline bool pvmt_ofi_registers_local(const struct ofi_transport *t)
{
    return t->info->domain_attr->mr_mode & FI_MR_LOCAL;
}

/* ---- slot.c ---- */

/* Sets up the receive buffers. 0 or a PVMC_E code. */
int pvmt_ofi_slots_open(struct ofi_transport *t);
void pvmt_ofi_slots_close(struct ofi_transport *t, bool foreign);

/* A buffer for a message; NULL: none is free. Return it with pvmt_ofi_slot_free(). */
struct ofi_work *pvmt_ofi_slot_take(struct ofi_transport *t);
void pvmt_ofi_slot_free(struct ofi_transport *t, struct ofi_work *w);

/* Hands idle receive buffers to the endpoint. */
void pvmt_ofi_slots_post(struct ofi_transport *t);

/* The messages of a link that are being sent go on without it. */
void pvmt_ofi_slots_orphan(struct ofi_link *l);

/* ---- peer.c ---- */

/* The peer at this address, with one more use. NULL: libfabric cannot reach it. */
struct ofi_peer *pvmt_ofi_peer_get(struct ofi_transport *t, const uint8_t *address, size_t length);
void pvmt_ofi_peer_put(struct ofi_transport *t, struct ofi_peer *p);
void pvmt_ofi_peers_close(struct ofi_transport *t);

/* The endpoint at this address is about to be closed: nothing may be sent to it any more. */
void pvmt_ofi_peer_leaves(struct ofi_transport *t, const uint8_t *address);

/* ---- wait.c ---- */

int pvmt_ofi_wait_open(struct ofi_transport *t);
void pvmt_ofi_wait_close(struct ofi_transport *t);

/* The device is lost: completions wake nobody any more. */
void pvmt_ofi_wait_no_more(struct ofi_transport *t);

/* Reads the timer, and looks at the links if that is due. */
void pvmt_ofi_wait_look(struct ofi_transport *t);
int pvmt_ofi_arm(struct pvmt_transport *base);

/* ---- ofi.c ---- */

/* The device has failed: all links go down. Logged once. */
void pvmt_ofi_device_lost(struct ofi_transport *t, int error);

#endif
