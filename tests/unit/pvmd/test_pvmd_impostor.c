/*
 * test_pvmd_impostor.c - calls between daemons with an impostor that does not know the machine's secret, at either end
 * or in between. Impostors are separate processes that use real sockets; both sides of the daemon run in this process.
 * Bytes sent to an impostor beyond the nonce or the preface are counted, and there must be none.
 */
#include <ev.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "pvmd/net/dial.h"
#include "pvmd/base/own_path.h"
#include "pvmd/door/listen.h"
#include "tests/unit/unit.h"

#define NO_MEMBER "the listener does not know this machine's secret"

static const struct pvmd_machine machine = {.id = {1}, .secret = {2}};
static struct ev_loop *loop;
static const struct pvmd_preface call = {
    .from_index = 2, .from_incarnation = 2, .to_index = 1, .to_incarnation = 1, .epoch = 3};

/* The outcome of a call. */
static struct {
    bool connected, failed;
    union pvmw_address address;
    enum pvmd_verdict verdict;
    char why[1024];
    unsigned accepted; /* calls that our own port accepted */
} run;

/* ---- both sides of the daemon ---- */

const char *pvmd_own_path(void)
{
    return PVMD3;
}

static enum pvmd_verdict offered(const struct pvmd_preface *p)
{
    return p->to_index == call.to_index ? PVMD_VERDICT_GO : PVMD_VERDICT_WRONG;
}

static void accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    (void)p, (void)key;
    run.accepted++;
    close(fd);
}

static void connected(void *owner, int fd, const uint8_t key[PVMD_KEY_BYTES], const union pvmw_address *address)
{
    (void)owner, (void)key;
    run.connected = true;
    run.address = *address;
    close(fd);
    ev_break(loop, EVBREAK_ALL);
}

static void failed(void *owner, enum pvmd_verdict verdict, bool refused, const char *why)
{
    (void)owner, (void)refused;
    run.failed = true;
    run.verdict = verdict;
    snprintf(run.why, sizeof run.why, "%s", why);
    ev_break(loop, EVBREAK_ALL);
}

/* Another test covers the system call filter. */
static void note_line(enum pvmc_log_level level, const char *line, void *arg)
{
    if (!strstr(line, "the doorman"))
        unit_log_sink(level, line, arg);
}

static void begin(void)
{
    static const struct pvmd_listen_events events = {.offered = offered, .accepted = accepted};
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    unit_log_start();
    pvmc_log_to(note_line, NULL, PVMC_LOG_DEBUG);
    loop = ev_loop_new(EVFLAG_AUTO); /* not the default one: that would reap our child */
    ck_assert_int_eq(pvmd_listen_start(loop, "127.0.0.1", 0, &events), 0);
}

static void end(void)
{
    pvmd_listen_stop();
    ev_loop_destroy(loop);
}

static union pvmw_address own_port(void)
{
    union pvmw_address a;
    pvmw_address_parse("127.0.0.1", pvmd_listen_port(), &a);
    return a;
}

static void dial(const struct pvmw_addresses *list)
{
    static const struct pvmd_dial_events events = {.connected = connected, .failed = failed};
    memset(&run, 0, sizeof run);
    ck_assert_ptr_nonnull(pvmd_dial_new(loop, list, &call, &events, NULL));
    ev_run(loop, 0);
}

/* ---- tools of impostors ---- */

