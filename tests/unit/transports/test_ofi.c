/*
 * test_ofi.c - the transport ofi: its offers, which cards "auto" takes it for, and messages of strangers and of peers
 * that break the protocol. The links lead over libfabric's provider shm, within this process.
 */
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "transports/ofi/ofi_transport.h"
#include "transports/ofi/provider.h"
#include "tests/unit/unit.h"

extern const struct pvmt_transport_ops pvmt_ofi_ops;

static const struct pvmt_transport_ops *const ops = &pvmt_ofi_ops;

/* ---- offers ---- */

static struct pvmt_ofi_offer offer = {.provider = "shm",
                                      .key = 0x0102030405060708,
                                      .lease_at = 0x10,
                                      .lease_rma_key = 0x20,
                                      .address_length = 3,
                                      .address = {7, 8, 9}};

START_TEST(golden_bytes)
{
    static const uint8_t expected[] = {'D', 'V', 'O', 'F', 1,   8,   7,    6, 5, 4, 3, 2, 1, 0x10, 0,
                                       0,   0,   0,   0,   0,   0,   0x20, 0, 0, 0, 0, 0, 0, 0,    3,
                                       0,   0,   0,   's', 'h', 'm', 3,    0, 0, 0, 7, 8, 9};
    uint8_t blob[PVMT_OFFER_MAX];
    struct pvmt_ofi_offer back;
    ck_assert_int_eq(pvmt_ofi_offer_encode(&offer, blob), sizeof expected);
    ck_assert_mem_eq(blob, expected, sizeof expected);
    ck_assert_int_eq(pvmt_ofi_offer_decode(blob, sizeof expected, &back), 0);
    ck_assert_mem_eq(&back, &offer, sizeof back);
}
END_TEST

static int decode_changed(struct pvmt_ofi_offer changed)
{
    uint8_t blob[PVMT_OFFER_MAX];
    struct pvmt_ofi_offer back;
    int length = pvmt_ofi_offer_encode(&changed, blob);
    return pvmt_ofi_offer_decode(blob, (size_t)length, &back);
}

START_TEST(what_makes_no_sense_is_refused)
{
    uint8_t blob[PVMT_OFFER_MAX];
    struct pvmt_ofi_offer back, nobody = offer, unnamed = offer, nowhere = offer;
    int length = pvmt_ofi_offer_encode(&offer, blob);
    for (int n = 0; n < length; n++)
        ck_assert_int_eq(pvmt_ofi_offer_decode(blob, (size_t)n, &back), PVMC_EFORMAT);
    ck_assert_int_eq(pvmt_ofi_offer_decode(blob, (size_t)length + 1, &back), PVMC_EFORMAT);
    blob[4] = 2;
    ck_assert_int_eq(pvmt_ofi_offer_decode(blob, (size_t)length, &back), PVMC_EVERSION);
    nobody.key = 0;
    unnamed.provider[0] = '\0';
    nowhere.address_length = 0;
    ck_assert_int_eq(decode_changed(nobody), PVMC_EFORMAT);
    ck_assert_int_eq(decode_changed(unnamed), PVMC_EFORMAT);
    ck_assert_int_eq(decode_changed(nowhere), PVMC_EFORMAT);
}
END_TEST

/* ---- cards ---- */

static bool suits(const char *class, const char *device)
{
    char folder[] = "/tmp/test_ofi.XXXXXX", one[128], two[256];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(one, sizeof one, "%s/%s", folder, class);
    snprintf(two, sizeof two, "%s/%s", one, device);
    ck_assert_int_eq(mkdir(one, 0700) | mkdir(two, 0700), 0);
    bool answer = pvmt_ofi_provider_suits_auto(folder);
    ck_assert_int_eq(rmdir(two) | rmdir(one) | rmdir(folder), 0);
    return answer;
}

