/*
 * frame.h - the unit that transports carry: a fixed header of 64 bytes and a piece of one message's body.
 *
 * Every frame tells its whole message (tag, context, length) and where its piece stands, so whoever receives one needs
 * no state to place it, and a daemon forwards it by looking at dst alone. The wire layout is in doc/protocol.md.
 */
#ifndef PVMI_FRAME_H
#define PVMI_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "mem.h"
#include "tid.h"

#define PVMI_FRAME_HEADER_BYTES 64
#define PVMI_FRAME_PAYLOAD_MAX  (1u << 20) /* bytes; a transport's largest frame may be smaller */
#define PVMI_FRAME_MAGIC        0x5644     /* "DV" */
#define PVMI_FRAME_VERSION      1
#define PVMI_FRAME_PIECES_MAX   16 /* iovecs of payload in one frame */

enum pvmi_frame_flag {
    PVMI_FRAME_ABORT = 1, /* the message that src was sending to dst stays unfinished: drop its pieces. No payload. */
    PVMI_FRAME_FD = 2,    /* a descriptor travels with this frame, over unix sockets of one host */
    PVMI_FRAME_AGAIN = 4, /* was sent by a direct link that broke: who has it already drops it */
};

struct pvmi_frame_header {
    uint8_t flags;
    uint32_t length; /* payload bytes of this frame */
    pvmi_tid dst;
    pvmi_tid src;
    uint32_t seq; /* counts the frames from src to dst, from 0, over every route; wraps */
    int32_t tag;
    uint32_t ctx;
    int32_t wid;
    uint32_t enc;         /* public encoding word, see message.h */
    uint32_t dsig;        /* data format of the body */
    uint64_t body_length; /* bytes of the whole message's body */
    uint64_t offset;      /* of this payload within the body */
    int32_t crc;          /* carried for pvm_setminfo() */
};

/* Writes the wire form. */
void pvmi_frame_encode(const struct pvmi_frame_header *h, uint8_t wire[PVMI_FRAME_HEADER_BYTES]);

/*
 * Reads and checks the wire form: PVMI_EFORMAT for bad magic, lengths or offsets, unknown flags, an abort with payload
 * or a frame without any whose message is not empty; PVMI_EVERSION for another version. *h is then not to be used.
 */
int pvmi_frame_decode(const uint8_t wire[PVMI_FRAME_HEADER_BYTES], struct pvmi_frame_header *h);

/* The same checks for a header that came in another form: 0 or PVMI_EFORMAT. */
int pvmi_frame_check(const struct pvmi_frame_header *h);

static inline int pvmi_frame_is_last(const struct pvmi_frame_header *h)
{
    return h->offset + h->length == h->body_length;
}

/*
 * A frame on its way out or through a daemon. Counted: whoever queues it takes a reference. The payload is `pieces`,
 * which lie in `mem` (kept alive by the frame) or, when mem is NULL, in memory that the sender keeps until the frame's
 * reference count is 1 again (in-place messages).
 */
struct pvmi_frame {
    struct pvmi_frame_header h;
    unsigned refs;
    unsigned piece_count;
    struct iovec pieces[PVMI_FRAME_PIECES_MAX];
    struct pvmi_mem *mem;
    int fd; /* PVMI_FRAME_FD: the frame's own, closed with it; else -1 */
};

/*
 * A frame with one reference, header `h`, no pieces; NULL when out of memory. Takes over the caller's reference to mem,
 * which may be NULL (and gives it back on failure).
 */
struct pvmi_frame *pvmi_frame_new(const struct pvmi_frame_header *h, struct pvmi_mem *mem);

/* As pvmi_frame_new(), for a header that the caller fills in at once. */
struct pvmi_frame *pvmi_frame_take(struct pvmi_mem *mem);

/* Adds a piece; there must be fewer than PVMI_FRAME_PIECES_MAX. */
static inline void pvmi_frame_add_piece(struct pvmi_frame *f, void *data, size_t length)
{
    f->pieces[f->piece_count++] = (struct iovec){.iov_base = data, .iov_len = length};
}

/*
 * A copy with a header of its own that shares the payload: what a daemon makes for each receiver of a multicast. A
 * payload without mem (in-place data) is copied, since its owner only watches f. NULL when out of memory.
 */
struct pvmi_frame *pvmi_frame_share(const struct pvmi_frame *f);

/* A frame with room for h->length bytes in memory of its own, one piece: what a daemon receives into. */
struct pvmi_frame *pvmi_frame_alloc(const struct pvmi_frame_header *h);

struct pvmi_frame *pvmi_frame_ref(struct pvmi_frame *f);
void pvmi_frame_unref(struct pvmi_frame *f); /* NULL is allowed */

#endif
