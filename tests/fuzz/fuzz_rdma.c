/*
 * fuzz_rdma.c - the RDMA transport with a malicious peer: offers and replies, then messages on the queue pair,
 * including frames with packed headers and references to memory to read. The device is the fake of tests/unit.
 *
 * Input: a byte of options. Depending on it, either the offer to join, or records { choice, length, bytes }: messages
 * that one end gets from the other's device.
 */
#include <string.h>
#include "core/log.h"
#include "transports/rdma/header.h"
#include "transports/rdma/offer.h"
#include "transports/rdma/rdma.h"
#include "tests/unit/transports/fake_verbs.h"
#include "fuzz.h"

enum { RECORDS_MAX = 48, FRAME_BYTES_MAX = 1 << 20, LENT_BYTES = 20000 };

extern const struct pvmt_transport_ops pvmt_rdma_ops;

static const struct pvmt_transport_ops *const ops = &pvmt_rdma_ops;

struct end {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    uint8_t *place;
    unsigned down;
};

static struct end a, b;

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

/* ---- the owner of the links ---- */

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct end *e = ep->owner;
    (void)arg;
    MUST(!e->down && !pvmc_frame_check(h));
    if (h->length > FRAME_BYTES_MAX)
        return NULL;
    e->place = realloc(e->place, h->length + 1ul);
    return e->place;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    static volatile uint8_t sink;
    struct end *e = ep->owner;
    (void)arg;
    for (uint32_t i = 0; i < h->length; i++)
        sink = sink ^ e->place[i];
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg, (void)ep;
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct end *e = ep->owner;
    (void)arg, (void)reason;
    MUST(!e->down++);
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = rx_place, .rx_done = rx_done, .tx_ready = tx_ready, .down = down};

/* ---- the two ends ---- */

static void start(uint8_t options)
{
    fake_verbs_reset();
    fake_device.no_shared = options & 2;
    fake_device.soft = options & 4;
    fake_device.infiniband = options & 8;
    pvmt_verbs_replace(&fake_verbs);
    pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
    pvmc_mem_use_arenas();
    pvmt_rdma_port_forget();
    MUST(!ops->open(NULL, &callbacks, &a, &a.transport) && !ops->open(NULL, &callbacks, &b, &b.transport));
}

static void stop(void)
{
    struct end *ends[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        struct end *e = ends[i];
        if (e->ep)
            ops->disconnect(e->ep);
        ops->close(e->transport);
        free(e->place);
        *e = (struct end){0};
    }
    MUST(!fake_verbs_objects() && !fake_verbs_registered());
}

static void turn(void)
{
    for (int i = 0; i < 4; i++) {
        ops->progress(a.transport);
        ops->progress(b.transport);
    }
}

static void meet(void)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    MUST(length == PVMT_RDMA_OFFER_BYTES);
    int answer = ops->join(b.transport, blob, (size_t)length, -1, &b, reply, &b.ep);
    MUST(answer > 0 && !ops->joined(a.ep, reply, (size_t)answer));
    turn();
}

/* ---- the peer's messages ---- */

/* Uses the bytes as an offer, and as the reply to one of ours. */
static void say_offer(const uint8_t *bytes, size_t length)
{
    struct pvmt_rdma_offer o;
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX], own[PVMT_OFFER_MAX];
    int fd;
    if (!pvmt_rdma_offer_decode(bytes, length, &o))
        MUST(pvmt_rdma_offer_encode(&o, blob) == (int)length && !memcmp(blob, bytes, length));
    if (ops->join(b.transport, bytes, length, -1, &b, reply, &b.ep) < 0)
        b.ep = NULL;
    MUST(ops->offer(a.transport, &a, own, &fd, &a.ep) > 0);
    memcpy(blob, bytes, length < sizeof blob ? length : sizeof blob);
    if (length == PVMT_RDMA_OFFER_BYTES) /* uses our token, otherwise nothing after it is parsed */
        memcpy(blob + length - PVMT_RDMA_TOKEN_BYTES, own + length - PVMT_RDMA_TOKEN_BYTES, PVMT_RDMA_TOKEN_BYTES);
    ops->joined(a.ep, blob, length < sizeof blob ? length : sizeof blob);
    turn();
}

static void send_frame(struct end *e, uint32_t length)
{
    struct pvmc_frame_header h = {.length = length, .body_length = length, .dst = 1, .src = 2};
    struct pvmc_frame *f = e->down ? NULL : pvmc_frame_alloc(&h);
    if (!f)
        return;
    if (length)
        memset(f->mem->data, 1, length);
    ops->send(e->ep, f);
    pvmc_frame_unref(f);
}

/* Advances the clock by a second. */
static void let_time_pass(struct end *e)
{
    ((struct rdma_transport *)e->transport)->tick_us = 1;
    ops->arm(e->transport);
    ops->progress(e->transport);
}

/* Bits of `choice`: 0 selects the sending end; 1 to 3 select its action. */
static void do_record(uint8_t choice, const uint8_t *bytes, size_t length)
{
    static uint8_t message[512];
    struct end *e = choice & 1 ? &b : &a;
    switch (choice >> 1 & 7) {
    case 0:
        send_frame(e, (uint32_t)length);
        break;
    case 1:
        send_frame(e, LENT_BYTES);
        break;
    case 2:
        let_time_pass(e);
        break;
    default:
        if (a.down || b.down)
            return; /* there may be no queue pairs left */
        if (length)
            memcpy(message, bytes, length);
        fake_verbs_say(fake_verbs_queue(choice & 1), message, length);
    }
    turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    uint8_t options = fuzz_byte(&in);
    start(options);
    if (options & 1) {
        say_offer(in.data, in.left);
        stop();
        return 0;
    }
    meet();
    for (int i = 0; i < RECORDS_MAX && in.left; i++) {
        uint8_t choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        do_record(choice, in.data, length);
        in.data += length;
        in.left -= length;
    }
    stop();
    return 0;
}
