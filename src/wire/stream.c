/*
 * stream.c - frames over a stream of bytes.
 *
 * A descriptor accompanies the first byte of its frame. Linux ends a read behind the bytes of the sendmsg() that
 * brought descriptors, and a stream that sends descriptors writes one frame at a time. What one read brings therefore
 * belongs to the last frame that begins in it.
 */
#include "stream.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/error.h"
#include "stream_bytes.h"

#define HEADER_BYTES PVMC_FRAME_HEADER_BYTES
#define SMALL_BYTES  1024 /* payloads up to this are copied behind their header */
#define GATHER_MAX   64   /* iovecs in one write */

static void drop_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint32_t payload_of(const struct pvmc_frame *f)
{
    return f ? f->h.length : 0;
}

static size_t bytes_of(const struct pvmc_frame *f)
{
    return HEADER_BYTES + (size_t)payload_of(f);
}

/* ---- beginning and end ---- */

void pvmw_stream_init(struct pvmw_stream *s, enum pvmw_stream_kind kind, const struct pvmw_stream_owner *owner, int fd)
{
    s->kind = kind;
    s->owner = owner;
    s->fd = fd;
    s->descriptor = s->unread_descriptor = -1;
}

void pvmw_stream_use_tls(struct pvmw_stream *s, struct pvmw_tls *tls, const struct pvmw_tls_ops *ops)
{
    s->kind = PVMW_STREAM_TLS;
    s->tls = tls;
    s->tls_ops = ops;
}

static void drop_first(struct pvmw_stream *s)
{
    struct pvmc_frame *f = s->queue[s->queue_first];
    s->queue_first = (s->queue_first + 1) % PVMW_STREAM_QUEUE_MAX;
    s->queued--;
    s->queue_bytes -= bytes_of(f);
    pvmc_frame_unref(f);
}

void pvmw_stream_end(struct pvmw_stream *s)
{
    s->ended = true;
    while (s->queued)
        drop_first(s);
    drop_descriptor(&s->descriptor);
    drop_descriptor(&s->unread_descriptor);
    free(s->unread);
    s->unread = NULL;
}

/* ---- sending ---- */

/* Fills the iovecs with what is left of a frame after `done` bytes; returns their number. */
static unsigned gather(const struct pvmc_frame *f, uint8_t header[HEADER_BYTES], size_t done, struct iovec *iov)
{
    unsigned n = 0;
    if (done < HEADER_BYTES) {
        iov[n++] = (struct iovec){header + done, HEADER_BYTES - done};
        done = 0;
    } else {
        done -= HEADER_BYTES;
    }
    for (unsigned i = 0; f && i < f->piece_count; i++) {
        if (done >= f->pieces[i].iov_len) {
            done -= f->pieces[i].iov_len;
            continue;
        }
        iov[n++] = (struct iovec){(uint8_t *)f->pieces[i].iov_base + done, f->pieces[i].iov_len - done};
        done = 0;
    }
    return n;
}

static inline ssize_t write_out(struct pvmw_stream *s, struct iovec *iov, unsigned count, int fd)
{
    ssize_t n = pvmw_stream_write_bytes(s, iov, count, fd);
    s->broken |= n < 0;
    return n;
}

static int descriptor_of(const struct pvmc_frame *f)
{
    return f && f->h.flags & PVMC_FRAME_FD ? f->fd : -1;
}

/* `wire` begins with the header and has room for a small payload. */
static inline ssize_t write_first(struct pvmw_stream *s, const struct pvmc_frame *f, uint8_t *wire)
{
    struct iovec iov[PVMC_FRAME_PIECES_MAX + 1];
    int fd = descriptor_of(f);
    if (fd >= 0 || s->kind == PVMW_STREAM_TLS || payload_of(f) > SMALL_BYTES)
        return write_out(s, iov, gather(f, wire, 0, iov), fd);
    size_t length = HEADER_BYTES;
    for (unsigned i = 0; f && i < f->piece_count; i++) {
        memcpy(wire + length, f->pieces[i].iov_base, f->pieces[i].iov_len);
        length += f->pieces[i].iov_len;
    }
    iov[0] = (struct iovec){wire, length};
    return write_out(s, iov, 1, -1);
}

