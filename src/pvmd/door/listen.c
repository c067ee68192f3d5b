/* listen.c - the daemon's TCP port, and the daemon's side of the doorman's pair. */
#include "listen.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "wire/socket.h"
#include "handover.h"
#include "pvmd/base/own_path.h"

#define MESSAGES_MAX    16  /* messages of the doorman per turn of the loop */
#define RESTART_S       0.1 /* delay before the doorman is restarted; doubles each time it ends soon */
#define RESTART_MAX_S   30.
#define SETTLED_S       5. /* a doorman that lived this long has not ended soon */
#define ENVIRONMENT_MAX 5
#define REFUSALS_LOG_S  10. /* interval of log lines about refused connections */

static struct ev_loop *loop;
static const struct pvmd_listen_events *events;
static int listen_fd = -1;
static uint16_t listen_port;
static struct pvmd_listen_counts counts;
static struct pvmd_door_counts before; /* counts of earlier doormen */
static struct pvmd_door_counts logged;
static ev_tstamp keys_changed;

static struct {
    int pair; /* -1: there is none */
    ev_io io;
    ev_timer restart;
    ev_tstamp since;
    double restart_s;
    ev_timer log;
} doorman = {.pair = -1};

const struct pvmd_listen_counts *pvmd_listen_counts(void)
{
    return &counts;
}

uint16_t pvmd_listen_port(void)
{
    return listen_port;
}

/* ---- proven callers ---- */

/* A caller whose proof is being checked. */
struct caller {
    int fd;
    const uint8_t *wire, *nonce;
    const struct pvmd_key *key; /* the one that it has */
    int place;                  /* of that key, or -1 for our own */
    struct pvmd_preface preface;
    uint8_t tls_key[PVMD_KEY_BYTES];
};

static bool has_token(const struct caller *c)
{
    return c->place >= PVMD_PLACE_TOKENS;
}

/* 0, PVMC_EDENIED and the like for a caller without a proof, or PVMC_ESYSTEM. */
static int check_proof(struct caller *c)
{
    c->key = pvmd_machine_key(pvmd_preface_key_id(c->wire), &c->place);
    int rc = c->key ? pvmd_preface_decode(c->wire, &c->key->door, c->nonce, &c->preface) : PVMC_EDENIED;
    return rc ? rc : pvmd_preface_key(c->wire, &c->key->machine, c->nonce, c->tls_key);
}

