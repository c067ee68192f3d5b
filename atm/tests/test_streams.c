/* test_streams.c - assured connections of the Fore API: what arrives, when, and how they end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "programs.h"

#define ASAP  4000
#define MS    1000000
#define S     INT64_C(1000000000)
#define BYTES 40000

/* One protocol on one kind of network. */
struct trial {
    Atm_protocol protocol;
    const char *to; /* the listener's host; callers are on a */
    const char *loss;
    bool is_virtual;
};

static const struct trial trials[] = {
    {atm_sscop, "b", "0", true},
    {atm_pcaal_1, "b", "0", true},
    {atm_pcaal_n, "b", "0", true},
    {atm_ece_switching, "b", "0", true},
    {atm_ece_duplicating, "b", "0", true},
    {atm_sscop, "b", "0.0005", true},
    {atm_pcaal_1, "b", "0.05", true},
    {atm_pcaal_n, "b", "0.05", true},
    {atm_ece_switching, "b", "0.05", true},
    {atm_ece_duplicating, "b", "0.05", true},
    {atm_sscop, "a", "0", true},
    {atm_pcaal_n, "a", "0", false},
    {atm_sscop, "b", "0", false},
    {atm_pcaal_n, "b", "0.01", false},
    {atm_ece_switching, "b", "0.01", false},
};

enum { TRIALS = sizeof trials / sizeof trials[0] };

static void start(const struct trial *t)
{
    char topology[1000];
    bool fast = t->protocol >= atm_ece_switching && strcmp(t->loss, "0");
    const char *profile = fast ? "ideal" : "hp735"; /* so ECE has trials with low and with high latency */
    snprintf(topology, sizeof topology,
             "host a profile=%s\nhost b profile=%s\nhost c profile=hp735\nhost d profile=hp735\n"
             "switch s latency=500ns\nlink a s rate=oc3 loss=%s\nlink b s rate=oc3 loss=%s\nlink c s\nlink d s\n",
             profile, profile, t->loss, t->loss);
    setenv("PVM_ATM_POLL", t->is_virtual ? "0.5" : "0.02", 1);
    network_start(&(struct network){.topology = topology, .is_virtual = t->is_virtual, .wait_for = 2});
}

/* Both programs of a trial. */
static void run(const struct trial *t, int (*caller)(void *arg), int (*listener)(void *arg))
{
    start(t);
    pid_t b = program_start(t->to, listener, (void *)t), a = program_start("a", caller, (void *)t);
    program_wait(a);
    program_wait(b);
    network_stop();
}

static int64_t now(void)
{
    int64_t ns;
    NEED(!atm_sim_time(&ns));
    return ns;
}

static void nap(int64_t ns)
{
    NEED(atm_sim_poll(NULL, 0, ns) == 0);
}

static int open_assured(Atm_protocol protocol)
{
    int fd = atm_open(NULL, 0, NULL);
    NEED(fd >= 0 && !atm_assure(fd, protocol));
    return fd;
}

/* Calls until the listener is there. Returns the error. */
static int call(int fd, const char *host)
{
    Atm_endpoint to = {.asap = ASAP};
    int rc;
    NEED(!atm_gethostbyname(host, &to.nsap) && !atm_bind(fd, 0, NULL, 0));
    while ((rc = atm_connect(fd, &to, NULL, NULL, aal_type_5, duplex)) && atm_errno == ECONNREFUSED)
        nap(MS);
    return rc ? atm_errno : 0;
}

static int dial(const struct trial *t)
{
    int fd = open_assured(t->protocol);
    NEED(!call(fd, t->to));
    return fd;
}

static int answer(Atm_protocol protocol)
{
    int id, listener = open_assured(protocol), fd = atm_open(NULL, 0, NULL);
    NEED(fd >= 0 && !atm_bind(listener, ASAP, NULL, 8));
    NEED(!atm_listen(listener, &id, NULL, NULL, NULL));
    NEED(!atm_accept(listener, fd, id, NULL, duplex));
    NEED(!atm_close(listener));
    return fd;
}

static char byte_at(size_t i)
{
    return (char)(i * 2654435761u >> 13);
}

