/*
 * stream.h - frames over a connected, non-blocking stream socket: a 64-byte header and a payload each. Unix sockets
 * between a task and its daemon, TCP between tasks and TLS between daemons all use it.
 *
 * Sending writes header and pieces with one system call, at once. If the socket accepts only part of a frame, the rest
 * is queued, and so are the following frames, up to the owner's limits. Receiving reads large payloads straight into
 * the place that the owner chooses; headers and small frames pass through a scratch buffer, many at a time.
 *
 * The owner embeds the struct, polls the socket, and calls pvmw_stream_read() and pvmw_stream_flush(). Only
 * pvmw_stream_read() and pvmw_stream_resume() call callbacks. Callbacks may send, stop the stream and end it; its
 * memory must stay until the call returns.
 */
#ifndef PVMW_STREAM_H
#define PVMW_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "core/message/frame.h"
#include "tls.h"

#define PVMW_STREAM_QUEUE_MAX 32 /* upper bound of `queue_max` */
#define PVMW_STREAM_NO_FRAME  1  /* returned by decode() */

struct pvmw_stream;

/* How the bytes are moved. */
enum pvmw_stream_kind {
    PVMW_STREAM_PLAIN,
    PVMW_STREAM_RIGHTS, /* a Unix socket, with descriptors beside the frames */
    PVMW_STREAM_TLS,    /* data is buffered until pvmw_stream_flush() */
};

/* Callbacks and limits of an owner, common to all its streams. */
struct pvmw_stream_owner {
    /*
     * Optional; NULL: pvmc_frame_decode(). Reads s->header into s->rx: 0, a PVMC_E code that ends reading, or
     * PVMW_STREAM_NO_FRAME if it was something else of a header's size, which decode() has handled.
     */
    int (*decode)(struct pvmw_stream *s);
    /* Frame s->rx begins. Returns the place of its payload, or any address if it has none; NULL drops the frame. */
    uint8_t *(*place)(struct pvmw_stream *s);
    /*
     * Optional. The next frame begins at `wire`, unchecked, and `count` bytes of the stream are there, at least a
     * header and no descriptor. If the frame is whole the owner may deal with it at once, without stopping or ending
     * the stream: returns its bytes, or 0 for place() and done() to follow.
     */
    size_t (*take)(struct pvmw_stream *s, const uint8_t *wire, size_t count);
    /*
     * Optional; NULL: descriptors are closed. The descriptor that came with s->rx, now the owner's; -1: it was lost.
     * Not called for a dropped frame.
     */
    void (*descriptor)(struct pvmw_stream *s, int fd);
    /* The payload of s->rx is in its place. */
    void (*done)(struct pvmw_stream *s);

    unsigned queue_max;   /* frames; 1: only the rest of a partly written frame */
    size_t queue_bytes;   /* beyond this, a frame is not queued behind others */
    uint32_t large_bytes; /* larger payloads get a read of their own */
};

struct pvmw_stream {
    enum pvmw_stream_kind kind;
    const struct pvmw_stream_owner *owner;
    int fd;                             /* the owner's */
    struct pvmw_tls *tls;               /* NULL: none */
    const struct pvmw_tls_ops *tls_ops; /* its functions */
    bool ended;                         /* the owner has ended it */
    bool broken;                        /* writing failed */
    bool corked;                        /* not connected yet: frames are queued */
    bool stopped;                       /* the owner has stopped it: bytes already read wait for resume */
    bool drops;                         /* the owner drops all input */
    uint64_t given, taken;              /* bytes of complete frames accepted by send(); bytes read */

    struct pvmc_frame *queue[PVMW_STREAM_QUEUE_MAX]; /* a ring of frames not fully written. NULL: a header alone */
    unsigned queue_first, queued;
    size_t queue_bytes;
    size_t tx_done;                             /* bytes of the queue's first frame already written */
    uint8_t tx_header[PVMC_FRAME_HEADER_BYTES]; /* of the queue's first frame */

    uint8_t header[PVMC_FRAME_HEADER_BYTES];
    size_t header_have;
    int descriptor;              /* arrived with the first bytes of the incomplete header; else -1 */
    struct pvmc_frame_header rx; /* valid while in_payload */
    bool in_payload;
    bool last_large; /* the last payload was large: expect another */
    uint8_t *place;  /* NULL: the payload is dropped */
    uint32_t placed;
    uint8_t *unread; /* bytes read behind the frame that stopped the stream, or NULL */
    size_t unread_bytes;
    int unread_descriptor; /* arrived with `unread`; else -1 */
};

/* Initializes a stream in zeroed memory. */
void pvmw_stream_init(struct pvmw_stream *s, enum pvmw_stream_kind kind, const struct pvmw_stream_owner *owner, int fd);

/* Sends and receives through this TLS from now on. It stays the owner's. */
void pvmw_stream_use_tls(struct pvmw_stream *s, struct pvmw_tls *tls, const struct pvmw_tls_ops *ops);

/* Drops queued and partly read frames. The owner closes its descriptor. No callback follows. */
void pvmw_stream_end(struct pvmw_stream *s);

/*
 * 0: accepted; the stream holds a reference as long as it needs one. PVMC_EAGAIN: not accepted. PVMC_EDOWN: a write has
 * failed; what the peer sent before can still be read.
 */
int pvmw_stream_send(struct pvmw_stream *s, struct pvmc_frame *f);

/* The same with a header in the owner's own format; f is NULL for a header alone. Only if `queue_max` is 1. */
int pvmw_stream_send_as(struct pvmw_stream *s, struct pvmc_frame *f, const uint8_t header[PVMC_FRAME_HEADER_BYTES]);

/*
 * Sends a whole frame that is in the wire format already, without TLS: 0, or PVMC_EAGAIN if other frames wait or
 * nothing could be written; pvmw_stream_send() then tells why.
 */
int pvmw_stream_send_wire(struct pvmw_stream *s, const uint8_t *wire, size_t length);

/* Whether data waits for room in the socket: poll for it, then flush. */
static inline bool pvmw_stream_waits(const struct pvmw_stream *s)
{
    return s->queued || (s->tls && s->tls_ops->is_blocked(s->tls));
}

/* Continues sending: true when everything is written. */
bool pvmw_stream_flush(struct pvmw_stream *s);

/*
 * Reads once, through scratch[size], which streams may share. Returns the bytes read, 0 when there are none now,
 * PVMC_ESHORT at the end of the stream between frames, PVMC_EDOWN when it ends within a frame or fails, or decode()'s
 * code: s->header is then no frame. *drained: nothing more is there.
 */
ssize_t pvmw_stream_read(struct pvmw_stream *s, uint8_t *scratch, size_t size, bool *drained);

/* Processes the bytes read before the stream was stopped: their number, 0 when there are none, or a code as above. */
ssize_t pvmw_stream_resume(struct pvmw_stream *s);

#endif
