/* send.c - outgoing messages: frames, references to frames, and messages of the transport itself. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "rdma.h"

#define CREDITS_KEPT 1 /* reserved for messages of the transport itself */

/* ---- the device ---- */

bool pvmt_rdma_post(struct rdma_link *l, struct ibv_send_wr *wr, enum rdma_work work)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct ibv_send_wr *bad;
    if (l->posted - l->signalled >= RDMA_SIGNAL_EVERY - 1)
        wr->send_flags |= IBV_SEND_SIGNALED;
    wr->wr_id = l->posted << RDMA_WORK_BITS | work;
    if (!l->qp || t->verbs->post_send(l->qp, wr, &bad)) {
        pvmt_rdma_link_fail(l, PVMC_ESYSTEM, "the device accepts no more work requests");
        return false;
    }
    l->posted++;
    if (wr->send_flags & IBV_SEND_SIGNALED)
        l->signalled = l->posted;
    return true;
}

void pvmt_rdma_sent(struct rdma_link *l, uint64_t position)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    for (; l->done <= position && l->done < l->posted; l->done++) {
        struct rdma_slot **bounce = &l->bounces[l->done % RDMA_SEND_QUEUE];
        if (*bounce) {
            LL_PREPEND(t->free_bounces, *bounce);
            t->attention |= t->bounce_short;
        }
        *bounce = NULL;
    }
    if (l->refused || l->read.active || l->parted)
        t->attention = true;
}

/* ---- messages ---- */

/* A message being written: to `bytes` or, if it may become too long, to a registered buffer. */
struct message {
    uint8_t bytes[RDMA_INLINE_MAX];
    struct rdma_slot *bounce;
    uint8_t *data;
    size_t length;
};

/* Starts a message with room for `most` bytes. False: no buffer is free. */
static bool message_begin(struct rdma_link *l, struct message *m, enum rdma_kind kind, size_t most)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    m->bounce = NULL;
    m->data = m->bytes;
    if (RDMA_PREFIX_BYTES + most > l->inline_max) {
        m->bounce = t->free_bounces;
        t->bounce_short |= !m->bounce;
        if (!m->bounce)
            return false;
        LL_DELETE(t->free_bounces, m->bounce);
        m->data = m->bounce->data;
    }
    m->data[0] = (uint8_t)(kind | (l->starved ? RDMA_STARVED : 0));
    m->data[1] = (uint8_t)(l->owed < 255 ? l->owed : 255);
    m->data[2] = (uint8_t)(l->read_frames < 255 ? l->read_frames : 255);
    m->length = RDMA_PREFIX_BYTES;
    return true;
}

/* Sends it. False: the link has failed. */
static bool message_end(struct rdma_link *l, struct message *m)
{
    struct rdma_transport *t = pvmt_rdma_of(l);
    struct ibv_sge sge = {.addr = (uintptr_t)m->data, .length = (uint32_t)m->length};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
    if (m->bounce)
        sge.lkey = m->bounce->key;
    bool last = (m->data[0] & ~RDMA_STARVED) == RDMA_BYE; /* the link ends once it is sent */
    wr.send_flags = (m->bounce ? 0 : IBV_SEND_INLINE) | (m->bounce || last ? IBV_SEND_SIGNALED : 0);
    uint64_t position = l->posted;
    if (!pvmt_rdma_post(l, &wr, RDMA_WORK_SEND)) {
        if (m->bounce)
            LL_PREPEND(t->free_bounces, m->bounce);
        return false;
    }
    l->bounces[position % RDMA_SEND_QUEUE] = m->bounce;
    l->credits--;
    l->owed -= m->data[1];
    l->read_frames -= m->data[2];
    l->starved = false;
    return true;
}

static bool send_own(struct rdma_link *l, enum rdma_kind kind, const void *body, size_t length)
{
    struct message m;
    if (!l->credits || !pvmt_rdma_send_room(l) || !message_begin(l, &m, kind, length))
        return false;
    if (length)
        memcpy(m.data + m.length, body, length);
    m.length += length;
    return message_end(l, &m);
}

bool pvmt_rdma_send_hello(struct rdma_link *l)
{
    return send_own(l, RDMA_HELLO, l->token, sizeof l->token);
}

bool pvmt_rdma_send_bye(struct rdma_link *l)
{
    return send_own(l, RDMA_BYE, NULL, 0);
}

