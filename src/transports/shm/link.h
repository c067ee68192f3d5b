/*
 * link.h - a shared-memory link: what both sides see of it, what one side keeps of it, and its socket.
 *
 * The memory of a link is one sealed memfd: struct pvmi_shm_area, the ring to side 0, the ring to side 1. Side 0 made
 * the offer. The socket is a doorbell, tells of the other side's end, and carries descriptors.
 *
 * A link lives longer than its endpoint: as long as the peer has references to our memory, or we have to the peer's.
 */
#ifndef PVMI_SHM_LINK_H
#define PVMI_SHM_LINK_H

#include "../transport.h"
#include "ring.h"

#define PVMI_SHM_VERSION    2
#define PVMI_REFERENCES_MAX 1024 /* lent to one peer at a time */

/* What a side waits for, in pvmi_shm_side.bell. The peer clears WAKE bits when it rings. */
enum pvmi_bell {
    PVMI_BELL_FENCE = 1, /* the side sleeps often: whoever publishes something for it needs a full fence before ... */
    PVMI_WAKE_DATA = 2,  /* ... it looks whether the side sleeps until records come, ... */
    PVMI_WAKE_ROOM = 4,  /* ... or until records are taken */
};

/* Written by its side and read by the other. */
struct pvmi_shm_side {
    _Alignas(64) uint32_t bell;
    _Alignas(64) uint64_t taken;           /* position in the ring that leads to this side */
    _Alignas(64) uint32_t returned;        /* how many references it gave back since the beginning */
    uint32_t pulled;                       /* answer to the last PVMI_RECORD_PULL: its number * 2 + (1: I cannot) */
    _Alignas(64) uint32_t joined;          /* side 1 is there */
    uint32_t closed;                       /* disconnected by its owner: all it sent is in the ring */
    uint32_t withdrawn;                    /* what its last PVMI_RECORD_PULL leads to may have changed */
    uint32_t can_pull;                     /* it can read the other side's memory: process_vm_readv() */
    uint32_t has_barrier;                  /* it takes part in membarrier(), so need not be asked to fence */
    uint32_t returns[PVMI_REFERENCES_MAX]; /* the references given back: a ring */
};

struct pvmi_shm_area {
    struct pvmi_shm_side side[2];
};

/* A reference to our memory that the peer has. */
struct pvmi_loan {
    struct pvmi_mem *mem; /* NULL: free */
    uint32_t next_free;
};

/* Bytes referred to by a record that the peer has not taken yet. */
struct pvmi_untaken {
    uint64_t position;
    uint32_t bytes;
};

struct pvmi_lending {
    struct pvmi_loan *loans; /* PVMI_REFERENCES_MAX, from the first reference on */
    struct pvmi_untaken *untaken;
    uint32_t first_free, count, returned;
    uint32_t untaken_first, untaken_count;
    uint64_t untaken_bytes;
    unsigned *sent; /* numbers of our arenas that the peer has been sent */
    unsigned sent_count;
};

struct pvmi_mapping; /* an arena of the peer's */

enum pvmi_link_state {
    PVMI_LINK_OFFERED, /* waits for the peer to join */
    PVMI_LINK_UP,
    PVMI_LINK_DOWN, /* its owner has been told: waits for disconnect() */
};

struct pvmi_shm_link {
    struct pvmi_endpoint base;
    enum pvmi_link_state state;
    struct pvmi_ring_rx rx;
    struct pvmi_ring_tx tx;
    struct pvmi_shm_side *mine, *theirs;
    uint32_t inline_max; /* whole messages up to this size are copied to the ring as one record */
    uint32_t chunk_max;
    uint64_t untaken_max; /* bytes sent by reference that the peer has not taken */
    bool may_fence;       /* one of us has no membarrier(): always fence */
    bool refused;         /* tx_ready is due when there is room */
    bool parted;          /* disconnected by its owner */
    bool told_end;        /* the peer has been told that */
    bool foreign;         /* inherited by fork: another process' link */
    bool failed;          /* the peer broke the rules: nothing is read any more */
    bool ended;           /* the peer has closed, or is gone: what is in the ring is the last */
    bool gone;            /* the peer has no references any more, and needs none of our memory */
    bool bell_set;        /* mine->bell has WAKE bits */
    int end_reason;       /* for down */
    unsigned calm;        /* times that something came without sleeping for it */