static int tcp_socket(void)
{
    struct timeval limit = {.tv_sec = 20};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

static int call_own_port(void)
{
    union pvmw_address a = own_port();
    int fd = tcp_socket();
    ck_assert_int_eq(connect(fd, &a.any, pvmw_address_size(&a)), 0);
    return fd;
}

static void say(int fd, const void *data, size_t size)
{
    ck_assert_int_eq(send(fd, data, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void hear(int fd, void *data, size_t size)
{
    ck_assert_int_eq(recv(fd, data, size, MSG_WAITALL), (ssize_t)size);
}

/* Number of bytes that arrive until the other side closes. */
static size_t rest_of(int fd)
{
    char byte;
    size_t count = 0;
    while (recv(fd, &byte, 1, 0) == 1)
        count++;
    return count;
}

/* ---- impostors as the called side ---- */

struct impostor {
    pid_t pid;
    union pvmw_address address;
};

/* `play` serves each of `calls` connections in a separate process, which fails if it is sent more than it reads. */
static struct impostor start_impostor(void (*play)(int fd, int parameter), int parameter, int calls)
{
    struct impostor i;
    socklen_t size = sizeof i.address;
    int port = tcp_socket();
    pvmw_address_parse("127.0.0.1", 0, &i.address);
    ck_assert_int_eq(bind(port, &i.address.any, pvmw_address_size(&i.address)), 0);
    ck_assert_int_eq(listen(port, 5), 0);
    getsockname(port, &i.address.any, &size);
    i.pid = fork();
    while (i.pid == 0 && calls--) {
        int fd = accept(port, NULL, NULL);
        play(fd, parameter);
        if (rest_of(fd) > 0)
            exit(1);
        close(fd);
    }
    if (i.pid == 0)
        exit(0);
    close(port);
    return i;
}

static void check_impostor(struct impostor i)
{
    int status;
    ck_assert_int_eq(waitpid(i.pid, &status, 0), i.pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the impostor was sent more than the preface");
}

/* A call whose first address is the impostor's still reaches the second one, our own port. */
static void call_past(void (*play)(int fd, int parameter), int parameter, const char *line)
{
    begin();
    struct impostor i = start_impostor(play, parameter, 1);
    struct pvmw_addresses list = {.count = 2, .list = {i.address, own_port()}};
    dial(&list);
    check_impostor(i);
    ck_assert(run.connected);
    ck_assert_uint_eq(pvmw_address_port(&run.address), pvmd_listen_port());
    if (line) {
        ck_assert_msg(strstr(unit_log.line, line) != NULL, "the log says: %s", unit_log.line);
        ck_assert_msg(strstr(unit_log.line, pvmw_address_text(&i.address, (char[PVMW_ADDRESS_TEXT]){0})) != NULL,
                      "no address: %s", unit_log.line);
        ck_assert_int_eq(unit_log.level, PVMC_LOG_WARNING);
    }
    end();
}

/* The same without a second address: the call fails with the reason. */
static void call_in_vain(void (*play)(int fd, int parameter), int parameter, const char *why)
{
    begin();
    struct impostor i = start_impostor(play, parameter, 1);
    struct pvmw_addresses list = {.count = 1, .list = {i.address}};
    dial(&list);
    check_impostor(i);
    ck_assert(run.failed);
    ck_assert_int_eq(run.verdict, 0);
    ck_assert_msg(strstr(run.why, why) != NULL, "%s", run.why);
    end();
}

static void hear_preface(int fd, uint8_t nonce[PVMD_NONCE_BYTES], uint8_t wire[PVMD_PREFACE_BYTES])
{
    RAND_bytes(nonce, PVMD_NONCE_BYTES);
    say(fd, nonce, PVMD_NONCE_BYTES);
    hear(fd, wire, PVMD_PREFACE_BYTES);
}

static void forge(int fd, int verdict)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES] = {(uint8_t)verdict};
    hear_preface(fd, nonce, wire);
    RAND_bytes(answer + 1, sizeof answer - 1);
    say(fd, answer, sizeof answer);
}

START_TEST(forged_verdicts_are_refused)
{
    static const int verdicts[] = {0,  PVMD_VERDICT_GO, PVMD_VERDICT_CROSSED, PVMD_VERDICT_RELAYED, PVMD_VERDICT_WRONG,
                                   255};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        call_past(forge, verdicts[i], NO_MEMBER);
        call_in_vain(forge, verdicts[i], NO_MEMBER);
    }
}
END_TEST

/* A verdict without a proof, which an earlier protocol accepted. */
static void say_verdict_only(int fd, int verdict)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], byte = (uint8_t)verdict;
    hear_preface(fd, nonce, wire);
    say(fd, &byte, 1);
    shutdown(fd, SHUT_WR);
}

START_TEST(verdicts_without_proof_are_none)
{
    for (int verdict = PVMD_VERDICT_GO; verdict <= PVMD_VERDICT_OUT; verdict++)
        call_in_vain(say_verdict_only, verdict, "closed the connection");
}
END_TEST

static void answer_with_other_secret(int fd, int same_id)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES];
    struct pvmd_machine other = {.id = {(uint8_t)same_id}, .secret = {77}};
    hear_preface(fd, nonce, wire);
    ck_assert_int_eq(pvmd_machine_join(&other), 0);
    ck_assert_int_eq(pvmd_preface_answer(PVMD_VERDICT_GO, wire, &pvmd_secrets->own.door, nonce, answer), 0);
    say(fd, answer, sizeof answer);
}

START_TEST(another_machines_daemon_is_refused)
{
    call_past(answer_with_other_secret, 0, NO_MEMBER);
    call_past(answer_with_other_secret, 1, NO_MEMBER);
}
END_TEST

/* Returns the caller's bytes unchanged or, with cut_out, a verdict with the caller's own proof. */
static void reflect(int fd, int cut_out)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES] = {PVMD_VERDICT_GO};
    hear_preface(fd, nonce, wire);
    if (cut_out)
        memcpy(answer + 1, wire + sizeof wire - (sizeof answer - 1), sizeof answer - 1);
    else
        memcpy(answer, wire, sizeof answer);
    say(fd, answer, sizeof answer);
}

