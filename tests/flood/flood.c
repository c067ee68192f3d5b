/*
 * flood - hosts join while strangers flood the port: a real doorman, a process that opens RATE connections per second
 * and holds each for as long as permitted, and calls from hosts with a round trip of 100 ms.
 *
 *   flood RATE SECONDS JOINS apart|same|everywhere
 *   flood RATE PORT                                    only the strangers, at 127.0.0.2, until SIGTERM
 *
 * The strangers come from one address (apart), from the address of the hosts (same), or from 2,000 addresses
 * (everywhere). A relay simulates the distance of the hosts: it delays all bytes by half a round trip in each
 * direction. Fails if less than 95 % of the hosts join within 10 s each. Exits with code 77 if the machine is too slow
 * for a flood.
 */
#include <err.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/log.h"
#include "pvmd/net/dial.h"
#include "pvmd/base/own_path.h"
#include "pvmd/door/listen.h"

enum {
    ROUND_TRIP_MS = 100,
    JOIN_LIMIT_MS = 10000,
    SHARE_MIN = 95,  /* percent of the joins */
    RATE_MIN = 3286, /* fewer strangers per second than these prove nothing */
    HELD_MAX = 16000,
    SOURCES = 2000,
    CALLS_MAX = 1024,
    BYTES_MAX = 512,
};

static struct ev_loop *loop;
static struct sockaddr_in target;

const char *pvmd_own_path(void)
{
    return PVMD3;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct sockaddr_in loopback(uint32_t host, uint16_t at_port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(at_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK + host)};
}

/* A pending connection from 127.0.0.1 + `from`: its descriptor, or -1. */
static int call_from(uint32_t from)
{
    struct sockaddr_in own = loopback(from, 0);
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&own, sizeof own) &&
        (!connect(fd, (struct sockaddr *)&target, sizeof target) || errno == EINPROGRESS))
        return fd;
    close(fd);
    return -1;
}

static void raise_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- the flood ---- */

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static struct {
    int epoll, held;
    unsigned long opened, turned_away;
} flood;

static void open_one(uint32_t source)
{
    int fd = flood.held < HELD_MAX ? call_from(source) : -1;
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    if (fd < 0)
        return;
    epoll_ctl(flood.epoll, EPOLL_CTL_ADD, fd, &e);
    flood.held++;
    flood.opened++;
}

/* Reads and discards nonces; closes connections that the other side has closed. */
static void look(int fd)
{
    char bytes[64];
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n > 0 || (n < 0 && errno == EAGAIN))
        return;
    flood.turned_away++;
    flood.held--;
    close(fd);
}

static void look_at_all(int wait_ms)
{
    struct epoll_event list[512];
    int n = epoll_wait(flood.epoll, list, 512, wait_ms);
    for (int i = 0; i < n; i++)
        look(list[i].data.fd);
}

/* Runs until SIGTERM; then reports how many connections it has opened per second. */
static void run_flood(int rate, unsigned sources, uint32_t first, int report)
{
    signal(SIGTERM, end);
    raise_limit();
    flood.epoll = epoll_create1(0);
    int64_t start = now_ms();
    unsigned long due = 0;
    while (!ended) {
        unsigned long wanted = (unsigned long)((now_ms() - start) * rate / 1000);
        for (int burst = 0; due < wanted && burst < 256; burst++)
            open_one(first + (uint32_t)(due++ % sources));
        look_at_all(due < wanted ? 0 : 1);
    }
    unsigned long per_s = flood.opened * 1000 / (unsigned long)(now_ms() - start + 1);
    if (write(report, &per_s, sizeof per_s) != sizeof per_s)
        exit(1);
    exit(0);
}

/* ---- the relay to the hosts ---- */

/* One direction of one connection: bytes and the end, each delayed by half a round trip. */
struct way {
    int from, to;
    char bytes[BYTES_MAX];
    size_t length;
    bool has_ended;
    int64_t due_ms; /* of the bytes and the end; later bytes wait for the next turn */
    bool is_waiting;
};