    /* the frame that is on its way in */
    struct pvmi_frame_header rx_header;
    uint8_t *rx_to; /* NULL: dropped */
    uint32_t rx_left;
    uint32_t pulls_seen;

    /* the frame with data in place that is on its way out; NULL: none */
    struct pvmi_frame *current;
    uint32_t current_sent; /* bytes */
    bool current_begun;    /* its header is in the ring */
    bool pulling;          /* the peer is asked to read it */
    uint32_t pulls;

    struct pvmi_lending lending;
    struct pvmi_mapping *mappings;
    unsigned borrowed; /* references that we have to the peer's memory */
    uint32_t returned; /* those that we gave back, ever */

    int socket; /* -1: closed */
    int epoll;  /* that watches it, or -1 */
    pid_t peer; /* as seen from here; 0: unknown */
    struct pvmi_shm_area *area;
    uint8_t *rings[2];
    size_t ring_bytes;
    struct pvmi_shm_link *prev, *next; /* all links of the process */
};

/* ---- life; link.c ---- */

/* A link with memory of its own, and in *peer_fd the peer's end of its socket. NULL and *error. */
struct pvmi_shm_link *pvmi_shm_link_offer(size_t ring_bytes, int *peer_fd, int *error);

/* Joins at the peer's end of the socket, which it takes over in any case. */
struct pvmi_shm_link *pvmi_shm_link_join(int fd, size_t ring_bytes, int *error);

/* Its socket in the set, with the link as data, until unwatch or the end. 0 or PVMI_ELIMIT. */
int pvmi_shm_link_watch(struct pvmi_shm_link *l, int epoll);
void pvmi_shm_link_unwatch(struct pvmi_shm_link *l);

/* Reads what has come by the socket: the peer's hello, arenas, the end. */
void pvmi_shm_link_listen(struct pvmi_shm_link *l);

/* Tells the peer that no more will come, and lets it read what has been sent. */
void pvmi_shm_link_part(struct pvmi_shm_link *l);

/* Frees a parted link if nobody needs it any more. True: it is gone. */
bool pvmi_shm_link_release(struct pvmi_shm_link *l);

/* Frees it in any case; who still has references to the peer's memory reads it further. */
void pvmi_shm_link_free(struct pvmi_shm_link *l);

/* To be called before links are closed: in a forked child they are another process', and only forgotten. */
void pvmi_shm_links_disown(void);

/* Looks after parted links: gives back to core/mem what peers have returned, and forgets those that are dead. */
void pvmi_shm_links_reap(void);

/* The peer broke the rules, or we cannot go on: the link ends. */
void pvmi_shm_link_fail(struct pvmi_shm_link *l, int reason, const char *what);

/* Sends the descriptor of an arena. 0 or PVMI_EAGAIN: it does not go. */
int pvmi_shm_link_send_arena(struct pvmi_shm_link *l, unsigned number, const struct pvmi_mem_arena *arena);

/* Rings. Only pvmi_shm_tell() needs it. */
void pvmi_shm_link_ring(struct pvmi_shm_link *l, uint32_t bits);

/* Keeps a descriptor free for arenas that come when there is no other left. */
void pvmi_shm_reserve_open(void);
void pvmi_shm_reserve_close(void);

/*
 * Stores a word that the peer may be asleep over, and wakes it if it is. `bit` is what it would wait for. When the peer
 * has not slept lately there is no fence between the store and the look at its bell: before it sleeps for the first
 * time it makes us have one, by membarrier().
 */
static inline void pvmi_shm_tell(struct pvmi_shm_link *l, uint32_t *where, uint32_t word, uint32_t bit)
{
    const uint32_t *bell = &l->theirs->bell;
    if (l->may_fence || (__atomic_load_n(bell, __ATOMIC_RELAXED) & PVMI_BELL_FENCE))
        __atomic_store_n(where, word, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(where, word, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(bell, __ATOMIC_SEQ_CST) & bit, 0))
        pvmi_shm_link_ring(l, bit);
}

