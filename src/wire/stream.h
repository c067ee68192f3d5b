/*
 * stream.h - frames over a connected, non-blocking stream socket: each travels as its header of 64 bytes and its
 * payload. Unix sockets between a task and its daemon, TCP between tasks and TLS between daemons are all this.
 *
 * Sending writes header and pieces with one system call, at once. The rest of a frame that the socket took in part is
 * queued, and so are frames behind it up to the owner's limits. Receiving reads large payloads straight to the place
 * that the owner tells; headers and small frames pass through a scratch buffer, many at a time.
 *
 * The owner embeds the struct, polls the socket, and calls pvmw_stream_read() and pvmw_stream_flush(). Callbacks come
 * from pvmw_stream_read() and pvmw_stream_resume() only. They may send, stop the stream and end it; its memory must
 * stay until the call is over.
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

#define PVMW_STREAM_QUEUE_MAX 32 /* the most that `queue_max` may be */
#define PVMW_STREAM_NO_FRAME  1  /* from decode() */

struct pvmw_stream;

/* How the bytes are moved. */
enum pvmw_stream_kind {
    PVMW_STREAM_PLAIN,
    PVMW_STREAM_RIGHTS, /* a Unix socket, with descriptors beside the frames */
    PVMW_STREAM_TLS,    /* what is written waits for pvmw_stream_flush() */
};

/* What an owner is told, and its limits. One for all its streams. */
struct pvmw_stream_owner {
    /*
     * Optional; NULL: pvmc_frame_decode(). Reads s->header into s->rx: 0, a PVMC_E code that ends reading, or
     * PVMW_STREAM_NO_FRAME: it was something else, of a header's size, and has been dealt with.
     */
    int (*decode)(struct pvmw_stream *s);
    /* The frame s->rx begins: where its payload goes, for frames without one any address; NULL: it is dropped. */
    uint8_t *(*place)(struct pvmw_stream *s);
    /* Optional; NULL: descriptors are closed. s->rx, which has a place, brought one, now the owner's; -1: it is lost.
     */
    void (*descriptor)(struct pvmw_stream *s, int fd);
    /* The payload of s->rx is in its place. */
    void (*done)(struct pvmw_stream *s);

    unsigned queue_max;   /* frames; 1: only the rest of one that has begun */
    size_t queue_bytes;   /* beyond this no frame is queued behind others */
    uint32_t large_bytes; /* payloads above this are worth a read of their own */
};

struct pvmw_stream {
    enum pvmw_stream_kind kind;
    const struct pvmw_stream_owner *owner;
    int fd;                             /* the owner's */
    struct pvmw_tls *tls;               /* NULL: none */
    const struct pvmw_tls_ops *tls_ops; /* ... and how it is called */
    bool ended;                         /* by its owner */
    bool broken;                        /* writing failed */
    bool corked;                        /* not connected yet: frames are queued */
    bool stopped;                       /* by the owner: nothing is taken in; what was read already waits */
    bool drops;                         /* by the owner: whatever comes is dropped */
    uint64_t given, taken;              /* bytes: of whole frames that send() took, and read */

    struct pvmc_frame *queue[PVMW_STREAM_QUEUE_MAX]; /* taken, not out; a ring. NULL: a header alone */
    unsigned queue_first, queued;
    size_t queue_bytes;
    size_t tx_done;                             /* bytes of the queue's first frame that are out */
    uint8_t tx_header[PVMC_FRAME_HEADER_BYTES]; /* of the queue's first frame */

    uint8_t header[PVMC_FRAME_HEADER_BYTES];
    size_t header_have;
    int descriptor;              /* came with the first bytes of the header under way; else -1 */
    struct pvmc_frame_header rx; /* valid while in_payload */
    bool in_payload;
    bool last_large; /* the last frame's payload was large: expect another */
    uint8_t *place;  /* NULL: the payload is dropped */
    uint32_t placed;
    uint8_t *unread; /* was read behind the frame that stopped us, or NULL */
    size_t unread_bytes;
    int unread_descriptor; /* came with it; else -1 */
};

/* Zeroed memory becomes a stream. */
void pvmw_stream_init(struct pvmw_stream *s, enum pvmw_stream_kind kind, const struct pvmw_stream_owner *owner, int fd);

/* From now on bytes go through this TLS, which stays the owner's. */
void pvmw_stream_use_tls(struct pvmw_stream *s, struct pvmw_tls *tls, const struct pvmw_tls_ops *ops);

/* Drops what is queued and half read. The owner closes its descriptor. No callback follows. */
void pvmw_stream_end(struct pvmw_stream *s);

/*
 * 0: taken (a reference, as long as it is needed); PVMC_EAGAIN: not taken; PVMC_EDOWN. After a write that failed, what
 * the peer has sent before can still be read.
 */
int pvmw_stream_send(struct pvmw_stream *s, struct pvmc_frame *f);

/* The same with a header in the owner's own form; f is NULL for a header alone. Only if `queue_max` is 1. */
int pvmw_stream_send_as(struct pvmw_stream *s, struct pvmc_frame *f, const uint8_t header[PVMC_FRAME_HEADER_BYTES]);

/* Whether something waits for room in the socket: poll for it, then flush. */
static inline bool pvmw_stream_waits(const struct pvmw_stream *s)
{
    return s->queued || (s->tls && s->tls_ops->is_blocked(s->tls));
}

/* Sends on: true when all is out. */
bool pvmw_stream_flush(struct pvmw_stream *s);

/*
 * One read, through scratch[size], which streams may share. Returns bytes read, 0 when there are none now, PVMC_ESHORT
 * at the end of the stream between frames, PVMC_EDOWN when it is torn, or decode()'s code: s->header is then no frame.
 * *drained: nothing more is there.
 */
ssize_t pvmw_stream_read(struct pvmw_stream *s, uint8_t *scratch, size_t size, bool *drained);

/* Takes in what was read before the stream was stopped: bytes, 0 when there are none, or a code as above. */
ssize_t pvmw_stream_resume(struct pvmw_stream *s);

#endif
