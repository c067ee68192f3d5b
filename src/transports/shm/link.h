/*
 * link.h - a shared-memory link: its shared memory, the state of one side, and its socket.
 *
 * The memory of a link is one sealed memfd: struct pvmt_shm_area, the ring to side 0, the ring to side 1. Side 0 made
 * the offer. The socket reports the end of the other side and carries descriptors, the peer's bell among them.
 *
 * A link outlives its endpoint while the peer has references to our memory, or we have references to the peer's.
 */
#ifndef PVMT_SHM_LINK_H
#define PVMT_SHM_LINK_H

#include "transports/transport.h"
#include "wire/ring.h"

#define PVMT_SHM_VERSION    4
#define PVMT_SHM_WHOLE_MAX  16384 /* bytes; whole messages up to this size are one record */
#define PVMT_SHM_LEND_FROM  4096  /* bytes; a longer one is lent if the ring is full: its sender need not wait */
#define PVMT_REFERENCES_MAX 1024  /* lent to one peer at a time */

/* What a side waits for, in pvmt_shm_side.bell. The peer clears WAKE bits when it rings. */
enum pvmt_bell {
    PVMT_BELL_FENCE = 1, /* the side sleeps often: a producer needs a full fence before ... */
    PVMT_WAKE_DATA = 2,  /* ... it checks whether the side sleeps until records arrive ... */
    PVMT_WAKE_ROOM = 4,  /* ... or until records are taken */
};

/* Written by one side and read by the other. */
struct pvmt_shm_side {
    _Alignas(64) uint32_t bell;
    _Alignas(64) uint64_t taken;    /* position up to which this side has read its ring */
    _Alignas(64) uint32_t returned; /* total number of references given back */
    _Alignas(64) uint32_t joined;   /* side 1 has joined: spares a task that polls the looks at its socket */
    uint32_t closed;                /* disconnected by its owner: all it has sent is in the ring */
    uint32_t has_barrier;           /* registered with membarrier(), so others can make it fence */
};

/* A link without references uses one page of it. */
struct pvmt_shm_area {
    struct pvmt_shm_side side[2];
    uint32_t returns[2][PVMT_REFERENCES_MAX]; /* the references that each side has given back: a ring */
};

/* A reference to our memory that the peer holds. */
struct pvmt_loan {
    struct pvmc_mem *mem; /* NULL: free */
    uint32_t next_free;
};

/* Bytes referred to by a record that the peer has not read yet. */
struct pvmt_untaken {
    uint64_t position;
    uint32_t bytes;
};

struct pvmt_lending {
    struct pvmt_loan *loans; /* PVMT_REFERENCES_MAX, allocated with the first reference */
    struct pvmt_untaken *untaken;
    uint32_t first_free, count, returned;
    uint32_t untaken_first, untaken_count;
    uint64_t untaken_bytes;
    unsigned *sent; /* numbers of our arenas that were sent to the peer */
    unsigned sent_count;
};

struct pvmt_mapping; /* an arena of the peer's */

enum pvmt_link_state {
    PVMT_LINK_OFFERED, /* the peer has not joined */
    PVMT_LINK_UP,
    PVMT_LINK_DOWN, /* its owner has been told and must disconnect it */
};

struct pvmt_shm_link {
    struct pvmt_endpoint base;
    enum pvmt_link_state state;
    struct pvmw_ring_rx rx;
    struct pvmw_ring_tx tx;
    struct pvmt_shm_side *mine, *theirs;
    uint32_t *my_returns;
    const uint32_t *their_returns;
    uint32_t whole_max, chunk_max; /* bytes in a record */
    uint64_t untaken_max;          /* limit of bytes sent by reference that the peer has not read */
    bool may_fence;                /* a side lacks membarrier(): always fence */
    bool refused;                  /* a frame was refused: tx_ready is due when there is room */
    bool parted;                   /* disconnected by its owner */
    bool told_end;                 /* the peer has been told so */
    bool foreign;                  /* inherited by fork: another process' link */
    bool failed;                   /* the peer broke the protocol: nothing is read any more */
    bool ended;                    /* the peer has closed or is gone: what is in the ring is the last */
    bool gone;                     /* the peer holds no references and needs none of our memory */
    bool bell_set;                 /* mine->bell has WAKE bits */
    int end_reason;                /* for down */
    unsigned calm;                 /* number of records received since the last sleep */

    /* the incoming frame */
    struct pvmc_frame_header rx_header;
    uint8_t *rx_to; /* NULL: dropped */
    uint32_t rx_left;

    /* the outgoing frame with data in place; NULL: none */
    struct pvmc_frame *current;
    uint32_t current_sent; /* bytes */
    bool current_begun;    /* its header is in the ring */