START_TEST(auto_takes_cards_that_verbs_cannot_use)
{
    unsetenv("PVM_OFI_PROVIDER");
    ck_assert(suits("infiniband", "efa_0") && suits("cxi", "cxi0") && suits("infiniband", "hfi1_0"));
    ck_assert(!suits("infiniband", "mlx5_0") && !suits("net", "efa_0")); /* verbs can use the first */
    setenv("PVM_OFI_PROVIDER", "efa", 1);
    ck_assert(suits("infiniband", "efa_0") && !suits("cxi", "cxi0"));
    setenv("PVM_OFI_PROVIDER", "tcp", 1);
    ck_assert(!suits("infiniband", "efa_0"));
    unsetenv("PVM_OFI_PROVIDER");
    setenv("PVM_TCP_TLS", "1", 1);
    ck_assert(!suits("infiniband", "efa_0"));
}
END_TEST

START_TEST(unknown_providers_are_named)
{
    char why[512] = "";
    setenv("PVM_OFI_PROVIDER", "nonesuch", 1);
    ck_assert_int_eq(ops->available(why, sizeof why), PVMC_ENOTFOUND);
    ck_assert_msg(strstr(why, "PVM_OFI_PROVIDER=nonesuch") && strstr(why, "fi_info"), "%s", why);
}
END_TEST

/* ---- links ---- */

struct end {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    uint8_t place[1 << 20];
    int done, ready, down, reason;
};

static struct end a, b;

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct end *e = ep->owner;
    (void)arg;
    return h->length <= sizeof e->place ? e->place : NULL;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg, (void)h;
    ((struct end *)ep->owner)->done++;
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    ((struct end *)ep->owner)->ready++;
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct end *e = ep->owner;
    (void)arg;
    e->down++;
    e->reason = reason;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = rx_place, .rx_done = rx_done, .tx_ready = tx_ready, .down = down};

static struct ofi_link *link_of(const struct end *e)
{
    return (struct ofi_link *)e->ep;
}

static struct ofi_transport *transport_of(const struct end *e)
{
    return (struct ofi_transport *)e->transport;
}

static void turn(void)
{
    for (int i = 0; i < 10; i++) {
        ops->progress(a.transport);
        ops->progress(b.transport);
    }
}

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

static const char *provider = "shm";

static void meet(void)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd;
    pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
    setenv("PVM_OFI_PROVIDER", provider, 1);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &a, &a.transport), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &b, &b.transport), 0);
    int length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    int answer = ops->join(b.transport, blob, (size_t)length, -1, &b, reply, &b.ep);
    ck_assert_int_gt(answer, 0);
    ck_assert_int_eq(ops->joined(a.ep, reply, (size_t)answer), 0);
    for (int i = 0; i < 10000 && (!a.ready || link_of(&b)->state != OFI_UP); i++)
        turn();
    ck_assert_int_eq(a.ready, 1);
    a.ready = 0;
}

static void part(void)
{
    struct end *ends[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        if (ends[i]->ep)
            ops->disconnect(ends[i]->ep);
        ops->close(ends[i]->transport);
    }
}

static int send_frame(struct end *e, uint32_t length)
{
    struct pvmc_frame_header h = {.length = length, .body_length = length, .dst = 1, .src = 2};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    ck_assert_ptr_nonnull(f);
    if (length)
        memset(f->mem->data, 1, length);
    int rc = ops->send(e->ep, f);
    pvmc_frame_unref(f);
    return rc;
}

static void carries_frames(void)
{
    int before = a.done;
    ck_assert_int_eq(send_frame(&b, 100), 0);
    ck_assert_int_eq(send_frame(&b, 200000), 0);
    for (int i = 0; i < 10000 && a.done < before + 2; i++)
        turn();
    ck_assert_int_eq(a.done, before + 2);
    ck_assert_int_eq(a.down + b.down, 0);
}