/*
 * Reports frames that were read at once, because the peer holds their memory. Returns credits when many are owed, or
 * fewer when there is nothing else to do, because a message of the program may carry them earlier. Such a message costs
 * a credit but returns two, so that the exchange ends.
 */
void pvmt_rdma_send_news(struct rdma_link *l, bool idle)
{
    if (l->read_frames || pvmt_rdma_owes_many(l) || (idle && pvmt_rdma_owes_some(l)))
        send_own(l, RDMA_NEWS, NULL, 0);
}

void pvmt_rdma_send_probe(struct rdma_link *l)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED}; /* an empty WRITE */
    if (l->probing || pvmt_rdma_send_room(l) < 2)
        return;
    l->probing = pvmt_rdma_post(l, &wr, RDMA_WORK_PROBE);
}

/* ---- loans ---- */

static void loan_free(struct rdma_link *l, struct rdma_loan *loan)
{
    for (unsigned i = 0; i < loan->count; i++)
        pvmt_rdma_region_put(pvmt_rdma_of(l), loan->regions[i]);
    pvmc_mem_unref(loan->mem);
    pvmc_frame_unref(loan->frame);
    free(loan);
}

bool pvmt_rdma_loans_end(struct rdma_link *l, unsigned count)
{
    if (count > l->loan_count)
        return false;
    l->loan_count -= count;
    while (count--) {
        struct rdma_loan *first = l->loans;
        l->loans = first->next;
        loan_free(l, first);
    }
    return true;
}

/* Adds a piece of memory, or extends the last piece. False: it cannot be registered. */
static bool lend_piece(struct rdma_link *l, struct rdma_loan *loan, struct rdma_piece *pieces, const uint8_t *data,
                       size_t bytes)
{
    struct rdma_piece *last = loan->count ? &pieces[loan->count - 1] : NULL;
    struct rdma_region *before = loan->count ? loan->regions[loan->count - 1] : NULL;
    bool follows =
        last && last->address + last->bytes == (uintptr_t)data && data + bytes <= before->data + before->bytes;
    if (follows) {
        last->bytes += (uint32_t)bytes;
        return true;
    }
    struct rdma_region *r = pvmt_rdma_region_get(pvmt_rdma_of(l), data, bytes, IBV_ACCESS_REMOTE_READ);
    if (!r)
        return false;
    pieces[loan->count] = (struct rdma_piece){(uintptr_t)data, r->mr->rkey, (uint32_t)bytes};
    loan->regions[loan->count++] = r;
    return true;
}

static bool lend_pieces(struct rdma_link *l, struct rdma_loan *loan, struct rdma_piece *pieces,
                        const struct pvmc_frame *f)
{
    for (unsigned i = 0; i < f->piece_count; i++)
        if (f->pieces[i].iov_len && !lend_piece(l, loan, pieces, f->pieces[i].iov_base, f->pieces[i].iov_len))
            return false;
    return true;
}

static void gather(const struct pvmc_frame *f, uint8_t *to)
{
    for (unsigned i = 0; i < f->piece_count; i++) {
        memcpy(to, f->pieces[i].iov_base, f->pieces[i].iov_len);
        to += f->pieces[i].iov_len;
    }
}

/* Whether to lend the payload in place instead of copying it to message memory first. */
static bool stays_in_place(const struct rdma_transport *t, const struct pvmc_frame *f)
{
    struct pvmc_mem_place place;
    if (f->mem && pvmc_mem_locate(f->mem, &place))
        return true;
    for (unsigned i = 0; i < f->piece_count; i++)
        if (f->pieces[i].iov_len < t->inplace_bytes)
            return false;
    return true;
}

/* 0, PVMC_ENOMEM, or PVMC_ELIMIT: memory cannot be registered. */
static int lend(struct rdma_link *l, struct pvmc_frame *f, struct rdma_loan *loan, struct rdma_piece *pieces)
{
    if (stays_in_place(pvmt_rdma_of(l), f)) {
        loan->frame = pvmc_frame_ref(f);
        return lend_pieces(l, loan, pieces, f) ? 0 : PVMC_ELIMIT;
    }
    loan->mem = pvmc_mem_new(f->h.length);
    if (!loan->mem)
        return PVMC_ENOMEM;
    gather(f, loan->mem->data);
    return lend_piece(l, loan, pieces, loan->mem->data, f->h.length) ? 0 : PVMC_ELIMIT;
}

