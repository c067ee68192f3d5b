/* frames.c - see frames.h. */
#include "frames.h"
#include <string.h>
#include "../../core/error.h"
#include "../../core/log.h"

#define RESUME_AT (PVMI_RELIABLE_MESSAGES_MAX / 2) /* frames on their way at which a refused sender may go on */

/* ---- out ---- */

static int emit(void *arg, const struct iovec *pieces, unsigned count)
{
    struct pvmi_frames *l = arg;
    return l->emit(l, pieces, count);
}

/* The part of a piece that lies within [from, from + left) adds to the list. */
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
                       struct iovec list[PVMI_RELIABLE_PIECES_MAX])
{
    (void)arg;
    struct pvmi_frames_out *o = message;
    const struct iovec header = {o->wire, sizeof o->wire};
    unsigned n = add_part(list, 0, &header, &offset, &length);
    for (unsigned i = 0; i < o->frame->piece_count && length; i++)
        n = add_part(list, n, &o->frame->pieces[i], &offset, &length);
    return n;
}

static void sent(void *arg, void *message)
{
    (void)arg;
    struct pvmi_frames_out *o = message;
    pvmi_frame_unref(o->frame);
    o->frame = NULL;
}

/* A place for the frame among those on their way; NULL: *rc says why not. */
static struct pvmi_frames_out *enter(struct pvmi_frames *l, struct pvmi_frame *f, uint64_t joint, int *rc)
{
    *rc = l->reliable && (l->wrong || pvmi_reliable_is_dead(l->reliable)) ? PVMI_EDOWN : 0;
    if (!*rc && !pvmi_frames_have_room(l)) {
        l->refused = true;
        *rc = PVMI_EAGAIN;
    }
    if (*rc)
        return NULL;
    struct pvmi_frames_out *o = &l->out[l->next_out++ % PVMI_RELIABLE_MESSAGES_MAX];
    o->frame = pvmi_frame_ref(f);
    o->joint = joint;
    pvmi_frame_encode(&f->h, o->wire);
    return o;
}

int pvmi_frames_send(struct pvmi_frames *l, struct pvmi_frame *f, int64_t now_us)
{
    int rc;
    struct pvmi_frames_out *o = enter(l, f, 0, &rc);
    return o ? pvmi_reliable_send(l->reliable, o, PVMI_FRAME_HEADER_BYTES + f->h.length, now_us) : rc;
}

int pvmi_frames_send_jointly(struct pvmi_frames *l, struct pvmi_frame *f, uint64_t joint, uint32_t bytes,
                             int64_t now_us)
{
    int rc;
    struct pvmi_frames_out *o = enter(l, f, joint, &rc);
    uint32_t length = PVMI_FRAME_HEADER_BYTES + f->h.length;
    return o ? pvmi_reliable_send_held(l->reliable, o, length, bytes, now_us) : rc;
}

uint64_t pvmi_frames_joint(const struct pvmi_frames *l)
{
    const struct pvmi_frames_out *o = l->reliable ? pvmi_reliable_held(l->reliable) : NULL;
    return o ? o->joint : 0;
}

/* ---- in ---- */

static void begin(struct pvmi_frames *l)
{
    struct pvmi_transport *t = l->ep->transport;
    l->in_payload = true;
    l->placed = 0;
    l->place = t->callbacks->rx_place(t->arg, l->ep, &l->header);
    if (!l->silent && l->place && l->header.flags & PVMI_FRAME_FD && t->callbacks->rx_descriptor)
        t->callbacks->rx_descriptor(t->arg, l->ep, &l->header, -1); /* none can come this way */
}

static void end(struct pvmi_frames *l)
{
    struct pvmi_transport *t = l->ep->transport;
    l->in_payload = false;
    l->header_have = 0;
    if (l->place && !l->silent)
        t->callbacks->rx_done(t->arg, l->ep, &l->header);
}