START_TEST(reflected_bytes_are_refused)
{
    call_past(reflect, 0, NO_MEMBER);
    call_past(reflect, 1, NO_MEMBER);
}
END_TEST

/* Relays a call to our own port. */
static void carry(int fd, int unused)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES];
    (void)unused;
    int back = call_own_port();
    hear(back, nonce, sizeof nonce);
    say(fd, nonce, sizeof nonce);
    hear(fd, wire, sizeof wire);
    say(back, wire, sizeof wire);
    hear(back, answer, sizeof answer);
    say(fd, answer, sizeof answer);
    close(back);
}

/* The caller is redirected to its own port, which proves itself and answers that it is the wrong daemon. */
static enum pvmd_verdict offered_to_caller(const struct pvmd_preface *p)
{
    return p->to_index == call.from_index ? PVMD_VERDICT_GO : PVMD_VERDICT_WRONG;
}

START_TEST(a_call_that_is_led_back_is_not_for_us)
{
    static const struct pvmd_listen_events events = {.offered = offered_to_caller, .accepted = accepted};
    begin();
    pvmd_listen_stop();
    ck_assert_int_eq(pvmd_listen_start(loop, "127.0.0.1", 0, &events), 0);
    struct impostor i = start_impostor(carry, 0, 1);
    struct pvmw_addresses list = {.count = 1, .list = {i.address}};
    dial(&list);
    check_impostor(i);
    ck_assert(run.failed && !run.accepted);
    ck_assert_ptr_nonnull(strstr(run.why, "is another host's daemon"));
    end();
}
END_TEST

static void say_garbage(int fd, int bytes)
{
    uint8_t garbage[4096];
    RAND_bytes(garbage, sizeof garbage);
    say(fd, garbage, (size_t)bytes);
    hear(fd, garbage, PVMD_PREFACE_BYTES);
}

START_TEST(garbage_is_refused)
{
    call_past(say_garbage, PVMD_NONCE_BYTES + PVMD_ANSWER_BYTES, NO_MEMBER);
}
END_TEST

static void be_silent(int fd, int after_nonce)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES];
    if (after_nonce)
        hear_preface(fd, nonce, wire);
}

START_TEST(the_silent_are_passed_by)
{
    call_past(be_silent, 0, NULL);
    call_past(be_silent, 1, NULL);
}
END_TEST

/* ---- an overloaded port ---- */

enum { TURNED_AWAY = 4 };

/* Refuses the first callers before the nonce, as a doorman does when there are too many strangers. */
static void turn_away_first(int fd, int by_reset)
{
    static int callers;
    struct linger at_once = {.l_onoff = by_reset};
    if (callers++ == TURNED_AWAY) {
        carry(fd, 0);
        return;
    }
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

START_TEST(who_is_turned_away_tries_again)
{
    for (int by_reset = 0; by_reset <= 1; by_reset++) {
        begin();
        struct impostor i = start_impostor(turn_away_first, by_reset, TURNED_AWAY + 1);
        struct pvmw_addresses list = {.count = 1, .list = {i.address}};
        dial(&list);
        check_impostor(i);
        ck_assert_msg(run.connected, "%s", run.why);
        end();
    }
}
END_TEST

/* ---- a man in the middle ---- */

/* Relays the first call to our port, and replays its answer to the second. */
static void carry_then_replay(int fd, int unused)
{
    static uint8_t nonce[PVMD_NONCE_BYTES], answer[PVMD_ANSWER_BYTES];
    static bool is_recorded;
    uint8_t wire[PVMD_PREFACE_BYTES];
    (void)unused;
    int back = is_recorded ? -1 : call_own_port();
    if (!is_recorded)
        hear(back, nonce, sizeof nonce);
    say(fd, nonce, sizeof nonce);
    hear(fd, wire, sizeof wire);
    if (!is_recorded) {
        say(back, wire, sizeof wire);
        hear(back, answer, sizeof answer);
        close(back);
    }
    say(fd, answer, sizeof answer);
    is_recorded = true;
}

START_TEST(replayed_answers_are_refused)
{
    begin();
    struct impostor i = start_impostor(carry_then_replay, 0, 2);
    struct pvmw_addresses list = {.count = 1, .list = {i.address}};
    dial(&list);
    ck_assert_msg(run.connected, "carried unchanged it is as good as a cable: %s", run.why);
    dial(&list);
    check_impostor(i);
    ck_assert(run.failed);
    ck_assert_msg(strstr(run.why, NO_MEMBER) != NULL, "%s", run.why);
    end();
}
END_TEST

enum { CALLERS_NONCE, LISTENERS_NONCE, FIELDS };

/* Relays a call to our port with one change. */
static void swap(int fd, int what)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES];
    int back = call_own_port();
    hear(back, nonce, sizeof nonce);
    if (what == LISTENERS_NONCE)
        RAND_bytes(nonce, sizeof nonce);
    say(fd, nonce, sizeof nonce);
    hear(fd, wire, sizeof wire);
    if (what == CALLERS_NONCE)
        RAND_bytes(wire + 44, PVMD_NONCE_BYTES);
    if (what == FIELDS)
        wire[40]++; /* the epoch */
    say(back, wire, sizeof wire);
    if (rest_of(back) > 0)
        exit(2);
    shutdown(fd, SHUT_WR);
}

