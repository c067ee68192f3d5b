/*
 * rdma.h - the parts of the RDMA transport and what they share.
 *
 *  rdma.c      the table of functions, opening and closing, progress
 *  link.c      the life of a link and its queue pair
 *  send.c      frames on their way out: small ones are sent, large ones lent to the peer, which reads them
 *  receive.c   messages that came in, in order; credits
 *  read.c      large frames: RDMA READs from the peer's memory
 *  slot.c      buffers for messages, on a queue that all links share
 *  region.c    memory that is registered with the device
 *  event.c     the device's events, the timer, the descriptor
 *  device.c, offer.c, header.c, verbs.c   what the others use
 *
 * Flow control: a sender needs a credit for each message, which stands for a slot of the receiver. Credits come back in
 * each message of the other direction. The last credit is kept for messages of the transport itself, so that both
 * sides can always tell each other to go on.
 */
#ifndef PVMT_RDMA_H
#define PVMT_RDMA_H

#include "core/hash.h"
#include "transports/transport.h"
#include "device.h"
#include "header.h"
#include "offer.h"
#include "verbs.h"

#define RDMA_SEND_QUEUE    64  /* work requests of a link */
#define RDMA_SIGNAL_EVERY  16  /* a signalled work request frees its send queue entry and those before it */
#define RDMA_WINDOW_START  4   /* credits of an idle peer */
#define RDMA_WINDOW_MAX    32  /* credits of a peer that sends much */
#define RDMA_EXTRA_MAX     512 /* credits beyond the first ones, in total for all peers */
#define RDMA_LOANS_MAX     16  /* large frames of one link that wait to be read by the peer */
#define RDMA_EVENTS        16  /* completions read at once */
#define RDMA_SPARE_MAX     8   /* slots that are not promised: so many need not be on the shared queue */
#define RDMA_BOUNCES       32
#define RDMA_PREFIX_BYTES  3
#define RDMA_MESSAGE_EXTRA 128  /* bytes of a slot in addition to the payload */
#define RDMA_INLINE_WANTED 192  /* bytes that the processor passes directly to the device */
#define RDMA_INLINE_MAX    1024 /* limit of that if the device grants more */
#define RDMA_TICK_US       1000000

/* First byte of each message. The next two bytes are the credits returned and the large frames that have been read. */
enum rdma_kind {
    RDMA_HELLO = 1,      /* the offering side is ready: the token */
    RDMA_FRAME,          /* a header and the payload */
    RDMA_LARGE,          /* a header and the location of the payload */
    RDMA_NEWS,           /* only credits and the like */
    RDMA_BYE,            /* the last message */
    RDMA_STARVED = 0x80, /* with any of these: the sender had to wait for credits */
};

/* Low bits of a work request's number; above them its position in the link's send queue. Receives: a slot's address. */
enum rdma_work { RDMA_WORK_RECEIVE = 0, RDMA_WORK_SEND, RDMA_WORK_READ, RDMA_WORK_PROBE, RDMA_WORK_BITS = 3 };

struct rdma_link;

/* A buffer for one message. */
struct rdma_slot {
    uint8_t *data;
    uint32_t key;
    uint32_t length;        /* of the received message */
    struct rdma_link *link; /* the owner of its queue, if links have queues of their own */
    struct rdma_slot *next; /* free, or waiting for delivery */
};

struct rdma_chunk; /* slots that are registered together */

/* Memory registered with the device. */
struct rdma_region {
    const uint8_t *data;
    size_t bytes;
    struct ibv_mr *mr;
    unsigned uses;
    bool kept; /* in the cache, else deregistered after its last use */
    struct rdma_region *prev, *next;
};

/* A large frame for the peer to read. */
struct rdma_loan {
    struct pvmc_frame *frame; /* held while its payload is read; NULL: copied */
    struct pvmc_mem *mem;     /* the copy */
    unsigned count;
    struct rdma_region *regions[PVMC_FRAME_PIECES_MAX];
    struct rdma_loan *next;
};