/* Sends the verdict: 0, or why the connection has failed. */
static int answer(const struct caller *c, enum pvmd_verdict verdict)
{
    uint8_t bytes[PVMD_ANSWER_BYTES];
    int rc = pvmd_preface_answer(verdict, c->wire, &c->key->door, c->nonce, bytes);
    if (rc)
        return rc;
    return send(c->fd, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof bytes ? 0 : PVMC_EDOWN;
}

static void let_in(const struct caller *c)
{
    counts.accepted++;
    pvmc_failpoint_done(PVMC_FAILPOINT_DOOR_JUDGE);
    if (has_token(c))
        events->entered((unsigned)c->place, c->fd, c->tls_key);
    else
        events->accepted(&c->preface, c->fd, c->tls_key);
}

/* The doorman may have let the caller in when it had not heard yet that the caller's key is void. */
static bool has_former_key(const struct caller *c)
{
    return !c->key && ev_now(loop) - keys_changed < PVMD_STRANGER_S;
}

/* Owns the caller's descriptor. False: the doorman has let in a caller without a valid proof. */
static bool judge(struct caller *c)
{
    int rc = check_proof(c);
    if (rc) {
        close(c->fd);
        return rc == PVMC_ESYSTEM || has_former_key(c);
    }
    enum pvmd_verdict verdict = has_token(c) ? events->knocked((unsigned)c->place) : events->offered(&c->preface);
    bool is_told = !pvmc_failpoint(PVMC_FAILPOINT_DOOR_JUDGE) && !answer(c, verdict);
    if (!is_told || verdict != PVMD_VERDICT_GO || fcntl(c->fd, F_SETFL, O_NONBLOCK)) {
        close(c->fd);
        if (is_told && verdict == PVMD_VERDICT_CROSSED)
            events->crossed(&c->preface);
    } else {
        let_in(c);
    }
    OPENSSL_cleanse(c->tls_key, sizeof c->tls_key);
    return true;
}

/* ---- refused connections ---- */

static struct pvmd_door_counts add(struct pvmd_door_counts a, struct pvmd_door_counts b)
{
    return (struct pvmd_door_counts){.malformed = a.malformed + b.malformed,
                                     .denied = a.denied + b.denied,
                                     .unknown = a.unknown + b.unknown,
                                     .too_slow = a.too_slow + b.too_slow,
                                     .too_many = a.too_many + b.too_many};
}

static void log_event(struct ev_loop *l, ev_timer *w, int revents)
{
    const struct pvmd_door_counts *now = &counts.refused;
    uint64_t malformed = now->malformed - logged.malformed, denied = now->denied - logged.denied;
    uint64_t unknown = now->unknown - logged.unknown;
    uint64_t too_slow = now->too_slow - logged.too_slow, too_many = now->too_many - logged.too_many;
    (void)l, (void)w, (void)revents;
    pvmc_log(PVMC_LOG_INFO,
             "refused %" PRIu64 " connections at port %u within %g s: %" PRIu64 " did not speak the protocol, %" PRIu64
             " did not know the secret, %" PRIu64 " had a token that this machine does not know, %" PRIu64
             " were too slow, %" PRIu64 " too many",
             malformed + denied + unknown + too_slow + too_many, listen_port, REFUSALS_LOG_S, malformed, denied,
             unknown, too_slow, too_many);
    logged = *now;
}

static void counted(const struct pvmd_door_counts *by_doorman)
{
    counts.refused = add(before, *by_doorman);
    if (!ev_is_active(&doorman.log)) {
        ev_timer_set(&doorman.log, REFUSALS_LOG_S, 0.);
        ev_timer_start(loop, &doorman.log);
    }
}

/* ---- the doorman ---- */

/*
 * Kills it if it still runs. Returns its exit status, or -1 if libev has reaped it: its pid may then belong to another
 * process.
 */
static int end_doorman(void)
{
    int status = -1;
    siginfo_t unused;
    bool is_child = !waitid(P_PID, (id_t)counts.doorman, &unused, WEXITED | WNOHANG | WNOWAIT);
    if (is_child)
        kill(counts.doorman, SIGKILL);
    while (is_child && waitpid(counts.doorman, &status, 0) < 0 && errno == EINTR)
        continue;
    ev_io_stop(loop, &doorman.io);
    close(doorman.pair);
    doorman.pair = -1;
    counts.doorman = 0;
    before = counts.refused;
    return status;
}

static void restart_later(void)
{
    bool settled = ev_now(loop) - doorman.since >= SETTLED_S;
    doorman.restart_s = settled ? RESTART_S : 2 * doorman.restart_s;
    if (doorman.restart_s > RESTART_MAX_S)
        doorman.restart_s = RESTART_MAX_S;
    ev_timer_set(&doorman.restart, doorman.restart_s, 0.);
    ev_timer_start(loop, &doorman.restart);
}

static void replace_doorman(const char *why)
{
    pid_t pid = counts.doorman;
    int status = end_doorman();
    bool by_signal = status != -1 && WIFSIGNALED(status);
    pvmc_log(PVMC_LOG_WARNING, "replacing the doorman, process %d: %s%s%s", (int)pid, why, by_signal ? ": " : "",
             by_signal ? strsignal(WTERMSIG(status)) : "");
    restart_later();
}

/* False if the doorman breaks the protocol. */
static bool take_message(const struct pvmd_doorman_message *m, int fd)
{
    struct caller caller = {.fd = fd, .wire = m->u.caller.wire, .nonce = m->u.caller.nonce};
    if (m->kind == PVMD_DOORMAN_CALLER && fd >= 0)
        return judge(&caller);
    if (fd >= 0)
        close(fd);
    if (m->kind == PVMD_DOORMAN_COUNTS)
        counted(&m->u.counts);
    else if (m->kind == PVMD_DOORMAN_UNCONFINED)
        pvmc_log_once(m->u.error == ENOTSUP ? PVMC_LOG_INFO : PVMC_LOG_WARNING,
                      "the doorman runs without a system call filter: %s", strerror(m->u.error));
    else
        return false;
    return true;
}

static void doorman_event(struct ev_loop *l, ev_io *w, int revents)
{
    struct pvmd_doorman_message m;
    int fd;
    (void)l, (void)revents;
    for (unsigned i = 0; i < MESSAGES_MAX && ev_is_active(w); i++) {
        ssize_t n = pvmd_handover_receive(doorman.pair, &m, sizeof m, &fd);
        if (n < 0 && fd < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n != (ssize_t)sizeof m && fd >= 0)
            close(fd);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            replace_doorman("it has ended");
        else if (n != (ssize_t)sizeof m || !take_message(&m, fd))
            replace_doorman("it does not follow the protocol");
    }
}

/*
 * Keeps what the dynamic linker and sanitizers need and nothing else, because users keep passwords in their
 * environment.
 */
static void fill_environment(char *environment[ENVIRONMENT_MAX])
{
    static const char *const kept[] = {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char *value = getenv(kept[i]);
        if (value)
            environment[n++] = value - strlen(kept[i]) - 1; /* the name precedes the value */
    }
    environment[n] = NULL;
}

/* Starts the doorman with one end of the pair as its standard input: 0 or an errno. */
static int spawn_doorman(int its_end)
{
    char *const argv[] = {"pvmd3", "-D", NULL};
    char *environment[ENVIRONMENT_MAX];
    posix_spawn_file_actions_t actions;
    fill_environment(environment);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its_end, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&counts.doorman, pvmd_own_path(), &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Gives the doorman the doors of all keys. 0, or -1 if it cannot take them. */
static int send_orders(int fd)
{
    static const uint8_t none[PVMD_MACHINE_ID_BYTES];
    struct pvmd_doorman_orders orders = {.count = 1, .doors[0] = pvmd_secrets->own.door};
    for (unsigned i = 0; i < PVMD_PLACES; i++)
        if (memcmp(pvmd_secrets->others[i].door.machine_id, none, sizeof none))
            orders.doors[orders.count++] = pvmd_secrets->others[i].door;
    int rc = pvmd_handover_send(doorman.pair, &orders, sizeof orders, fd);
    OPENSSL_cleanse(&orders, sizeof orders);
    return rc;
}

void pvmd_listen_keys_changed(void)
{
    keys_changed = loop ? ev_now(loop) : 0.;
    if (doorman.pair >= 0 && send_orders(-1))
        replace_doorman("it does not take its orders");
}

static int start_doorman(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return errno;
    int error = spawn_doorman(pair[1]);
    close(pair[1]);
    if (error) {
        counts.doorman = 0;
        close(pair[0]);
        return error;
    }
    doorman.pair = pair[0];
    doorman.since = ev_now(loop);
    send_orders(listen_fd); /* if this fails, the doorman exits */
    fcntl(doorman.pair, F_SETFL, O_NONBLOCK);
    ev_io_init(&doorman.io, doorman_event, doorman.pair, EV_READ);
    ev_io_start(loop, &doorman.io);
    return 0;
}

static void restart_event(struct ev_loop *l, ev_timer *w, int revents)
{
    (void)l, (void)w, (void)revents;
    int error = start_doorman();
    if (!error)
        return;
    pvmc_log(PVMC_LOG_ERROR, "cannot start the doorman: %s; hosts cannot be added and lost links cannot be reopened",
             strerror(error));
    restart_later();
}

/* ---- the port ---- */

/* Listens at the first free port from `port` on, 0: any. 0 or an errno. */
static int listen_from(const char *ip, uint16_t port)
{
    union pvmw_address a;
    struct pvmw_socket_listen how = {
        .backlog = SOMAXCONN, .v4_too = true, .low = port, .count = port ? UINT16_MAX + 1u - port : 1};
    if (pvmw_address_parse(ip, port, &a))
        return EINVAL;
    int fd = pvmw_socket_listen(&a, &how);
    if (fd < 0)
        return -fd;
    listen_fd = fd;
    listen_port = pvmw_address_port(&a);
    return 0;
}

int pvmd_listen_start(struct ev_loop *l, const char *ip, uint16_t port, const struct pvmd_listen_events *e)
{
    loop = l;
    events = e;
    int error = listen_from(*ip ? ip : "::", port);
    if (error && !*ip)
        error = listen_from("0.0.0.0", port); /* the host has no IPv6 */
    if (error) {
        pvmc_log(PVMC_LOG_ERROR, "cannot listen on %s: %s; PVM_IP must be an address of this host, or not set",
                 *ip ? ip : "any address", strerror(error));
        return PVMC_ESYSTEM;
    }
    ev_init(&doorman.restart, restart_event);
    ev_init(&doorman.log, log_event);
    doorman.restart_s = RESTART_S;
    error = start_doorman();
    if (!error)
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "cannot start %s: %s", pvmd_own_path(), strerror(error));
    pvmd_listen_stop();
    return PVMC_ESYSTEM;
}

void pvmd_listen_stop(void)
{
    if (listen_fd < 0)
        return;
    if (doorman.pair >= 0)
        end_doorman();
    ev_timer_stop(loop, &doorman.restart);
    ev_timer_stop(loop, &doorman.log);
    close(listen_fd);
    listen_fd = -1;
}