/* A whole message in one packet need not be placed first. */
static bool take_whole(struct pvmi_frames *l, const uint8_t *data, uint32_t length)
{
    struct pvmi_transport *t = l->ep->transport;
    const struct pvmi_frame_header *h = &l->header;
    if (!t->callbacks->rx_whole || h->offset || h->length != h->body_length || h->length != length ||
        h->flags & (PVMI_FRAME_ABORT | PVMI_FRAME_FD))
        return false;
    l->header_have = 0;
    t->callbacks->rx_whole(t->arg, l->ep, h, NULL, data);
    return true;
}

/* Bytes of the header, as long as some are missing. Returns how many were used. */
static uint32_t take_header(struct pvmi_frames *l, const uint8_t *data, uint32_t length)
{
    uint32_t n = PVMI_FRAME_HEADER_BYTES - l->header_have;
    if (n > length)
        n = length;
    memcpy(l->header_bytes + l->header_have, data, n);
    l->header_have += n;
    if (l->header_have == PVMI_FRAME_HEADER_BYTES)
        l->wrong = pvmi_frame_decode(l->header_bytes, &l->header);
    return n;
}

static void take_payload(struct pvmi_frames *l, const uint8_t *data, uint32_t length)
{
    if (length > l->header.length - l->placed) {
        l->wrong = PVMI_EFORMAT;
        return;
    }
    if (l->place && length)
        memcpy(l->place + l->placed, data, length);
    l->placed += length;
}

static void received(void *arg, bool first, bool last, const uint8_t *data, uint32_t length)
{
    struct pvmi_frames *l = arg;
    (void)first;
    if (l->silent || l->wrong)
        return;
    if (!l->in_payload) {
        uint32_t used = take_header(l, data, length);
        data += used;
        length -= used;
        if (l->wrong || l->header_have < PVMI_FRAME_HEADER_BYTES) {
            l->wrong = l->wrong || !last ? l->wrong : PVMI_EFORMAT;
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
        l->wrong = PVMI_EFORMAT;
    else if (last && !l->wrong)
        end(l);
}

int pvmi_frames_take(struct pvmi_frames *l, const uint8_t *packet, size_t length, int64_t now_us)
{
    return pvmi_reliable_take(l->reliable, packet, length, now_us);
}

/* ---- both ---- */

int pvmi_frames_open(struct pvmi_frames *l, struct pvmi_endpoint *ep, const struct pvmi_reliable_settings *settings,
                     uint32_t own, uint32_t peer,
                     int (*emit_)(struct pvmi_frames *l, const struct iovec *pieces, unsigned count))
{
    static const struct pvmi_reliable_callbacks callbacks = {
        .emit = emit, .gather = gather, .sent = sent, .received = received};
    l->ep = ep;
    l->emit = emit_;
    l->reliable = pvmi_reliable_new(settings, own, peer, &callbacks, l);
    return l->reliable ? 0 : PVMI_ENOMEM;
}

void pvmi_frames_close(struct pvmi_frames *l)
{
    if (l->reliable)
        pvmi_reliable_free(l->reliable);
    l->reliable = NULL;
    for (unsigned i = 0; i < PVMI_RELIABLE_MESSAGES_MAX; i++) {
        pvmi_frame_unref(l->out[i].frame);
        l->out[i].frame = NULL;
    }
}

static int why_down(const struct pvmi_frames *l)
{
    bool whole;
    if (!pvmi_reliable_is_ended(l->reliable, &whole))
        return PVMI_ETIMEOUT;
    return whole && !l->in_payload && !l->header_have ? 0 : PVMI_EDOWN;
}

int pvmi_frames_progress(struct pvmi_frames *l, int64_t now_us, int *reason)
{
    int n = l->wrong ? PVMI_EDOWN : pvmi_reliable_progress(l->reliable, now_us);
    if (n < 0) {
        *reason = l->wrong ? l->wrong : why_down(l);
        return PVMI_EDOWN;
    }
    if (l->refused && !l->silent && pvmi_reliable_is_met(l->reliable) && pvmi_frames_pending(l) <= RESUME_AT) {
        struct pvmi_transport *t = l->ep->transport;
        l->refused = false;
        t->callbacks->tx_ready(t->arg, l->ep);
        n++;
    }
    return n;
}