struct rdma_piece {
    uint64_t address;
    uint32_t key, bytes;
};

/* The large frame that is being read. */
struct rdma_read {
    bool active; /* rx_place has been called */
    bool posted; /* the device has its work requests */
    struct pvmc_frame_header h;
    uint8_t *place;
    struct rdma_slot *slot;
    unsigned count;
    struct rdma_piece pieces[PVMC_FRAME_PIECES_MAX];
    struct rdma_region *region; /* the destination */
    struct pvmc_mem *copy;      /* if that is not `place` itself */
};

enum rdma_state {
    RDMA_OFFERED, /* waits for a reply */
    RDMA_JOINING, /* waits for the offering side's hello */
    RDMA_UP,
    RDMA_DOWN, /* its owner has been told and must disconnect it */
};

struct rdma_link {
    struct pvmt_endpoint base;
    enum rdma_state state;
    struct ibv_qp *qp; /* NULL: stopped, no more I/O */
    uint32_t number;   /* the queue pair's */
    uint32_t first;    /* packet sequence number */
    uint8_t token[PVMT_RDMA_TOKEN_BYTES];

    bool parted; /* disconnected by its owner */
    bool failed; /* cannot continue: down is due after everything received was delivered */
    bool deaf;   /* a frame was lost, or the peer broke the protocol: all later frames are dropped */
    bool ended;  /* the peer has said goodbye: likewise */
    bool said_bye;
    bool ready_due; /* the peer has joined: tx_ready is due */
    bool refused;   /* tx_ready is due when there is room */
    bool starved;   /* waits for credits */
    int reason;     /* for down */
    unsigned ticks; /* since something was received, or since it entered a waiting state */
    bool probing;   /* the peer has been asked for a sign of life */

    unsigned credits;                           /* messages that we may send */
    uint64_t posted, done;                      /* positions in the send queue */
    uint64_t signalled;                         /* position behind the last signalled work request */
    unsigned inline_max;                        /* bytes */
    struct rdma_slot *bounces[RDMA_SEND_QUEUE]; /* by position: the buffer of a message being sent */
    struct pvmt_rdma_headers tx, rx;
    struct rdma_loan *loans, *last_loan; /* in the order of their frames */
    unsigned loan_count;
    struct pvmc_frame *greeting; /* accepted before the link is up */

    unsigned window;                          /* credits that the peer has, or is owed */
    unsigned owed;                            /* to be given back */
    unsigned read_frames;                     /* the peer's large frames that were read and not yet reported */
    struct rdma_slot *backlog, *last_backlog; /* messages received while a large frame is being read */
    struct rdma_read read;

    UT_hash_handle hh;
    struct rdma_link *prev, *next;
};

struct rdma_event {
    struct ibv_wc wc;
    struct rdma_link *link; /* NULL: the link is gone */
};

struct rdma_transport {
    struct pvmt_transport base;
    const struct pvmt_verbs *verbs;
    struct pvmt_rdma_port port;
    pid_t pid; /* the owner: a forked child has only a copy */
    unsigned eager_bytes, slot_bytes;
    size_t inplace_bytes, cache_bytes;
    uint8_t reads_max;   /* per queue pair */
    unsigned wait_ticks; /* time limit for the offering side to connect */
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_srq *srq; /* NULL: each link has a queue of its own */
    int epoll, timer;
    int64_t timer_us; /* expiry; 0: not set */
    int64_t tick_us;  /* when links are served next; 0: no links */

    struct rdma_chunk *chunks;
    struct rdma_slot *free_slots; /* without a shared queue */
    struct rdma_slot *spare;      /* with it: to be posted to it when there is time */
    unsigned spare_count;
    struct rdma_slot *free_bounces; /* for outgoing messages */
    struct rdma_slot *scratch;
    unsigned slots, promised;  /* number of slots; credits granted to peers */
    unsigned extra;            /* those of them beyond the first ones of each peer */
    struct rdma_region *cache; /* most recently used first */
    size_t cached_bytes, registered_bytes;
    unsigned region_count;

