/*
 * test_dp_link.c - links of dp whose interface fails while nothing is sent: two transports of one process, each on one
 * end of a veth pair in a separate network namespace. Without root the test is skipped with exit code 77.
 */
#include <poll.h>
#include <sched.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "transports/transport.h"
#include "tests/unit/unit.h"

#define PATIENCE_MS 2000

extern const struct pvmt_transport_ops pvmt_dp_ops;

/* One side of the link. */
struct end {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    int ready, down, reason;
};

static struct end first, second;

static uint8_t *on_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    (void)ep;
    (void)h;
    return NULL;
}

static void on_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    (void)ep;
    (void)h;
}

static void on_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)ep;
    ((struct end *)arg)->ready++;
}

static void on_down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct end *e = arg;
    (void)ep;
    e->down++;
    e->reason = reason;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = on_place, .rx_done = on_done, .tx_ready = on_ready, .down = on_down};

static void run(const char *command)
{
    ck_assert_int_eq(system(command), 0);
}

/* Allows only these interfaces. */
static void open_end(struct end *e, const char *interfaces)
{
    ck_assert_int_eq(setenv("PVM_DP_IF", interfaces, 1), 0);
    *e = (struct end){.down = 0};
    ck_assert_int_eq(pvmt_dp_ops.open(NULL, &callbacks, e, &e->transport), 0);
}

static void close_ends(void)
{
    pvmt_dp_ops.close(first.transport);
    pvmt_dp_ops.close(second.transport);
}

/* Like a task: makes progress, and sleeps until there is more to do, or until *happened. */
static void live(struct end *e, const int *happened)
{
    for (int turns = 0; !*happened && turns < PATIENCE_MS; turns++) {
        pvmt_dp_ops.progress(first.transport);
        pvmt_dp_ops.progress(second.transport);
        struct pollfd fd = {.fd = pvmt_dp_ops.fd(e->transport), .events = POLLIN};
        if (!*happened && !pvmt_dp_ops.arm(e->transport))
            poll(&fd, 1, 1);
    }
}

static void connect_ends(void)
{
    uint8_t offer[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, n = pvmt_dp_ops.offer(first.transport, &first, offer, &fd, &first.ep);
    ck_assert_int_gt(n, 0);
    n = pvmt_dp_ops.join(second.transport, offer, (size_t)n, -1, &second, reply, &second.ep);
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(pvmt_dp_ops.joined(first.ep, reply, (size_t)n), 0);
    live(&first, &first.ready);
    ck_assert_int_eq(first.ready, 1);
}

/* Two pairs of interfaces: a0 - b0 and a1 - b1. */
static void begin(const char *ours, const char *theirs)
{
    ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
    for (int i = 0; i < 2; i++) {
        char command[200];
        snprintf(command, sizeof command,
                 "ip link add a%d type veth peer name b%d && ip link set a%d up && ip link set b%d up", i, i, i, i);
        run(command);
    }
    unit_log_start();
    open_end(&first, ours);
    open_end(&second, theirs);
    connect_ends();
}

START_TEST(a_link_ends_when_its_interface_does_though_nothing_is_sent)
{
    begin("a0", "b0");
    run("ip link set a0 down");
    live(&first, &first.down);
    ck_assert_int_eq(first.down, 1);
    ck_assert_int_eq(first.reason, PVMC_EDOWN);
    close_ends();
}
END_TEST

START_TEST(also_when_the_interface_is_taken_away)
{
    begin("a0", "b0");
    run("ip link del a0");
    live(&first, &first.down);
    ck_assert_int_eq(first.down, 1);
    ck_assert_int_eq(first.reason, PVMC_EDOWN);
    close_ends();
}
END_TEST

START_TEST(a_link_lives_while_it_has_another_way)
{
    int never = 0;
    begin("a0,a1", "b0,b1");
    run("ip link set a0 down");
    live(&first, &never);
    ck_assert_int_eq(first.down, 0);
    run("ip link set a1 down");
    live(&first, &first.down);
    ck_assert_int_eq(first.down, 1);
    close_ends();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_link_ends_when_its_interface_does_though_nothing_is_sent,
                                  also_when_the_interface_is_taken_away, a_link_lives_while_it_has_another_way};
    if (geteuid()) {
        puts("NOT RUN: raw sockets and network namespaces need root");
        return 77;
    }
    return unit_run("dp_link", tests, sizeof tests / sizeof tests[0]);
}
