/* stream.c - frames and signals over TLS. */
#include "stream.h"
#include <endian.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "../core/proto.h"
#include "../wire/tls.h"

#define HEADER_BYTES PVMI_FRAME_HEADER_BYTES
#define ASK_FLAG     0x80   /* in a frame's flags byte on the wire: tell your count soon */
#define SIGNAL_MAGIC 0x4b4c /* "LK" */
#define SIGNALS_MAX  8      /* that wait behind a frame; more would be repetitions */
#define TURN_BYTES   (256 << 10)
#define FLAGS_AT     3
#define COUNT_AT     60

struct pvmd_stream {
    struct ev_loop *loop;
    int fd;
    struct pvmw_tls *tls;
    const struct pvmd_stream_events *events;
    void *owner;
    ev_io read_watcher, write_watcher;
    bool ready;   /* the handshake is done */
    bool refused; /* a frame was: `writable` is due */
    bool closed;  /* to be freed when nobody works on it any more */
    bool reading;
    int64_t heard_us;

    struct pvmi_frame *tx; /* the frame being written, or NULL */
    uint8_t tx_header[HEADER_BYTES];
    size_t tx_done; /* bytes of header and payload that TLS has taken */
    uint8_t signals[SIGNALS_MAX][HEADER_BYTES];
    unsigned signal_count;

    struct pvmi_frame *rx; /* the frame whose payload comes in, or NULL */
    uint8_t rx_header[HEADER_BYTES];
    size_t rx_done; /* of the header, or of the payload */
    uint32_t rx_count;
    bool rx_asked;
};

static void release(struct pvmd_stream *s)
{
    pvmw_tls_end(s->tls, false);
    pvmi_frame_unref(s->tx);
    pvmi_frame_unref(s->rx);
    close(s->fd);
    free(s);
}

void pvmd_stream_close(struct pvmd_stream *s)
{
    ev_io_stop(s->loop, &s->read_watcher);
    ev_io_stop(s->loop, &s->write_watcher);
    s->closed = true;
    if (!s->reading)
        release(s);
}

/* ---- sending ---- */

/* Sends what TLS has taken, and watches for room if the socket does not take all: true if it does. */
static bool flush(struct pvmd_stream *s)
{
    bool all = pvmw_tls_flush(s->tls);
    if (pvmw_tls_is_blocked(s->tls))
        ev_io_start(s->loop, &s->write_watcher);
    else
        ev_io_stop(s->loop, &s->write_watcher);
    if (pvmw_tls_error(s->tls)) /* the owner learns it from the loop, not from inside a call of its own */
        ev_feed_event(s->loop, &s->read_watcher, EV_READ);
    return all;
}

/* The bytes of tx from tx_done on that lie together: header, or a piece of payload. */
static const uint8_t *tx_span(const struct pvmd_stream *s, size_t *length)
{
    if (s->tx_done < HEADER_BYTES) {
        *length = HEADER_BYTES - s->tx_done;
        return s->tx_header + s->tx_done;
    }
    size_t offset = s->tx_done - HEADER_BYTES;
    unsigned i = 0;
    while (offset >= s->tx->pieces[i].iov_len)
        offset -= s->tx->pieces[i++].iov_len;
    *length = s->tx->pieces[i].iov_len - offset;
    return (const uint8_t *)s->tx->pieces[i].iov_base + offset;
}

/* True when no frame is under way any more. */
static bool write_tx(struct pvmd_stream *s)
{
    size_t total = s->tx ? HEADER_BYTES + s->tx->h.length : 0;
    while (s->tx && s->tx_done < total) {
        size_t length;
        const uint8_t *data = tx_span(s, &length);
        size_t taken = pvmw_tls_put(s->tls, data, length);
        s->tx_done += taken;
        if (taken < length)
            return false;
    }
    pvmi_frame_unref(s->tx);
    s->tx = NULL;
    return true;
}

