/* stream.c - frames and signals over TLS. */
#include "stream.h"
#include <endian.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "tls.h"

#define HEADER_BYTES PVMI_FRAME_HEADER_BYTES
#define ASK_FLAG     0x80   /* in a frame's flags byte on the wire: tell your count soon */
#define SIGNAL_MAGIC 0x4b4c /* "LK" */
#define SIGNALS_MAX  8      /* that wait behind a frame; more would be repetitions */
#define TURN_BYTES   (256 << 10)
#define FLAGS_AT     3
#define COUNT_AT     60
#define REKEY_BYTES  (1ull << 36) /* well below what AES-GCM may encrypt with one key ... */
#ifndef PVMD_REKEY_WRITES
#define PVMD_REKEY_WRITES (1u << 22) /* ... even if it is all in small records; tests want it more often */
#endif

struct pvmd_stream {
    struct ev_loop *loop;
    int fd;
    SSL *ssl;
    uint8_t key[PVMD_KEY_BYTES];
    const struct pvmd_stream_events *events;
    void *owner;
    ev_io read_watcher, write_watcher;
    bool ready;   /* the handshake is done */
    bool refused; /* a frame was: `writable` is due */
    bool closed;  /* to be freed when nobody works on it any more */
    bool reading;
    const char *broken; /* why nothing more can be written; reading tells the owner */
    int64_t heard_us;

    struct pvmi_frame *tx; /* the frame being written, or NULL */
    uint8_t tx_header[HEADER_BYTES];
    size_t tx_done; /* bytes of header and payload that are sealed */
    uint8_t signals[SIGNALS_MAX][HEADER_BYTES];
    unsigned signal_count;
    uint8_t *backlog; /* sealed bytes that the socket did not take */
    size_t backlog_bytes, backlog_done;
    uint64_t rekey_bytes; /* written since the last new key */
    uint32_t rekey_writes;

    struct pvmi_frame *rx; /* the frame whose payload comes in, or NULL */
    uint8_t rx_header[HEADER_BYTES];
    size_t rx_done; /* of the header, or of the payload */
    uint32_t rx_count;
    bool rx_asked;
};

/* Plain bytes that will be one record: small frames of one flush are put together here. Shared; empty between calls. */
static uint8_t plain[PVMD_RECORD_BYTES];
static size_t plain_bytes;

static void release(struct pvmd_stream *s)
{
    SSL_free(s->ssl);
    pvmi_frame_unref(s->tx);
    pvmi_frame_unref(s->rx);
    free(s->backlog);
    OPENSSL_cleanse(s->key, sizeof s->key);
    free(s);
}

void pvmd_stream_close(struct pvmd_stream *s)
{
    ev_io_stop(s->loop, &s->read_watcher);
    ev_io_stop(s->loop, &s->write_watcher);
    close(s->fd);
    s->closed = true;
    if (!s->reading)
        release(s);
}

/* ---- sending: sealed bytes to the socket ---- */

/* The owner learns it from the loop, not from inside a call of its own. */
static void broken(struct pvmd_stream *s, const char *why)
{
    if (s->broken)
        return;
    s->broken = why;
    ev_feed_event(s->loop, &s->read_watcher, EV_READ);
}