/* Sends bytes from..to of the pattern, in pieces of different lengths and items. */
static void send_pattern(int fd, size_t from, size_t to)
{
    static const int lengths[] = {1, 28, 8, 1000, 3, 9000};
    static char bytes[BYTES];
    for (size_t i = from; i < to; i++)
        bytes[i] = byte_at(i);
    for (size_t i = from, k = 0; i < to; k++) {
        int n = lengths[k % 6] < (int)(to - i) ? lengths[k % 6] : (int)(to - i);
        NEED(!atm_item(fd, 1 + k % ATM_ITEM_MAX));
        NEED(atm_send(fd, bytes + i, n) == n);
        i += (size_t)n;
    }
}

/* Receives bytes of the pattern up to the end of the stream, or up to `to`. Returns the number of the last one. */
static size_t receive_pattern(int fd, size_t at, size_t to)
{
    char bytes[5000];
    int n = 1;
    while (at < to && (n = atm_recv(fd, bytes, (int)(to - at < sizeof bytes ? to - at : sizeof bytes))) > 0)
        for (int i = 0; i < n; i++)
            NEED(bytes[i] == byte_at(at++));
    NEED(n >= 0);
    return at;
}

/* ---- bytes ---- */

static int sends_and_receives(void *arg)
{
    int fd = dial(arg);
    send_pattern(fd, 0, BYTES);
    NEED(receive_pattern(fd, 0, BYTES) == BYTES);
    return atm_close(fd);
}

static int receives_and_sends(void *arg)
{
    int fd = answer(((struct trial *)arg)->protocol);
    NEED(receive_pattern(fd, 0, BYTES) == BYTES);
    send_pattern(fd, 0, BYTES);
    NEED(receive_pattern(fd, 0, 1) == 0);
    char c = 0;
    NEED(atm_send(fd, &c, 1) == -1 && atm_errno == EPIPE);
    return atm_close(fd);
}

START_TEST(bytes_arrive_in_order)
{
    run(&trials[_i], sends_and_receives, receives_and_sends);
}
END_TEST

/* ---- the end ---- */

static int sends_and_closes(void *arg)
{
    int fd = dial(arg);
    send_pattern(fd, 0, BYTES);
    return atm_close(fd);
}

static int sends_and_exits(void *arg)
{
    send_pattern(dial(arg), 0, BYTES);
    _exit(0);
}

static int receives_late(void *arg)
{
    int fd = answer(((struct trial *)arg)->protocol);
    nap(((struct trial *)arg)->is_virtual ? 10 * S : 100 * MS);
    NEED(receive_pattern(fd, 0, BYTES + 1) == BYTES);
    return atm_close(fd);
}

START_TEST(what_was_sent_arrives_after_the_close)
{
    run(&trials[_i], sends_and_closes, receives_late);
}
END_TEST

START_TEST(what_was_sent_survives_the_sender)
{
    run(&trials[_i], sends_and_exits, receives_late);
}
END_TEST

/* Its peer is killed in the middle. */
static int is_left(void *arg)
{
    int fd = dial(arg);
    char bytes[1000] = {0};
    while (atm_send(fd, bytes, sizeof bytes) > 0)
        ;
    NEED(atm_errno == EPIPE);
    NEED(atm_recv(fd, bytes, sizeof bytes) == 0);
    return atm_close(fd);
}

static int is_killed(void *arg)
{
    char bytes[100];
    int fd = answer(((struct trial *)arg)->protocol);
    NEED(atm_recv(fd, bytes, sizeof bytes) > 0);
    _exit(0);
}

START_TEST(a_sender_hears_of_the_peers_death)
{
    run(&trials[_i], is_left, is_killed);
}
END_TEST

static int sees_the_outage(void *arg)
{
    int fd = dial(arg);
    char bytes[100] = {0};
    NEED(atm_send(fd, bytes, 100) == 100);
    NEED(atm_recv(fd, bytes, 100) == -1 && atm_errno == ECONNRESET);
    NEED(atm_send(fd, bytes, 100) == -1 && atm_errno == EPIPE);
    return atm_close(fd);
}