/* A message to a from its peer, or from someone who knows only these keys. */
static size_t forge(uint8_t *message, uint64_t to, uint64_t from, uint32_t number, uint8_t kind)
{
    memcpy(message, &to, sizeof to);
    memcpy(message + 8, &from, sizeof from);
    memcpy(message + 16, &number, sizeof number);
    message[20] = kind;
    memset(message + 21, 0, 3);
    return OFI_PREFIX_BYTES;
}

static void say(const uint8_t *message, size_t length)
{
    pvmt_ofi_receive(transport_of(&a), message, length);
    turn();
}

START_TEST(strangers_are_not_heard)
{
    uint8_t message[OFI_MESSAGE_BYTES];
    unsigned seed = 3;
    meet();
    const struct ofi_link *l = link_of(&a);
    for (int round = 0; round < 20000; round++) {
        size_t length = (size_t)rand_r(&seed) % 200;
        for (size_t i = 0; i < length; i++)
            message[i] = (uint8_t)rand_r(&seed);
        if (length >= 8 && round % 2)
            memcpy(message, &l->own_key, 8); /* a joiner that came too late knows this one */
        say(message, length);
    }
    for (uint8_t kind = 0; kind < 8; kind++) {
        say(message, forge(message, l->own_key, l->own_key, l->rx_next, kind));
        say(message, forge(message, l->peer_key, l->peer_key, l->rx_next, kind));
        say(message, forge(message, 0, 0, 0, kind));
    }
    ck_assert_int_eq(a.done, 0);
    carries_frames();
    part();
}
END_TEST

static size_t add_header(uint8_t *message, size_t length)
{
    struct pvmc_frame_header h = {.length = 100, .body_length = 100};
    pvmc_frame_encode(&h, message + length);
    return length + PVMC_FRAME_HEADER_BYTES;
}

#define WAYS 10

/* What a peer with the right keys may get wrong. Returns the length. */
static size_t make_malformed(uint8_t *message, int way)
{
    const struct ofi_link *l = link_of(&a);
    uint32_t number = l->rx_next + (way == 0 ? OFI_WINDOW : way == 8 ? OFI_WINDOW + 1 : way == 9 ? -1u : 0);
    static const uint8_t kinds[WAYS] = {OFI_FRAME, OFI_FRAME, OFI_FRAME, OFI_LARGE, OFI_LARGE,
                                        OFI_NEWS,  OFI_NEWS,  9,         OFI_BYE,   OFI_BYE};
    size_t length = forge(message, l->own_key, l->peer_key, number, kinds[way]);
    if (way >= 2 && way <= 4)
        length = add_header(message, length);
    if (way == 2) /* less payload than announced; way 1: no header */
        length += 99;
    else if (way == 3) /* half of the payload's place */
        length += 15;
    else if (way == 4) /* more than that */
        length += 17;
    else if (way == 5) /* credits that nobody had */
        message[21] = 1;
    else if (way == 6) /* a frame that was not lent */
        message[22] = 1;
    return length;
}

/* Each ends the link, and nothing else happens. */
START_TEST(malformed_messages_end_the_link)
{
    static uint8_t message[OFI_MESSAGE_BYTES];
    for (int way = 0; way < WAYS; way++) {
        meet();
        say(message, make_malformed(message, way));
        ck_assert_int_eq(a.down, 1);
        ck_assert_int_eq(a.reason, PVMC_EFORMAT);
        ck_assert_int_eq(a.done, 0);
        for (int i = 0; i < 1000 && !b.down; i++)
            turn();
        ck_assert_int_eq(b.down, 1);
        part();
    }
}
END_TEST

