/* launch.c - see launch.h. */
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "core/version.h"
#include "core/visible.h"
#include "password.h"
#include "pvmd/base/sweeper.h"
#include "pvm3.h"

#define LINGER_S       10.  /* for a released command to end by itself */
#define KILL_S         1.   /* for a cancelled one, after SIGTERM */
#define PVM34_PROTOCOL 2316 /* what PVM 3.4's own pvmd tells */
#define NOISE_MAX      512  /* bytes kept of a line that is not the slave's */

extern char **environ;

/* ---- a launch ---- */

/* Reads lines from a descriptor of the command. */
struct line_reader {
    ev_io io; /* its fd is -1 when closed */
    char line[PVMD_START_LINE_MAX + 1];
    size_t length;
};

struct pvmd_launch {
    struct ev_loop *loop;
    char *label;
    const struct pvmd_launch_events *events;
    void *owner;
    bool owned; /* the owner has neither released nor cancelled it, nor heard of its failure */
    bool told;  /* the owner has had its event */
    pid_t pid;  /* 0: it has ended with `status` */
    int status;
    ev_child child;
    ev_io in; /* the command's stdin; its fd is -1 when closed */
    char *text;
    size_t text_done;
    struct line_reader out, err;
    ev_timer limit;
    char said[NOISE_MAX];      /* last noise on stdout ... */
    char complaint[NOISE_MAX]; /* ... and last line on stderr */
    struct pvmd_launch *prev, *next;
};

static struct pvmd_launch *launches;

const char *pvmd_launch_last_words(const struct pvmd_launch *l)
{
    return l->complaint[0] ? l->complaint : l->said;
}

static void close_io(struct ev_loop *loop, ev_io *io)
{
    if (io->fd < 0)
        return;
    ev_io_stop(loop, io);
    close(io->fd);
    ev_io_set(io, -1, 0);
}

static void wipe_text(struct pvmd_launch *l)
{
    if (l->text)
        OPENSSL_cleanse(l->text, strlen(l->text));
    free(l->text);
    l->text = NULL;
}

static void close_all(struct pvmd_launch *l)
{
    close_io(l->loop, &l->in);
    close_io(l->loop, &l->out.io);
    close_io(l->loop, &l->err.io);
    wipe_text(l);
}

static void free_launch(struct pvmd_launch *l)
{
    close_all(l);
    ev_child_stop(l->loop, &l->child);
    ev_timer_stop(l->loop, &l->limit);
    DL_DELETE(launches, l);
    free(l->label);
    free(l);
}

/* ---- the cause of a failure ---- */

static void describe_end(const struct pvmd_launch *l, char *text, size_t size)
{
    if (WIFSIGNALED(l->status))
        snprintf(text, size, "%s was ended by signal %d", l->label, WTERMSIG(l->status));
    else if (WEXITSTATUS(l->status))
        snprintf(text, size, "%s ended with code %d", l->label, WEXITSTATUS(l->status));
    else
        snprintf(text, size, "%s ended without starting a daemon", l->label);
}

/* Frees it from the loop, because callers up the stack may still hold it. */
static void let_go(struct pvmd_launch *l, ev_tstamp limit_s)
{
    l->owned = false;
    close_all(l);
    ev_timer_stop(l->loop, &l->limit);
    ev_timer_set(&l->limit, l->pid ? limit_s : 0., 0.);
    ev_timer_start(l->loop, &l->limit);
}

/* Signals all processes of the command's session. */
static void signal_command(const struct pvmd_launch *l, int signal)
{
    if (l->pid)
        kill(-l->pid, signal);
}

void pvmd_launch_cancel(struct pvmd_launch *l)
{
    signal_command(l, SIGTERM);
    let_go(l, KILL_S);
}

void pvmd_launch_release(struct pvmd_launch *l)
{
    let_go(l, LINGER_S);
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct pvmd_launch *l = w->data;
    (void)events;
    if (!l->pid) {
        free_launch(l);
        return;
    }
    signal_command(l, SIGKILL);
    ev_timer_set(w, KILL_S, 0.);
    ev_timer_start(loop, w);
}

