/* frames.c - see frames.h. */
#include "frames.h"
#include <string.h>
#include "core/error.h"
#include "core/log.h"

/* ---- sending ---- */

static int emit(void *arg, const struct iovec *pieces, unsigned count)
{
    struct pvmt_frames *l = arg;
    return l->emit(l->ep, pieces, count);
}

/* Adds the part of a piece behind the first *skip bytes, at most *left bytes, to the list. */
static unsigned add_part(struct iovec *list, unsigned n, const struct iovec *piece, uint32_t *skip, uint32_t *left)
{
    if (*skip >= piece->iov_len) {
        *skip -= (uint32_t)piece->iov_len;
        return n;
    }
    size_t bytes = piece->iov_len - *skip;
    if (bytes > *left)
        bytes = *left;
    list[n] = (struct iovec){(uint8_t *)piece->iov_base + *skip, bytes};
    *skip = 0;
    *left -= (uint32_t)bytes;
    return n + 1;
}

static unsigned gather(void *arg, void *message, uint32_t offset, uint32_t length,
                       struct iovec list[PVMW_RELIABLE_PIECES_MAX])
{
    (void)arg;
    struct pvmt_frames_out *o = message;
    const struct iovec header = {o->wire, sizeof o->wire};
    unsigned n = add_part(list, 0, &header, &offset, &length);
    for (unsigned i = 0; i < o->frame->piece_count && length; i++)
        n = add_part(list, n, &o->frame->pieces[i], &offset, &length);
    return n;
}

static void sent(void *arg, void *message)
{
    (void)arg;
    struct pvmt_frames_out *o = message;
    pvmc_frame_unref(o->frame);
    o->frame = NULL;
}

/* Adds the frame to the unacknowledged ones; NULL: *rc is the reason. */
static struct pvmt_frames_out *enter(struct pvmt_frames *l, struct pvmc_frame *f, uint64_t joint, int *rc)
{
    *rc = l->reliable && pvmt_frames_are_over(l) ? PVMC_EDOWN : 0;
    if (!*rc && !pvmt_frames_have_room(l)) {
        l->refused = true;
        *rc = PVMC_EAGAIN;
    }
    if (*rc)
        return NULL;
    struct pvmt_frames_out *o = &l->out[l->next_out++ % PVMW_RELIABLE_MESSAGES_MAX];
    o->frame = pvmc_frame_ref(f);
    o->joint = joint;
    pvmc_frame_encode(&f->h, o->wire);
    return o;
}

static int send_assured(struct pvmt_frames *l, struct pvmc_frame *f)
{
    int rc = pvmt_assured_send(l->assured, f);
    l->refused = l->refused || rc == PVMC_EAGAIN;
    return rc;
}

int pvmt_frames_send(struct pvmt_frames *l, struct pvmc_frame *f, int64_t now_us)
{
    int rc;
    if (l->assured)
        return send_assured(l, f);
    struct pvmt_frames_out *o = enter(l, f, 0, &rc);
    return o ? pvmw_reliable_send(l->reliable, o, PVMC_FRAME_HEADER_BYTES + f->h.length, now_us) : rc;
}

int pvmt_frames_send_jointly(struct pvmt_frames *l, struct pvmc_frame *f, uint64_t joint, uint32_t bytes,
                             int64_t now_us)
{
    int rc;
    struct pvmt_frames_out *o = enter(l, f, joint, &rc);
    uint32_t length = PVMC_FRAME_HEADER_BYTES + f->h.length;
    return o ? pvmw_reliable_send_held(l->reliable, o, length, bytes, now_us) : rc;
}

uint64_t pvmt_frames_joint(const struct pvmt_frames *l)
{
    const struct pvmt_frames_out *o = l->reliable ? pvmw_reliable_held(l->reliable) : NULL;
    return o ? o->joint : 0;
}

/* ---- receiving ---- */

static void begin(struct pvmt_frames *l)
{
    struct pvmt_transport *t = l->ep->transport;
    l->in_payload = true;
    l->placed = 0;
    l->place = t->callbacks->rx_place(t->arg, l->ep, &l->header);
    if (!l->silent && l->place && l->header.flags & PVMC_FRAME_FD && t->callbacks->rx_descriptor)
        t->callbacks->rx_descriptor(t->arg, l->ep, &l->header, -1); /* this carrier passes no descriptors */
}

static void end(struct pvmt_frames *l)
{
    struct pvmt_transport *t = l->ep->transport;
    l->in_payload = false;
    l->header_have = 0;
    if (l->place && !l->silent)
        t->callbacks->rx_done(t->arg, l->ep, &l->header);
}

/* Delivers a message that fits into one packet through rx_whole. */
static bool take_whole(struct pvmt_frames *l, const uint8_t *data, uint32_t length)
{
    struct pvmt_transport *t = l->ep->transport;
    const struct pvmc_frame_header *h = &l->header;
    if (!t->callbacks->rx_whole || h->offset || h->length != h->body_length || h->length != length ||
        h->flags & (PVMC_FRAME_ABORT | PVMC_FRAME_FD))
        return false;
    l->header_have = 0;
    t->callbacks->rx_whole(t->arg, l->ep, h, NULL, data);
    return true;
}

/* Takes missing bytes of the header. Returns the number of bytes used. */
static uint32_t take_header(struct pvmt_frames *l, const uint8_t *data, uint32_t length)
{
    uint32_t n = PVMC_FRAME_HEADER_BYTES - l->header_have;
    if (n > length)
        n = length;
    memcpy(l->header_bytes + l->header_have, data, n);
    l->header_have += n;
    if (l->header_have == PVMC_FRAME_HEADER_BYTES)
        l->wrong = pvmc_frame_decode(l->header_bytes, &l->header);
    return n;
}

