/* stream.c - frames and signals over TLS. */
#include "stream.h"
#include <endian.h>
#include <errno.h>
#include <linux/tcp.h> /* glibc 2.36 does not have all of tcp_info */
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/message/proto.h"
#include "wire/stream.h"

#define HEADER_BYTES PVMC_FRAME_HEADER_BYTES
#define ASK_FLAG     0x80   /* in a frame's flags byte on the wire: requests a count soon */
#define SIGNAL_MAGIC 0x4b4c /* "LK" */
#define SIGNALS_MAX  8      /* limit of signals queued behind a frame; more would be repetitions */
#define TURN_BYTES   (256 << 10)
#define FLAGS_AT     3
#define DETOUR_AT    56
#define COUNT_AT     60
#define LARGE_BYTES  4096 /* larger payloads get a read of their own */

struct pvmd_stream {
    struct pvmw_stream wire;
    struct ev_loop *loop;
    const struct pvmd_stream_events *events;
    void *owner;
    ev_io read_watcher, write_watcher;
    bool ready;   /* the handshake is done */
    bool refused; /* a frame was refused: `writable` is due */
    bool reading; /* a read is in progress: free an ended stream after it */
    int64_t heard_us;
    uint64_t acked; /* of our bytes at the last look */
    int64_t acked_us;
    bool quiet; /* nothing was sent before the last look */
    uint8_t signals[SIGNALS_MAX][HEADER_BYTES];
    unsigned signal_count;
    struct pvmc_frame *rx; /* the frame whose payload is being read, or NULL */
    uint32_t rx_detour;    /* of the next frame */
    uint32_t rx_count;
    bool rx_asked;
};

/* Bytes of the current read. */
static uint8_t scratch[PVMW_TLS_RECORD_BYTES];

static void release(struct pvmd_stream *s)
{
    pvmw_tls_end(s->wire.tls, false);
    pvmc_frame_unref(s->rx);
    close(s->wire.fd);
    free(s);
}

void pvmd_stream_close(struct pvmd_stream *s)
{
    ev_io_stop(s->loop, &s->read_watcher);
    ev_io_stop(s->loop, &s->write_watcher);
    pvmw_stream_end(&s->wire);
    if (!s->reading)
        release(s);
}

void pvmd_stream_abort(struct pvmd_stream *s)
{
    static const struct linger at_once = {.l_onoff = 1};
    setsockopt(s->wire.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    pvmd_stream_close(s);
}

/* ---- sending ---- */

/* Sends buffered data, and waits for room if the socket does not accept all of it: true if it does. */
static bool flush(struct pvmd_stream *s)
{
    if (pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE)) {
        shutdown(s->wire.fd, SHUT_RDWR); /* the loop tells the owner, when it reads */
        return false;
    }
    bool all = pvmw_stream_flush(&s->wire);
    pvmc_failpoint_done(PVMC_FAILPOINT_LINK_WRITE);
    if (pvmw_stream_waits(&s->wire))
        ev_io_start(s->loop, &s->write_watcher);
    else
        ev_io_stop(s->loop, &s->write_watcher);
    if (pvmw_tls_error(s->wire.tls)) /* the loop tells the owner, not a call that the owner is making */
        ev_feed_event(s->loop, &s->read_watcher, EV_READ);
    return all;
}

static bool write_signals(struct pvmd_stream *s)
{
    unsigned i = 0;
    while (i < s->signal_count && !pvmw_stream_send_as(&s->wire, NULL, s->signals[i]))
        i++;
    s->signal_count -= i;
    memmove(s->signals, s->signals[i], s->signal_count * HEADER_BYTES);
    return !s->signal_count;
}

/* Whether a new frame or signal can be started. */
static bool writable(struct pvmd_stream *s)
{
    return s->ready && !pvmw_stream_waits(&s->wire) && write_signals(s);
}

static void put_u32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}

static void begin_signal(uint8_t header[HEADER_BYTES], enum pvmd_signal signal, uint32_t count)
{
    memset(header, 0, HEADER_BYTES);
    header[0] = SIGNAL_MAGIC & 0xff;
    header[1] = SIGNAL_MAGIC >> 8;
    header[2] = PVMC_DAEMON_PROTOCOL;
    header[3] = (uint8_t)signal;
    put_u32(header + COUNT_AT, count);
}

/* If the frame is refused afterwards, the signal is sent once more, ahead of the same frame. */
static bool announce_detour(struct pvmd_stream *s, uint32_t detour, uint32_t count)
{
    uint8_t header[HEADER_BYTES];
    begin_signal(header, PVMD_SIGNAL_DETOUR, count);
    put_u32(header + DETOUR_AT, detour);
    return writable(s) && !pvmw_stream_send_as(&s->wire, NULL, header);
}

