/* applicant.c - see applicant.h. */
#include "applicant.h"
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "core/notify_socket.h"
#include "core/message/token.h"
#include "core/version.h"
#include "core/visible.h"
#include "pvm3.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/own_path.h"
#include "pvmd/hosts/arrival.h"
#include "pvmd/hosts/slave.h"
#include "pvmd/launch/channel.h"
#include "pvmd/launch/startup.h"
#include "pvmd/net/dial.h"
#include "pvmd/net/machine.h"
#include "pvmd/net/resolve.h"
#include "wire/tls.h"

#define PAUSE_S      0.25 /* before the second attempt; doubles each time */
#define PAUSE_MAX_S  15.
#define ATTEMPT_S    15. /* for an attempt, until the daemon starts */
#define SAY_AGAIN_US INT64_C(60000000)
#define SETTLED_US   INT64_C(10000000) /* a daemon that has been linked for this time did not fail at once */

extern char **environ;

/* Named by what this process waits for. */
enum phase {
    PAUSING,   /* for the next attempt */
    RESOLVING, /* for the name service */
    CALLING,   /* for a member to let us in */
    ASKING,    /* for the master's answer */
    STARTING,  /* for the daemon's link */
    JOINED,    /* for the daemon to end */
};

static const struct pvmd_application *application;
static struct ev_loop *loop;
static enum phase phase;
static char own_name[PVMD_HOST_NAME_MAX + 1];

/* Whom to call. */
static struct pvmd_targets targets;
static unsigned resolved_count;
static struct pvmw_addresses found; /* of the targets that are resolved */
static struct pvmw_addresses known; /* members of which a member has told us; called first */

/* The attempt. */
static struct pvmd_resolve *resolve;
static struct pvmd_dial *dial;
static struct pvmd_channel channel = {.fd = -1};
static ev_io channel_io, daemon_io, guard_io;
static ev_timer limit, again, well;
static double pause_s = PAUSE_S;
static int64_t since_us;                   /* of the first attempt */
static int64_t joined_us;                  /* when the daemon was linked */
static bool was_member;                    /* we come back */
static bool ending;                        /* we have been told to end */
static bool is_redirected;                 /* in this attempt, by a member that is not the master */
static char not_found[256];                /* what the name service has said */
static char why_not[512];                  /* why the last attempt failed ... */
static int64_t why_said_us;                /* ... and when that was said */
static char line[PVMD_START_LINE_MAX + 1]; /* the first bytes of the master's answer */
static size_t line_bytes;

/* The daemon. */
static pid_t daemon_pid;   /* 0: none */
static int daemon_fd = -1; /* its end of the channel */
static int guard_fd = -1;
static ev_child daemon_child;
static char complaint[512]; /* its error line */
static int complaint_code;
static ev_signal on_term, on_int, on_hup;

static void attempt(void);

/* ---- the end ---- */

static int exit_code;

static void finish(int code)
{
    exit_code = code;
    ev_break(loop, EVBREAK_ALL);
}

static void close_channel(void)
{
    ev_io_stop(loop, &channel_io);
    if (channel.fd >= 0)
        pvmd_channel_close(&channel);
    channel.fd = -1;
}

static void close_daemon_fd(void)
{
    ev_io_stop(loop, &daemon_io);
    if (daemon_fd >= 0)
        close(daemon_fd);
    daemon_fd = -1;
}

/* Undoes an attempt. */
static void drop_attempt(void)
{
    ev_timer_stop(loop, &limit);
    if (resolve)
        pvmd_resolve_cancel(resolve);
    if (dial)
        pvmd_dial_cancel(dial);
    resolve = NULL;
    dial = NULL;
    close_channel();
    close_daemon_fd();
    line_bytes = 0;
}