static int enqueue(struct pvmw_stream *s, struct pvmc_frame *f, const uint8_t *header, size_t done)
{
    if (s->queued && (s->queued >= s->owner->queue_max || s->queue_bytes + bytes_of(f) > s->owner->queue_bytes))
        return PVMC_EAGAIN;
    if (!s->queued) {
        s->tx_done = done;
        memcpy(s->tx_header, header, HEADER_BYTES);
    }
    s->queue[(s->queue_first + s->queued++) % PVMW_STREAM_QUEUE_MAX] = f ? pvmc_frame_ref(f) : NULL;
    s->queue_bytes += bytes_of(f);
    return 0;
}

static inline int send_wire(struct pvmw_stream *s, struct pvmc_frame *f, uint8_t *wire)
{
    int rc = 0;
    if (s->broken)
        return PVMC_EDOWN;
    ssize_t n = s->queued || s->corked ? 0 : write_first(s, f, wire);
    if (n < 0)
        return PVMC_EDOWN;
    if (!n && s->owner->queue_max == 1)
        return PVMC_EAGAIN;
    if ((size_t)n < bytes_of(f))
        rc = enqueue(s, f, wire, (size_t)n);
    s->given += rc ? 0 : bytes_of(f);
    return rc;
}

int pvmw_stream_send(struct pvmw_stream *s, struct pvmc_frame *f)
{
    uint8_t wire[HEADER_BYTES + SMALL_BYTES];
    pvmc_frame_encode(&f->h, wire);
    return send_wire(s, f, wire);
}

int pvmw_stream_send_as(struct pvmw_stream *s, struct pvmc_frame *f, const uint8_t header[HEADER_BYTES])
{
    uint8_t wire[HEADER_BYTES + SMALL_BYTES];
    memcpy(wire, header, HEADER_BYTES);
    return send_wire(s, f, wire);
}

/* Queues what is left of a frame after `done` bytes. Without memory the peer gets half a frame: the stream ends. */
static __attribute__((cold)) void enqueue_rest(struct pvmw_stream *s, const uint8_t *wire, size_t done)
{
    struct pvmc_frame_header h;
    struct pvmc_frame *f = pvmc_frame_decode(wire, &h) ? NULL : pvmc_frame_alloc(&h);
    if (f) {
        if (h.length)
            memcpy(f->pieces[0].iov_base, wire + HEADER_BYTES, h.length);
        enqueue(s, f, wire, done);
    } else {
        s->broken = true;
        shutdown(s->fd, SHUT_RDWR); /* so that reading shows it */
    }
    pvmc_frame_unref(f);
}

int pvmw_stream_send_wire(struct pvmw_stream *s, const uint8_t *wire, size_t length)
{
    if (s->broken || s->queued || s->corked)
        return PVMC_EAGAIN;
    ssize_t n = plain_send(s, wire, length);
    s->broken = n < 0;
    if (n <= 0)
        return PVMC_EAGAIN;
    if ((size_t)n < length)
        enqueue_rest(s, wire, (size_t)n);
    s->given += length;
    return 0;
}

/* `n` more bytes of the queue are written. */
static void advance(struct pvmw_stream *s, size_t n)
{
    s->tx_done += n;
    while (s->queued && s->tx_done >= bytes_of(s->queue[s->queue_first])) {
        s->tx_done -= bytes_of(s->queue[s->queue_first]);
        drop_first(s);
        if (s->queued)
            pvmc_frame_encode(&s->queue[s->queue_first]->h, s->tx_header);
    }
}