/* Mutations of a good message from one who has the keys: anything may follow but a crash. */
START_TEST(forged_frames_do_no_harm)
{
    static uint8_t message[512];
    unsigned seed = 1;
    for (int round = 0; round < 100; round++) {
        meet();
        for (int i = 0; i < 40 && !a.down; i++) {
            const struct ofi_link *l = link_of(&a);
            size_t length = forge(message, l->own_key, l->peer_key, l->rx_next + (uint32_t)rand_r(&seed) % 3,
                                  (uint8_t)(1 + rand_r(&seed) % 5));
            length = add_header(message, length);
            memset(message + length, 1, 200);
            length += rand_r(&seed) % 2 ? 100 : (unsigned)rand_r(&seed) % 200;
            if (rand_r(&seed) % 2)
                message[16 + (unsigned)rand_r(&seed) % (length - 16)] ^= (uint8_t)(1 << rand_r(&seed) % 8);
            say(message, length);
        }
        part();
    }
}
END_TEST

/* A sender that takes its memory back while the receiver reads from it: the frame is not delivered. */
START_TEST(revoked_memory_is_not_delivered)
{
    meet();
    ck_assert_int_eq(send_frame(&b, 200000), 0);
    pvmt_ofi_lease_end(link_of(&b));
    for (int i = 0; i < 10000 && !a.down; i++)
        turn();
    ck_assert_int_eq(a.down, 1);
    ck_assert_int_eq(a.done, 0);
    part();
}
END_TEST

/* A goodbye before the sender has heard that its frame was read: nothing is lost. */
START_TEST(memory_taken_back_after_it_was_read_is_no_loss)
{
    meet();
    ck_assert_int_eq(send_frame(&b, 200000), 0);
    for (int i = 0; i < 10000 && !a.done; i++)
        ops->progress(a.transport);
    ck_assert_int_eq(a.done, 1);
    ck_assert_uint_eq(link_of(&b)->loan_count, 1);
    ops->disconnect(b.ep);
    b.ep = NULL;
    for (int i = 0; i < 10000 && !a.down; i++)
        turn();
    ck_assert_int_eq(a.down, 1);
    ck_assert_int_eq(a.reason, 0);
    part();
}
END_TEST

/* Frames that complete out of order are delivered in order, and a goodbye takes effect after them. */
START_TEST(order_does_not_depend_on_the_provider)
{
    static uint8_t message[OFI_MESSAGE_BYTES];
    struct pvmc_frame_header h = {.length = 0};
    meet();
    const struct ofi_link *l = link_of(&a);
    say(message, forge(message, l->own_key, l->peer_key, 2, OFI_BYE));
    for (uint32_t number = 2; number-- > 0;) {
        ck_assert_int_eq(a.done + a.down, 0);
        size_t length = forge(message, l->own_key, l->peer_key, number, OFI_FRAME);
        pvmc_frame_encode(&h, message + length);
        say(message, length + PVMC_FRAME_HEADER_BYTES);
    }
    ck_assert_int_eq(a.done, 2);
    ck_assert_int_eq(a.down, 1);
    ck_assert_int_eq(a.reason, 0);
    part();
}
END_TEST

/* ---- loans ---- */

/* The peer may still read what it has been lent when the link is gone: nothing else may come there, nor a fault. */
START_TEST(revoked_memory_stays_readable)
{
    meet();
    ck_assert_int_eq(send_frame(&b, 200000), 0);
    volatile const uint8_t *lent = link_of(&b)->loans->data;
    ck_assert_uint_eq(ops->unsent(b.ep), 1 + ops->pending(b.ep)); /* pvm_send() waits for it */
    ck_assert_int_eq(lent[0], 1);
    ops->disconnect(b.ep);
    b.ep = NULL;
    ck_assert_uint_eq(transport_of(&b)->retired_count, 1);
    ck_assert_int_eq(lent[0], 0);
    ck_assert_int_eq(lent[199999], 0);
    part();
}
END_TEST

START_TEST(retired_loans_are_bounded)
{
    uint8_t blob[PVMT_OFFER_MAX];
    struct pvmt_endpoint *ep;
    int fd;
    meet();
    transport_of(&a)->retired_count = OFI_RETIRED_MAX;
    ck_assert_int_eq(ops->offer(a.transport, &a, blob, &fd, &ep), PVMC_ELIMIT);
    carries_frames();
    part();
}
END_TEST

