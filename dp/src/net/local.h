/*
 * local.h - endpoints of one host: messages through shared memory, under the same calls.
 *
 * The writer makes a channel: a sealed memfd with a ring (wire/ring.h). It sends the memfd to the socket on which the
 * reader listens, a Unix socket with an abstract name: no name can be left behind, and names belong to the network
 * namespace, as node ids do. The connection is a doorbell for a sleeping reader, and its end reports that the other
 * process is gone. Both processes must belong to one user, or one of them to root. The reader reads each word of the
 * ring once, and checks it.
 */
#ifndef DPI_DP_LOCAL_H
#define DPI_DP_LOCAL_H

#include "wire/ring.h"
#include "endpoint.h"

#define DPI_LOCAL_SHIFT 14 /* a ring has 1 << SHIFT cells: 1 MiB */

/* The first page of a channel's memory; its cells follow. */
struct dpi_local_area {
    uint64_t taken; /* cells released by the reader */
    uint8_t apart[56];
    uint32_t asleep; /* the writer must ring */
};

/* The first cell of a message; its bytes follow, across the next cells. */
struct dpi_local_cell {
    uint32_t word; /* a word of the ring, see ring.h */
    uint32_t unused[3];
};

/* The only message on a connection, with the memfd; each byte after it is a ring of the bell. */
struct dpi_local_hello {
    uint32_t magic;
    uint16_t node, point; /* of the writer */
    uint32_t reliable;    /* the mode's kind */
};

#define DPI_LOCAL_MAGIC 0x44504c31 /* "DPL1" */

struct dpi_local_map {
    struct dpi_local_area *area;
    uint8_t *cells; /* mapped twice in a row */
};

/* Maps a channel's memory. Returns 0, PVMC_ENOMEM, or PVMC_EFORMAT: not sealed, or of another size. Does not close fd.
 */
int dpi_local_map(int fd, struct dpi_local_map *m);
void dpi_local_unmap(struct dpi_local_map *m);

/* Creates zeroed memory for a channel. Returns a descriptor or PVMC_ESYSTEM. */
int dpi_local_memory(void);

/* The name of an endpoint's socket; returns its length for bind() and connect(). */
struct sockaddr_un;
unsigned dpi_local_name(const struct dpi_endpoint *e, struct dpi_point point, struct sockaddr_un *name);

/* Whether the process at the other end of a connection belongs to this user or to root. */
bool dpi_local_is_trusted(int fd);

/* ---- reading: channel.c ---- */

struct dpi_channel {
    int fd;
    struct dpi_point from;
    struct dpi_local_map map;
    struct pvmw_ring_rx rx;
    uint64_t released;
    unsigned held; /* messages in the inbox */
    bool ended;    /* the writer is gone, or broke the protocol */
    struct dpi_channel *next;
};

/* Listens for writers: 0, or PVMC_EEXISTS: another process has this endpoint; PVMC_ELIMIT. */
int dpi_channel_listen(struct dpi_endpoint *e);

/* Accepts the writers that have connected. */
void dpi_channel_accept(struct dpi_endpoint *e);

/* Moves messages to the inbox, and frees channels that have ended and are empty. */
void dpi_channel_take(struct dpi_endpoint *e);

/* Whether a message waits in a channel. */
bool dpi_channel_waits(const struct dpi_endpoint *e);

/* Before sleeping: asks the writers to ring. True: a message has arrived in the meantime. */
bool dpi_channel_sleep(struct dpi_endpoint *e);

/* Releases the oldest message of this channel that the program holds. */
void dpi_channel_release(struct dpi_channel *c, uint32_t length);

void dpi_channel_close_all(struct dpi_endpoint *e);

/* ---- writing: writer.c ---- */

struct dpi_writer {
    int fd; /* -1: not connected */
    struct dpi_local_map map;
    struct pvmw_ring_tx tx;
    int64_t try_us;     /* when to connect again */
    int64_t give_up_us; /* reliable: when the peer counts as dead; 0: we do not wait for it */
};

/*
 * Writes to a peer of this host: 0; PVMC_EAGAIN: no room, or, in a reliable mode, no reader yet; PVMC_EUNREACHABLE,
 * PVMC_ESHORT as from dpi_session_write(); PVMC_EDENIED: another user's; PVMC_ENOMEM. In raw mode a message to an
 * endpoint that no process has opened is dropped.
 */
int dpi_writer_put(struct dpi_endpoint *e, struct dpi_peer *p, const void *data, uint32_t length);

void dpi_writer_free(struct dpi_writer *w); /* NULL is allowed */

#endif