static void append_loan(struct rdma_link *l, struct rdma_loan *loan)
{
    if (l->loans)
        l->last_loan->next = loan;
    else
        l->loans = loan;
    l->last_loan = loan;
    l->loan_count++;
}

/* ---- frames ---- */

bool pvmt_rdma_can_send(const struct rdma_link *l)
{
    return l->state == RDMA_UP && l->credits > CREDITS_KEPT && pvmt_rdma_send_room(l) > 1 &&
           l->loan_count < RDMA_LOANS_MAX && (pvmt_rdma_of(l)->free_bounces || !pvmt_rdma_of(l)->bounce_short);
}

static int refuse(struct rdma_link *l)
{
    l->refused = true;
    l->starved |= l->state == RDMA_UP && l->credits <= CREDITS_KEPT;
    return PVMC_EAGAIN;
}

static int send_small(struct rdma_link *l, struct pvmc_frame *f)
{
    struct message m;
    uint8_t header[PVMT_RDMA_HEADER_MAX];
    size_t length = pvmt_rdma_header_encode(&l->tx, &f->h, header);
    if (!message_begin(l, &m, RDMA_FRAME, length + f->h.length))
        return refuse(l);
    memcpy(m.data + m.length, header, length);
    gather(f, m.data + m.length + length);
    m.length += length + f->h.length;
    if (!message_end(l, &m))
        return PVMC_EDOWN;
    l->tx.last = f->h;
    return 0;
}

static void put_piece(struct message *m, const struct rdma_piece *p)
{
    for (unsigned i = 0; i < 8; i++)
        m->data[m->length++] = (uint8_t)(p->address >> 8 * i);
    for (unsigned i = 0; i < 4; i++)
        m->data[m->length++] = (uint8_t)(p->key >> 8 * i);
    for (unsigned i = 0; i < 4; i++)
        m->data[m->length++] = (uint8_t)(p->bytes >> 8 * i);
}

static int tell_pieces(struct rdma_link *l, const struct pvmc_frame *f, const struct rdma_loan *loan,
                       const struct rdma_piece *pieces)
{
    struct message m;
    if (!message_begin(l, &m, RDMA_LARGE, PVMT_RDMA_HEADER_MAX + 1 + loan->count * sizeof *pieces))
        return refuse(l);
    m.length += pvmt_rdma_header_encode(&l->tx, &f->h, m.data + m.length);
    m.data[m.length++] = (uint8_t)loan->count;
    for (unsigned i = 0; i < loan->count; i++)
        put_piece(&m, &pieces[i]);
    if (!message_end(l, &m))
        return PVMC_EDOWN;
    l->tx.last = f->h;
    return 0;
}

static int send_large(struct rdma_link *l, struct pvmc_frame *f)
{
    struct rdma_piece pieces[PVMC_FRAME_PIECES_MAX];
    struct rdma_loan *loan = calloc(1, sizeof *loan);
    int rc = loan ? lend(l, f, loan, pieces) : PVMC_ENOMEM;
    if (rc) {
        pvmt_rdma_link_fail(l, rc, "a message cannot be registered");
        rc = PVMC_EDOWN;
    } else {
        rc = tell_pieces(l, f, loan, pieces);
    }
    if (!rc)
        append_loan(l, loan);
    else if (loan)
        loan_free(l, loan);
    return rc;
}

/* Before the link is up, accepts one frame that needs no memory: the joining side's greeting. */
static int take_greeting(struct rdma_link *l, struct pvmc_frame *f)
{
    if (l->state != RDMA_JOINING || l->greeting || f->h.length)
        return refuse(l);
    l->greeting = pvmc_frame_ref(f);
    return 0;
}

int pvmt_rdma_send(struct pvmt_endpoint *ep, struct pvmc_frame *f)
{
    struct rdma_link *l = (struct rdma_link *)ep;
    if (l->failed || l->ended || l->state == RDMA_DOWN)
        return PVMC_EDOWN;
    if (l->state != RDMA_UP)
        return take_greeting(l, f);
    if (!pvmt_rdma_can_send(l) || l->greeting)
        return refuse(l);
    return f->h.length <= pvmt_rdma_of(l)->eager_bytes ? send_small(l, f) : send_large(l, f);
}