    struct rdma_link *links, *by_number, *graveyard;
    struct rdma_link *latest; /* the link found most recently; NULL: none */
    size_t reading_bytes;     /* in progress */
    struct rdma_event *stash; /* completions not yet handled */
    unsigned stashed, stash_capacity;
    unsigned turn, looks;
    bool notified;     /* the completion queue will report the next completion, once */
    bool slept;        /* arm() was called: look at the descriptors */
    bool attention;    /* something is due on some link */
    bool credits_due;  /* credits are due on some link once there is nothing else to do */
    bool bounce_short; /* a link waits for a buffer */
    unsigned burials;  /* number of links taken out of service */
    bool complained;   /* a failed registration was logged */
    int dead;          /* PVMC_E code: the device is lost, and there are no more links */
    bool port_down;
    struct rdma_transport *prev, *next_open;
};

static inline struct rdma_transport *pvmt_rdma_of(const struct rdma_link *l)
{
    return (struct rdma_transport *)l->base.transport;
}

/* Thresholds: three quarters and half of the credits that the peer has or is owed. */
static inline bool pvmt_rdma_owes_many(const struct rdma_link *l)
{
    return l->owed >= 2 && l->owed * 4 >= l->window * 3;
}

static inline bool pvmt_rdma_owes_some(const struct rdma_link *l)
{
    return l->owed >= 2 && l->owed * 2 >= l->window;
}

/* ---- link.c ---- */

/* Creates a link with a queue pair that is not connected yet. NULL and *error (logged). */
struct rdma_link *pvmt_rdma_link_new(struct rdma_transport *t, void *owner, int *error);

/* Fills in what the peer must know of the link. */
int pvmt_rdma_link_describe(const struct rdma_link *l, uint8_t blob[PVMT_OFFER_MAX]);

/* Connects the queue pair with the peer's. 0 or a PVMC_E code, logged. */
int pvmt_rdma_link_connect(struct rdma_link *l, const struct pvmt_rdma_offer *peer);

/* Work on the link failed, or the peer broke the protocol: `what` is for the log. Down follows. */
void pvmt_rdma_link_fail(struct rdma_link *l, int reason, const char *what);

/* The owner has disconnected the link: says goodbye if it can, and frees the link afterwards. */
void pvmt_rdma_link_part(struct rdma_link *l);

void pvmt_rdma_link_bury(struct rdma_link *l);
void pvmt_rdma_link_free(struct rdma_link *l);

/* Handles what is due; `drained`: no completions are left. Returns the number of events. */
int pvmt_rdma_link_attend(struct rdma_link *l, bool drained);

struct rdma_link *pvmt_rdma_link_find(struct rdma_transport *t, uint32_t number);

/* Called once a second. */
void pvmt_rdma_link_tick(struct rdma_link *l);

/* ---- send.c ---- */

int pvmt_rdma_send(struct pvmt_endpoint *ep, struct pvmc_frame *f);

/* Sends messages of the transport itself; false: no room now. */
bool pvmt_rdma_send_hello(struct rdma_link *l);
bool pvmt_rdma_send_bye(struct rdma_link *l);
void pvmt_rdma_send_news(struct rdma_link *l, bool idle); /* if enough are owed; `idle`: some suffice */

/* Probes whether the peer's queue pair lives: the result is a completion. */
void pvmt_rdma_send_probe(struct rdma_link *l);

bool pvmt_rdma_can_send(const struct rdma_link *l);
static inline unsigned pvmt_rdma_send_room(const struct rdma_link *l)
{
    return RDMA_SEND_QUEUE - (unsigned)(l->posted - l->done);
}