static bool write_signals(struct pvmd_stream *s)
{
    unsigned i = 0;
    while (i < s->signal_count && pvmw_tls_put(s->tls, s->signals[i], HEADER_BYTES))
        i++;
    s->signal_count -= i;
    memmove(s->signals, s->signals[i], s->signal_count * HEADER_BYTES);
    return !s->signal_count;
}

/* Whether a new frame or signal may be begun. */
static bool writable(struct pvmd_stream *s)
{
    return s->ready && !pvmw_tls_is_blocked(s->tls) && write_tx(s) && write_signals(s);
}

static void put_count(uint8_t header[HEADER_BYTES], uint32_t count)
{
    count = htole32(count);
    memcpy(header + COUNT_AT, &count, sizeof count);
}

bool pvmd_stream_frame(struct pvmd_stream *s, struct pvmi_frame *f, uint32_t count, bool ask)
{
    if (!writable(s)) {
        s->refused = true;
        return false;
    }
    pvmi_frame_encode(&f->h, s->tx_header);
    put_count(s->tx_header, count);
    if (ask)
        s->tx_header[FLAGS_AT] |= ASK_FLAG;
    s->tx = pvmi_frame_ref(f);
    s->tx_done = 0;
    write_tx(s);
    return true;
}

void pvmd_stream_signal(struct pvmd_stream *s, enum pvmd_signal signal, uint32_t count)
{
    uint8_t header[HEADER_BYTES] = {SIGNAL_MAGIC & 0xff, SIGNAL_MAGIC >> 8, PVMI_DAEMON_PROTOCOL, (uint8_t)signal};
    put_count(header, count);
    if (writable(s) && pvmw_tls_put(s->tls, header, HEADER_BYTES))
        return;
    if (s->signal_count < SIGNALS_MAX)
        memcpy(s->signals[s->signal_count++], header, HEADER_BYTES);
}

void pvmd_stream_flush(struct pvmd_stream *s)
{
    flush(s);
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

static uint32_t get_count(uint8_t header[HEADER_BYTES])
{
    uint32_t count;
    memcpy(&count, header + COUNT_AT, sizeof count);
    memset(header + COUNT_AT, 0, sizeof count);
    return le32toh(count);
}

static int receive_signal(struct pvmd_stream *s)
{
    uint8_t signal = s->rx_header[3];
    uint32_t count = get_count(s->rx_header);
    s->rx_done = 0;
    if (s->rx_header[2] != PVMI_DAEMON_PROTOCOL)
        return PVMI_EVERSION;
    if (signal == 0 || signal > PVMD_SIGNAL_LAST)
        return PVMI_EFORMAT;
    s->events->signal(s->owner, signal, count);
    return 0;
}

static void receive_frame(struct pvmd_stream *s)
{
    struct pvmi_frame *f = s->rx;
    s->rx = NULL;
    s->rx_done = 0;
    s->events->frame(s->owner, f, s->rx_count, s->rx_asked);
    pvmi_frame_unref(f);
}

static int receive_header(struct pvmd_stream *s)
{
    struct pvmi_frame_header h;
    if (s->rx_header[0] == (SIGNAL_MAGIC & 0xff) && s->rx_header[1] == SIGNAL_MAGIC >> 8)
        return receive_signal(s);
    s->rx_count = get_count(s->rx_header);
    s->rx_asked = s->rx_header[FLAGS_AT] & ASK_FLAG;
    s->rx_header[FLAGS_AT] &= (uint8_t)~ASK_FLAG;
    int rc = pvmi_frame_decode(s->rx_header, &h);
    if (rc)
        return rc;
    s->rx = pvmi_frame_alloc(&h);
    if (!s->rx)
        return PVMI_ENOMEM;
    s->rx_done = 0;
    if (!h.length)
        receive_frame(s);
    return 0;
}

/* Where the next bytes go, and how many are wanted. */
static uint8_t *rx_place(struct pvmd_stream *s, size_t *wanted)
{
    if (!s->rx) {
        *wanted = HEADER_BYTES - s->rx_done;
        return s->rx_header + s->rx_done;
    }
    *wanted = s->rx->h.length - s->rx_done;
    return (uint8_t *)s->rx->pieces[0].iov_base + s->rx_done;
}

/* One read from TLS: how many bytes came, 0 when there are none for now, or a PVMI_E code. */
static int read_some(struct pvmd_stream *s)
{
    size_t wanted;
    uint8_t *place = rx_place(s, &wanted);
    ssize_t got = pvmw_tls_read(s->tls, place, wanted);
    if (got <= 0)
        return got ? PVMI_EDOWN : 0;
    s->rx_done += (size_t)got;
    int rc = 0;
    if ((size_t)got == wanted && s->rx)
        receive_frame(s);
    else if ((size_t)got == wanted)
        rc = receive_header(s);
    return rc ? rc : (int)got;
}

/* Reads what one read from the socket brought, and more if that ended within a record; others get their turn then. */
static const char *read_all(struct pvmd_stream *s)
{
    int rc, bytes = 0;
    do
        bytes += rc = read_some(s);
    while (rc > 0 && !s->closed && bytes < TURN_BYTES && pvmw_tls_has_pending(s->tls));
    if (s->closed || rc == 0)
        return NULL;
    if (rc > 0) {
        if (pvmw_tls_has_pending(s->tls)) /* in TLS's buffer, where the kernel cannot see it */
            ev_feed_event(s->loop, &s->read_watcher, EV_READ);
        return NULL;
    }
    const char *why = pvmw_tls_error(s->tls);
    return rc != PVMI_EDOWN ? pvmi_error_text(rc) : why ? why : "connection closed";
}

static const char *handshake(struct pvmd_stream *s)
{
    int rc = pvmw_tls_handshake(s->tls);
    if (rc < 0)
        return pvmw_tls_error(s->tls);
    if (!rc)
        return NULL;
    s->ready = true;
    s->events->ready(s->owner);
    return NULL;
}

static void read_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_stream *s = w->data;
    const char *why = pvmw_tls_error(s->tls);
    (void)loop, (void)events;
    s->heard_us = pvmi_clock_us();
    s->reading = true;
    if (!why && !s->ready)
        why = handshake(s);
    if (!why && s->ready && !s->closed)
        why = read_all(s);
    if (!why && !s->closed)
        why = pvmw_tls_error(s->tls);
    if (why && !s->closed)
        s->events->down(s->owner, why);
    s->reading = false;
    if (s->closed)
        release(s);
}