/* Bytes that had come are read before that. */
static int sees_it_too(void *arg)
{
    int fd = answer(((struct trial *)arg)->protocol), got = 0, n;
    char bytes[100];
    nap(10 * S);
    while ((n = atm_recv(fd, bytes, 10)) > 0)
        got += n;
    NEED(got == 100 && n == -1 && atm_errno == ECONNRESET);
    return atm_close(fd);
}

START_TEST(an_outage_is_not_the_end_of_the_stream)
{
    network_start(&(struct network){.topology = "host a\nhost b\nswitch s\nlink a s\nlink b s\nfail b s at=5s\n",
                                    .is_virtual = true,
                                    .wait_for = 2});
    pid_t b = program_start("b", sees_it_too, (void *)&trials[_i]),
          a = program_start("a", sees_the_outage, (void *)&trials[_i]);
    program_wait(a);
    program_wait(b);
    network_stop();
}
END_TEST

/* ---- windows ---- */

static int fills_the_window(void *arg)
{
    static char bytes[10000];
    int fd = dial(arg), n, sent = 0;
    NEED(!fcntl(fd, F_SETFL, O_NONBLOCK));
    while ((n = atm_send(fd, bytes, sizeof bytes)) > 0)
        sent += n;
    NEED(atm_errno == EAGAIN && sent > 1000 && sent < 300000); /* with one byte in a cell it is full soon */
    struct pollfd set = {.fd = fd, .events = POLLIN};
    int wakes = 0;
    do {
        NEED(atm_sim_poll(&set, 1, -1) == 1); /* the peer has read; or news that crossed a question, once */
        NEED(++wakes <= 2);
    } while ((n = atm_send(fd, bytes, sizeof bytes)) < 0 && atm_errno == EAGAIN);
    NEED(n > 0);
    return atm_close(fd);
}

static int reads_late(void *arg)
{
    int fd = answer(((struct trial *)arg)->protocol), n;
    static char bytes[10000];
    nap(((struct trial *)arg)->is_virtual ? 100 * S : 200 * MS);
    while ((n = atm_recv(fd, bytes, sizeof bytes)) > 0)
        ;
    NEED(!n);
    return atm_close(fd);
}

START_TEST(a_full_window_is_not_waited_for)
{
    setenv("PVM_ATM_WINDOW", "64k", 1);
    run(&trials[_i], fills_the_window, reads_late);
}
END_TEST

static int fills_the_window_singly(void *arg)
{
    int fd = dial(arg), n = 0;
    NEED(!fcntl(fd, F_SETFL, O_NONBLOCK));
    while (atm_send(fd, "", 1) == 1)
        n++;
    NEED(atm_errno == EAGAIN && n == 8192 / 32);
    return atm_close(fd);
}

/* Within a host each write takes memory, however short it is. */
START_TEST(short_writes_fill_the_window)
{
    setenv("PVM_ATM_WINDOW", "8k", 1);
    run(&(struct trial){atm_sscop, "a", "0", true}, fills_the_window_singly, reads_late);
}
END_TEST

/* ---- when ---- */

#define ITEMS 1000

/* The receiver hears of the first items while the last ones have not even left. */
static int notes_arrivals(void *arg)
{
    double x[ITEMS];
    int fd = answer(((struct trial *)arg)->protocol);
    NEED(atm_recv(fd, (char *)x, sizeof x) % 8 == 0);
    int64_t first = now();
    for (int n; (n = atm_recv(fd, (char *)x, sizeof x)) > 0;)
        NEED(n % 8 == 0);
    NEED(now() - first > 800000);
    return atm_close(fd);
}

static int sends_items(void *arg)
{
    static double x[ITEMS];
    int fd = dial(arg);
    NEED(!atm_item(fd, 8) && atm_send(fd, (char *)x, sizeof x) == sizeof x);
    return atm_close(fd);
}

/* 334 cells at 155 Mbit/s take 0.9 ms. */
START_TEST(items_arrive_cell_by_cell)
{
    run(&(struct trial){atm_pcaal_n, "b", "0", true}, sends_items, notes_arrivals);
}
END_TEST