START_TEST(memory_of_loans_goes_back)
{
    meet();
    carries_frames();
    for (int i = 0; i < 10000 && !link_of(&b)->spare; i++)
        turn();
    ck_assert_ptr_nonnull(link_of(&b)->spare);
    for (int i = 0; i < 100 && link_of(&b)->spare; i++)
        pvmt_ofi_link_tick(link_of(&b));
    ck_assert_ptr_null(link_of(&b)->spare);
    carries_frames();
    part();
}
END_TEST

/* ---- a provider that refuses, or is lost ---- */

static struct fi_ops_msg refusing, *honest;
static unsigned refusals;

static ssize_t refusing_send(struct fid_ep *ep, const void *data, size_t length, void *descriptor, fi_addr_t to,
                             void *context)
{
    if (refusals == 0)
        return honest->send(ep, data, length, descriptor, to, context);
    refusals--;
    return -FI_EAGAIN;
}

/* As EFA, which injects nothing. */
static void refuse_sends(struct ofi_transport *t, unsigned count)
{
    t->info->tx_attr->inject_size = 0;
    honest = t->ep->msg;
    refusing = *honest;
    refusing.send = refusing_send;
    t->ep->msg = &refusing;
    refusals = count;
}

START_TEST(late_goodbyes_outlive_their_link)
{
    meet();
    refuse_sends(transport_of(&b), 1);
    turn();
    refusals = 1;
    ops->disconnect(b.ep);
    b.ep = NULL;
    for (int i = 0; i < 1000 && !a.down; i++)
        turn();
    ck_assert_uint_eq(refusals, 0);
    ck_assert_int_eq(a.down, 1);
    ck_assert_int_eq(a.reason, 0);
    part();
}
END_TEST

/* As verbs, which takes nothing more for a dead peer; each attempt to reach it takes a while. */
START_TEST(silence_counts_while_the_provider_refuses)
{
    setenv("PVM_HOST_TIMEOUT", "1", 1);
    meet();
    refuse_sends(transport_of(&a), UINT_MAX);
    for (int i = 0; i < 600 && !a.down; i++) {
        send_frame(&a, 100);
        ops->progress(a.transport);
        usleep(5000);
    }
    ck_assert_int_eq(a.down, 1);
    refusals = 0;
    unsetenv("PVM_HOST_TIMEOUT");
    part();
}
END_TEST

/* A task that waits for something else must not spin. */
START_TEST(lost_devices_wake_nobody)
{
    provider = "tcp";
    meet();
    provider = "shm";
    struct ofi_transport *t = transport_of(&a);
    struct pollfd p = {.fd = ops->fd(a.transport), .events = POLLIN};
    ck_assert(t->has_descriptor);
    ck_assert_int_eq(send_frame(&b, 100), 0);
    for (int i = 0; i < 5000 && !poll(&p, 1, 1); i++)
        ops->progress(b.transport);
    ck_assert_int_eq(poll(&p, 1, 0), 1);
    pvmt_ofi_device_lost(t, FI_EIO);
    ops->progress(a.transport);
    ck_assert_int_eq(a.down, 1);
    ck_assert_int_eq(ops->arm(a.transport), 0);
    ck_assert_int_eq(poll(&p, 1, 0), 0);
    part();
}
END_TEST

UNIT_MAIN("ofi", golden_bytes, what_makes_no_sense_is_refused, auto_takes_cards_that_verbs_cannot_use,
          unknown_providers_are_named, strangers_are_not_heard, malformed_messages_end_the_link,
          forged_frames_do_no_harm, revoked_memory_is_not_delivered, memory_taken_back_after_it_was_read_is_no_loss,
          order_does_not_depend_on_the_provider, revoked_memory_stays_readable, retired_loans_are_bounded,
          memory_of_loans_goes_back, late_goodbyes_outlive_their_link, silence_counts_while_the_provider_refuses,
          lost_devices_wake_nobody)