/* ---- begin ---- */

static struct pvmw_tls *new_tls(int fd, bool caller, const uint8_t secret[PVMD_KEY_BYTES])
{
    struct pvmw_tls_key key;
    memcpy(key.id, pvmd_secrets->machine.id, sizeof key.id);
    memcpy(key.secret, secret, sizeof key.secret);
    struct pvmw_tls *tls = pvmw_tls_new(fd, caller ? PVMW_TLS_CALLER : PVMW_TLS_CALLED, &key);
    OPENSSL_cleanse(&key, sizeof key);
    return tls;
}

struct pvmd_stream *pvmd_stream_new(struct ev_loop *loop, int fd, bool caller, const uint8_t key[PVMD_KEY_BYTES],
                                    const struct pvmd_stream_events *events, void *owner)
{
    struct pvmd_stream *s = calloc(1, sizeof *s);
    if (!s || !(s->tls = new_tls(fd, caller, key))) {
        free(s);
        close(fd);
        return NULL;
    }
    s->loop = loop;
    s->fd = fd;
    s->events = events;
    s->owner = owner;
    s->heard_us = pvmi_clock_us();
    ev_io_init(&s->read_watcher, read_event, fd, EV_READ);
    ev_io_init(&s->write_watcher, write_event, fd, EV_WRITE);
    s->read_watcher.data = s->write_watcher.data = s;
    ev_io_start(loop, &s->read_watcher);
    if (caller)
        ev_feed_event(loop, &s->read_watcher, EV_READ); /* the calling side speaks first */
    return s;
}

int64_t pvmd_stream_heard_us(const struct pvmd_stream *s)
{
    return s->heard_us;
}

int pvmd_stream_fd(const struct pvmd_stream *s)
{
    return s->fd;
}