static void fail(struct pvmd_launch *l, int code, bool reached, const char *why)
{
    l->told = true;
    l->owned = false;
    l->events->failed(l->owner, code, reached, why);
    pvmd_launch_cancel(l);
}

/* The command has ended, and its output held no daemon's line. */
static void judge_end(struct pvmd_launch *l)
{
    char how[128], why[2 * NOISE_MAX];
    const char *words = pvmd_launch_last_words(l);
    bool unknown = strstr(l->complaint, "Could not resolve hostname") != NULL;
    if (l->told || l->pid || l->out.io.fd >= 0 || l->err.io.fd >= 0)
        return;
    describe_end(l, how, sizeof how);
    snprintf(why, sizeof why, "%s%s%s", how, *words ? ": " : "", words);
    fail(l, unknown ? PvmNoHost : PvmCantStart, false, why);
}

static void child_event(struct ev_loop *loop, ev_child *w, int events)
{
    struct pvmd_launch *l = w->data;
    (void)events;
    ev_child_stop(loop, w);
    l->pid = 0;
    l->status = w->rstatus;
    if (l->owned)
        judge_end(l);
    else
        free_launch(l);
}

/* ---- its output ---- */

static void strip(char *line)
{
    size_t n = strlen(line);
    while (n && (unsigned char)line[n - 1] <= ' ')
        line[--n] = '\0';
}

static void keep_words(char to[NOISE_MAX], char *line)
{
    strip(line);
    if (*line)
        pvmc_visible_bytes(to, NOISE_MAX, line, strlen(line));
}

static void fail_of_another_version(struct pvmd_launch *l, const struct pvmd_start_line *line)
{
    char why[256];
    if (line->protocol == PVM34_PROTOCOL)
        snprintf(why, sizeof why,
                 "it has PVM 3.4's own pvmd there, this host has dpvm %s: install dpvm there, or tell where it is "
                 "(dx= in the hostfile, or PVM_DPATH)",
                 pvmc_version);
    else
        snprintf(
            why, sizeof why, "it has dpvm %s (protocol %ld), this host dpvm %s (%d): install the same version on both",
            *line->version ? line->version : "of unknown version", line->protocol, pvmc_version, PVMC_DAEMON_PROTOCOL);
    fail(l, PvmBadVersion, true, why);
}

static void fail_as_told(struct pvmd_launch *l, const struct pvmd_start_line *line)
{
    char why[sizeof line->why + 64];
    bool other = line->code == PvmBadVersion;
    snprintf(why, sizeof why, "%s%s%s", line->why, other ? "; this host has dpvm " : "", other ? pvmc_version : "");
    fail(l, line->code, true, why);
}

static void out_line(struct pvmd_launch *l, char *text)
{
    struct pvmd_start_line line;
    strip(text);
    switch (pvmd_start_line_parse(text, &line)) {
    case PVMD_LINE_START:
        l->told = true;
        l->events->started(l->owner, &line);
        break;
    case PVMD_LINE_OTHER_VERSION:
        fail_of_another_version(l, &line);
        break;
    case PVMD_LINE_ERROR:
        fail_as_told(l, &line);
        break;
    case PVMD_LINE_NOISE:
        keep_words(l->said, text);
        break;
    }
}

static void take_lines(struct pvmd_launch *l, struct line_reader *r)
{
    char *newline;
    while (r->io.fd >= 0 && (newline = memchr(r->line, '\n', r->length))) {
        size_t length = (size_t)(newline - r->line) + 1;
        *newline = '\0';
        if (r == &l->err)
            keep_words(l->complaint, r->line);
        else if (!l->told)
            out_line(l, r->line);
        r->length -= length;
        memmove(r->line, r->line + length, r->length);
    }
    if (r->length == PVMD_START_LINE_MAX)
        r->length = 0; /* no line of the start protocol is this long */
}

static void read_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_launch *l = w->data;
    struct line_reader *r = w == &l->out.io ? &l->out : &l->err;
    (void)events;
    ssize_t n = read(w->fd, r->line + r->length, PVMD_START_LINE_MAX - r->length);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        r->length += (size_t)n;
        take_lines(l, r);
        return;
    }
    if (r->length) { /* a last line without newline; there is always room */
        r->line[r->length++] = '\n';
        take_lines(l, r);
    }
    close_io(loop, w);
    judge_end(l);
}