static void take_payload(struct pvmt_frames *l, const uint8_t *data, uint32_t length)
{
    if (length > l->header.length - l->placed) {
        l->wrong = PVMC_EFORMAT;
        return;
    }
    if (l->place && length)
        memcpy(l->place + l->placed, data, length);
    l->placed += length;
}

static void received(void *arg, bool first, bool last, const uint8_t *data, uint32_t length)
{
    struct pvmt_frames *l = arg;
    (void)first;
    if (l->silent || l->wrong)
        return;
    if (!l->in_payload) {
        uint32_t used = take_header(l, data, length);
        data += used;
        length -= used;
        if (l->wrong || l->header_have < PVMC_FRAME_HEADER_BYTES) {
            l->wrong = l->wrong || !last ? l->wrong : PVMC_EFORMAT;
            return;
        }
        if (last && take_whole(l, data, length))
            return;
        begin(l);
    }
    if (l->silent)
        return;
    take_payload(l, data, length);
    if (last && !l->wrong && l->placed < l->header.length)
        l->wrong = PVMC_EFORMAT;
    else if (last && !l->wrong)
        end(l);
}

int pvmt_frames_take(struct pvmt_frames *l, const uint8_t *packet, size_t length, int64_t now_us)
{
    return pvmw_reliable_take(l->reliable, packet, length, now_us);
}

/* ---- both ---- */

int pvmt_frames_open(struct pvmt_frames *l, struct pvmt_endpoint *ep, const struct pvmw_reliable_settings *settings,
                     uint32_t own, uint32_t peer,
                     int (*emit_)(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count))
{
    static const struct pvmw_reliable_callbacks callbacks = {
        .emit = emit, .gather = gather, .sent = sent, .received = received};
    l->ep = ep;
    l->emit = emit_;
    l->reliable = pvmw_reliable_new(settings, own, peer, &callbacks, l);
    return l->reliable ? 0 : PVMC_ENOMEM;
}

int pvmt_frames_open_assured(struct pvmt_frames *l, struct pvmt_endpoint *ep,
                             const struct pvmt_assured_carrier *carrier)
{
    l->ep = ep;
    l->assured = pvmt_assured_new(carrier, ep);
    return l->assured ? 0 : PVMC_ENOMEM;
}

void pvmt_frames_close(struct pvmt_frames *l)
{
    pvmt_assured_free(l->assured);
    l->assured = NULL;
    if (l->reliable)
        pvmw_reliable_free(l->reliable);
    l->reliable = NULL;
    for (unsigned i = 0; i < PVMW_RELIABLE_MESSAGES_MAX; i++) {
        pvmc_frame_unref(l->out[i].frame);
        l->out[i].frame = NULL;
    }
}

static int why_down(const struct pvmt_frames *l)
{
    bool whole;
    if (!pvmw_reliable_is_ended(l->reliable, &whole))
        return PVMC_ETIMEOUT;
    return whole && !l->in_payload && !l->header_have ? 0 : PVMC_EDOWN;
}

void pvmt_frames_end(struct pvmt_frames *l, bool tell, int64_t now_us)
{
    l->silent = true;
    if (l->assured)
        l->assured->silent = true;
    else if (tell)
        pvmw_reliable_end(l->reliable, now_us);
}

bool pvmt_frames_are_over(const struct pvmt_frames *l)
{
    if (l->assured)
        return l->assured->over;
    return l->wrong || (l->reliable && pvmw_reliable_is_dead(l->reliable));
}

int64_t pvmt_frames_due_us(const struct pvmt_frames *l)
{
    return l->assured ? PVMW_RELIABLE_NEVER : pvmw_reliable_due_us(l->reliable);
}

void pvmt_frames_hear(struct pvmt_frames *l)
{
    pvmt_assured_hear(l->assured);
}

/* Sends what can be sent. Of a peer that takes no more, reads what it has sent. The number of events. */
static int advance_assured(struct pvmt_assured *a)
{
    int n = pvmt_assured_flush(a);
    while (a->deaf && !a->over && !a->silent)
        n += pvmt_assured_hear(a);
    return n;
}

/* Sends what can be sent. The number of events, or PVMC_EDOWN with *reason. */
static int advance(struct pvmt_frames *l, int64_t now_us, int *reason)
{
    int n = l->assured ? advance_assured(l->assured)
            : l->wrong ? PVMC_EDOWN
                       : pvmw_reliable_progress(l->reliable, now_us);
    if (l->assured && l->assured->over) {
        *reason = pvmt_assured_reason(l->assured);
        return PVMC_EDOWN;
    }
    if (n < 0)
        *reason = l->wrong ? l->wrong : why_down(l);
    return n;
}

/* tx_ready comes when only this many frames are pending. */
static size_t resume_at(const struct pvmt_frames *l)
{
    return (l->assured ? PVMT_ASSURED_QUEUE_MAX : PVMW_RELIABLE_MESSAGES_MAX) / 2;
}

static bool is_met(const struct pvmt_frames *l)
{
    return l->assured || pvmw_reliable_is_met(l->reliable);
}

int pvmt_frames_progress(struct pvmt_frames *l, int64_t now_us, int *reason)
{
    int n = advance(l, now_us, reason);
    if (n < 0)
        return PVMC_EDOWN;
    if (l->refused && !l->silent && is_met(l) && pvmt_frames_pending(l) <= resume_at(l)) {
        struct pvmt_transport *t = l->ep->transport;
        l->refused = false;
        t->callbacks->tx_ready(t->arg, l->ep);
        n++;
    }
    return n;
}