/* Wakes once for everything. */
static int waits_for_all(void *arg)
{
    double x[ITEMS];
    int fd = answer(((struct trial *)arg)->protocol);
    NEED(!atm_low_water(fd, sizeof x));
    NEED(atm_send(fd, "", 1) == 1); /* the mark is set */
    NEED(atm_recv(fd, (char *)x, sizeof x) == sizeof x);
    NEED(!atm_low_water(fd, 1000)); /* the end wakes, too */
    NEED(atm_recv(fd, (char *)x, sizeof x) == 0);
    return atm_close(fd);
}

static int sends_items_when_asked(void *arg)
{
    static double x[ITEMS];
    int fd = dial(arg);
    char asked;
    NEED(atm_recv(fd, &asked, 1) == 1);
    NEED(!atm_item(fd, 8) && atm_send(fd, (char *)x, sizeof x) == sizeof x);
    return atm_close(fd);
}

START_TEST(the_low_water_mark_is_waited_for)
{
    run(&trials[_i], sends_items_when_asked, waits_for_all);
}
END_TEST

/* ---- mistakes ---- */

static int calls_with_another_protocol(void *arg)
{
    const char *to = ((struct trial *)arg)->to;
    static const Atm_protocol others[] = {atm_pcaal_1, atm_native};
    char c = 0;
    for (int i = 0; i < 2; i++) {
        int fd = open_assured(others[i]);
        NEED(call(fd, to) == EPROTOTYPE);
        NEED(!atm_close(fd));
    }
    int fd = dial(arg);
    NEED(atm_send(fd, &c, 1) == 1);
    return atm_close(fd);
}

/* It sees only the caller that has its protocol. */
static int expects_its_own(void *arg)
{
    char c;
    int fd = answer(((struct trial *)arg)->protocol);
    NEED(atm_recv(fd, &c, 1) == 1 && atm_recv(fd, &c, 1) == 0);
    return atm_close(fd);
}

/* A mark that the window can never reach, with one byte in each cell. */
static int waits_for_too_much(void *arg)
{
    int fd = answer(((struct trial *)arg)->protocol);
    NEED(!atm_low_water(fd, 1 << 20));
    NEED(receive_pattern(fd, 0, BYTES) == BYTES);
    return atm_close(fd);
}

static int sends_single_bytes(void *arg)
{
    static char bytes[BYTES];
    int fd = dial(arg);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = byte_at(i);
    NEED(!atm_item(fd, 1) && atm_send(fd, bytes, sizeof bytes) == sizeof bytes);
    return atm_close(fd);
}

START_TEST(the_low_water_mark_is_within_the_window)
{
    setenv("PVM_ATM_WINDOW", "64k", 1);
    run(&trials[_i], sends_single_bytes, waits_for_too_much);
}
END_TEST

START_TEST(both_sides_choose_the_same)
{
    run(&(struct trial){atm_sscop, _i ? "a" : "b", "0", true}, calls_with_another_protocol, expects_its_own);
}
END_TEST

#define FAILS(call, error) NEED((call) == -1 && atm_errno == (error))

static int errs(void *arg)
{
    Atm_endpoint to = {.asap = ASAP};
    char c = 0, *much = calloc(1, (1 << 20) + 1);
    int fd = atm_open(NULL, 0, NULL), tree = open_assured(atm_sscop);
    (void)arg;
    FAILS(atm_assure(-1, atm_sscop), EBADF);
    FAILS(atm_assure(fd, (Atm_protocol)77), EPROTONOSUPPORT);
    FAILS(atm_item(fd, 8), EOPNOTSUPP);
    FAILS(atm_low_water(fd, 8), EOPNOTSUPP);
    NEED(!atm_assure(fd, atm_pcaal_n) && !atm_assure(fd, atm_native) && !atm_assure(fd, atm_sscop));
    FAILS(atm_item(fd, 0), EINVAL);
    FAILS(atm_item(fd, 29), EINVAL);
    FAILS(atm_low_water(fd, 8), ENOTCONN);
    FAILS(atm_send(fd, &c, 1), ENOTCONN);
    FAILS(atm_recv(fd, &c, 1), ENOTCONN);
    FAILS(atm_bind(tree, UINT32_MAX, NULL, 1), EADDRINUSE); /* it is the network's own */
    NEED(!atm_gethostbyname("b", &to.nsap) && !atm_bind(tree, 0, NULL, 0));
    FAILS(atm_connect(tree, &to, NULL, NULL, aal_type_5, multicast), EOPNOTSUPP);
    FAILS(atm_connect(tree, &to, NULL, NULL, aal_type_5, simplex), EOPNOTSUPP);
    NEED(!call(fd, "b"));
    FAILS(atm_assure(fd, atm_sscop), EINVAL);
    FAILS(atm_send(fd, &c, 0), EINVAL);
    FAILS(atm_send(fd, much, (1 << 20) + 1), EMSGSIZE);
    FAILS(atm_recv(fd, &c, 0), EINVAL);
    FAILS(atm_low_water(fd, 0), EINVAL);
    free(much);
    return atm_close(fd) || atm_close(tree);
}