/* Writes as much of the queue as fits, in one call: true when the socket accepted all of it. */
static bool write_queue(struct pvmw_stream *s)
{
    uint8_t headers[PVMW_STREAM_QUEUE_MAX][HEADER_BYTES];
    struct iovec iov[GATHER_MAX];
    const struct pvmc_frame *f = s->queue[s->queue_first];
    unsigned count = gather(f, s->tx_header, s->tx_done, iov);
    size_t wanted = bytes_of(f) - s->tx_done;
    for (unsigned i = 1; i < s->queued && count + PVMC_FRAME_PIECES_MAX + 1 <= GATHER_MAX; i++) {
        const struct pvmc_frame *next = s->queue[(s->queue_first + i) % PVMW_STREAM_QUEUE_MAX];
        pvmc_frame_encode(&next->h, headers[i]);
        count += gather(next, headers[i], 0, iov + count);
        wanted += bytes_of(next);
    }
    ssize_t n = write_out(s, iov, count, s->tx_done ? -1 : descriptor_of(f));
    if (n > 0)
        advance(s, (size_t)n);
    return n == (ssize_t)wanted;
}

bool pvmw_stream_flush(struct pvmw_stream *s)
{
    bool all = pvmw_stream_flush_bytes(s);
    while (all && s->queued) {
        all = write_queue(s);
        all = pvmw_stream_flush_bytes(s) && all; /* flush what TLS has buffered in any case */
    }
    return all;
}

/* ---- receiving ---- */

/* Keeps bytes already read, and the descriptor that came with them, until reading resumes. 0 or PVMC_ENOMEM. */
static int keep_unread(struct pvmw_stream *s, const uint8_t *bytes, size_t count, int *arrived)
{
    uint8_t *copy = malloc(count);
    if (!copy)
        return PVMC_ENOMEM;
    memcpy(copy, bytes, count);
    s->unread = copy;
    s->unread_bytes = count;
    s->unread_descriptor = *arrived;
    *arrived = -1;
    return 0;
}

/* Passes the frame's descriptor to the owner, or closes an unwanted one; -1: it was lost. */
static void deliver_descriptor(struct pvmw_stream *s, int fd)
{
    if (!s->ended && s->place && s->rx.flags & PVMC_FRAME_FD && s->owner->descriptor)
        s->owner->descriptor(s, fd);
    else
        drop_descriptor(&fd);
}

/* The descriptor of the header just completed, with `behind` more bytes from this read; see the top. */
static int take_descriptor(struct pvmw_stream *s, int *arrived, size_t behind)
{
    int fd = s->descriptor;
    s->descriptor = -1;
    if (fd < 0 && behind <= s->rx.length) {
        fd = *arrived;
        *arrived = -1;
    }
    return fd;
}

/* A header is complete. 0, or the code that ends reading. */
static inline int begin(struct pvmw_stream *s, int *arrived, size_t behind)
{
    int rc = s->owner->decode ? s->owner->decode(s) : pvmc_frame_decode(s->header, &s->rx);
    if (rc && rc != PVMW_STREAM_NO_FRAME)
        return rc;
    s->header_have = 0;
    if (rc)
        return 0;
    s->in_payload = true;
    s->placed = 0;
    s->last_large = s->rx.length > s->owner->large_bytes;
    bool beside = *arrived >= 0 || s->descriptor >= 0 || s->rx.flags & PVMC_FRAME_FD;
    int fd = beside ? take_descriptor(s, arrived, behind) : -1;
    s->place = s->owner->place(s);
    if (beside)
        deliver_descriptor(s, fd);
    return 0;
}

static inline void end_if_whole(struct pvmw_stream *s)
{
    if (s->ended || !s->in_payload || s->placed < s->rx.length)
        return;
    s->in_payload = false;
    if (s->place)
        s->owner->done(s);
}

/* Adds bytes to the incomplete header; returns their number. */
static inline size_t add_header(struct pvmw_stream *s, const uint8_t *bytes, size_t count)
{
    size_t n = least(HEADER_BYTES - s->header_have, count);
    if (n == HEADER_BYTES)
        memcpy(s->header, bytes, HEADER_BYTES);
    else
        memcpy(s->header + s->header_have, bytes, n);
    s->header_have += n;
    return n;
}

