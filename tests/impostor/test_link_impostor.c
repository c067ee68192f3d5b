/* test_link_impostor.c - links between daemons: a process without the key gets no payload, on either side. */
#include "pvmd/net/stream.h"
#include <ev.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/clock.h"
#include "wire/tls.h"
#include "tests/unit/unit.h"
#include "suite.h"

#define LIMIT_S 20.

static struct pvmd_secrets secrets = {.own.machine.id = "this machine"};

static const uint8_t secret[PVMD_KEY_BYTES] = "what only the two ends know";
static const char payload[] = "PAYLOAD that nobody else may see";

/* One honest side. */
struct side {
    struct pvmd_stream *stream;
    bool ready, heard;
    char why[200];
};

static struct ev_loop *loop;

static void send_payload(struct side *s)
{
    struct pvmc_frame_header h = {.dst = 1, .src = 2, .length = sizeof payload, .body_length = sizeof payload};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    memcpy(f->pieces[0].iov_base, payload, sizeof payload);
    pvmd_stream_frame(s->stream, f, 0, false);
    pvmd_stream_flush(s->stream);
    pvmc_frame_unref(f);
}

static void on_ready(void *owner)
{
    struct side *s = owner;
    s->ready = true;
    send_payload(s);
}

static void on_frame(void *owner, struct pvmc_frame *f, uint32_t count, bool asked)
{
    (void)count, (void)asked;
    ((struct side *)owner)->heard = f->h.length == sizeof payload;
}

static void on_signal(void *owner, enum pvmd_signal signal, uint32_t count)
{
    (void)owner, (void)signal, (void)count;
}

static void on_writable(void *owner)
{
    (void)owner;
}

static void on_down(void *owner, const char *why)
{
    struct side *s = owner;
    snprintf(s->why, sizeof s->why, "%s", why);
    pvmd_stream_close(s->stream);
    s->stream = NULL;
}

static const struct pvmd_stream_events events = {on_ready, on_frame, on_signal, on_writable, on_down};

static void set_up(int pair[2])
{
    pvmd_secrets = &secrets;
    ck_assert_ptr_null(pvmw_tls_start());
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    loop = ev_loop_new(EVFLAG_AUTO);
}

static void tear_down(struct side *s)
{
    if (s->stream)
        pvmd_stream_close(s->stream);
    ev_loop_destroy(loop);
    pvmw_tls_stop();
}

#define RUN_UNTIL(condition)                                                                                           \
    do {                                                                                                               \
        ev_timer tick_;                                                                                                \
        int64_t end_us_ = pvmc_clock_us() + (int64_t)(LIMIT_S * 1e6);                                                  \
        ev_timer_init(&tick_, do_nothing, 0.01, 0.01);                                                                 \
        ev_timer_start(loop, &tick_);                                                                                  \
        while (!(condition) && pvmc_clock_us() < end_us_)                                                              \
            ev_run(loop, EVRUN_ONCE);                                                                                  \
        ev_timer_stop(loop, &tick_);                                                                                   \
        ck_assert_msg(condition, "did not happen: %s", #condition);                                                    \
    } while (0)

static void do_nothing(struct ev_loop *l, ev_timer *w, int revents)
{
    (void)l, (void)w, (void)revents;
}

/* The honest side meets an impostor: it refuses with a reason, and neither sends nor accepts anything. */
static void refuses(struct impostor *i, bool impostor_is_caller)
{
    int pair[2];
    struct side honest = {0};
    set_up(pair);
    memcpy(i->key.id, "dpvm link", sizeof "dpvm link");
    memcpy(i->key.secret, secret, sizeof secret);
    struct impostor_process p = impostor_start(i, pair[1], impostor_is_caller);
    honest.stream = pvmd_stream_new(loop, pair[0], !impostor_is_caller, secret, &events, &honest);
    RUN_UNTIL(*honest.why);
    ck_assert_uint_eq(impostor_payload(&p), 0);
    ck_assert(!honest.ready && !honest.heard);
    printf("%s %s, proof %d: %s\n", impostor_names[i->kind], impostor_is_caller ? "calls" : "is called", i->proof,
           honest.why);
    if (!impostor_is_caller && i->proof != RELAYED_PROOF)
        ck_assert_str_eq(honest.why, "the called side does not have the key");
    tear_down(&honest);
}

START_TEST(an_impostor_that_is_called)
{
    struct impostor i = called_as(_i);
    refuses(&i, false);
}
END_TEST

START_TEST(an_impostor_that_calls)
{
    refuses(&(struct impostor){.kind = _i}, true);
}
END_TEST

/* A man in the middle that only forwards sees everything except the payload. */
START_TEST(a_man_in_the_middle_that_forwards)
{
    int left[2], right[2];
    static uint8_t seen[1 << 16];
    size_t length = 0;
    struct side caller = {0}, called = {0};
    set_up(left);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, right), 0);
    fcntl(right[0], F_SETFL, O_NONBLOCK);
    caller.stream = pvmd_stream_new(loop, left[0], true, secret, &events, &caller);
    called.stream = pvmd_stream_new(loop, right[0], false, secret, &events, &called);
    for (int round = 0; round < 200 && !(caller.heard && called.heard); round++) {
        ev_run(loop, EVRUN_NOWAIT);
        for (int way = 0; way < 2; way++) {
            ssize_t n = recv(way ? left[1] : right[1], seen + length, sizeof seen - length, MSG_DONTWAIT);
            if (n > 0 && send(way ? right[1] : left[1], seen + length, (size_t)n, MSG_NOSIGNAL) == n)
                length += (size_t)n;
        }
    }
    ck_assert(caller.heard && called.heard);
    ck_assert_uint_gt(length, 2 * sizeof payload);
    ck_assert_ptr_null(memmem(seen, length, payload, 7));
    ck_assert_ptr_null(memmem(seen, length, secret, 7));
    pvmd_stream_close(called.stream);
    tear_down(&caller);
    close(left[1]);
    close(right[1]);
}
END_TEST

int main(void)
{
    const struct impostor_test tests[] = {{an_impostor_that_is_called, IMPOSTORS_THAT_ARE_CALLED},
                                          {an_impostor_that_calls, IMPOSTORS_THAT_CALL},
                                          {a_man_in_the_middle_that_forwards, 1},
                                          {NULL, 0}};
    return impostor_suite("impostor.link", tests);
}