static int sees_nothing(void *arg)
{
    char c;
    (void)arg;
    return atm_recv(answer(atm_sscop), &c, 1);
}

START_TEST(mistakes_have_their_errors)
{
    run(&(struct trial){atm_sscop, "b", "0", true}, errs, sees_nothing);
}
END_TEST

static int calls_natively(void *arg)
{
    int fd = atm_open(NULL, 0, NULL);
    NEED(fd >= 0 && !call(fd, ((struct trial *)arg)->to));
    return atm_close(fd);
}

static int chooses_too_late(void *arg)
{
    int id, listener = atm_open(NULL, 0, NULL), fd = atm_open(NULL, 0, NULL);
    (void)arg;
    NEED(!atm_bind(listener, ASAP, NULL, 8) && !atm_listen(listener, &id, NULL, NULL, NULL));
    FAILS(atm_assure(listener, atm_sscop), EINVAL);
    NEED(!atm_accept(listener, fd, id, NULL, duplex));
    NEED(!atm_assure(listener, atm_sscop));
    return atm_close(fd);
}

/* A caller that waits has called with the protocol of before. */
START_TEST(callers_keep_their_protocol)
{
    run(&(struct trial){atm_native, _i ? "a" : "b", "0", true}, calls_natively, chooses_too_late);
}
END_TEST

static int chooses_too_often(void *arg)
{
    int fd, i = 0;
    (void)arg;
    while ((fd = atm_open(NULL, 0, NULL)) >= 0 && !atm_assure(fd, atm_sscop))
        i++;
    NEED(fd >= 0 && atm_errno == ENOBUFS && i == 1024);
    NEED(!atm_assure(fd, atm_native));
    return 0;
}

START_TEST(a_program_has_few_assured_endpoints)
{
    network_start(&(struct network){.is_virtual = true, .logs = true});
    program_wait(program_start("a", chooses_too_often, NULL));
    ck_assert(network_said("it cannot have more"));
    network_stop();
}
END_TEST

#define MANY 65 /* one more than are waited for */

/* Writes for 3 s, without waiting for room. */
static void fill(int fd)
{
    static char bytes[8192];
    int n = 0;
    NEED(!fcntl(fd, F_SETFL, O_NONBLOCK));
    for (int64_t end = now() + 3 * S; now() < end; nap(S / 10))
        n += atm_send(fd, bytes, sizeof bytes) > 0;
    NEED(n > 1);
}

static int closes_unsent(void *arg)
{
    for (int i = 0; i < MANY; i++) {
        int fd = dial(arg);
        fill(fd);
        NEED(!atm_close(fd));
    }
    return 0;
}

/* Accepts so many. Returns the first one. */
static int answer_many(Atm_protocol protocol, int count)
{
    int id, first = -1, listener = open_assured(protocol);
    NEED(!atm_bind(listener, ASAP, NULL, 8));
    for (int i = 0; i < count; i++) {
        int fd = atm_open(NULL, 0, NULL);
        NEED(!atm_listen(listener, &id, NULL, NULL, NULL) && !atm_accept(listener, fd, id, NULL, duplex));
        first = i ? first : fd;
    }
    return first;
}

/* Reads to the end. Returns what the last atm_recv() did. */
static int drain(int fd)
{
    char bytes[1000];
    int n;
    while ((n = atm_recv(fd, bytes, sizeof bytes)) > 0)
        ;
    return n;
}

