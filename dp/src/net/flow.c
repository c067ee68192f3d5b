/* flow.c - a session's connection: sends packets, turns packets into messages, grants credit. */
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"
#include "endpoint.h"
#include "session.h"

enum {
    WINDOW_MIN = 64,     /* messages, each of which is a packet */
    WINDOW_MAX = 512,    /* enough to keep writing while the reader waits for a shared processor */
    RETRY_MIN_US = 2000, /* generous, because timeouts are rare */
    RETRY_MAX_US = 200000,
    ACK_DELAY_US = 100,
};

/* ---- send buffers ---- */

struct dpi_sendbuf *dpi_sendbuf_new(struct dpi_endpoint *e, const void *data, uint32_t length)
{
    struct dpi_sendbuf *p = e->sessions.spare;
    if (p) {
        e->sessions.spare = p->next;
        e->sessions.spares--;
    } else {
        p = malloc(sizeof *p + DPI_HEADERS_BYTES + (size_t)dpi_port_room(&e->port));
    }
    if (!p)
        return NULL;
    p->next = NULL;
    p->length = length;
    p->waiting = 0;
    memcpy(p->frame + DPI_SENDBUF_HEADERS, data, length);
    return p;
}

void dpi_sendbuf_free(struct dpi_endpoint *e, struct dpi_sendbuf *buf)
{
    if (buf->waiting)
        dpi_outbox_forget(e, buf);
    if (e->sessions.spares == 2 * dpi_flow_window(e)) {
        free(buf);
        return;
    }
    buf->next = e->sessions.spare;
    e->sessions.spare = buf;
    e->sessions.spares++;
}

void dpi_sendbuf_push(struct dpi_session *s, struct dpi_sendbuf *buf)
{
    if (s->queued++)
        s->last->next = buf;
    else
        s->first = buf;
    s->last = buf;
}

struct dpi_sendbuf *dpi_sendbuf_pop(struct dpi_session *s)
{
    struct dpi_sendbuf *p = s->first;
    s->first = p->next;
    s->queued--;
    return p;
}

void dpi_session_free_spares(struct dpi_endpoint *e)
{
    while (e->sessions.spare) {
        struct dpi_sendbuf *p = e->sessions.spare;
        e->sessions.spare = p->next;
        free(p);
    }
}

/* ---- callbacks from the reliability layer ---- */

static unsigned gather(void *arg, void *message, uint32_t offset, uint32_t length,
                       struct iovec pieces[PVMW_RELIABLE_PIECES_MAX])
{
    struct dpi_session *s = arg;
    s->sending = message;
    pieces[0] = (struct iovec){s->sending->frame + DPI_SENDBUF_HEADERS + offset, length};
    return 1;
}

static void write_headers(const struct dpi_session *s, uint8_t *frame, const struct iovec *header, size_t length)
{
    memcpy(frame, s->peer->headers, DPI_HEADERS_BYTES);
    frame[DPI_ETHERNET_BYTES + 1] = DPI_RELIABLE;
    frame[DPI_ETHERNET_BYTES + 2] = (uint8_t)(length >> 8);
    frame[DPI_ETHERNET_BYTES + 3] = (uint8_t)length;
    memcpy(frame + DPI_HEADERS_BYTES, header->iov_base, header->iov_len);
}

/* Acknowledgements and empty messages. They do not overtake frames that wait. */
static int emit_small(struct dpi_session *s, const struct iovec *pieces, size_t data)
{
    uint8_t frame[DPI_SENDBUF_HEADERS + PVMW_RELIABLE_WINDOW_MAX / 8];
    size_t length = pieces[0].iov_len + data;
    if (data > PVMW_RELIABLE_WINDOW_MAX / 8)
        return PVMC_EPARAM;
    int rc = dpi_outbox_flush(s->e);
    if (rc)
        return rc;
    if (data)
        memcpy(frame + DPI_SENDBUF_HEADERS, pieces[1].iov_base, data);
    write_headers(s, frame, &pieces[0], length);
    rc = dpi_port_put(&s->e->port, frame, DPI_HEADERS_BYTES + length);
    s->e->down = rc == PVMC_EDOWN;
    return rc;
}

