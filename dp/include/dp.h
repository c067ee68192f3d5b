/*
 * dp.h - libdp: Directed Point, messages in raw Ethernet frames with calls that look like those for files.
 *
 * An endpoint is a descriptor. It has a number within its node, the DPID; a node has a number within the network, the
 * NID. The four numbers {local DPID, local NID, peer DPID, peer NID} are a channel. dp_target() sets the endpoint to
 * which later writes go; all messages sent to an endpoint can be read from it. A message is one frame: it arrives
 * whole, or, in raw mode, perhaps not at all. The first seven calls are those of the paper "Directed Point: A
 * Communication Subsystem for Commodity Supercomputing with Gigabit Ethernet" (Wang, Tam, Cheung, Zhu, Lee); the others
 * are additions. dp(7) defines what the paper leaves open; each call has a page in section 3.
 *
 *     int fd = dp_open(7);
 *     dp_target(fd, 2, 9);                     // endpoint 9 of node 2
 *     dp_write(fd, "hello", 5);
 *     char *message;
 *     int length = dp_read(fd, &message);      // in the receive ring: not copied
 *     dp_fsync(fd, 1);                         // done with it
 *     dp_close(fd);
 *
 * Calls return 0 or the number that they document, or -1 with errno. All of them can set
 *     EBADF    the descriptor is not an endpoint that this process opened with dp_open() or dp_open_on()
 * and those with a range of values EINVAL. select(2), poll(2) and epoll(7) wait for a descriptor: it is readable
 * when dp_read() has a message or work to do. Messages are released in the order in which they were read.
 * One thread may write to an endpoint in raw mode while another reads from it; otherwise an endpoint is used by one
 * thread at a time. An endpoint belongs to the process that opened it: in a child of fork(2) its descriptor is closed.
 */
#ifndef DP_H
#define DP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DP_NID_MAX  65534 /* node ids and endpoint numbers start at 1 */
#define DP_DPID_MAX 65535

/* ---- the paper's calls ---- */

/*
 * Opens endpoint `dpid` (1 to DP_DPID_MAX) of this node on the interface DP_INTERFACE, or the first that is Ethernet
 * and up. Returns its descriptor, which dp_close() closes.
 *     EACCES      no right to raw sockets (CAP_NET_RAW), and no helper dp-socket that has it
 *     EADDRINUSE  a process of this node has opened this endpoint
 *     ENODEV      no Ethernet interface is up
 *     EPROTO      the table of nodes (/etc/dpvm/nart, DP_NART) is malformed; stderr names the line
 *     EMFILE, ENOMEM
 */
int dp_open(int dpid);

/*
 * Later writes go to endpoint `dpid` of node `nid`. Does not wait. Earlier targets are remembered, so switching between
 * targets is cheap. dp_write() reports a peer that is not there.
 *     ENOMEM      too many targets
 */
int dp_target(int fd, int nid, int dpid);

/*
 * Sends `len` bytes (0 to the limit in dp_address()) to the target, and returns len. msg can be reused at once.
 *     EDESTADDRREQ  there is no target
 *     EMSGSIZE      the message is too long
 *     ENETDOWN      the interface is down or gone
 *     EACCES        the target is on this host and belongs to another user
 *     EAGAIN        no room now, and the descriptor has O_NONBLOCK; without it the call waits
 * and in a reliable mode
 *     EHOSTDOWN     the peer counts as dead, because it has not answered for DP_TIMEOUT
 *     ECONNRESET    the peer was reopened: messages that it had not acknowledged are lost. Reported once.
 */
int dp_write(int fd, const void *msg, int len);

/*
 * Takes the next message: returns its length, which can be 0, and sets *address to its place in the receive ring. The
 * program may write there, too, until dp_fsync() releases the message. Without a message it waits, or, with O_NONBLOCK,
 * fails:
 *     EAGAIN    there is none
 *     EINTR     a signal came while waiting
 *     ENOBUFS   every place of the pool holds a message that was read and not released
 * If a message is there, no system call is made.
 */
int dp_read(int fd, char **address);

/* The pool of an endpoint's receive buffers, the "token buffer pool" of the paper. */
typedef struct dpmmap {
    unsigned messages;      /* in: requested number of messages (0: no change); out: number that fits */
    unsigned message_bytes; /* out: bytes of the longest message */
    size_t bytes;           /* out: the size of the pool */
    void *address;          /* out: its address */
} dpmmap_t;