static inline size_t add_payload(struct pvmw_stream *s, const uint8_t *bytes, size_t count)
{
    size_t n = least(s->rx.length - s->placed, count);
    if (s->place)
        memcpy(s->place + s->placed, bytes, n);
    s->placed += (uint32_t)n;
    return n;
}

/* Processes bytes of the scratch buffer and *arrived, the descriptor that came with them. 0, or as begin(). */
static inline int consume(struct pvmw_stream *s, const uint8_t *bytes, size_t count, int *arrived)
{
    while (count && !s->ended && !s->stopped) {
        size_t n = s->in_payload ? add_payload(s, bytes, count) : add_header(s, bytes, count);
        bytes += n;
        count -= n;
        int rc = s->header_have == HEADER_BYTES ? begin(s, arrived, count) : 0;
        if (rc)
            return rc;
        end_if_whole(s);
    }
    return count && !s->ended ? keep_unread(s, bytes, count, arrived) : 0;
}

/* A descriptor that no header has claimed belongs to the incomplete header, if any. */
static void keep_descriptor(struct pvmw_stream *s, int *arrived)
{
    if (!s->ended && s->header_have && s->descriptor < 0) {
        s->descriptor = *arrived;
        *arrived = -1;
    }
    drop_descriptor(arrived);
}

static inline bool may_take(const struct pvmw_stream *s)
{
    return s->owner->take && !s->in_payload && !s->header_have && !s->ended && !s->stopped && !s->drops;
}

/* Lets the owner take the first frames from the scratch buffer; returns their bytes. */
static inline size_t take_frames(struct pvmw_stream *s, const uint8_t *bytes, size_t count)
{
    size_t n, taken = 0;
    do {
        n = count - taken >= HEADER_BYTES ? s->owner->take(s, bytes + taken, count - taken) : 0;
        taken += n;
    } while (n);
    return taken;
}

static inline int take_in(struct pvmw_stream *s, const uint8_t *bytes, size_t count, int arrived)
{
    size_t taken = arrived < 0 && may_take(s) ? take_frames(s, bytes, count) : 0;
    int rc = s->drops || taken == count ? 0 : consume(s, bytes + taken, count - taken, &arrived);
    if (arrived >= 0)
        keep_descriptor(s, &arrived);
    return rc;
}

/*
 * Reads the rest of the payload into its place, and what follows into the scratch buffer. In a row of large frames only
 * the next header goes there, so that no payload byte is copied twice.
 */
ssize_t pvmw_stream_read(struct pvmw_stream *s, uint8_t *scratch, size_t size, bool *drained)
{
    struct iovec iov[2];
    unsigned count = 0;
    int arrived = -1;
    size_t direct = s->in_payload && s->place ? s->rx.length - s->placed : 0;
    size_t behind = s->last_large && (direct || !s->in_payload) ? HEADER_BYTES - s->header_have : size;
    s->last_large &= s->in_payload; /* the owner may take the next frame, and nobody else would see how long it is */
    if (direct)
        iov[count++] = (struct iovec){s->place + s->placed, direct};
    iov[count++] = (struct iovec){scratch, behind};
    ssize_t n = pvmw_stream_read_bytes(s, iov, count, direct + behind, &arrived, drained);
    if (n <= 0)
        return n == PVMC_ESHORT && (s->in_payload || s->header_have) ? PVMC_EDOWN : n;
    s->taken += (uint64_t)n;
    size_t straight = least((size_t)n, direct);
    s->placed += (uint32_t)straight;
    if (straight)
        end_if_whole(s);
    int rc = take_in(s, scratch, (size_t)n - straight, arrived);
    return rc ? rc : n;
}

ssize_t pvmw_stream_resume(struct pvmw_stream *s)
{
    uint8_t *bytes = s->unread;
    size_t count = s->unread_bytes;
    int arrived = s->unread_descriptor;
    if (!bytes || s->stopped || s->ended)
        return 0;
    s->unread = NULL;
    s->unread_descriptor = -1;
    int rc = take_in(s, bytes, count, arrived);
    free(bytes);
    return rc ? rc : (ssize_t)count;
}