START_TEST(what_is_changed_on_the_way_is_refused)
{
    for (int what = CALLERS_NONCE; what <= FIELDS; what++) {
        call_in_vain(swap, what, "closed the connection");
        ck_assert_uint_eq(run.accepted, 0);
    }
}
END_TEST

/* ---- impostors as the calling side ---- */

/* `play` calls our port from a separate process, which fails if it is sent more than it reads. */
static void be_called_by(void (*play)(int fd))
{
    int status = 0;
    begin();
    pid_t pid = fork();
    if (pid == 0) {
        int fd = call_own_port();
        play(fd);
        exit(rest_of(fd) > 0);
    }
    const struct pvmd_door_counts *refused = &pvmd_listen_counts()->refused;
    while (!refused->denied && !refused->malformed)
        ev_run(loop, EVRUN_ONCE);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the impostor was sent more than the nonce");
    ck_assert_uint_eq(pvmd_listen_counts()->accepted, 0);
    ck_assert_uint_eq(refused->denied + refused->malformed, 1);
    end();
}

static void call_with_other_secret(int fd)
{
    static const struct pvmd_machine other = {.id = {1}, .secret = {77}};
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES];
    hear(fd, nonce, sizeof nonce);
    pvmd_machine_join(&other);
    ck_assert_int_eq(pvmd_preface_encode(&call, &pvmd_secrets->own.door, nonce, wire), 0);
    say(fd, wire, sizeof wire);
}

static void call_with_replayed_preface(int fd)
{
    uint8_t nonce[PVMD_NONCE_BYTES], recorded[PVMD_NONCE_BYTES] = {9}, wire[PVMD_PREFACE_BYTES];
    hear(fd, nonce, sizeof nonce);
    pvmd_machine_join(&machine); /* a valid preface, but of another connection */
    ck_assert_int_eq(pvmd_preface_encode(&call, &pvmd_secrets->own.door, recorded, wire), 0);
    say(fd, wire, sizeof wire);
}

/* Uses the proof from a daemon's answer elsewhere as the proof of a preface. */
static void call_with_reflected_answer(int fd)
{
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES];
    hear(fd, nonce, sizeof nonce);
    pvmd_machine_join(&machine);
    ck_assert_int_eq(pvmd_preface_encode(&call, &pvmd_secrets->own.door, nonce, wire), 0);
    ck_assert_int_eq(pvmd_preface_answer(PVMD_VERDICT_GO, wire, &pvmd_secrets->own.door, nonce, answer), 0);
    memcpy(wire + sizeof wire - (sizeof answer - 1), answer + 1, sizeof answer - 1);
    say(fd, wire, sizeof wire);
}

static void call_with_reflected_nonce(int fd)
{
    uint8_t wire[PVMD_PREFACE_BYTES];
    hear(fd, wire, PVMD_NONCE_BYTES);
    for (size_t i = PVMD_NONCE_BYTES; i < sizeof wire; i++)
        wire[i] = wire[i - PVMD_NONCE_BYTES];
    say(fd, wire, sizeof wire);
}

START_TEST(callers_without_the_secret_get_no_answer)
{
    be_called_by(call_with_other_secret);
}
END_TEST

START_TEST(replayed_prefaces_get_no_answer)
{
    be_called_by(call_with_replayed_preface);
}
END_TEST

START_TEST(reflecting_callers_get_no_answer)
{
    be_called_by(call_with_reflected_answer);
}
END_TEST

START_TEST(reflected_nonces_get_no_answer)
{
    be_called_by(call_with_reflected_nonce);
}
END_TEST

UNIT_MAIN("pvmd_impostor", forged_verdicts_are_refused, verdicts_without_proof_are_none,
          another_machines_daemon_is_refused, reflected_bytes_are_refused, a_call_that_is_led_back_is_not_for_us,
          garbage_is_refused, the_silent_are_passed_by, who_is_turned_away_tries_again, replayed_answers_are_refused,
          what_is_changed_on_the_way_is_refused, callers_without_the_secret_get_no_answer,
          replayed_prefaces_get_no_answer, reflecting_callers_get_no_answer, reflected_nonces_get_no_answer)
