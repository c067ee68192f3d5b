/* flow.c - a session's connection: packets onto the wire, messages out of packets, credit. */
#include <stdlib.h>
#include <string.h>
#include "../core/config.h"
#include "../core/error.h"
#include "endpoint.h"
#include "session.h"

enum {
    WINDOW_MIN = 64,  /* messages, each of which is a packet */
    WINDOW_MAX = 512, /* enough to write on while a reader that shares its processor with others has to wait for it */
    RETRY_MIN_US = 2000, /* wakes itself up only when something is wrong */
    RETRY_MAX_US = 200000,
    ACK_DELAY_US = 100,
};

/* ---- parcels ---- */

struct pvmi_parcel *pvmi_parcel_new(struct pvmi_endpoint *e, const void *data, uint32_t length)
{
    struct pvmi_parcel *p = e->sessions.spare;
    if (p) {
        e->sessions.spare = p->next;
        e->sessions.spares--;
    } else {
        p = malloc(sizeof *p + PVMI_DP_HEADERS_BYTES + (size_t)pvmi_dp_port_room(&e->port));
    }
    if (!p)
        return NULL;
    p->next = NULL;
    p->length = length;
    p->waiting = 0;
    memcpy(p->frame + PVMI_PARCEL_HEADERS, data, length);
    return p;
}

void pvmi_parcel_free(struct pvmi_endpoint *e, struct pvmi_parcel *parcel)
{
    if (parcel->waiting)
        pvmi_outbox_forget(e, parcel);
    if (e->sessions.spares == 2 * pvmi_flow_window(e)) {
        free(parcel);
        return;
    }
    parcel->next = e->sessions.spare;
    e->sessions.spare = parcel;
    e->sessions.spares++;
}

void pvmi_parcel_push(struct pvmi_session *s, struct pvmi_parcel *parcel)
{
    if (s->queued++)
        s->last->next = parcel;
    else
        s->first = parcel;
    s->last = parcel;
}

struct pvmi_parcel *pvmi_parcel_pop(struct pvmi_session *s)
{
    struct pvmi_parcel *p = s->first;
    s->first = p->next;
    s->queued--;
    return p;
}

void pvmi_session_free_spares(struct pvmi_endpoint *e)
{
    while (e->sessions.spare) {
        struct pvmi_parcel *p = e->sessions.spare;
        e->sessions.spare = p->next;
        free(p);
    }
}

/* ---- callbacks of the reliability layer ---- */

static unsigned gather(void *arg, void *message, uint32_t offset, uint32_t length,
                       struct iovec pieces[PVMI_RELIABLE_PIECES_MAX])
{
    struct pvmi_session *s = arg;
    s->sending = message;
    pieces[0] = (struct iovec){s->sending->frame + PVMI_PARCEL_HEADERS + offset, length};
    return 1;
}

static void write_headers(const struct pvmi_session *s, uint8_t *frame, const struct iovec *header, size_t length)
{
    memcpy(frame, s->peer->headers, PVMI_DP_HEADERS_BYTES);
    frame[PVMI_DP_ETHERNET_BYTES + 1] = PVMI_DP_RELIABLE;
    frame[PVMI_DP_ETHERNET_BYTES + 2] = (uint8_t)(length >> 8);
    frame[PVMI_DP_ETHERNET_BYTES + 3] = (uint8_t)length;
    memcpy(frame + PVMI_DP_HEADERS_BYTES, header->iov_base, header->iov_len);
}

/* Acknowledgements and empty messages. They pass by nothing that waits. */
static int emit_small(struct pvmi_session *s, const struct iovec *pieces, size_t data)
{
    uint8_t frame[PVMI_PARCEL_HEADERS + PVMI_RELIABLE_WINDOW_MAX / 8];
    size_t length = pieces[0].iov_len + data;
    if (data > PVMI_RELIABLE_WINDOW_MAX / 8)
        return PVMI_EPARAM;
    int rc = pvmi_outbox_flush(s->e);
    if (rc)
        return rc;
    if (data)
        memcpy(frame + PVMI_PARCEL_HEADERS, pieces[1].iov_base, data);
    write_headers(s, frame, &pieces[0], length);
    rc = pvmi_dp_port_put(&s->e->port, frame, PVMI_DP_HEADERS_BYTES + length);
    s->e->down = rc == PVMI_EDOWN;
    return rc;
}

