/*
 * test_pvmd_link.c - the links of two daemons over real sockets, each daemon in a process of its own: frames arrive
 * exactly once and in order, whatever happens to the connection.
 */
#include "pvmd/net/link.h"
#include <errno.h>
#include <ev.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/events.h"
#include "pvmd/base/memory.h"
#include "pvmd/base/own_path.h"
#include "pvmd/base/self.h"
#include "pvmd/door/listen.h"
#include "pvmd/frames/hold.h"
#include "pvmd/frames/relay.h"
#include "pvmd/net/detour.h"
#include "pvmd/net/link_state.h"
#include "pvmd/base/virtual.h"
#include "wire/tls.h"
#include "tests/unit/unit.h"

enum { MASTER = 1, LOW = 2, HIGH = 3, THIRD = 9 };

struct pvmd_daemon pvmd;

static struct {
    unsigned other;
    unsigned behind; /* a slave that is reached through `other`, the master; or 0 */
    uint32_t frames; /* number to send, and to receive */
    uint32_t sent, received;
    unsigned cuts;   /* cuts of the connection still to make */
    bool by_silence; /* ... by a side that believes the other one silent, which has not noticed anything */
    bool pings;      /* instead of cuts */
    bool looks;      /* ... for links that are not used */
    unsigned rests;  /* times that a look found it without a connection */
    ev_tstamp cut_every_s;
    void (*sends)(struct ev_loop *loop, ev_timer *w, int events); /* NULL: send_some */
    bool lost, up, out;
    unsigned torn;          /* number of connections, from the log */
    uint32_t relayed_count; /* as reported by link.c */
    unsigned relayed;
} run;

/* ---- functions that link.c needs ---- */

static uint8_t byte_at(uint32_t number, uint32_t position)
{
    return (uint8_t)(number * 31 + position * 7);
}

static uint32_t bytes_of(uint32_t number)
{
    if (number % 97 == 0 || run.pings)
        return PVMC_FRAME_PAYLOAD_MAX;
    return number % 5 ? number % 300 : number * 13 % 60000;
}

static void check_end(void)
{
    if (run.received == run.frames && run.sent == run.frames)
        ev_break(pvmd.loop, EVBREAK_ALL);
}

/* Expects a complete frame with the next number. */
void pvmd_relay(struct pvmc_frame *f, unsigned from_host)
{
    ck_assert_uint_eq(from_host, run.behind ? run.behind : run.other);
    ck_assert_uint_eq(f->h.seq, run.received);
    ck_assert_uint_eq(f->h.length, bytes_of(run.received));
    const uint8_t *payload = f->piece_count ? f->pieces[0].iov_base : NULL;
    for (uint32_t i = 0; i < f->h.length; i += 251)
        ck_assert_uint_eq(payload[i], byte_at(run.received, i));
    run.received++;
    check_end();
}

