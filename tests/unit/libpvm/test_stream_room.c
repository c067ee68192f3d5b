/*
 * test_stream_room.c - streams that found no room and go on without tx_ready: their route changes, or a full window is
 * acknowledged. The daemon is a fake one, and so is the transport of the link.
 */
#include "tests/unit/unit.h"
#include <sys/eventfd.h>
#include <unistd.h>
#include "core/error.h"
#include "core/message/proto.h"
#include "dpvm.h"
#include "fake_daemon.h"
#include "libpvm/base/task.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/peer.h"
#include "pvm3.h"

#define OTHER   0x40100 /* it has no process: the fake daemon drops what is for it */
#define NUMBERS 5000
#define BYTES   (NUMBERS * sizeof(int))

/* ---- a transport with one endpoint, which never calls tx_ready ---- */

enum news { NO_NEWS, DOWN, ACKNOWLEDGED };

static struct {
    struct pvmt_transport transport;
    struct pvmt_endpoint ep;
    int fd;
    bool lossless, refuses;
    enum news news; /* for the next progress() */
} fake;

static int fake_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                     struct pvmt_transport **out)
{
    (void)address;
    fake.fd = eventfd(0, EFD_CLOEXEC);
    fake.transport.callbacks = callbacks;
    fake.transport.arg = arg;
    fake.ep.transport = *out = &fake.transport;
    return 0;
}

static void fake_close(struct pvmt_transport *t)
{
    (void)t;
    close(fake.fd);
}

static void fake_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    *out = (struct pvmt_attributes){.frame_max = PVMC_FRAME_PAYLOAD_MAX, .lossless = fake.lossless};
}

static void fake_disconnect(struct pvmt_endpoint *ep)
{
    (void)ep;
}

static int fake_send(struct pvmt_endpoint *ep, struct pvmc_frame *f)
{
    (void)ep;
    (void)f;
    return fake.refuses ? PVMC_EAGAIN : 0;
}

static size_t fake_pending(const struct pvmt_endpoint *ep)
{
    (void)ep;
    return 0;
}

static void acknowledge_all(void)
{
    const struct pvmc_frame_header h = {.src = OTHER,
                                        .dst = pvmi_task.tid,
                                        .seq = pvmi_peer_get(OTHER)->tx_seq,
                                        .ctx = PVMC_CTX_TC,
                                        .tag = (int32_t)PVMC_TC_ACK};
    ck_assert_ptr_null(fake.transport.callbacks->rx_place(fake.transport.arg, &fake.ep, &h));
}

static int fake_progress(struct pvmt_transport *t)
{
    enum news news = fake.news;
    fake.news = NO_NEWS;
    if (news == DOWN)
        t->callbacks->down(t->arg, &fake.ep, 0);
    if (news == ACKNOWLEDGED)
        acknowledge_all();
    return news != NO_NEWS;
}

static int fake_fd(struct pvmt_transport *t)
{
    (void)t;
    return fake.fd;
}

static int fake_arm(struct pvmt_transport *t)
{
    (void)t;
    return fake.news != NO_NEWS;
}

static const struct pvmt_transport_ops ops = {.name = "fake",
                                              .open = fake_open,
                                              .close = fake_close,
                                              .query = fake_query,
                                              .disconnect = fake_disconnect,
                                              .send = fake_send,
                                              .pending = fake_pending,
                                              .progress = fake_progress,
                                              .fd = fake_fd,
                                              .arm = fake_arm};

/* ---- the task ---- */

static void begin(void)
{
    fake_daemon_start();
    ck_assert_int_gt(pvm_mytid(), 0);
}

static void end(void)
{
    fake.refuses = false;
    fake.news = pvmi_peer_get(OTHER)->link ? DOWN : NO_NEWS;
    pvmi_link_progress();
    ck_assert_int_eq(pvm_exit(), 0);
    fake_daemon_stop();
}

static struct pvmi_link *link_up(bool lossless)
{
    fake.lossless = lossless;
    struct pvmi_link *l = pvmi_link_new(&ops, pvmi_peer_get(OTHER), PVMI_LINK_JOINED);
    ck_assert_ptr_nonnull(l);
    l->ep = &fake.ep;
    fake.ep.owner = l;
    pvmi_link_listener->heard(l);
    return l;
}

static void check_sent(uint64_t direct_bytes, uint64_t daemon_bytes)
{
    const struct pvmi_peer *p = pvmi_peer_get(OTHER);
    ck_assert_uint_eq(p->direct.tx_bytes, direct_bytes);
    ck_assert_uint_eq(p->daemon.tx_bytes, daemon_bytes);
}

/* Packs a stream, for which there is no room. */
static void pack(void)
{
    static int numbers[NUMBERS];
    ck_assert_int_gt(pvm_initsendto(PvmDataDefault, OTHER, 1), 0);
    ck_assert_int_eq(pvm_pkint(numbers, NUMBERS, 1), 0);
    check_sent(0, 0);
}

/* What a call that waits does all the time. */
static void look(enum news news)
{
    fake.news = news;
    ck_assert_int_ge(pvmi_link_progress(), 0);
}

/* ---- tests ---- */

START_TEST(a_stream_whose_link_refuses_waits)
{
    begin();
    link_up(true);
    fake.refuses = true;
    pack();
    look(NO_NEWS);
    check_sent(0, 0);
    end();
}
END_TEST

START_TEST(a_link_that_refused_is_lost)
{
    begin();
    link_up(true);
    fake.refuses = true;
    pack();
    look(DOWN);
    check_sent(0, BYTES);
    end();
}
END_TEST

START_TEST(a_full_window_is_acknowledged)
{
    begin();
    struct pvmi_link *l = link_up(false);
    pvm_initsend(PvmDataDefault);
    while (pvmi_link_is_ready(l))
        ck_assert_int_eq(pvm_send(OTHER, 2), 0);
    pack();
    look(ACKNOWLEDGED);
    check_sent(BYTES, 0);
    end();
}
END_TEST

/* The daemon holds what is for the receiver; a link does not go by the daemon. */
START_TEST(a_link_comes_up_during_a_hold)
{
    begin();
    ck_assert_int_eq(fake_daemon_do(FAKE_HOLD, OTHER), 0);
    pack();
    link_up(true);
    look(NO_NEWS);
    check_sent(BYTES, 0);
    end();
}
END_TEST

UNIT_MAIN("stream room", a_stream_whose_link_refuses_waits, a_link_that_refused_is_lost, a_full_window_is_acknowledged,
          a_link_comes_up_during_a_hold)