bool pvmd_stream_frame(struct pvmd_stream *s, struct pvmc_frame *f, uint32_t count, bool ask)
{
    uint8_t header[HEADER_BYTES];
    pvmc_frame_encode(&f->h, header);
    put_u32(header + COUNT_AT, count);
    if (ask)
        header[FLAGS_AT] |= ASK_FLAG;
    bool taken = !f->h.detour || announce_detour(s, f->h.detour, count);
    taken = taken && writable(s) && !pvmw_stream_send_as(&s->wire, f, header);
    s->refused |= !taken;
    return taken;
}

void pvmd_stream_signal(struct pvmd_stream *s, enum pvmd_signal signal, uint32_t count)
{
    uint8_t header[HEADER_BYTES];
    begin_signal(header, signal, count);
    if (writable(s) && !pvmw_stream_send_as(&s->wire, NULL, header))
        return;
    if (s->signal_count < SIGNALS_MAX)
        memcpy(s->signals[s->signal_count++], header, HEADER_BYTES);
}

/* The socket may have got room since a frame was refused: then no write event follows. */
void pvmd_stream_flush(struct pvmd_stream *s)
{
    if (flush(s) && s->refused)
        ev_feed_event(s->loop, &s->write_watcher, EV_WRITE);
}

static void write_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_stream *s = w->data;
    (void)loop, (void)events;
    if (!flush(s))
        return;
    bool may_write = writable(s);
    if (flush(s) && may_write && s->refused) {
        s->refused = false;
        s->events->writable(s->owner);
    }
}

/* ---- receiving ---- */

static uint32_t take_u32(uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    memset(at, 0, sizeof value);
    return le32toh(value);
}

static int receive_signal(struct pvmd_stream *s, uint8_t header[HEADER_BYTES])
{
    uint8_t signal = header[3];
    uint32_t count = take_u32(header + COUNT_AT);
    if (header[2] != PVMC_DAEMON_PROTOCOL)
        return PVMC_EVERSION;
    if (signal == 0 || signal > PVMD_SIGNAL_LAST)
        return PVMC_EFORMAT;
    if (signal == PVMD_SIGNAL_DETOUR)
        s->rx_detour = take_u32(header + DETOUR_AT);
    s->events->signal(s->owner, signal, count);
    return PVMW_STREAM_NO_FRAME;
}

static int wire_decode(struct pvmw_stream *wire)
{
    struct pvmd_stream *s = (struct pvmd_stream *)wire;
    uint8_t *header = wire->header;
    if (header[0] == (SIGNAL_MAGIC & 0xff) && header[1] == SIGNAL_MAGIC >> 8)
        return receive_signal(s, header);
    s->rx_count = take_u32(header + COUNT_AT);
    s->rx_asked = header[FLAGS_AT] & ASK_FLAG;
    header[FLAGS_AT] &= (uint8_t)~ASK_FLAG;
    int rc = pvmc_frame_decode(header, &wire->rx);
    if (rc)
        return rc;
    wire->rx.detour = s->rx_detour;
    s->rx_detour = 0;
    s->rx = pvmc_frame_alloc(&wire->rx);
    return s->rx ? 0 : PVMC_ENOMEM;
}

static uint8_t *wire_place(struct pvmw_stream *wire)
{
    struct pvmd_stream *s = (struct pvmd_stream *)wire;
    return wire->rx.length ? s->rx->pieces[0].iov_base : wire->header;
}

static void wire_done(struct pvmw_stream *wire)
{
    struct pvmd_stream *s = (struct pvmd_stream *)wire;
    struct pvmc_frame *f = s->rx;
    s->rx = NULL;
    s->events->frame(s->owner, f, s->rx_count, s->rx_asked);
    pvmc_frame_unref(f);
}

static const struct pvmw_stream_owner wire_owner = {
    .decode = wire_decode, .place = wire_place, .done = wire_done, .queue_max = 1, .large_bytes = LARGE_BYTES};

/* Processes one read from the socket, and more if it ended within a record. Then it is another link's turn. */
static const char *read_all(struct pvmd_stream *s)
{
    ssize_t rc, bytes = 0;
    bool drained, pending;
    do {
        rc = pvmw_stream_read(&s->wire, scratch, sizeof scratch, &drained);
        bytes += rc;
        pending = rc > 0 && !s->wire.ended && pvmw_tls_has_pending(s->wire.tls);
    } while (pending && bytes < TURN_BYTES);
    if (s->wire.ended || rc == 0)
        return NULL;
    if (rc > 0) {
        if (pending) /* in TLS's buffer, invisible to the kernel */
            ev_feed_event(s->loop, &s->read_watcher, EV_READ);
        return NULL;
    }
    const char *why = pvmw_tls_error(s->wire.tls);
    return rc != PVMC_EDOWN && rc != PVMC_ESHORT ? pvmc_error_text((int)rc) : why ? why : "connection closed";
}