void pvmd_tell_link_up(unsigned host_index)
{
    ck_assert_uint_eq(host_index, run.other);
    run.up = true;
    if (run.pings) {
        int bytes = 8192;
        setsockopt(pvmd_link_fd(pvmd_host_any(run.other)), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
}

void pvmd_tell_link_lost(unsigned host_index, const char *why)
{
    ck_assert_uint_eq(host_index, run.other);
    printf("lost: %s\n", why);
    run.lost = true;
    run.out = pvmd_link_is_out(pvmd_host_any(host_index));
    pvmd_link_close(pvmd_host_any(host_index));
    ev_break(pvmd.loop, EVBREAK_ALL);
}

void pvmd_tell_link_out(unsigned host_index)
{
    (void)host_index;
}

void pvmd_tell_link_count(unsigned host_index, uint32_t received, enum pvmd_count kind)
{
    (void)kind;
    ck_assert_uint_eq(host_index, run.behind ? run.behind : run.other);
    run.relayed_count = received;
    run.relayed++;
}

void pvmd_tell_sender_charged(pvmc_tid sender, pvmc_tid receiver, size_t bytes)
{
    (void)sender, (void)receiver, (void)bytes;
}

void pvmd_hold_tell(pvmc_tid sender, pvmc_tid receiver, bool hold)
{
    (void)sender, (void)receiver, (void)hold;
}

bool pvmd_virtual_is_watched(void)
{
    return false;
}

void pvmd_virtual_tell(void)
{
}

const char *pvmd_own_path(void)
{
    return PVMD3;
}

void pvmd_trim_later(void)
{
}

/* ---- a daemon ---- */

static struct pvmc_frame *frame_from_to(unsigned from, unsigned to, uint32_t number)
{
    uint32_t length = bytes_of(number);
    struct pvmc_frame_header h = {.length = length,
                                  .body_length = length,
                                  .src = pvmc_tid_of_host_index(from) | 1,
                                  .dst = pvmc_tid_of_host_index(to) | 1,
                                  .seq = number};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    for (uint32_t i = 0; i < length; i++)
        ((uint8_t *)f->pieces[0].iov_base)[i] = byte_at(number, i);
    return f;
}

static void send_number(struct pvmd_host *host, uint32_t number)
{
    struct pvmc_frame *f = frame_from_to(pvmd.host_index, host->index, number);
    pvmd_link_send(host, f);
    pvmc_frame_unref(f);
}

static ev_timer send_timer, cut_timer, limit_timer;

/* A few at a time, so that new frames meet every state of the link. */
static void send_some(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)events;
    for (int i = 0; i < 20 && run.sent < run.frames; i++)
        send_number(pvmd_host_any(run.other), run.sent++);
    if (run.sent == run.frames)
        ev_timer_stop(loop, w);
    check_end();
}

static void cut(struct ev_loop *loop, ev_timer *w, int events)
{
    int fd = pvmd_link_fd(pvmd_host_any(run.other));
    (void)events;
    if (run.looks)
        run.rests += pvmd_link_state(pvmd_host_any(run.other)) == PVMD_LINK_IDLE;
    if (fd < 0)
        return;
    if (run.looks)
        pvmd_link_look_idle(pvmd_host_any(run.other), pvmc_clock_us());
    else if (run.pings)
        pvmd_link_ping(pvmd_host_any(run.other));
    else if (run.by_silence)
        pvmd_link_stuck(pvmd_host_any(run.other), "silent");
    else
        shutdown(fd, SHUT_RDWR);
    if (!--run.cuts)
        ev_timer_stop(loop, w);
}

static void too_late(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    ck_abort_msg("host %u: sent %u, received %u of %u, link state %d", pvmd.host_index, run.sent, run.received,
                 run.frames, (int)pvmd_link_state(pvmd_host_any(run.other)));
}

static void to_stdout(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)arg;
    run.torn += strstr(line, "lost the connection") != NULL;
    if (level <= PVMC_LOG_INFO)
        printf("[%u] %s\n", pvmd.host_index, line);
}

static void begin(unsigned self, unsigned other, unsigned master)
{
    static const struct pvmd_listen_events events = {
        .offered = pvmd_link_offered, .crossed = pvmd_link_crossed, .accepted = pvmd_link_accepted};
    static const struct pvmd_machine machine = {.secret = {7}};
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    pvmc_log_to(to_stdout, NULL, PVMC_LOG_DEBUG);
    pvmd.loop = ev_loop_new(EVFLAG_AUTO); /* not the default one: that would reap our child */
    pvmd.host_index = self;
    pvmd.master_index = master;
    run.other = other;
    ck_assert_ptr_null(pvmw_tls_start());
    ck_assert_int_eq(pvmd_listen_start(pvmd.loop, "127.0.0.1", 0, &events), 0);
    struct pvmd_host *own = pvmd_host_new(self, self, "self");
    pvmd_host_set_text(&own->address, "127.0.0.1");
    pvmd_host_set_state(own, PVMD_HOST_UP);
    pvmd_host_set_state(pvmd_host_new(other, other, "other"), PVMD_HOST_UP);
}

/* Each learns the other's port. */
static void meet(int to, int from)
{
    uint16_t port = pvmd_listen_port();
    struct pvmd_host *h = pvmd_host_any(run.other);
    ck_assert_int_eq(write(to, &port, sizeof port), sizeof port);
    ck_assert_int_eq(read(from, &port, sizeof port), sizeof port);
    h->port = port;
    pvmd_host_set_text(&h->address, "127.0.0.1");
}