    struct pvmt_lending lending;
    struct pvmt_mapping *mappings;
    unsigned borrowed; /* references that we hold to the peer's memory */
    uint32_t returned; /* total number of references given back */

    int socket; /* -1: closed */
    int bell;   /* an eventfd that wakes the peer's process; -1: a byte on the socket does */
    int epoll;  /* the epoll set that watches it, or -1 */
    pid_t peer; /* as it says itself; 0: unknown */
    struct pvmt_shm_area *area;
    size_t ring_bytes;
    struct pvmt_shm_link *prev, *next; /* all links of the process */
};

/* ---- life cycle; link.c ---- */

/*
 * Creates a link and its memory, and stores the peer's end of its socket in *peer_fd. NULL on failure: see *error.
 * `bell` is the eventfd by which the peer wakes this process, -1: none. A peer that has no bell, or cannot take it,
 * sends a byte on the socket, which costs both sides more.
 */
struct pvmt_shm_link *pvmt_shm_link_offer(size_t ring_bytes, int bell, int *peer_fd, int *error);

/* Joins a link by the peer's end of its socket; takes ownership of fd in any case. The peer does not know it yet. */
struct pvmt_shm_link *pvmt_shm_link_join(int fd, size_t ring_bytes, int *error);

/* Tells the peer, which sends from then on, that the link is joined. 0, or PVMC_EDOWN: the peer is gone. */
int pvmt_shm_link_answer(struct pvmt_shm_link *l, int bell);

/* Adds its socket to the epoll set, with the link as data, until unwatch or the end. 0 or PVMC_ELIMIT. */
int pvmt_shm_link_watch(struct pvmt_shm_link *l, int epoll);
void pvmt_shm_link_unwatch(struct pvmt_shm_link *l);

/* Reads the packets on the socket: the peer's hello, arenas, the end. */
void pvmt_shm_link_listen(struct pvmt_shm_link *l);

/* Tells the peer that nothing more will be sent. The peer can still read what was sent. */
void pvmt_shm_link_part(struct pvmt_shm_link *l);

/* Frees a parted link if neither side needs it. True: freed. */
bool pvmt_shm_link_release(struct pvmt_shm_link *l);

/* Frees the link in any case. References to the peer's memory stay readable. */
void pvmt_shm_link_free(struct pvmt_shm_link *l);

/* Call it before closing links: in a forked child it drops them without telling the peers. */
void pvmt_shm_links_disown(void);

/* Serves parted links: gives back to core/mem what peers have returned, and frees dead links. */
void pvmt_shm_links_reap(void);

/* Ends the link because the peer broke the protocol or this side cannot continue. */
void pvmt_shm_link_fail(struct pvmt_shm_link *l, int reason, const char *what);

/* Sends the descriptor of an arena. 0 or PVMC_EAGAIN: it was not sent. */
int pvmt_shm_link_send_arena(struct pvmt_shm_link *l, unsigned number, const struct pvmc_mem_arena *arena);

/* The arena of this number is gone. 0 or PVMC_EAGAIN: it was not said. */
int pvmt_shm_link_send_gone(struct pvmt_shm_link *l, unsigned number);

/* Wakes the peer. For pvmt_shm_tell(). */
void pvmt_shm_link_ring(struct pvmt_shm_link *l, uint32_t bits);

/* Reserves a descriptor, so that an arena can be received when no other is left. */
void pvmt_shm_reserve_open(void);
void pvmt_shm_reserve_close(void);

/*
 * Stores a word that the peer may be waiting for, and wakes the peer if it sleeps; `bit` is what it would wait for. If
 * the peer has not slept lately, no fence separates the store from the load of its bell: before its first sleep the
 * peer forces one with membarrier().
 */
static inline void pvmt_shm_tell(struct pvmt_shm_link *l, uint32_t *where, uint32_t word, uint32_t bit)
{
    const uint32_t *bell = &l->theirs->bell;
    if (l->may_fence || (__atomic_load_n(bell, __ATOMIC_RELAXED) & PVMT_BELL_FENCE))
        __atomic_store_n(where, word, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(where, word, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(bell, __ATOMIC_SEQ_CST) & bit, 0))
        pvmt_shm_link_ring(l, bit);
}

/* The link that got the last record, for comparison only. In send.c. */
extern const struct pvmt_shm_link *pvmt_shm_link_recent;

/*
 * Publishes the record of that many cells that the caller has written at pvmt_shm_link_reserve(). The next one is
 * likely to come soon, and the swept lines still to be in the cache then, if the last one went to this peer, too.
 */
