/* meeting.c - how connections are set up, by address or by offer, and how that can fail. */
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "side.h"
#include "suites.h"

/* Another side of the same transport. */
static struct side twin(const struct side *s)
{
    return (struct side){.transport = s->transport, .descriptor = -1};
}

static void end(struct side *s)
{
    side_disconnect(s);
    side_release(s, 0);
    free(s->place);
    s->place = NULL;
}

/* ---- by address ---- */

START_TEST(refused_connection_goes_down)
{
    server.refuse_accept = true;
    meet();
    side_await_down(&client);
}
END_TEST

START_TEST(nobody_there_is_an_error)
{
    uint8_t blob[PATH_MAX];
    int length = ops->address(server.transport, blob, sizeof blob);
    ck_assert_int_gt(length, 0);
    blob[length - 1] ^= 1;
    struct pvmt_endpoint *ep = NULL;
    ck_assert_int_eq(ops->reach(client.transport, blob, length), 0);
    ck_assert_int_lt(ops->connect(client.transport, blob, length, &client, &ep), 0);
    ck_assert_int_lt(ops->connect(client.transport, blob, 0, &client, &ep), 0);
    ck_assert_ptr_null(ep);
}
END_TEST

/* ---- by offer ---- */

struct offer {
    uint8_t blob[PVMT_OFFER_MAX];
    size_t length;
    int fd;
};

static struct offer make_offer(struct side *s)
{
    struct offer o = {.fd = -2};
    int length = ops->offer(s->transport, s, o.blob, &o.fd, &s->ep);
    ck_assert_int_ge(length, 0);
    ck_assert_int_le(length, PVMT_OFFER_MAX);
    if (!side_attributes(s).local_only)
        ck_assert_int_eq(o.fd, -1);
    o.length = (size_t)length;
    return o;
}

/* Joins; delivers the reply to the offering side, if there is one. */
static int join(struct side *s, const struct offer *o, struct side *offering)
{
    uint8_t reply[PVMT_OFFER_MAX];
    int rc = ops->join(s->transport, o->blob, o->length, o->fd, s, reply, &s->ep);
    if (rc < 0)
        s->ep = NULL;
    if (rc > 0 && ops->joined && offering)
        ck_assert_int_eq(ops->joined(offering->ep, reply, (size_t)rc), 0);
    return rc < 0 ? rc : 0;
}

START_TEST(offers_refuse_until_joined)
{
    struct offer o = make_offer(&server);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_int_eq(side_send(&server, 0, i * 10000, 1, (enum payload)(i % 3)), PVMC_EAGAIN);
        drive_idly();
    }
    ck_assert_int_eq(server.ready, 0);
    ck_assert_uint_eq(ops->pending(server.ep), 0);
    ck_assert_uint_eq(side_inplace(&server), 0);
    ck_assert_int_eq(ops->arm(server.transport), 0);
    ck_assert_msg(!side_readable(&server, 20), "readable although nobody joined: a sleeper would spin");
    ck_assert_int_eq(join(&client, &o, &server), 0);
    DRIVE_UNTIL(server.ready == 1);
    drive_idly();
    ck_assert_int_eq(server.ready, 1);
    DRIVE_UNTIL(side_send_mixed(&server, 0) == 0);
    DRIVE_UNTIL(client.done == 1);
    ASSERT_RIGHT(client);
}
END_TEST