static size_t to_socket(struct pvmd_stream *s, const uint8_t *data, size_t length)
{
    ssize_t n;
    do
        n = send(s->fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return (size_t)n;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        broken(s, strerror(errno));
    return 0;
}

/* Behind what waits already. */
static void add_backlog(struct pvmd_stream *s, const uint8_t *data, size_t length)
{
    size_t left = s->backlog_bytes - s->backlog_done;
    uint8_t *grown = malloc(left + length);
    if (!grown) {
        broken(s, "out of memory");
        return;
    }
    if (left)
        memcpy(grown, s->backlog + s->backlog_done, left);
    memcpy(grown + left, data, length);
    free(s->backlog);
    s->backlog = grown;
    s->backlog_bytes = left + length;
    s->backlog_done = 0;
    ev_io_start(s->loop, &s->write_watcher);
}

/* Empties the shared sealed bytes: true if the socket took all. */
static bool emit(struct pvmd_stream *s)
{
    size_t length = pvmd_sealed.length;
    pvmd_sealed.length = 0;
    if (!length || s->broken)
        return !s->broken;
    size_t sent = s->backlog ? 0 : to_socket(s, pvmd_sealed.data, length);
    if (sent < length && !s->broken)
        add_backlog(s, pvmd_sealed.data + sent, length - sent);
    return sent == length;
}

/* True when nothing sealed waits. */
static bool drain_backlog(struct pvmd_stream *s)
{
    if (!s->backlog)
        return !s->broken;
    s->backlog_done += to_socket(s, s->backlog + s->backlog_done, s->backlog_bytes - s->backlog_done);
    if (s->backlog_done < s->backlog_bytes)
        return false;
    free(s->backlog);
    s->backlog = NULL;
    s->backlog_bytes = s->backlog_done = 0;
    ev_io_stop(s->loop, &s->write_watcher);
    return true;
}

/* ---- sealing: plain bytes to records ---- */

static void new_key_when_due(struct pvmd_stream *s, size_t length)
{
    s->rekey_bytes += length;
    if (++s->rekey_writes < PVMD_REKEY_WRITES && s->rekey_bytes < REKEY_BYTES)
        return;
    s->rekey_bytes = s->rekey_writes = 0;
    SSL_key_update(s->ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
}

/* At most one record; the caller has seen to its room. */
static void seal(struct pvmd_stream *s, const void *data, size_t length)
{
    size_t done;
    if (s->broken)
        return;
    new_key_when_due(s, length);
    if (SSL_write_ex(s->ssl, data, length, &done) != 1 || done != length)
        broken(s, pvmd_tls_error());
}

static void seal_plain(struct pvmd_stream *s)
{
    if (plain_bytes)
        seal(s, plain, plain_bytes);
    plain_bytes = 0;
}

/* Room for two records: the plain one and the one after it. */
static bool sealed_has_room(struct pvmd_stream *s)
{
    return pvmd_sealed.length + 2 * PVMD_RECORD_ROOM <= PVMD_SEALED_MAX || emit(s);
}

/* Takes up to a record's worth of the bytes at data; returns how many, 0 when the line is full. */
static size_t put(struct pvmd_stream *s, const uint8_t *data, size_t length)
{
    if (!sealed_has_room(s))
        return 0;
    if (length >= PVMD_RECORD_BYTES) { /* worth a record of its own, without copying */
        seal_plain(s);
        seal(s, data, PVMD_RECORD_BYTES);
        return PVMD_RECORD_BYTES;
    }
    if (length > PVMD_RECORD_BYTES - plain_bytes)
        seal_plain(s);
    memcpy(plain + plain_bytes, data, length);
    plain_bytes += length;
    return length;
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
        size_t taken = put(s, data, length);
        if (!taken)
            return false;
        s->tx_done += taken;
    }
    pvmi_frame_unref(s->tx);
    s->tx = NULL;
    return true;
}

static bool write_signals(struct pvmd_stream *s)
{
    unsigned i = 0;
    while (i < s->signal_count && put(s, s->signals[i], HEADER_BYTES))
        i++;
    s->signal_count -= i;
    memmove(s->signals, s->signals[i], s->signal_count * HEADER_BYTES);
    return !s->signal_count;
}

/* Whether a new frame or signal may be begun. */
static bool writable(struct pvmd_stream *s)
{
    return s->ready && !s->backlog && write_tx(s) && write_signals(s);
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
    if (writable(s) && put(s, header, HEADER_BYTES))
        return;
    if (s->signal_count < SIGNALS_MAX)
        memcpy(s->signals[s->signal_count++], header, HEADER_BYTES);
}

void pvmd_stream_flush(struct pvmd_stream *s)
{
    seal_plain(s);
    emit(s);
}

static void write_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_stream *s = w->data;
    (void)loop, (void)events;
    if (!drain_backlog(s))
        return;
    bool may_write = writable(s);
    pvmd_stream_flush(s);
    if (may_write && !s->backlog && s->refused) {
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
    size_t wanted, got;
    uint8_t *place = rx_place(s, &wanted);
    int rc = SSL_read_ex(s->ssl, place, wanted, &got);
    int error = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(s->ssl, rc);
    emit(s); /* TLS may have answered by itself */
    if (error != SSL_ERROR_NONE)
        return error == SSL_ERROR_WANT_READ ? 0 : PVMI_EDOWN;
    s->rx_done += got;
    rc = 0;
    if (got == wanted && s->rx)
        receive_frame(s);
    else if (got == wanted)
        rc = receive_header(s);
    return rc ? rc : (int)got;
}

/* Reads what one read from the socket brought, and more if that ended within a record; others get their turn then. */
static const char *read_all(struct pvmd_stream *s)
{
    int rc, bytes = 0;
    do
        bytes += rc = read_some(s);
    while (rc > 0 && !s->closed && bytes < TURN_BYTES && SSL_has_pending(s->ssl));
    if (s->closed || rc == 0)
        return NULL;
    if (rc > 0) {
        if (SSL_has_pending(s->ssl)) /* in TLS's buffer, where the kernel cannot see it */
            ev_feed_event(s->loop, &s->read_watcher, EV_READ);
        return NULL;
    }
    ERR_clear_error();
    return rc == PVMI_EDOWN ? "connection closed" : pvmi_error_text(rc);
}

static const char *handshake(struct pvmd_stream *s)
{
    int rc = SSL_do_handshake(s->ssl);
    int error = rc == 1 ? SSL_ERROR_NONE : SSL_get_error(s->ssl, rc);
    emit(s);
    if (error == SSL_ERROR_WANT_READ)
        return NULL;
    if (error == SSL_ERROR_SSL)
        return pvmd_tls_error();
    if (error != SSL_ERROR_NONE)
        return "connection closed during the handshake";
    s->ready = true;
    OPENSSL_cleanse(s->key, sizeof s->key);
    s->events->ready(s->owner);
    return NULL;
}

static void read_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_stream *s = w->data;
    const char *why = s->broken;
    (void)loop, (void)events;
    s->heard_us = pvmi_clock_us();
    s->reading = true;
    if (!why && !s->ready)
        why = handshake(s);
    if (!why && s->ready && !s->closed)
        why = read_all(s);
    if (!why && !s->closed)
        why = s->broken;
    if (why && !s->closed)
        s->events->down(s->owner, why);
    s->reading = false;
    if (s->closed)
        release(s);
}

/* ---- begin ---- */

struct pvmd_stream *pvmd_stream_new(struct ev_loop *loop, int fd, bool client, const uint8_t key[PVMD_KEY_BYTES],
                                    const struct pvmd_stream_events *events, void *owner)
{
    struct pvmd_stream *s = calloc(1, sizeof *s);
    if (s)
        memcpy(s->key, key, sizeof s->key);
    if (!s || !(s->ssl = pvmd_tls_new(fd, client, s->key))) {
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
    if (client)
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