struct carried {
    struct way there, back;
    int64_t connect_ms; /* when to call the port */
    bool is_open;
};

static struct carried carried[CALLS_MAX];

static void take_in(struct way *w)
{
    if (w->is_waiting || w->has_ended)
        return;
    ssize_t n = recv(w->from, w->bytes, sizeof w->bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
        return;
    w->length = n > 0 ? (size_t)n : 0;
    w->has_ended = n <= 0;
    w->is_waiting = true;
    w->due_ms = now_ms() + ROUND_TRIP_MS / 2;
}

static void let_out(struct way *w, int64_t now)
{
    if (!w->is_waiting || w->due_ms > now)
        return;
    send(w->to, w->bytes, w->length, MSG_NOSIGNAL | MSG_DONTWAIT);
    w->is_waiting = false;
}

static void carry(struct carried *c, int64_t now, uint32_t source)
{
    if (c->there.to < 0 && now >= c->connect_ms)
        c->there.to = c->back.from = call_from(source);
    if (c->there.to >= 0) {
        take_in(&c->there);
        take_in(&c->back);
        let_out(&c->there, now);
        let_out(&c->back, now);
    }
    if ((c->there.has_ended && !c->there.is_waiting) || (c->back.has_ended && !c->back.is_waiting)) {
        close(c->there.from);
        close(c->there.to);
        c->is_open = false;
    }
}

static void take_call(int fd)
{
    for (size_t i = 0; i < CALLS_MAX; i++) {
        struct carried *c = &carried[i];
        if (c->is_open)
            continue;
        *c = (struct carried){.is_open = true, .connect_ms = now_ms() + ROUND_TRIP_MS};
        c->there.from = c->back.to = fd;
        c->there.to = c->back.from = -1;
        return;
    }
    close(fd);
}

/* Polls all connections once per millisecond: there are few. */
static void run_relay(int listener, uint32_t source)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            take_call(fd);
        for (size_t i = 0; i < CALLS_MAX; i++)
            if (carried[i].is_open)
                carry(&carried[i], now_ms(), source);
        usleep(1000);
    }
}

/* ---- the hosts ---- */

struct join {
    struct pvmd_dial *dial;
    ev_timer limit;
    int64_t start_ms;
    int ms; /* -1: it has not joined */
};

static struct join joins[CALLS_MAX];
static int join_count, begun, done;
static struct pvmw_addresses relay;

static enum pvmd_verdict offered(const struct pvmd_preface *p)
{
    (void)p;
    return PVMD_VERDICT_GO;
}

static void accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    (void)p, (void)key;
    close(fd);
}

static void finish(struct join *j, int ms)
{
    ev_timer_stop(loop, &j->limit);
    j->dial = NULL;
    j->ms = ms;
    if (++done == join_count)
        ev_break(loop, EVBREAK_ALL);
}

static void connected(void *owner, int fd, const uint8_t key[PVMD_KEY_BYTES], const union pvmw_address *address)
{
    struct join *j = owner;
    (void)key, (void)address;
    close(fd);
    finish(j, (int)(now_ms() - j->start_ms));
}

static void failed(void *owner, enum pvmd_verdict verdict, bool refused, const char *why)
{
    (void)verdict, (void)refused;
    printf("not joined: %s\n", why);
    finish(owner, -1);
}

static void too_late(struct ev_loop *l, ev_timer *w, int events)
{
    struct join *j = w->data;
    (void)l, (void)events;
    printf("not joined in time: %s\n", pvmd_dial_why(j->dial));
    pvmd_dial_cancel(j->dial);
    finish(j, -1);
}

static void begin_join(struct ev_loop *l, ev_timer *w, int events)
{
    static const struct pvmd_dial_events dial_events = {.connected = connected, .failed = failed};
    static const struct pvmd_preface preface = {.from_index = 2, .to_index = 1};
    struct join *j = &joins[begun++];
    (void)events;
    j->start_ms = now_ms();
    ev_timer_init(&j->limit, too_late, JOIN_LIMIT_MS / 1e3, 0.);
    j->limit.data = j;
    ev_timer_start(l, &j->limit);
    j->dial = pvmd_dial_new(l, &relay, &preface, &dial_events, j);
    if (begun == join_count)
        ev_timer_stop(l, w);
}