/* tx_ready reports a joiner even to endpoints that have not tried to send. */
START_TEST(joining_is_told_without_a_refusal)
{
    struct offer o = make_offer(&server);
    ck_assert_int_eq(join(&client, &o, &server), 0);
    DRIVE_UNTIL(server.ready == 1);
    DRIVE_UNTIL(side_send(&client, 0, 1000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 1);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(joiners_send_at_once)
{
    struct offer o = make_offer(&server);
    ck_assert_int_eq(join(&client, &o, &server), 0);
    for (uint32_t seq = 0; seq < 50; seq++)
        DRIVE_UNTIL(side_send_mixed(&client, seq) == 0);
    DRIVE_UNTIL(server.done == 50 && server.ready == 1);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(withdrawn_offers_cannot_be_joined)
{
    struct offer o = make_offer(&server);
    side_disconnect(&server);
    if (join(&client, &o, NULL) == 0) { /* it may detect it later */
        for (uint32_t seq = 0; seq < 3 && !client.down; seq++)
            DRIVE_UNTIL(client.down || side_send(&client, seq, 100, 1, PAYLOAD_OWN) == 0);
        side_await_down(&client);
    }
    drive_idly();
    ck_assert_int_eq(server.ready + server.done + server.down, 0);
}
END_TEST

/* The joining side disconnects before the offering side knows of it. */
START_TEST(joiners_may_leave_at_once)
{
    struct offer o = make_offer(&server);
    uint8_t reply[PVMT_OFFER_MAX];
    int rc = ops->join(client.transport, o.blob, o.length, o.fd, &client, reply, &client.ep);
    ck_assert_int_ge(rc, 0);
    side_disconnect(&client);
    if (rc && ops->joined)
        ops->joined(server.ep, reply, (size_t)rc); /* may fail or not */
    for (int i = 0; i < 5; i++)
        drive_idly();
    ck_assert_int_eq(server.done, 0);
    ck_assert_int_le(server.down, 1);
}
END_TEST

START_TEST(offers_are_used_up_by_one)
{
    struct side third = twin(&client);
    struct offer o = make_offer(&server), copy = o;
    copy.fd = o.fd >= 0 ? fcntl(o.fd, F_DUPFD_CLOEXEC, 0) : -1;
    ck_assert_int_eq(join(&client, &o, &server), 0);
    DRIVE_UNTIL(server.ready == 1);
    uint32_t seq = 0;
    for (; seq < 10; seq++)
        DRIVE_UNTIL(side_send(&client, seq, 5000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 10);
    if (copy.fd >= 0) {
        close(copy.fd); /* whoever has the descriptor is the peer, so only the blob can be stolen */
        copy.fd = -1;
    }
    if (join(&third, &copy, NULL) == 0) {
        third.stop = false;
        DRIVE_UNTIL(third.down || side_send(&third, 77, 100, 1, PAYLOAD_OWN) == 0);
        side_await_down(&third);
    }
    ck_assert_int_eq(third.done, 0);
    for (; seq < 20; seq++)
        DRIVE_UNTIL(side_send(&client, seq, 5000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 20);
    ck_assert_int_eq(server.down, 0);
    ASSERT_RIGHT(server);
    end(&third);
}
END_TEST

/*
 * A damaged address must not lead to another host: the test enters a network namespace that has only lo.
 * With devices_stay the machine has no other hosts, and the devices cannot be used in a namespace.
 */
static bool leave_the_network(void)
{
    if (devices_stay)
        return true;
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
        return false;
    struct ifreq lo = {.ifr_name = "lo"};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool up = s >= 0 && !ioctl(s, SIOCGIFFLAGS, &lo);
    lo.ifr_flags |= IFF_UP;
    up = up && !ioctl(s, SIOCSIFFLAGS, &lo);
    close(s);
    return up;
}

static int some_descriptor(unsigned kind)
{
    int fds[2];
    switch (kind % 4) {
    case 0:
        return -1;
    case 1:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 2:
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        break;
    default:
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    }
    close(fds[1]);
    return fds[0];
}

/* Joins something that is not an offer: either an error, or an endpoint that goes down; nothing arrives. */
static void join_garbage(const struct offer *o)
{
    if (join(&client, o, NULL) == 0) {
        int rc = side_send(&client, 0, 100, 1, PAYLOAD_OWN);
        ck_assert(rc == 0 || rc == PVMC_EAGAIN || rc == PVMC_EDOWN);
        for (int i = 0; i < 20; i++)
            ops->progress(client.transport), ops->progress(server.transport);
    }
    side_disconnect(&client);
    client.ready = client.down = 0;
    ck_assert_int_eq(client.done, 0);
}

START_TEST(garbage_is_no_offer)
{
    if (!leave_the_network() && !side_attributes(&client).local_only)
        return; /* an unprivileged user on a machine without user namespaces */
    side_close(&client);
    side_close(&server);
    side_open(&server, NULL);
    side_open(&client, NULL);
    unsigned seed = 5;
    for (unsigned round = 0; round < 300; round++) {
        struct offer good = make_offer(&server), bad = good;
        if (good.fd >= 0)
            close(good.fd);
        side_disconnect(&server);
        bad.fd = some_descriptor(round);
        if (round % 3 == 0) { /* noise */
            bad.length = (size_t)rand_r(&seed) % (PVMT_OFFER_MAX + 1);
            for (size_t i = 0; i < bad.length; i++)
                bad.blob[i] = (uint8_t)rand_r(&seed);
        } else if (round % 3 == 1) { /* truncated, or too long */
            bad.length = (size_t)rand_r(&seed) % (good.length + 20);
        } else if (good.length) { /* changed */
            bad.blob[(size_t)rand_r(&seed) % good.length] ^= (uint8_t)(1 << rand_r(&seed) % 8);
        }
        join_garbage(&bad);
    }
    meet();
    DRIVE_UNTIL(side_send(&client, 0, 3000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 1);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(garbage_is_no_answer)
{
    if (!ops->joined)
        return;
    uint8_t garbage[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    unsigned seed = 6;
    struct offer o = make_offer(&server);
    int rc = ops->join(client.transport, o.blob, o.length, o.fd, &client, reply, &client.ep);
    ck_assert_int_gt(rc, 0);
    for (unsigned round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof garbage; i++)
            garbage[i] = (uint8_t)rand_r(&seed);
        ck_assert_int_lt(ops->joined(server.ep, garbage, (size_t)rand_r(&seed) % (PVMT_OFFER_MAX + 1)), 0);
    }
    ck_assert_int_eq(server.ready + server.down, 0);
}
END_TEST

/* Both sides offer, and both offers are joined: two independent links. */
START_TEST(offers_may_cross)
{
    struct side server2 = twin(&server), client2 = twin(&client);
    struct offer from_server = make_offer(&server), from_client = make_offer(&client2);
    ck_assert_int_eq(join(&client, &from_server, &server), 0);
    ck_assert_int_eq(join(&server2, &from_client, &client2), 0);
    DRIVE_UNTIL(server.ready == 1 && client2.ready == 1);
    for (uint32_t seq = 0; seq < 40; seq++) {
        DRIVE_UNTIL(side_send_mixed(&client, seq) == 0);
        DRIVE_UNTIL(side_send_mixed(&client2, seq) == 0);
    }
    DRIVE_UNTIL(server.done == 40 && server2.done == 40);
    side_disconnect(&client2);
    side_await_down(&server2);
    DRIVE_UNTIL(side_send(&client, 40, 100, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 41);
    ASSERT_RIGHT(server);
    ASSERT_RIGHT(server2);
    DRIVE_UNTIL(side_inplace(&client2) == 0 && side_inplace(&client) == 0);
    end(&server2);
    end(&client2);
}
END_TEST

/* ---- both ---- */

enum { MANY = 100 };

static struct side here[MANY], there[MANY];

static void meet_many(int count)
{
    for (int i = 0; i < count; i++) {
        here[i] = twin(&server);
        there[i] = twin(&client);
        if (ops->offer) {
            meet_by_offer(&here[i], &there[i]);
        } else {
            meet_by_address(&server, &there[i]);
            here[i].ep = server.ep;
            server.ep->owner = &here[i];
            server.ep = NULL;
        }
    }
}

START_TEST(many_links)
{
    meet_many(MANY);
    for (uint32_t seq = 0; seq < 5; seq++) {
        for (int i = 0; i < MANY; i++)
            DRIVE_UNTIL(side_send_kept(i % 2 ? &here[i] : &there[i], seq) == 0);
        for (int i = 0; i < MANY; i++)
            DRIVE_UNTIL((i % 2 ? there[i].done : here[i].done) == (int)seq + 1);
    }
    for (int i = 0; i < MANY; i += 3)
        side_disconnect(&there[i]);
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0)
            side_await_down(&here[i]);
        else
            ck_assert_int_eq(here[i].down, 0);
        ASSERT_RIGHT(here[i]);
        ASSERT_RIGHT(there[i]);
    }
    for (int i = 0; i < MANY; i++) {
        end(&here[i]);
        end(&there[i]);
    }
}
END_TEST

/* Links that come and go leak nothing: both_close() counts. */
START_TEST(links_come_and_go)
{
    for (int round = 0; round < 200; round++) {
        meet_many(1);
        DRIVE_UNTIL(side_send(&there[0], 0, (uint32_t)round * 100, 1, PAYLOAD_OWN) == 0);
        DRIVE_UNTIL(here[0].done == 1);
        ASSERT_RIGHT(here[0]);
        end(round % 2 ? &here[0] : &there[0]);
        side_await_down(round % 2 ? &there[0] : &here[0]);
        end(&here[0]);
        end(&there[0]);
    }
}
END_TEST

TCase *meeting_case(void)
{
    TCase *tc = tcase_create("meeting");
    if (ops->connect) {
        tcase_add_test(tc, refused_connection_goes_down);
        tcase_add_test(tc, nobody_there_is_an_error);
    } else {
        tcase_add_test(tc, offers_refuse_until_joined);
        tcase_add_test(tc, joining_is_told_without_a_refusal);
        tcase_add_test(tc, joiners_send_at_once);
        tcase_add_test(tc, withdrawn_offers_cannot_be_joined);
        tcase_add_test(tc, joiners_may_leave_at_once);
        tcase_add_test(tc, offers_are_used_up_by_one);
        tcase_add_test(tc, garbage_is_no_offer);
        tcase_add_test(tc, garbage_is_no_answer);
        tcase_add_test(tc, offers_may_cross);
    }
    tcase_add_test(tc, many_links);
    tcase_add_test(tc, links_come_and_go);
    return tc;
}