static inline __attribute__((always_inline)) void
pvmt_shm_publish(struct pvmt_shm_link *l, uint32_t *where, enum pvmw_record kind, uint32_t cells, uint32_t length)
{
    pvmt_shm_tell(l, where, pvmw_ring_finish(&l->tx, kind, cells, length), PVMT_WAKE_DATA);
    if (pvmt_shm_link_recent == l)
        pvmw_ring_sweep(&l->tx, cells);
    pvmt_shm_link_recent = l;
}

#define PVMT_SHM_FRAME_MAX (1u << 30) /* bytes */

/* The same for the position up to which records have been read. */
static inline void pvmt_shm_tell_taken(struct pvmt_shm_link *l)
{
    const uint32_t *bell = &l->theirs->bell;
    l->rx.published = l->rx.position;
    if (l->may_fence || (__atomic_load_n(bell, __ATOMIC_RELAXED) & PVMT_BELL_FENCE))
        __atomic_store_n(&l->mine->taken, l->rx.position, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(&l->mine->taken, l->rx.position, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(bell, __ATOMIC_SEQ_CST) & PVMT_WAKE_ROOM, 0))
        pvmt_shm_link_ring(l, PVMT_WAKE_ROOM);
}

/* ---- sending; send.c ---- */

int pvmt_shm_link_send(struct pvmt_shm_link *l, struct pvmc_frame *f);

/* The same without a frame, for a message that fits into one record; like send_whole in transport.h. */
int pvmt_shm_link_send_whole(struct pvmt_shm_link *l, const struct pvmc_envelope *e, uint32_t seq, const uint8_t *data,
                             uint32_t length);

/* For pvmt_shm_link_reserve(): the ring seems full. */
void *pvmt_shm_link_reserve_again(struct pvmt_shm_link *l, uint32_t cells);

/* Place of the next record of so many cells; NULL: there is no room. */
static inline void *pvmt_shm_link_reserve(struct pvmt_shm_link *l, uint32_t cells)
{
    void *cell = pvmw_ring_reserve(&l->tx, cells);
    return __builtin_expect(cell != NULL, 1) ? cell : pvmt_shm_link_reserve_again(l, cells);
}

/* Writes the whole cell except its word. */
void pvmt_shm_header_write(struct pvmw_long_cell *cell, const struct pvmc_frame_header *h);

/* Continues the current frame. Returns the number of events. */
int pvmt_shm_link_push(struct pvmt_shm_link *l);

/* Whether a refused frame would be accepted now. */
bool pvmt_shm_link_has_room(struct pvmt_shm_link *l);

/* Whether pvmt_shm_link_push() could make progress. */
bool pvmt_shm_link_can_push(struct pvmt_shm_link *l);

void pvmt_shm_link_drop_current(struct pvmt_shm_link *l);

/* ---- receiving; receive.c ---- */

/* Reads records from the ring, of which there is one, and calls back, up to a bound. Returns their number. */
int pvmt_shm_link_receive(struct pvmt_shm_link *l);

/* The next record, if it is a whole message that is not empty. Advance passes it. */
bool pvmt_shm_link_peek_whole(struct pvmt_shm_link *l, struct pvmt_whole *w);
void pvmt_shm_link_advance_whole(struct pvmt_shm_link *l, uint32_t length);

static inline bool pvmt_shm_link_has_record(const struct pvmt_shm_link *l)
{
    uint32_t word;
    return pvmw_ring_peek(&l->rx, &word);
}

/* ---- references; reference.c ---- */

struct pvmt_reference { /* the second cell of PVMW_RECORD_REFERENCE */
    uint64_t offset;
    uint32_t arena;
    uint32_t loan;
};

/* Sends f, whose `length` bytes lie in an arena at `at`. PVMC_EAGAIN: not now; PVMC_EUNSUPPORTED: not by reference. */
int pvmt_shm_lend(struct pvmt_shm_link *l, const struct pvmc_frame *f, const uint8_t *at);

/* Gives back to core/mem what the peer has returned. */
void pvmt_shm_lending_reap(struct pvmt_shm_link *l);

/* The peer has ended: takes back all references. */
void pvmt_shm_lending_end(struct pvmt_shm_link *l);

/* Whether more bytes may be sent by reference. */
bool pvmt_shm_lending_has_room(struct pvmt_shm_link *l);

/* Delivers a received reference. False: the link has failed. */
bool pvmt_shm_borrow(struct pvmt_shm_link *l, const struct pvmc_frame_header *h, const struct pvmt_reference *r);

/* Adds an arena of the peer, received by the socket; takes ownership of fd. */
void pvmt_shm_mapping_add(struct pvmt_shm_link *l, unsigned number, uint64_t bytes, int fd);

/* The peer says that this arena is gone. What it still lends from it stays mapped. */
void pvmt_shm_mapping_remove(struct pvmt_shm_link *l, unsigned number);

void pvmt_shm_mappings_free(struct pvmt_shm_link *l);

#endif