/* Passes a work request to the device; fills in its number. False: the link has failed. */
bool pvmt_rdma_post(struct rdma_link *l, struct ibv_send_wr *wr, enum rdma_work work);

/* All work requests up to this position are done. */
void pvmt_rdma_sent(struct rdma_link *l, uint64_t position);

/* The peer has read so many large frames. False: fewer were lent to it. */
bool pvmt_rdma_loans_end(struct rdma_link *l, unsigned count);

/* ---- receive.c ---- */

void pvmt_rdma_receive(struct rdma_link *l, struct rdma_slot *slot);

/* Delivers the backlog. */
void pvmt_rdma_deliver_backlog(struct rdma_link *l);
void pvmt_rdma_drop_backlog(struct rdma_link *l);

/* ---- read.c ---- */

/* A frame with this header lies in the peer's memory. Takes ownership of the slot. */
void pvmt_rdma_read_begin(struct rdma_link *l, const struct pvmc_frame_header *h, const struct rdma_piece *pieces,
                          unsigned count, struct rdma_slot *slot);

/* Posts the READ if there is room; called again until it is posted. */
void pvmt_rdma_read_post(struct rdma_link *l);
void pvmt_rdma_read_done(struct rdma_link *l);

/* Drops the READ; the queue pair is stopped. */
void pvmt_rdma_read_drop(struct rdma_link *l);

/* ---- slot.c ---- */

/* Sets up buffers and the shared queue. 0 or a PVMC_E code, logged. */
int pvmt_rdma_slots_open(struct rdma_transport *t);

/* `foreign`: another process's transport, copied by fork. */
void pvmt_rdma_slots_close(struct rdma_transport *t, bool foreign);

/* Adds room for `count` messages of this link's peer. 0 or a PVMC_E code. */
int pvmt_rdma_slots_promise(struct rdma_link *l, unsigned count);

/* The peer no longer needs its credits. All slots on the link's own queue are freed. */
void pvmt_rdma_slots_release(struct rdma_link *l);

/*
 * Frees the slot of a message. Unless l is NULL, its peer gets the credit back. With a shared queue the slot is posted
 * later, several in one call: mostly while the task waits.
 */
void pvmt_rdma_slot_free(struct rdma_transport *t, struct rdma_link *l, struct rdma_slot *slot);

/* Posts the slots that were freed. */
void pvmt_rdma_slots_post(struct rdma_transport *t);

/* ---- region.c ---- */

/*
 * Memory that the device may use: all of the surrounding message memory if that can be cached, else just these bytes.
 * `access` as in ibv_reg_mr(3). NULL: it cannot be registered (logged once). The caller releases it after use.
 */
struct rdma_region *pvmt_rdma_region_get(struct rdma_transport *t, const void *at, size_t bytes, int access);
void pvmt_rdma_region_put(struct rdma_transport *t, struct rdma_region *r);
void pvmt_rdma_regions_open(struct rdma_transport *t);
void pvmt_rdma_regions_close(struct rdma_transport *t, bool foreign);

/* Registers memory, and logs a remedy once if that fails. NULL and errno. */
struct ibv_mr *pvmt_rdma_register(struct rdma_transport *t, void *data, size_t bytes, int access);

/* ---- event.c ---- */

/* Opens descriptors and timer. 0 or a PVMC_E code. */
int pvmt_rdma_events_open(struct rdma_transport *t);
void pvmt_rdma_events_close(struct rdma_transport *t);

/* Reads the descriptors: device events, the timer, announced completions. */
void pvmt_rdma_events_look(struct rdma_transport *t);

/* Asks the device to announce the next completion, and sets the timer. */
int pvmt_rdma_events_arm(struct rdma_transport *t);

/* The device, or a resource that all links need, has failed: all links go down. Logged once. */
void pvmt_rdma_device_lost(struct rdma_transport *t, const char *what);

/* Moves all completions to the stash. */
void pvmt_rdma_stash(struct rdma_transport *t);

#endif