static void call_other(void)
{
    struct pvmw_addresses list = {0};
    union pvmw_address a;
    struct pvmd_host *h = pvmd_host_any(run.other);
    pvmw_address_parse("127.0.0.1", h->port, &a);
    pvmw_addresses_add(&list, &a);
    pvmd_link_call(h, &list);
}

static void go(void)
{
    ev_timer_init(&send_timer, run.sends ? run.sends : send_some, 0., 0.001);
    ev_timer_init(&cut_timer, cut, run.cut_every_s, run.cut_every_s);
    ev_timer_init(&limit_timer, too_late, 100., 0.);
    ev_timer_start(pvmd.loop, &send_timer);
    ev_timer_start(pvmd.loop, &limit_timer);
    if (run.cuts)
        ev_timer_start(pvmd.loop, &cut_timer);
    ev_run(pvmd.loop, 0);
}

static void end(void)
{
    ev_timer_stop(pvmd.loop, &cut_timer);
    ev_timer_stop(pvmd.loop, &limit_timer);
    pvmd_link_close(pvmd_host_any(run.other));
    pvmd_listen_stop();
    pvmd_host_free_all();
    pvmw_tls_stop();
    ev_loop_destroy(pvmd.loop);
}

/* Runs `side` in two processes connected by a pipe each way; both must exit with 0. */
static void run_both(void (*side)(unsigned self, int to, int from), unsigned one, unsigned two)
{
    int there[2], back[2], status;
    ck_assert_int_eq(pipe(there), 0);
    ck_assert_int_eq(pipe(back), 0);
    pid_t child = fork();
    if (child == 0) {
        side(two, back[1], there[0]);
        exit(0);
    }
    side(one, there[1], back[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The other side may still be receiving when we have everything; it reports over the pipe. */
static void both_are_done(int to, int from)
{
    char done = 1;
    if (!run.pings)
        ev_timer_stop(pvmd.loop, &cut_timer);
    ck_assert_int_eq(write(to, &done, 1), 1);
    for (;;) {
        fd_set set;
        struct timeval none = {0, 1000};
        FD_ZERO(&set);
        FD_SET(from, &set);
        if (select(from + 1, &set, NULL, NULL, &none) > 0)
            break;
        ev_run(pvmd.loop, EVRUN_NOWAIT);
    }
    ck_assert_int_eq(read(from, &done, 1), 1);
}

/* ---- tests ---- */

static void transfer(unsigned self, int to, int from)
{
    begin(self, self == MASTER ? LOW : MASTER, MASTER);
    meet(to, from);
    run.frames = 4000;
    if (self == MASTER)
        call_other();
    go();
    ck_assert(run.up && !run.lost && !run.relayed);
    both_are_done(to, from);
    end();
}

/* Keys are also changed in between: see PVMW_REKEY_RECORDS in CMakeLists.txt. */
static void master_and_slave(unsigned self, int to, int from)
{
    transfer(self, to, from);
    ck_assert_uint_eq(run.torn, 0);
}

START_TEST(frames_come_once_and_in_order)
{
    run_both(master_and_slave, MASTER, LOW);
}
END_TEST

static void torn(unsigned self, int to, int from)
{
    run.cuts = self == MASTER ? 25 : 10;
    run.cut_every_s = self == MASTER ? 0.02 : 0.033;
    unsigned planned = run.cuts;
    transfer(self, to, from);
    ck_assert_uint_lt(run.cuts + 2, planned); /* the connection really broke */
}

START_TEST(torn_connections_lose_nothing)
{
    run_both(torn, MASTER, LOW);
}
END_TEST

/* Only the master sends frames, which must wait for room. Pings flush the socket meanwhile. */
static void pinging(unsigned self, int to, int from)
{
    begin(self, self == MASTER ? LOW : MASTER, MASTER);
    meet(to, from);
    run.frames = 4; /* as many as are sent without a count, which would wake the link */
    run.received = self == MASTER ? run.frames : 0;
    run.sent = self == MASTER ? 0 : run.frames;
    run.pings = true;
    run.cuts = UINT32_MAX;
    run.cut_every_s = 0.0001;
    if (self == MASTER)
        call_other();
    go();
    both_are_done(to, from);
    end();
}

START_TEST(pings_hold_no_frame_up)
{
    for (int i = 0; i < 10; i++)
        run_both(pinging, MASTER, LOW);
}
END_TEST

static void stuck(unsigned self, int to, int from)
{
    run.by_silence = true;
    torn(self, to, from);
}

START_TEST(fresh_connections_lose_nothing)
{
    run_both(stuck, MASTER, LOW);
}
END_TEST

/* Both call at the same time: the two calls result in one connection. */
static void crossing(unsigned self, int to, int from)
{
    begin(self, self == LOW ? HIGH : LOW, THIRD);
    meet(to, from);
    run.frames = 1000;
    go();
    ck_assert(!run.lost && !run.relayed);
    both_are_done(to, from);
    end();
}

START_TEST(crossed_calls_end_in_one_link)
{
    for (int i = 0; i < 5; i++)
        run_both(crossing, LOW, HIGH);
}
END_TEST

static void crossing_torn(unsigned self, int to, int from)
{
    run.cuts = 15;
    run.cut_every_s = self == LOW ? 0.005 : 0.0073;
    unsigned planned = run.cuts;
    crossing(self, to, from);
    ck_assert_uint_lt(run.cuts + 2, planned);
}

START_TEST(slaves_links_survive_cuts_from_both_sides)
{
    run_both(crossing_torn, LOW, HIGH);
}
END_TEST

/* Frames come in bursts, at different times on both sides. */
static void send_sometimes(struct ev_loop *loop, ev_timer *w, int events)
{
    static unsigned turn;
    if (turn++ % (pvmd.host_index == LOW ? 60 : 85) == 0)
        send_some(loop, w, events);
}

static void resting(unsigned self, int to, int from)
{
    setenv("PVM_LINK_IDLE", "0.01", 1);
    run.looks = true;
    run.cuts = UINT32_MAX;
    run.cut_every_s = self == LOW ? 0.003 : 0.0043;
    run.sends = send_sometimes;
    crossing(self, to, from);
    ck_assert_uint_gt(run.rests, 3);
    ck_assert_uint_lt(run.torn, run.rests); /* by a side that has a frame at the same moment */
}

START_TEST(slaves_links_rest_and_lose_nothing)
{
    run_both(resting, LOW, HIGH);
}
END_TEST

/* Nobody calls a master's link anew, and liveness.c needs it. */
static void not_resting(unsigned self, int to, int from)
{
    setenv("PVM_LINK_IDLE", "0.01", 1);
    run.looks = true;
    run.cuts = UINT32_MAX;
    run.cut_every_s = 0.001;
    transfer(self, to, from);
    ck_assert_uint_eq(run.torn, 0);
}

START_TEST(the_masters_links_do_not_rest)
{
    run_both(not_resting, MASTER, LOW);
}
END_TEST

/* During an election, a slave ends whose connection the other one has just asked to close, as nobody uses it. */
static void ending_at_rest(unsigned self, int to, int from)
{
    char go_on = 1;
    begin(self, self == LOW ? HIGH : LOW, MASTER);
    pvmd_host_new(MASTER, MASTER, "master")->lost = true;
    meet(to, from);
    run.frames = UINT32_MAX;
    ev_timer_init(&limit_timer, too_late, 100., 0.);
    ev_timer_start(pvmd.loop, &limit_timer);
    if (self == LOW)
        send_number(pvmd_host_any(HIGH), 0);
    while (!run.up || run.received + (self == LOW) < 1)
        ev_run(pvmd.loop, EVRUN_ONCE);
    if (self == HIGH) {
        ck_assert_int_eq(read(from, &go_on, 1), 1);
        pvmd.ending = true;
        end();
        return;
    }
    pvmd_host_any(HIGH)->link->resting = true;
    ck_assert_int_eq(write(to, &go_on, 1), 1);
    for (ev_tstamp start = ev_time(); !run.lost && ev_time() < start + 5.;)
        ev_run(pvmd.loop, EVRUN_NOWAIT);
    ck_assert(run.lost);
    end();
}

START_TEST(the_end_of_a_slave_at_rest_is_told_while_there_is_no_master)
{
    run_both(ending_at_rest, LOW, HIGH);
}
END_TEST

static void dying(unsigned self, int to, int from)
{
    begin(self, self == MASTER ? LOW : MASTER, MASTER);
    meet(to, from);
    run.frames = UINT32_MAX;
    if (self == LOW) {
        while (!run.up || run.received < 100)
            ev_run(pvmd.loop, EVRUN_ONCE);
        _exit(0); /* like kill -9 */
    }
    call_other();
    ev_tstamp start = ev_time();
    go();
    ck_assert(run.lost);
    ck_assert_double_lt(ev_time() - start, 5.);
    end();
}

START_TEST(a_dead_daemon_is_noticed_at_once)
{
    ev_tstamp start = ev_time();
    run_both(dying, MASTER, LOW);
    ck_assert_double_lt(ev_time() - start, 2.);
}
END_TEST

static void dying_master(unsigned self, int to, int from)
{
    begin(self, self == MASTER ? LOW : MASTER, MASTER);
    meet(to, from);
    run.frames = UINT32_MAX;
    if (self == MASTER) {
        call_other();
        while (!run.up || run.received < 100)
            ev_run(pvmd.loop, EVRUN_ONCE);
        _exit(0);
    }
    ev_tstamp start = ev_time();
    go();
    ck_assert(run.lost);
    ck_assert_double_lt(ev_time() - start, 5.);
    end();
}

START_TEST(a_dead_master_is_noticed_soon)
{
    run_both(dying_master, LOW, MASTER);
}
END_TEST

/* The slave whose host has left the machine learns so when it calls again. */
static void forgetting(unsigned self, int to, int from)
{
    char done = 1;
    begin(self, self == MASTER ? LOW : MASTER, MASTER);
    meet(to, from);
    if (self == LOW) {
        run.frames = UINT32_MAX;
        go();
        ck_assert(run.lost);
        ck_assert(run.out);
        ck_assert_int_eq(write(to, &done, 1), 1);
        end();
        return;
    }
    call_other();
    while (!run.up)
        ev_run(pvmd.loop, EVRUN_ONCE);
    pvmd_link_stuck(pvmd_host_any(LOW), "silent");
    pvmd_link_close(pvmd_host_any(LOW));
    pvmd_host_set_state(pvmd_host_any(LOW), PVMD_HOST_LEAVING);
    ev_timer_init(&limit_timer, too_late, 100., 0.);
    ev_timer_start(pvmd.loop, &limit_timer);
    for (struct pollfd p = {.fd = from, .events = POLLIN}; poll(&p, 1, 10) != 1;)
        ev_run(pvmd.loop, EVRUN_NOWAIT);
    end();
}

START_TEST(who_is_not_known_any_more_is_told)
{
    run_both(forgetting, MASTER, LOW);
}
END_TEST

/* A slave that cannot be reached: the link continues through the master, including frames not yet counted. */
START_TEST(unreachable_slaves_are_reached_through_the_master)
{
    begin(LOW, HIGH, THIRD);
    struct pvmd_host *h = pvmd_host_any(HIGH);
    h->port = pvmd_listen_port(); /* our own port: the wrong daemon */
    pvmd_host_set_text(&h->address, "127.0.0.1");
    send_number(h, 0);
    ck_assert_int_eq(pvmd_link_state(h), PVMD_LINK_OPENING);
    while (!run.relayed)
        ev_run(pvmd.loop, EVRUN_ONCE);
    ck_assert_int_eq(pvmd_link_state(h), PVMD_LINK_RELAYED);
    ck_assert_uint_eq(run.relayed_count, 0);
    struct pvmd_preface p = {.from_index = HIGH, .from_incarnation = HIGH, .to_index = LOW, .to_incarnation = LOW};
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_RELAYED);
    end();
}
END_TEST

/* Its address is a loopback one of another machine. Its link is to be open. */
static struct pvmd_host *reopen_without_an_address(void)
{
    struct pvmd_host *h = pvmd_host_any(HIGH);
    pvmd_host_set_text(&pvmd_host_self()->address, "10.1.2.3");
    pvmd_host_set_text(&h->address, "127.0.0.1");
    h->port = 1;
    pvmd_link_reopen(h);
    ev_tstamp start = ev_now(pvmd.loop);
    while (ev_now(pvmd.loop) < start + 0.5)
        ev_run(pvmd.loop, EVRUN_ONCE);
    return h;
}

/* The slave may call us, until a master passes frames on. */
START_TEST(slaves_without_an_address_are_reached_through_the_next_master)
{
    begin(LOW, HIGH, MASTER);
    pvmd_host_new(MASTER, MASTER, "master")->lost = true;
    struct pvmd_host *h = reopen_without_an_address();
    ck_assert_int_eq(pvmd_link_state(h), PVMD_LINK_LOST);
    pvmd.master_index = THIRD;
    while (!run.relayed)
        ev_run(pvmd.loop, EVRUN_ONCE);
    ck_assert_int_eq(pvmd_link_state(h), PVMD_LINK_RELAYED);
    end();
}
END_TEST

/* The first master could call it, but another one must wait for its call. */
START_TEST(slaves_without_an_address_are_not_dead_for_the_next_master)
{
    begin(LOW, HIGH, LOW);
    struct pvmd_host *h = reopen_without_an_address();
    ck_assert(!run.lost);
    ck_assert_int_eq(pvmd_link_state(h), PVMD_LINK_LOST);
    end();
}
END_TEST

static struct pvmd_host *add_host_behind(void)
{
    struct pvmd_host *h = pvmd_host_new(HIGH, HIGH, "behind");
    pvmd_host_set_state(h, PVMD_HOST_UP);
    run.behind = HIGH;
    return h;
}

static void wait_for_frames(uint32_t frames)
{
    while (run.received < frames)
        ev_run(pvmd.loop, EVRUN_ONCE);
}

/* The master loses some frames of HIGH, and passes on some twice; then it gets one for HIGH. */
static void pass_on(struct pvmd_host *low)
{
    static const uint32_t numbers[] = {0, 2, 0, 1, 3, 2, 3};
    struct pvmd_host *high = add_host_behind();
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct pvmc_frame *f = frame_from_to(HIGH, LOW, numbers[i]);
        f->h.detour = pvmd_detour(HIGH, true, numbers[i]);
        if (numbers[i] == 3) { /* it keeps its place, although it is urgent */
            f->h.src = PVMC_TID_DAEMON | pvmc_tid_of_host_index(HIGH);
            f->h.ctx = PVMC_CTX_TC;
            f->h.tag = (int32_t)PVMC_TC_HOLD;
        }
        pvmd_link_send(low, f);
        pvmc_frame_unref(f);
    }
    while (!pvmd_link_is_busy(high))
        ev_run(pvmd.loop, EVRUN_ONCE);
}

static void send_through_master(void)
{
    struct pvmd_host *high = add_host_behind();
    pvmd_link_peer_counts(high, 0, PVMD_COUNT_QUESTION);
    ck_assert_int_eq(pvmd_link_state(high), PVMD_LINK_RELAYED);
    wait_for_frames(4);
    ck_assert_uint_eq(run.received, 4);
    while (run.relayed_count != 4)
        ev_run(pvmd.loop, EVRUN_ONCE);
    send_number(high, 0);
    pvmd_link_peer_counts(high, 0, PVMD_COUNT_ANSWER);
    ev_run(pvmd.loop, EVRUN_NOWAIT);
    unsigned relayed = run.relayed;
    pvmd_link_ask_again(high);
    pvmd_link_ask_again(high); /* nothing has got across since */
    ck_assert_uint_gt(run.relayed, relayed);
    pvmd_link_peer_counts(high, 1, PVMD_COUNT_PLAIN);
    ck_assert(!pvmd_link_is_busy(high));
}

static void detour(unsigned self, int to, int from)
{
    begin(self, self == MASTER ? LOW : MASTER, MASTER);
    meet(to, from);
    ev_timer_init(&limit_timer, too_late, 100., 0.);
    ev_timer_start(pvmd.loop, &limit_timer);
    if (self == MASTER)
        call_other();
    while (!run.up)
        ev_run(pvmd.loop, EVRUN_ONCE);
    if (self == MASTER)
        pass_on(pvmd_host_any(LOW));
    else
        send_through_master();
    both_are_done(to, from);
    pvmd_link_close(pvmd_host_any(HIGH));
    end();
}

START_TEST(frames_with_a_detour_arrive_once_and_in_order)
{
    run_both(detour, MASTER, LOW);
}
END_TEST

START_TEST(only_those_who_are_meant_are_let_in)
{
    begin(LOW, HIGH, THIRD);
    struct pvmd_preface good = {.from_index = HIGH, .from_incarnation = HIGH, .to_index = LOW, .to_incarnation = LOW};
    struct pvmd_preface p = good;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_GO);
    p.from_incarnation++;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    p = good;
    p.to_incarnation++;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    p = good;
    p.to_index = HIGH;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    p = good;
    p.from_index = 77;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    p.from_index = UINT32_MAX;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    p = good;
    p.from_index = p.from_incarnation = LOW;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    pvmd_host_set_state(pvmd_host_any(HIGH), PVMD_HOST_LEAVING);
    ck_assert_int_eq(pvmd_link_offered(&good), PVMD_VERDICT_WRONG);
    end();
}
END_TEST