static void write_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_launch *l = w->data;
    (void)events;
    ssize_t n = write(w->fd, l->text + l->text_done, strlen(l->text) - l->text_done);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        l->text_done += (size_t)n;
    if (n > 0 && l->text[l->text_done])
        return;
    wipe_text(l); /* written; or the command has closed its stdin, and will say why */
    ev_io_stop(loop, w);
}

/* ---- start ---- */

/* Our ends do not block. The command gets its ends as 0, 1 and 2; exec() closes all others. */
static int make_pipes(int in[2], int out[2], int err[2])
{
    for (int i = 0; i < 2; i++)
        in[i] = out[i] = err[i] = -1;
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        return -1;
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return 0;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

/* In a session of its own: without a terminal for passwords, and in one process group that we can kill. */
static int spawn_command(struct pvmd_command *c, int in, int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = pvmc_failpoint(PVMC_FAILPOINT_HOST_LAUNCH)
                    ? errno
                    : posix_spawnp(pid, c->argv[0], &actions, &attributes, c->argv, environ);
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_LAUNCH);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (!error)
        pvmd_sweeper_started(*pid);
    return error;
}

static void watch(struct pvmd_launch *l, ev_io *io, void (*event)(struct ev_loop *, ev_io *, int), int fd, int events)
{
    ev_io_init(io, event, fd, events);
    io->data = l;
    ev_io_start(l->loop, io);
}

static void watch_all(struct pvmd_launch *l, int in, int out, int err)
{
    watch(l, &l->in, write_event, in, EV_WRITE);
    watch(l, &l->out.io, read_event, out, EV_READ);
    watch(l, &l->err.io, read_event, err, EV_READ);
    ev_child_init(&l->child, child_event, l->pid, 0);
    l->child.data = l;
    ev_child_start(l->loop, &l->child);
    ev_init(&l->limit, limit_event);
    l->limit.data = l;
    DL_APPEND(launches, l);
}

static void free_unstarted(struct pvmd_launch *l)
{
    wipe_text(l);
    free(l->label);
    free(l);
}

static struct pvmd_launch *new_launch(const char *label, const char *text)
{
    struct pvmd_launch *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->label = strdup(label);
    l->text = strdup(text);
    if (l->label && l->text)
        return l;
    free_unstarted(l);
    return NULL;
}

/* Runs it between the pipes. Returns 0 or an errno. */
static int begin(struct pvmd_launch *l, struct pvmd_command *command)
{
    int in[2], out[2], err[2];
    int error = make_pipes(in, out, err) ? errno : spawn_command(command, in[0], out[1], err[1], &l->pid);
    if (error) {
        close_pair(in);
        close_pair(out);
        close_pair(err);
        return error;
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    watch_all(l, in[1], out[0], err[0]);
    return 0;
}

struct pvmd_launch *pvmd_launch_start(struct ev_loop *loop, const char *label, struct pvmd_command *command,
                                      const char *text, const struct pvmd_launch_events *events, void *owner, char *why,
                                      size_t size)
{
    struct pvmd_launch *l = command->failed ? NULL : new_launch(label, text);
    int error = ENOMEM;
    if (l) {
        l->loop = loop;
        l->owned = true;
        l->events = events;
        l->owner = owner;
        error = begin(l, command);
    }
    if (!error)
        return l;
    snprintf(why, size, "cannot run %s: %s%s", command->count ? command->argv[0] : label, strerror(error),
             error == EMFILE ? "; start this daemon with a higher limit (ulimit -n)" : "");
    if (l)
        free_unstarted(l);
    return NULL;
}

void pvmd_launch_stop(void)
{
    struct pvmd_launch *l, *next;
    DL_FOREACH_SAFE (launches, l, next) {
        signal_command(l, SIGKILL);
        if (l->pid)
            waitpid(l->pid, NULL, 0);
        free_launch(l);
    }
    pvmd_password_stop();
}