/* It will not get better by itself. */
__attribute__((format(printf, 1, 2))) static void give_up(const char *format, ...)
{
    char why[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    drop_attempt();
    pvmc_log(PVMC_LOG_ERROR, "%s", why);
    finish(1);
}

/* ---- pauses ---- */

static int64_t limit_us(void)
{
    return pvmc_config_us(was_member ? PVMC_SETTING_REJOIN_TIMEOUT : PVMC_SETTING_JOIN_TIMEOUT);
}

static bool is_too_late(void)
{
    return (was_member || limit_us()) && pvmc_clock_us() - since_us >= limit_us();
}

/* A reason is said when it is new, and then once a minute. */
static void say(const char *why)
{
    bool is_new = strcmp(why, why_not) != 0;
    snprintf(why_not, sizeof why_not, "%s", why);
    if (!is_new && pvmc_clock_us() - why_said_us < SAY_AGAIN_US)
        return;
    why_said_us = pvmc_clock_us();
    pvmc_log(PVMC_LOG_WARNING, "cannot %s the machine yet: %s; trying again", was_member ? "come back to" : "join",
             why);
}

static void pause_before_attempt(void)
{
    phase = PAUSING;
    ev_timer_set(&again, pause_s * (0.75 + 0.5 * (double)rand() / RAND_MAX), 0.);
    ev_timer_start(loop, &again);
    pause_s = pause_s * 2 < PAUSE_MAX_S ? pause_s * 2 : PAUSE_MAX_S;
}

__attribute__((format(printf, 1, 2))) static void try_later(const char *format, ...)
{
    char why[sizeof why_not];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    drop_attempt();
    if (is_too_late()) {
        give_up("has not %s the machine within %g s (%s): %s", was_member ? "come back to" : "joined",
                (double)limit_us() / 1e6, was_member ? "PVM_REJOIN_TIMEOUT" : "PVM_JOIN_TIMEOUT", why);
        return;
    }
    say(why);
    pause_before_attempt();
}

static void again_event(struct ev_loop *l, ev_timer *w, int events)
{
    (void)l, (void)w, (void)events;
    is_redirected = false;
    attempt();
}

static void limit_event(struct ev_loop *l, ev_timer *w, int events)
{
    const char *why = dial ? pvmd_dial_why(dial) : "";
    (void)l, (void)w, (void)events;
    known.count = 0;
    try_later("no answer within %g s%s%s", ATTEMPT_S, *why ? "; " : "", why);
}

/* ---- the daemon ---- */

/* Passes the master's bytes on. The daemon reads them at once. */
static void pass_to_daemon(const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count) {
        ssize_t n = write(daemon_fd, at, count);
        if (n < 0 && errno != EINTR)
            return; /* it has ended, which is told by its exit */
        at += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
}

/* The daemon's start line, or why it cannot start. */
static void daemon_event(struct ev_loop *l, ev_io *w, int events)
{
    char text[PVMD_START_LINE_MAX + 2];
    struct pvmd_start_line parsed;
    (void)l, (void)w, (void)events;
    ssize_t n = read(daemon_fd, text, sizeof text - 1);
    if (n <= 0) {
        ev_io_stop(loop, &daemon_io);
        return;
    }
    pvmw_tls_put(channel.tls, text, (size_t)n);
    pvmw_tls_flush(channel.tls);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (pvmd_start_line_parse(text, &parsed) != PVMD_LINE_ERROR)
        return;
    complaint_code = parsed.code;
    snprintf(complaint, sizeof complaint, "%s", parsed.why);
}

static void joined(void)
{
    phase = JOINED;
    ev_timer_stop(loop, &limit);
    pvmc_log(PVMC_LOG_INFO, "%s the machine as %s", was_member ? "has come back to" : "has joined", own_name);
    pvmc_notify_socket_send("READY=1\nSTATUS=is a host of the machine");
    if (!was_member)
        since_us = pvmc_clock_us(); /* from now on, of coming back */
    was_member = true;
    joined_us = pvmc_clock_us();
    close_channel();
    close_daemon_fd();
}

/* Passes on the daemon's signs of life. Returns what follows them. */
static const char *skip_signs(const char *text)
{
    size_t count = strspn(text, PVMD_SLAVE_WELL);
    if (count)
        pvmc_notify_socket_send("WATCHDOG=1");
    return text + count;
}

/* The daemon says that it is linked, then that it is well, and at its end where the other members are. */
static void guard_event(struct ev_loop *l, ev_io *w, int events)
{
    char text[PVMW_ADDRESS_MAX * PVMW_ADDRESS_TEXT];
    struct pvmw_addresses members = {0};
    (void)l, (void)w, (void)events;
    ssize_t n = read(guard_fd, text, sizeof text - 1);
    if (n <= 0) {
        ev_io_stop(loop, &guard_io);
        return;
    }
    text[n] = '\0';
    if (phase == STARTING && !*text)
        joined();
    else if (!pvmw_addresses_parse(skip_signs(text), &members) && members.count)
        known = members;
}

/* What it has lost may let it in again. */
static void daemon_lost(int status)
{
    if (WIFSIGNALED(status))
        pvmc_log(PVMC_LOG_WARNING, "the daemon was ended by signal %d: coming back", WTERMSIG(status));
    else
        pvmc_log(PVMC_LOG_WARNING, "the daemon has lost the machine: coming back");
    pvmc_notify_socket_send("STATUS=has lost the machine, and tries to come back");
    if (pvmc_clock_us() - joined_us > SETTLED_US) {
        pause_s = PAUSE_S;
        since_us = pvmc_clock_us();
    }
    if (is_too_late())
        give_up("has come back to the machine, and lost it soon, for %g s (PVM_REJOIN_TIMEOUT)",
                (double)limit_us() / 1e6);
    else
        pause_before_attempt();
}

static void daemon_did_not_start(void)
{
    bool is_final = complaint_code == PvmBadVersion || complaint_code == PvmBadParam || complaint_code == PvmDupHost;
    const char *why = *complaint ? complaint : "the daemon ended before it was a member";
    if (is_final)
        give_up("cannot join: %s", why);
    else
        try_later("%s", why);
}

static void child_event(struct ev_loop *l, ev_child *w, int events)
{
    int status = w->rstatus;
    (void)events;
    ev_child_stop(l, w);
    guard_event(loop, &guard_io, EV_READ); /* its last words */
    ev_io_stop(loop, &guard_io);
    close(guard_fd);
    guard_fd = -1;
    daemon_pid = 0;
    bool was_joined = phase == JOINED;
    if (ending || (WIFEXITED(status) && !WEXITSTATUS(status)))
        finish(0);
    else if (was_joined)
        daemon_lost(status);
    else
        daemon_did_not_start();
}

static int spawn_daemon(int its_end, int its_guard)
{
    char *const argv[] = {"pvmd3", "-J", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its_end, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, its_end, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, its_guard, PVMD_SLAVE_GUARD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(&daemon_pid, pvmd_own_path(), &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* A socket pair whose descriptors collide with none that the daemon gets. */
static int make_pair(int pair[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return errno;
    for (int i = 0; i < 2; i++) {
        int high = fcntl(pair[i], F_DUPFD_CLOEXEC, PVMD_SLAVE_GUARD + 1);
        close(pair[i]);
        pair[i] = high;
    }
    return pair[0] < 0 || pair[1] < 0 ? EMFILE : 0;
}

static void close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static void start_daemon(void)
{
    int pair[2] = {-1, -1}, guard[2] = {-1, -1};
    int error = make_pair(pair);
    error = error ? error : make_pair(guard);
    error = error ? error : spawn_daemon(pair[1], guard[1]);
    if (error) {
        daemon_pid = 0;
        close_pair(pair);
        close_pair(guard);
        try_later("cannot start %s: %s", pvmd_own_path(), strerror(error));
        return;
    }
    close(pair[1]);
    close(guard[1]);
    daemon_fd = pair[0];
    guard_fd = guard[0];
    fcntl(guard_fd, F_SETFL, O_NONBLOCK);
    phase = STARTING;
    complaint[0] = '\0';
    complaint_code = 0;
    ev_timer_stop(loop, &limit); /* the daemon has a limit of its own */
    ev_io_set(&daemon_io, daemon_fd, EV_READ);
    ev_io_start(loop, &daemon_io);
    ev_io_set(&guard_io, guard_fd, EV_READ);
    ev_io_start(loop, &guard_io);
    ev_child_set(&daemon_child, daemon_pid, 0);
    ev_child_start(loop, &daemon_child);
    pass_to_daemon(line, line_bytes);
    line_bytes = 0;
}

/* ---- the master's answer ---- */

static void refused(const struct pvmd_start_line *answer)
{
    switch (answer->code) {
    case PvmBadVersion:
    case PvmBadParam:
        give_up("cannot join: %s", answer->why);
        break;
    case PvmDupHost:
        try_later("%s: \"%s\"; if that is not this host's past, give this one another name (-n)", answer->why,
                  own_name);
        break;
    default:
        try_later("%s", answer->why);
    }
}

/* The member that we called is not the master. */
static void go_to_master(const char *where)
{
    struct pvmw_addresses master = {0};
    drop_attempt();
    if (is_redirected || pvmw_addresses_parse(where, &master) || !master.count) {
        known.count = 0;
        try_later("cannot reach the master at the address that a member names");
        return;
    }
    is_redirected = true;
    known = master;
    attempt();
}

static bool begins_with(const char *word)
{
    size_t length = strlen(word);
    return !strncmp(line, word, line_bytes < length ? line_bytes : length);
}

/* A refusal, or the place of the master, is one line; anything else is the start text. */
static void take_answer(void)
{
    static const char error_word[] = "dpvm-error<";
    struct pvmd_start_line answer;
    char *end = memchr(line, '\n', line_bytes);
    bool is_line = begins_with(error_word) || begins_with(PVMD_ARRIVAL_MOVED);
    if (!is_line)
        start_daemon();
    else if (!end)
        return;
    else if (*end = '\0', begins_with(PVMD_ARRIVAL_MOVED))
        go_to_master(line + sizeof PVMD_ARRIVAL_MOVED);
    else if (pvmd_start_line_parse(line, &answer) == PVMD_LINE_ERROR)
        refused(&answer);
}

/* More of the start text; or why the master does not make the daemon a member. */
static void take_more(void)
{
    struct pvmd_start_line answer;
    char *end = memchr(line, '\n', line_bytes);
    pass_to_daemon(line, line_bytes);
    if (end)
        *end = '\0';
    if (pvmd_start_line_parse(line, &answer) == PVMD_LINE_ERROR && !*complaint)
        snprintf(complaint, sizeof complaint, "%s", answer.why);
    line_bytes = 0;
}

/* True if there may be more at once. */
static bool read_channel(void)
{
    char *to = line + line_bytes;
    ssize_t n = pvmw_tls_read(channel.tls, to, sizeof line - 1 - line_bytes);
    if (n < 0 && phase == ASKING)
        try_later("the member has ended the connection");
    else if (n < 0)
        close_daemon_fd(); /* the daemon knows what that means */
    if (n < 0) {
        close_channel();
        return false;
    }
    line_bytes += (size_t)n;
    line[line_bytes] = '\0';
    if (n && phase == ASKING)
        take_answer();
    else if (n)
        take_more();
    return n > 0 && channel.fd >= 0;
}

static void channel_event(struct ev_loop *l, ev_io *w, int events)
{
    (void)l, (void)w, (void)events;
    while (read_channel())
        continue;
}

/* ---- calling ---- */

static void ask(void)
{
    char text[PVMD_HOST_NAME_MAX + 128];
    int n = snprintf(text, sizeof text, "%s %d %s %s %d %d\n", PVMD_ARRIVAL_ASKS, PVMC_DAEMON_PROTOCOL, pvmc_version,
                     own_name, application->speed, application->slots);
    phase = ASKING;
    pvmw_tls_put(channel.tls, text, (size_t)n);
    pvmw_tls_flush(channel.tls);
    ev_io_set(&channel_io, channel.fd, EV_READ);
    ev_io_start(loop, &channel_io);
    ev_feed_event(loop, &channel_io, EV_READ);
}

static void connected(void *owner, int fd, const uint8_t secret[PVMD_KEY_BYTES], const union pvmw_address *address)
{
    struct pvmw_tls_key key = {.id = "dpvm link"};
    char text[PVMW_ADDRESS_TEXT];
    (void)owner;
    dial = NULL;
    memcpy(key.secret, secret, sizeof key.secret);
    const char *why = pvmd_channel_open(&channel, fd, &key);
    OPENSSL_cleanse(&key, sizeof key);
    if (!why) {
        ask();
        return;
    }
    channel.fd = -1;
    try_later("%s: %s", pvmw_address_text(address, text), why);
}

/* A member has proven that it knows the token, and what it thinks of it. */
static void not_good(const char *what)
{
    if (was_member)
        try_later("the machine says that this token %s", what); /* until it has noticed that we were lost */
    else
        give_up("cannot join: this token %s; \"pvm token\" makes another one", what);
}

static void call_failed(void *owner, enum pvmd_verdict verdict, bool is_refused, const char *why)
{
    (void)owner, (void)is_refused;
    dial = NULL;
    known.count = 0;
    if (verdict == PVMD_VERDICT_EXPIRED)
        not_good("has expired");
    else if (verdict == PVMD_VERDICT_USED_UP)
        not_good("is used up");
    else if (verdict == PVMD_VERDICT_REVOKED)
        give_up("cannot join: this token is revoked; \"pvm token\" makes another one");
    else if (verdict == PVMD_VERDICT_BUSY)
        try_later("too many hosts are joining");
    else
        try_later("%s", why);
}

static void call(void)
{
    static const struct pvmd_dial_events events = {.connected = connected, .failed = call_failed};
    struct pvmd_preface preface = {0};
    struct pvmw_addresses all = known;
    for (unsigned i = 0; i < found.count; i++)
        pvmw_addresses_add(&all, &found.list[i]);
    phase = CALLING;
    ev_timer_stop(loop, &limit);
    ev_timer_set(&limit, ATTEMPT_S + all.count * PVMD_DIAL_EACH_S, 0.);
    ev_timer_start(loop, &limit);
    if (!all.count)
        try_later("%s", not_found);
    else if (!(dial = pvmd_dial_new(loop, &all, &preface, &events, NULL)))
        try_later("out of memory");
}

static void resolve_next(void);

static void name_resolved(void *arg, const struct pvmw_addresses *list, const char *why)
{
    unsigned i = resolved_count++;
    (void)arg;
    resolve = NULL;
    for (unsigned j = 0; j < list->count; j++) {
        union pvmw_address a = list->list[j];
        pvmw_address_set_port(&a, targets.list[i].port);
        pvmw_addresses_add(&found, &a);
    }
    if (why)
        snprintf(not_found, sizeof not_found, "%s: %s", targets.list[i].name, why);
    resolve_next();
}

static void resolve_next(void)
{
    if (resolved_count == targets.count) {
        call();
        return;
    }
    resolve = pvmd_resolve_start(loop, targets.list[resolved_count].name, name_resolved, NULL);
    if (!resolve)
        try_later("cannot look names up: out of memory or threads");
}

/* Names are looked up each time, because a master that is started anew may have another address. */
static void attempt(void)
{
    phase = RESOLVING;
    resolved_count = found.count = 0;
    ev_timer_set(&limit, ATTEMPT_S, 0.);
    ev_timer_start(loop, &limit);
    resolve_next();
}

/* ---- signals ---- */

static void end_by_signal(struct ev_loop *l, ev_signal *w, int events)
{
    (void)l, (void)events;
    pvmc_notify_socket_send("STOPPING=1");
    ending = true;
    if (daemon_pid)
        kill(daemon_pid, w->signum);
    else
        finish(0);
}

static void ignore_signal(struct ev_loop *l, ev_signal *w, int events)
{
    (void)l, (void)w, (void)events;
}

/* While there is no daemon, this loop is the one that must turn. */
static void well_event(struct ev_loop *l, ev_timer *w, int events)
{
    (void)l, (void)w, (void)events;
    if (phase != JOINED)
        pvmc_notify_socket_send("WATCHDOG=1");
}

static void watch_ourselves(void)
{
    double seconds = (double)pvmc_notify_socket_watchdog_us() / 2e6;
    if (seconds <= 0.)
        return;
    pvmc_notify_socket_pass_watchdog();
    ev_timer_init(&well, well_event, seconds, seconds);
    ev_timer_start(loop, &well);
}

static void watch(void)
{
    signal(SIGPIPE, SIG_IGN);
    ev_signal_init(&on_term, end_by_signal, SIGTERM);
    ev_signal_init(&on_int, end_by_signal, SIGINT);
    ev_signal_init(&on_hup, ignore_signal, SIGHUP);
    ev_signal_start(loop, &on_term);
    ev_signal_start(loop, &on_int);
    ev_signal_start(loop, &on_hup);
    ev_init(&channel_io, channel_event);
    ev_init(&daemon_io, daemon_event);
    ev_init(&guard_io, guard_event);
    ev_init(&daemon_child, child_event);
    ev_init(&limit, limit_event);
    ev_init(&again, again_event);
}

/* ---- start ---- */

static int take_token(void)
{
    struct pvmc_token token;
    int rc = pvmd_application_token(application, &token);
    struct pvmd_machine machine = pvmd_machine_of_token(&token);
    rc = rc ? rc : pvmd_machine_join(&machine);
    OPENSSL_cleanse(&machine, sizeof machine);
    OPENSSL_cleanse(&token, sizeof token);
    return rc;
}

int pvmd_applicant_run(const struct pvmd_application *a)
{
    application = a;
    pvmc_log_to(NULL, NULL, PVMC_LOG_INFO);
    const char *tls = pvmw_tls_start();
    if (tls)
        pvmc_log(PVMC_LOG_ERROR, "cannot set up TLS: %s", tls);
    if (tls || pvmd_application_name(a, own_name) || pvmd_application_targets(a, &targets) || take_token())
        return 1;
    loop = ev_default_loop(EVFLAG_AUTO | EVFLAG_NOENV); /* the one that reaps children */
    if (!loop)
        return 1;
    srand((unsigned)pvmc_clock_us());
    since_us = pvmc_clock_us();
    watch();
    watch_ourselves();
    attempt();
    ev_run(loop, 0);
    drop_attempt();
    pvmd_resolve_stop();
    pvmw_tls_stop();
    return exit_code;
}