static const char *handshake(struct pvmd_stream *s)
{
    if (pvmc_failpoint(PVMC_FAILPOINT_LINK_TLS))
        return strerror(errno);
    int rc = pvmw_tls_handshake(s->wire.tls);
    pvmc_failpoint_done(PVMC_FAILPOINT_LINK_TLS);
    if (rc < 0)
        return pvmw_tls_error(s->wire.tls);
    if (!rc)
        return NULL;
    s->ready = true;
    s->events->ready(s->owner);
    return NULL;
}

static void read_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_stream *s = w->data;
    const char *why = pvmw_tls_error(s->wire.tls);
    (void)loop, (void)events;
    s->heard_us = pvmc_clock_us();
    s->reading = true;
    if (!why && !s->ready)
        why = handshake(s);
    if (!why && s->ready && !s->wire.ended) {
        why = pvmc_failpoint(PVMC_FAILPOINT_LINK_READ) ? strerror(errno) : read_all(s);
        pvmc_failpoint_done(PVMC_FAILPOINT_LINK_READ);
    }
    if (!why && !s->wire.ended)
        why = pvmw_tls_error(s->wire.tls);
    if (why && !s->wire.ended)
        s->events->down(s->owner, why);
    s->reading = false;
    if (s->wire.ended)
        release(s);
}

/* ---- begin ---- */

static struct pvmw_tls *new_tls(int fd, bool caller, const uint8_t secret[PVMD_KEY_BYTES])
{
    struct pvmw_tls_key key = {.id = "dpvm link"};
    memcpy(key.secret, secret, sizeof key.secret);
    struct pvmw_tls *tls = pvmw_tls_new(fd, caller ? PVMW_TLS_CALLER : PVMW_TLS_CALLED, &key);
    OPENSSL_cleanse(&key, sizeof key);
    return tls;
}

struct pvmd_stream *pvmd_stream_new(struct ev_loop *loop, int fd, bool caller, const uint8_t key[PVMD_KEY_BYTES],
                                    const struct pvmd_stream_events *events, void *owner)
{
    struct pvmd_stream *s = calloc(1, sizeof *s);
    struct pvmw_tls *tls = s ? new_tls(fd, caller, key) : NULL;
    if (!tls) {
        free(s);
        close(fd);
        return NULL;
    }
    pvmw_stream_init(&s->wire, PVMW_STREAM_TLS, &wire_owner, fd);
    pvmw_stream_use_tls(&s->wire, tls, &pvmw_tls_table);
    s->loop = loop;
    s->events = events;
    s->owner = owner;
    s->heard_us = s->acked_us = pvmc_clock_us();
    ev_io_init(&s->read_watcher, read_event, fd, EV_READ);
    ev_io_init(&s->write_watcher, write_event, fd, EV_WRITE);
    s->read_watcher.data = s->write_watcher.data = s;
    ev_io_start(loop, &s->read_watcher);
    if (caller)
        ev_feed_event(loop, &s->read_watcher, EV_READ); /* the calling side begins the handshake */
    return s;
}

int64_t pvmd_stream_heard_us(const struct pvmd_stream *s)
{
    return s->heard_us;
}

void pvmd_stream_look(struct pvmd_stream *s)
{
    struct tcp_info info = {0}; /* stays so for sockets that are not TCP's, in tests */
    socklen_t size = sizeof info;
    getsockopt(s->wire.fd, IPPROTO_TCP, TCP_INFO, &info, &size);
    bool more = info.tcpi_bytes_acked != s->acked;
    bool is_held_up = !info.tcpi_unacked && info.tcpi_notsent_bytes; /* by a window that is closed */
    if (more || is_held_up) /* who has sent nothing, or has been reset, knows nothing */
        s->acked_us = pvmc_clock_us();
    s->quiet = !more && !info.tcpi_unacked && !info.tcpi_notsent_bytes;
    s->acked = info.tcpi_bytes_acked;
}

int64_t pvmd_stream_proven_us(const struct pvmd_stream *s)
{
    return s->heard_us < s->acked_us ? s->heard_us : s->acked_us;
}

uint64_t pvmd_stream_acked(const struct pvmd_stream *s)
{
    return s->acked;
}

bool pvmd_stream_is_quiet(const struct pvmd_stream *s)
{
    return s->quiet;
}

int pvmd_stream_fd(const struct pvmd_stream *s)
{
    return s->wire.fd;
}