/* The old master is lost; a daemon with its incarnation calls, which has a journal. */
START_TEST(a_master_that_is_back_is_known_once_it_is_let_in)
{
    begin(LOW, MASTER, MASTER);
    struct pvmd_host *master = pvmd_host_any(MASTER);
    struct pvmd_preface p = {.from_index = 77, .from_incarnation = MASTER, .to_index = LOW, .to_incarnation = LOW};
    master->lost = true;
    p.to_index = HIGH;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_WRONG);
    p.to_index = LOW;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_GO);
    ck_assert_uint_eq(master->incarnation, MASTER);
    ck_assert_ptr_null(pvmd_host_any(77));
    pvmd_link_accepted(&p, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), (uint8_t[PVMD_KEY_BYTES]){0});
    ck_assert_uint_eq(master->incarnation, 0);
    ck_assert_ptr_nonnull(pvmd_host_any(77));
    pvmd_link_close(pvmd_host_any(77));
    end();
}
END_TEST

/* A call on a link that is up. */
static void offered_in_vain(unsigned self, int to, int from)
{
    unsigned other = self == MASTER ? LOW : MASTER;
    struct pvmd_preface p = {.from_index = other, .from_incarnation = other, .to_index = self, .to_incarnation = self};
    begin(self, other, MASTER);
    meet(to, from);
    run.frames = 10;
    if (self == MASTER)
        call_other();
    go();
    const struct pvmd_link *l = pvmd_host_any(other)->link;
    ck_assert_int_eq(pvmd_link_offered(&p), PVMD_VERDICT_CROSSED);
    ck_assert(!ev_is_active(&l->tick));
    pvmd_link_crossed(&p);
    ck_assert(ev_is_active(&l->tick));
    both_are_done(to, from);
    end();
}

START_TEST(a_link_is_doubted_once_its_caller_has_its_answer)
{
    run_both(offered_in_vain, MASTER, LOW);
}
END_TEST

UNIT_MAIN("pvmd_link", frames_come_once_and_in_order, torn_connections_lose_nothing, fresh_connections_lose_nothing,
          pings_hold_no_frame_up, crossed_calls_end_in_one_link, slaves_links_survive_cuts_from_both_sides,
          slaves_links_rest_and_lose_nothing, the_masters_links_do_not_rest, a_dead_daemon_is_noticed_at_once,
          a_dead_master_is_noticed_soon, who_is_not_known_any_more_is_told,
          unreachable_slaves_are_reached_through_the_master,
          slaves_without_an_address_are_reached_through_the_next_master,
          slaves_without_an_address_are_not_dead_for_the_next_master, frames_with_a_detour_arrive_once_and_in_order,
          only_those_who_are_meant_are_let_in, a_master_that_is_back_is_known_once_it_is_let_in,
          a_link_is_doubted_once_its_caller_has_its_answer, the_end_of_a_slave_at_rest_is_told_while_there_is_no_master)