/* A parcel has room for the headers before it, so it goes in one piece. */
static int emit(void *arg, const struct iovec *pieces, unsigned count)
{
    struct pvmi_session *s = arg;
    size_t data = count > 1 ? pieces[1].iov_len : 0, length = pieces[0].iov_len + data;
    struct pvmi_parcel *parcel = s->sending;
    s->sending = NULL;
    if (!parcel)
        return emit_small(s, pieces, data);
    write_headers(s, parcel->frame, &pieces[0], length);
    return pvmi_outbox_add(s->e, parcel, PVMI_DP_HEADERS_BYTES + length);
}

/* In the order of sending. */
static void sent(void *arg, void *message)
{
    struct pvmi_session *s = arg;
    (void)message;
    pvmi_parcel_free(s->e, pvmi_parcel_pop(s));
}

static bool add(struct pvmi_session *s, enum pvmi_place place, const uint8_t *data, uint32_t length, void *owner)
{
    struct pvmi_arrival a = {(uint8_t *)data, length, s->peer->point, place, owner};
    return pvmi_inbox_add(&s->e->inbox, &a);
}

/* A packet that comes in its turn becomes a message where it is; what had to wait for others is copied. */
static void received(void *arg, bool first, bool last, const uint8_t *data, uint32_t length)
{
    struct pvmi_session *s = arg;
    struct pvmi_sessions *all = &s->e->sessions;
    if (!first || !last) {
        s->e->counts.refused++; /* no end of ours sends messages in parts */
        return;
    }
    if (data == all->taking) {
        all->kept = add(s, PVMI_IN_RING, data, length, NULL);
        return;
    }
    uint8_t *copy = malloc(length + 1ul);
    if (!copy)
        return;
    memcpy(copy, data, length);
    if (!add(s, PVMI_IN_HEAP, copy, length, copy))
        free(copy);
}

static const struct pvmi_reliable_callbacks callbacks = {emit, gather, sent, received};

/* ---- credit ---- */

/* As many as the ring has room for: what the other end has is not known. */
unsigned pvmi_flow_window(const struct pvmi_endpoint *e)
{
    unsigned window = WINDOW_MIN;
    while (window < WINDOW_MAX && 2 * window <= e->port.frames / 2)
        window *= 2;
    return window;
}

/* Half of the ring is for messages; the other for what comes besides. */
static uint32_t credit(struct pvmi_endpoint *e)
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

struct pvmi_reliable *pvmi_flow_new(struct pvmi_session *s)
{
    struct pvmi_reliable_settings settings = {
        .packet_bytes = (uint32_t)pvmi_dp_port_room(&s->e->port),
        .window = pvmi_flow_window(s->e),
        .credit = WINDOW_MAX,
        .messages = pvmi_flow_window(s->e),
        .go_back_n = s->e->mode == DP_GO_BACK_N,
        .retry_min_us = RETRY_MIN_US,
        .retry_max_us = RETRY_MAX_US,
        .ack_delay_us = ACK_DELAY_US,
        .dead_after_us = pvmi_config_us(PVMI_SETTING_DP_TIMEOUT),
    };
    struct pvmi_reliable *r = pvmi_reliable_new(&settings, s->next_own, s->next_other, &callbacks, s);
    if (r)
        pvmi_reliable_set_credit(r, credit(s->e));
    return r;
}

int pvmi_flow_send(struct pvmi_session *s, struct pvmi_parcel *parcel, int64_t now_us)
{
    return pvmi_reliable_send(s->r, parcel, parcel->length, now_us);
}

bool pvmi_flow_take(struct pvmi_session *s, struct pvmi_reliable *r, const uint8_t *packet, size_t length,
                    int64_t now_us)
{
    s->e->sessions.taking = packet + PVMI_RELIABLE_HEADER_BYTES;
    int rc = pvmi_reliable_take(r, packet, length, now_us);
    s->e->sessions.taking = NULL;
    return !rc;
}

bool pvmi_flow_work(struct pvmi_session *s, int64_t now_us)
{
    pvmi_reliable_set_credit(s->r, credit(s->e));
    return pvmi_reliable_progress(s->r, now_us) != PVMI_EDOWN;
}