/* A send buffer has room for the headers, so headers and data are one piece. */
static int emit(void *arg, const struct iovec *pieces, unsigned count)
{
    struct dpi_session *s = arg;
    size_t data = count > 1 ? pieces[1].iov_len : 0, length = pieces[0].iov_len + data;
    struct dpi_sendbuf *buf = s->sending;
    s->sending = NULL;
    if (!buf)
        return emit_small(s, pieces, data);
    write_headers(s, buf->frame, &pieces[0], length);
    return dpi_outbox_add(s->e, buf, DPI_HEADERS_BYTES + length);
}

/* Frees the oldest parcel: the reliability layer reports messages in the order of sending. */
static void sent(void *arg, void *message)
{
    struct dpi_session *s = arg;
    (void)message;
    dpi_sendbuf_free(s->e, dpi_sendbuf_pop(s));
}

static bool add(struct dpi_session *s, enum dpi_place place, const uint8_t *data, uint32_t length, void *owner)
{
    struct dpi_arrival a = {(uint8_t *)data, length, s->peer->point, place, owner};
    return dpi_inbox_add(&s->e->inbox, &a);
}

/* A packet in order becomes a message in place; one that waited in the reorder queue is copied. */
static void received(void *arg, bool first, bool last, const uint8_t *data, uint32_t length)
{
    struct dpi_session *s = arg;
    struct dpi_sessions *all = &s->e->sessions;
    if (!first || !last) {
        s->e->counts.refused++; /* our peers do not send messages in parts */
        return;
    }
    if (data == all->taking) {
        all->kept = add(s, DPI_IN_RING, data, length, NULL);
        return;
    }
    uint8_t *copy = malloc(length + 1ul);
    if (!copy)
        return;
    memcpy(copy, data, length);
    if (!add(s, DPI_IN_HEAP, copy, length, copy))
        free(copy);
}

static const struct pvmw_reliable_callbacks callbacks = {emit, gather, sent, received};

/* ---- credit ---- */

/* As many as our ring has slots, because the size of the peer's ring is unknown. */
unsigned dpi_flow_window(const struct dpi_endpoint *e)
{
    unsigned window = WINDOW_MIN;
    while (window < WINDOW_MAX && 2 * window <= e->port.frames / 2)
        window *= 2;
    return window;
}

/* Half of the ring is for messages, the other half for control frames. */
static uint32_t credit(struct dpi_endpoint *e)
{
    unsigned budget = e->port.frames / 2, used = e->inbox.end - e->inbox.oldest;
    unsigned count = e->sessions.count ? e->sessions.count : 1;
    unsigned most = budget / count < WINDOW_MAX ? budget / count : WINDOW_MAX,
             left = used < budget ? (budget - used) / count : 0;
    if (!most)
        most = 1;
    e->sessions.starved |= left < most / 2;
    return left < most ? left : most;
}

/* ---- the connection ---- */

struct pvmw_reliable *dpi_flow_new(struct dpi_session *s)
{
    struct pvmw_reliable_settings settings = {
        .packet_bytes = (uint32_t)dpi_port_room(&s->e->port),
        .window = dpi_flow_window(s->e),
        .credit = WINDOW_MAX,
        .messages = dpi_flow_window(s->e),
        .go_back_n = s->e->mode == DP_GO_BACK_N,
        .retry_min_us = RETRY_MIN_US,
        .retry_max_us = RETRY_MAX_US,
        .ack_delay_us = ACK_DELAY_US,
        .dead_after_us = pvmc_config_us(PVMC_SETTING_DP_TIMEOUT),
    };
    struct pvmw_reliable *r = pvmw_reliable_new(&settings, s->next_own, s->next_other, &callbacks, s);
    if (r)
        pvmw_reliable_set_credit(r, credit(s->e));
    return r;
}

int dpi_flow_send(struct dpi_session *s, struct dpi_sendbuf *buf, int64_t now_us)
{
    return pvmw_reliable_send(s->r, buf, buf->length, now_us);
}

bool dpi_flow_take(struct dpi_session *s, struct pvmw_reliable *r, const uint8_t *packet, size_t length, int64_t now_us)
{
    s->e->sessions.taking = packet + PVMW_RELIABLE_HEADER_BYTES;
    int rc = pvmw_reliable_take(r, packet, length, now_us);
    s->e->sessions.taking = NULL;
    return !rc;
}

bool dpi_flow_work(struct dpi_session *s, int64_t now_us)
{
    pvmw_reliable_set_credit(s->r, credit(s->e));
    return pvmw_reliable_progress(s->r, now_us) != PVMC_EDOWN;
}