/* The oldest loses its last bytes, which is no end of the stream, not even for who reads as soon as it ends. */
static int reads_at_the_end(void *arg)
{
    struct pollfd first = {.fd = answer_many(((struct trial *)arg)->protocol, MANY)};
    NEED(atm_sim_poll(&first, 1, 100 * S) == 1 && first.revents & POLLHUP);
    NEED(drain(first.fd) == -1 && atm_errno == ECONNRESET);
    return 0;
}

START_TEST(few_closed_endpoints_are_waited_for)
{
    setenv("PVM_ATM_WINDOW", "8k", 1);
    network_start(&(struct network){.is_virtual = true, .wait_for = 2, .logs = true});
    const struct trial *t = &trials[_i ? 3 : 0]; /* one circuit, and three */
    pid_t b = program_start("b", reads_at_the_end, (void *)t), a = program_start("a", closes_unsent, (void *)t);
    program_wait(a);
    program_wait(b);
    ck_assert(network_said("the oldest lose their last bytes"));
    network_stop();
}
END_TEST

static int fills_and_closes(void *arg)
{
    int fd = dial(arg);
    fill(fd);
    return atm_close(fd);
}

/* Its own window is full, too. Once the peer has closed, there is always room again. */
static int finds_room(void *arg)
{
    int fd = answer(((struct trial *)arg)->protocol), sent = 0;
    char bytes[1000] = {0};
    fill(fd);
    for (int64_t end = now() + 30 * S; sent < 50000 && now() < end; nap(S / 20))
        for (int n = 1; n > 0; sent += n > 0 ? n : 0)
            n = atm_send(fd, bytes, sizeof bytes);
    NEED(sent >= 50000);
    return atm_close(fd);
}

/* Each waits for the other to acknowledge what has no room there. */
START_TEST(full_windows_can_be_closed)
{
    setenv("PVM_ATM_WINDOW", "8k", 1);
    run(&trials[_i], fills_and_closes, finds_room);
}
END_TEST

static int closes_many(void *arg)
{
    nap(5 * S); /* then a has closed */
    for (int i = 0; i < MANY; i++) {
        int fd = dial(arg);
        fill(fd);
        NEED(!atm_close(fd));
    }
    return 0;
}

static int reads_the_first(void *arg)
{
    int first = answer_many(((struct trial *)arg)->protocol, 1 + MANY);
    nap(10 * S);
    NEED(drain(first) == 0);
    return 0;
}

/* What one program closes costs no other program its last bytes. */
START_TEST(closed_endpoints_of_others_do_not_matter)
{
    setenv("PVM_ATM_WINDOW", "8k", 1);
    network_start(&(struct network){.is_virtual = true, .wait_for = 3, .logs = true});
    pid_t b = program_start("b", reads_the_first, (void *)&trials[0]),
          a = program_start("a", fills_and_closes, (void *)&trials[0]),
          c = program_start("c", closes_many, (void *)&trials[0]);
    program_wait(a);
    program_wait(c);
    program_wait(b);
    network_stop();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("streams");
#define ADD(test, times) network_test_add(s, #test, test, times)
    ADD(bytes_arrive_in_order, TRIALS);
    ADD(what_was_sent_arrives_after_the_close, TRIALS);
    ADD(what_was_sent_survives_the_sender, TRIALS);
    ADD(a_sender_hears_of_the_peers_death, TRIALS);
    ADD(an_outage_is_not_the_end_of_the_stream, 5);
    ADD(a_full_window_is_not_waited_for, TRIALS);
    ADD(short_writes_fill_the_window, 1);
    ADD(items_arrive_cell_by_cell, 1);
    ADD(the_low_water_mark_is_waited_for, TRIALS);
    ADD(the_low_water_mark_is_within_the_window, 5);
    ADD(both_sides_choose_the_same, 2);
    ADD(mistakes_have_their_errors, 1);
    ADD(callers_keep_their_protocol, 2);
    ADD(a_program_has_few_assured_endpoints, 1);
    ADD(few_closed_endpoints_are_waited_for, 2);
    ADD(full_windows_can_be_closed, 5);
    ADD(closed_endpoints_of_others_do_not_matter, 1);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