/*
 * Resizes the pool, which dp_open() made in the default size, and describes it. Messages in it are lost.
 *     EBUSY   messages were read and not released, or a reliable connection is in use
 *     ENOMEM  not enough memory
 */
int dp_mmap(int fd, dpmmap_t *tbp);

/* Releases the n oldest messages that were read. EINVAL: there are fewer, and none was released. */
int dp_fsync(int fd, int n);

/*
 * Closes an endpoint; messages read from it become invalid. In a reliable mode it first waits, at most DP_LINGER_MS,
 * until the peers have acknowledged all messages. ETIMEDOUT: a peer has not; the endpoint is closed anyway.
 */
int dp_close(int fd);

#define DP_LINGER_MS 2000

/* ---- additions ---- */

/* Like dp_open(), on the interface with that name. ENODEV: there is none, or it is down, or not Ethernet. */
int dp_open_on(const char *ifname, int dpid);

enum {
    DP_RAW,       /* as in the paper: frames may be lost */
    DP_RELIABLE,  /* each message arrives once and in order; selective repeat */
    DP_GO_BACK_N, /* the same with the paper's protocol, for comparison */
};

/*
 * Sets the mode, which both ends of a channel must share. Call it before the first dp_target() and the first read, else
 * EBUSY. In the reliable modes a peer that makes no call of this library acknowledges nothing: each dp_read() and
 * dp_write() that waits or fails, and each dp_work(), does the work that is due.
 */
int dp_mode(int fd, int mode);

/*
 * With `on`, dp_read() spins instead of sleeping, and the descriptor is not kept ready for poll(2): messages arrive
 * faster. For programs with a processor of their own.
 */
int dp_spin(int fd, int on);

/* Like dp_read(), but never waits, whatever O_NONBLOCK says. For programs that spin. EAGAIN, ENOBUFS. */
int dp_try(int fd, char **address);

/* Like dp_read(); also returns the sender of the message. nid and dpid may be NULL. */
int dp_read_from(int fd, char **address, int *nid, int *dpid);

/*
 * Does the work that is due in a reliable mode: retransmits, acknowledges. Returns in how many milliseconds it should
 * be called again if no other call is made until then, or -1 if only a message can bring new work. poll(2) on the
 * descriptor wakes in time, too. Raw mode: -1 with errno 0, which is no error.
 */
int dp_work(int fd);

/*
 * Waits until all peers have acknowledged all messages: at most ms milliseconds; -1: as long as the peers live.
 *     ETIMEDOUT   a peer has not
 *     EHOSTDOWN   a peer is dead
 * Raw mode: 0.
 */
int dp_flush(int fd, int ms);

typedef struct dpaddress {
    int nid, dpid;             /* this endpoint */
    int message_bytes;         /* the longest message, by interface and mode */
    int target_nid;            /* 0: no target */
    int target_dpid;           /* 0: no target */
    int mode;                  /* DP_RAW, ... */
    int ethertype;             /* of the frames */
    char interface[16];        /* its name */
    unsigned char hardware[6]; /* its address */
} dpaddress_t;

int dp_address(int fd, dpaddress_t *address);

typedef struct dpstats {
    uint64_t messages_sent, messages_read; /* by dp_write() and dp_read() */
    uint64_t bytes_sent, bytes_read;
    uint64_t dropped;       /* frames for which the pool had no room */
    uint64_t refused;       /* frames that were malformed, damaged, or of another mode */
    uint64_t broadcasts;    /* messages broadcast because the target's hardware address was not known yet */
    uint64_t local;         /* messages to endpoints of this host, through shared memory */
    uint64_t packets_sent;  /* reliable: frames with data, retransmissions included */
    uint64_t packets_again; /* reliable: retransmissions */
    uint64_t acks_sent;     /* reliable: frames without data */
    uint64_t duplicates;    /* reliable: received twice, delivered once */
    uint64_t peers;         /* endpoints that this one has sent to or heard from */
    uint64_t round_trip_us; /* reliable: to the target; 0: not measured */
} dpstats_t;

int dp_stats(int fd, dpstats_t *statistics);

#ifdef __cplusplus
}
#endif
#endif
