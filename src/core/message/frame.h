/*
 * frame.h - the unit that transports carry: a fixed header of 64 bytes and a piece of one message's body.
 *
 * Every header describes the whole message (tag, context, length) and the offset of its piece. So a receiver places any
 * frame without state, and a daemon forwards it by dst alone. The wire layout is in doc/protocol.md.
 */
#ifndef PVMC_FRAME_H
#define PVMC_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "core/memory/mem.h"
#include "tid.h"

#define PVMC_FRAME_HEADER_BYTES 64
#define PVMC_FRAME_PAYLOAD_MAX  (1u << 20) /* bytes; a transport's largest frame may be smaller */
#define PVMC_FRAME_MAGIC        0x5644     /* "DV" */
#define PVMC_FRAME_VERSION      1
#define PVMC_FRAME_PIECES_MAX   16 /* iovecs of payload in one frame */

enum pvmc_frame_flag {
    PVMC_FRAME_ABORT = 1, /* src will not finish its message to dst: drop its pieces. No payload. */
    PVMC_FRAME_FD = 2,    /* a descriptor travels with this frame, over unix sockets of one host */
    PVMC_FRAME_AGAIN = 4, /* retransmitted after a direct link broke: a receiver that has it drops it */
    PVMC_FRAME_SHADOW =
        8, /* by the daemons in virtual time: its shadow crosses the network, see libpvm/base/shadow.h */
    /*
     * Of a message that is received from its first frame on: see partial.h. All its frames have this flag. With ABORT:
     * the sender gives this message up; the frame is numbered like the others.
     */
    PVMC_FRAME_STREAM = 16,
};

/* body_length of a STREAM frame whose sender does not know it yet. The last frame tells it, if none before it did. */
#define PVMC_FRAME_LENGTH_OPEN UINT64_MAX

/* What a message, its frames and their records in shared memory have in common. */
#define PVMC_ENVELOPE_FIELDS                                                                                           \
    pvmc_tid dst;                                                                                                      \
    pvmc_tid src;                                                                                                      \
    int32_t tag;                                                                                                       \
    uint32_t ctx;                                                                                                      \
    int32_t wid;                                                                                                       \
    uint32_t enc;  /* public encoding word, see message.h */                                                           \
    uint32_t dsig; /* data format of the body */                                                                       \
    int32_t crc;   /* value from pvm_setminfo(), not checked */

struct pvmc_envelope {
    PVMC_ENVELOPE_FIELDS
};

/* An embedded envelope: its fields by their own names, and `envelope` to assign it whole. */
#define PVMC_ENVELOPE                                                                                                  \
    union {                                                                                                            \
        struct pvmc_envelope envelope;                                                                                 \
        struct {                                                                                                       \
            PVMC_ENVELOPE_FIELDS                                                                                       \
        };                                                                                                             \
    }

struct pvmc_frame_header {
    uint8_t flags;
    uint32_t length; /* payload bytes of this frame */
    PVMC_ENVELOPE;
    uint32_t seq;         /* counts the frames from src to dst, from 0, over every route; wraps */
    uint32_t detour;      /* not on the wire: 0, or, in a daemon, what pvmd/net/detour.h says */
    uint64_t body_length; /* bytes of the whole message's body, or PVMC_FRAME_LENGTH_OPEN */
    uint64_t offset;      /* of this payload within the body */
};

/* Writes the wire format. */
void pvmc_frame_encode(const struct pvmc_frame_header *h, uint8_t wire[PVMC_FRAME_HEADER_BYTES]);

/*
 * Reads and checks the wire format. PVMC_EFORMAT for a bad magic number, lengths or offsets, unknown flags, an abort
 * with payload, an empty frame of a message that is not empty (only the last one of a stream may be), or a whole
 * message with PVMC_FRAME_STREAM; PVMC_EVERSION for another version. On error *h is undefined.
 */
int pvmc_frame_decode(const uint8_t wire[PVMC_FRAME_HEADER_BYTES], struct pvmc_frame_header *h);

/* The same checks for a header received in another format: 0 or PVMC_EFORMAT. */
int pvmc_frame_check(const struct pvmc_frame_header *h);

static inline int pvmc_frame_is_last(const struct pvmc_frame_header *h)
{
    return h->offset + h->length == h->body_length;
}

/*
 * A frame that a task sends or a daemon forwards. It is reference-counted: a queue holds a reference. The payload,
 * `pieces`, lies in `mem`, to which the frame holds a reference. When mem is NULL (in-place messages), the sender keeps
 * the memory until the frame's reference count is back at 1.
 */
struct pvmc_frame {
    struct pvmc_frame_header h;
    unsigned refs;
    unsigned piece_count;
    struct iovec pieces[PVMC_FRAME_PIECES_MAX];
    struct pvmc_mem *mem;
    unsigned items; /* as in message.h: payload and offset are multiples of the smallest item; 0: unknown */
    int fd;         /* PVMC_FRAME_FD: owned by the frame and closed with it; else -1 */
};

/*
 * A frame with one reference, header `h` and no pieces; NULL when out of memory. Takes over the caller's reference to
 * mem, even on failure. mem may be NULL.
 */
struct pvmc_frame *pvmc_frame_new(const struct pvmc_frame_header *h, struct pvmc_mem *mem);

/* As pvmc_frame_new(), but the caller fills in the header. */
struct pvmc_frame *pvmc_frame_take(struct pvmc_mem *mem);

/* Adds a piece; there must be fewer than PVMC_FRAME_PIECES_MAX. */
static inline void pvmc_frame_add_piece(struct pvmc_frame *f, void *data, size_t length)
{
    f->pieces[f->piece_count++] = (struct iovec){.iov_base = data, .iov_len = length};
}

/*
 * A frame with its own header that shares the payload of f: a daemon makes one for each receiver of a multicast. A
 * payload without mem (in-place data) is copied, since its owner watches only f. NULL when out of memory.
 */
struct pvmc_frame *pvmc_frame_share(const struct pvmc_frame *f);

/* A frame with h->length bytes of its own memory as its one piece: a daemon receives into it. NULL when out of memory.
 */
struct pvmc_frame *pvmc_frame_alloc(const struct pvmc_frame_header *h);

struct pvmc_frame *pvmc_frame_ref(struct pvmc_frame *f);
void pvmc_frame_unref(struct pvmc_frame *f); /* NULL is allowed */

#endif