#define PVMI_SHM_FRAME_MAX (1u << 30) /* bytes */

/* The same for the position up to which records have been taken. */
static inline void pvmi_shm_tell_taken(struct pvmi_shm_link *l)
{
    const uint32_t *bell = &l->theirs->bell;
    l->rx.published = l->rx.position;
    if (l->may_fence || (__atomic_load_n(bell, __ATOMIC_RELAXED) & PVMI_BELL_FENCE))
        __atomic_store_n(&l->mine->taken, l->rx.position, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(&l->mine->taken, l->rx.position, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(bell, __ATOMIC_SEQ_CST) & PVMI_WAKE_ROOM, 0))
        pvmi_shm_link_ring(l, PVMI_WAKE_ROOM);
}

/* ---- sending; send.c ---- */

int pvmi_shm_link_send(struct pvmi_shm_link *l, struct pvmi_frame *f);

/* The same without a frame, for what fits into one record: as send_whole in transport.h. */
int pvmi_shm_link_send_whole(struct pvmi_shm_link *l, const struct pvmi_frame_header *h, const uint8_t *data);

/* Where the next record of so many cells goes; NULL: there is no room. */
void *pvmi_shm_link_reserve(struct pvmi_shm_link *l, uint32_t cells);

/* All of the cell but its word. */
void pvmi_shm_header_write(struct pvmi_long_cell *cell, const struct pvmi_frame_header *h);

/* Goes on with the current frame. Returns how many things happened. */
int pvmi_shm_link_push(struct pvmi_shm_link *l);

/* Whether a refused frame would be taken now. */
bool pvmi_shm_link_has_room(struct pvmi_shm_link *l);

/* Whether pvmi_shm_link_push() could do something. */
bool pvmi_shm_link_can_push(struct pvmi_shm_link *l);

void pvmi_shm_link_drop_current(struct pvmi_shm_link *l);

/* ---- receiving; receive.c ---- */

/* Takes records from the ring and calls back, up to a bound. Returns their number. */
int pvmi_shm_link_receive(struct pvmi_shm_link *l);

static inline bool pvmi_shm_link_has_record(const struct pvmi_shm_link *l)
{
    uint32_t word;
    return pvmi_ring_peek(&l->rx, &word);
}

/* ---- references; reference.c ---- */

struct pvmi_reference { /* the second cell of PVMI_RECORD_REFERENCE */
    uint64_t offset;
    uint32_t arena;
    uint32_t loan;
};

/* Sends f, whose `length` bytes lie in an arena at `at`. PVMI_EAGAIN: not now; PVMI_EUNSUPPORTED: not this way. */
int pvmi_shm_lend(struct pvmi_shm_link *l, const struct pvmi_frame *f, const uint8_t *at);

/* Gives back to core/mem what the peer has returned. */
void pvmi_shm_lending_reap(struct pvmi_shm_link *l);

/* The peer is dead or gone: all that it had comes back. */
void pvmi_shm_lending_end(struct pvmi_shm_link *l);

/* Whether more bytes may be sent by reference. */
bool pvmi_shm_lending_has_room(struct pvmi_shm_link *l);

/* A reference came: hands it up. False: the link has failed. */
bool pvmi_shm_borrow(struct pvmi_shm_link *l, const struct pvmi_frame_header *h, const struct pvmi_reference *r);

/* An arena of the peer's came by the socket; takes over fd. */
void pvmi_shm_mapping_add(struct pvmi_shm_link *l, unsigned number, uint64_t bytes, int fd);

void pvmi_shm_mappings_free(struct pvmi_shm_link *l);

/* ---- copying between processes; pull.c ---- */

/* Whether process `pid` can be read: it has `nonce` at `address`. */
bool pvmi_shm_pull_probe(pid_t pid, uint64_t address, uint64_t nonce);

/* Reads `length` bytes that lie in process `pid` in the pieces `remote`. */
bool pvmi_shm_pull(pid_t pid, uint8_t *to, size_t length, const struct iovec *remote, unsigned count);

#endif