static int compare(const void *a, const void *b)
{
    return ((const struct join *)a)->ms - ((const struct join *)b)->ms;
}

/* ---- the test ---- */

static pid_t start_relay(uint32_t source)
{
    struct sockaddr_in own = loopback(0, 0);
    socklen_t size = sizeof own;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&own, &size))
        err(2, "flood: relay");
    relay.count = 1;
    pvmw_address_from((struct sockaddr *)&own, &relay.list[0]);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_relay(listener, source);
    }
    close(listener);
    return pid;
}

static pid_t start_flood(int rate, unsigned sources, uint32_t first, int report)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_flood(rate, sources, first, report);
    }
    return pid;
}

static unsigned long end_flood(pid_t pid, int report)
{
    unsigned long per_s = 0;
    kill(pid, SIGTERM);
    if (read(report, &per_s, sizeof per_s) != sizeof per_s)
        errx(2, "flood: the flood has died");
    waitpid(pid, NULL, 0);
    return per_s;
}

/* The strangers start first and fill the table; then the joins follow, evenly spread. */
static void join_all(double seconds)
{
    ev_timer next;
    ev_timer_init(&next, begin_join, 2., seconds / join_count);
    ev_timer_start(loop, &next);
    ev_run(loop, 0);
}

static int judge(unsigned long per_s, const char *mode)
{
    int joined = 0;
    const struct pvmd_door_counts *c = &pvmd_listen_counts()->refused;
    qsort(joins, (size_t)join_count, sizeof *joins, compare);
    for (int i = 0; i < join_count; i++)
        joined += joins[i].ms >= 0;
    printf("%s: %lu strangers/s, %d ms round trip: %d of %d joins succeeded, in %d ms (median), %d ms (longest); "
           "of the strangers %lu were turned away, %lu were too slow\n",
           mode, per_s, ROUND_TRIP_MS, joined, join_count, joins[join_count / 2].ms, joins[join_count - 1].ms,
           (unsigned long)c->too_many, (unsigned long)c->too_slow);
    if (per_s < RATE_MIN) {
        printf("NOT RUN: this machine cannot produce %d strangers/s at the moment\n", RATE_MIN);
        return 77;
    }
    return joined * 100 >= join_count * SHARE_MIN ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct pvmd_listen_events events = {.offered = offered, .accepted = accepted};
    static const struct pvmd_machine machine = {.id = {1}, .secret = {2}};
    int report[2];
    if (pipe(report) || (argc != 3 && argc != 5))
        errx(2, "usage: flood RATE SECONDS JOINS apart|same|everywhere, or flood RATE PORT");
    if (argc == 3) {
        target = loopback(1, (uint16_t)atoi(argv[2]));
        run_flood(atoi(argv[1]), 1, 2, report[1]);
    }
    join_count = atoi(argv[3]) < CALLS_MAX ? atoi(argv[3]) : CALLS_MAX;
    raise_limit();
    loop = ev_loop_new(EVFLAG_AUTO);
    if (pvmd_machine_join(&machine) || pvmd_listen_start(loop, "127.0.0.1", 0, &events))
        return 2;
    target = loopback(0, pvmd_listen_port());
    bool everywhere = !strcmp(argv[4], "everywhere"), same = !strcmp(argv[4], "same");
    pid_t relay_pid = start_relay(1);
    pid_t flood_pid = start_flood(atoi(argv[1]), everywhere ? SOURCES : 1, everywhere ? 256 : same ? 1 : 2, report[1]);
    join_all(atof(argv[2]));
    unsigned long per_s = end_flood(flood_pid, report[0]);
    kill(relay_pid, SIGKILL);
    waitpid(relay_pid, NULL, 0);
    int code = judge(per_s, argv[4]);
    pvmd_listen_stop();
    ev_loop_destroy(loop);
    return code;
}
