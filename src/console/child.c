/* child.c - see child.h. */
#include "child.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FDS = CHILD_STREAMS + 1, KILL_POLLS = 50, KILL_POLL_US = 10000 };

extern char **environ;

volatile sig_atomic_t child_stop;

static double clock_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- start ---- */

static int open_pipes(int ends[CHILD_STREAMS][2])
{
    if (pipe2(ends[CHILD_OUT], O_CLOEXEC) != 0)
        return errno;
    if (pipe2(ends[CHILD_ERR], O_CLOEXEC) == 0)
        return 0;
    int error = errno;
    close(ends[CHILD_OUT][0]);
    close(ends[CHILD_OUT][1]);
    return error;
}

/* Keeps our ends of the pipes, or none after an error. */
static int begin(struct child *child, int ends[CHILD_STREAMS][2], int error)
{
    for (int i = 0; i < CHILD_STREAMS; i++) {
        close(ends[i][1]);
        if (error != 0)
            close(ends[i][0]);
        else
            fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
        child->streams[i].fd = error != 0 ? -1 : ends[i][0];
    }
    if (error == 0)
        child->pidfd = pidfd_open(child->pid, 0);
    else
        child->pid = 0;
    return error;
}

static void clear(struct child *child)
{
    *child = (struct child){.pidfd = -1, .from_s = clock_s(CLOCK_REALTIME)};
    for (int i = 0; i < CHILD_STREAMS; i++)
        child->streams[i].fd = -1;
}

int child_exec(struct child *child, char *const argv[])
{
    int ends[CHILD_STREAMS][2];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    clear(child);
    int error = open_pipes(ends);
    if (error != 0)
        return error;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[CHILD_OUT][1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[CHILD_ERR][1], STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* to kill it with its children */
    error = posix_spawnp(&child->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return begin(child, ends, error);
}

int child_call(struct child *child, void (*function)(void *), void *arg)
{
    int ends[CHILD_STREAMS][2];

    clear(child);
    int error = open_pipes(ends);
    if (error != 0)
        return error;
    fflush(NULL); /* or the child would write it, too */
    child->pid = fork();
    if (child->pid == 0) {
        setpgid(0, 0);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(ends[CHILD_OUT][1], STDOUT_FILENO);
        dup2(ends[CHILD_ERR][1], STDERR_FILENO);
        function(arg);
        fflush(NULL);
        _exit(0);
    }
    error = child->pid < 0 ? errno : 0;
    if (error == 0)
        setpgid(child->pid, child->pid); /* both do it: it must hold before we could kill it */
    return begin(child, ends, error);
}

/* ---- output ---- */

/* Keeps what fits and drops the rest. */
static void keep(struct child_stream *s, const char *bytes, size_t length)
{
    if (s->text == NULL)
        s->text = malloc(CHILD_BYTES_MAX + 1);
    if (s->text == NULL)
        return;
    for (size_t i = 0; i < length && s->length < CHILD_BYTES_MAX; i++)
        s->text[s->length++] = bytes[i];
    s->text[s->length] = '\0';
}

/* Reads what has arrived, or only a part of it if there is much. */
static void take(struct child_stream *s)
{
    char bytes[16384];
    ssize_t got = s->fd >= 0 ? read(s->fd, bytes, sizeof(bytes)) : -1;

    if (got > 0)
        keep(s, bytes, (size_t)got);
    if (s->fd >= 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))) {
        close(s->fd);
        s->fd = -1;
    }
}

static void take_rest(struct child *child)
{
    for (int i = 0; i < CHILD_STREAMS; i++)
        for (size_t before = SIZE_MAX; child->streams[i].fd >= 0 && child->streams[i].length != before;) {
            before = child->streams[i].length;
            take(&child->streams[i]);
        }
}

static bool reap(struct child *child)
{
    if (child->pid > 0 && waitpid(child->pid, &child->status, WNOHANG) == 0)
        return false;
    child->pid = 0;
    child->to_s = clock_s(CLOCK_REALTIME);
    return true;
}

/* A process that waits for a dead file server cannot be killed: we leave it behind. */
static void kill_late(struct child *child)
{
    child->late = true;
    kill(-child->pid, SIGKILL);
    for (int i = 0; i < KILL_POLLS && !reap(child); i++)
        usleep(KILL_POLL_US);
    child->pid = 0;
}

static int watch(const struct child *child, struct pollfd *fds)
{
    int n = 0;

    for (int i = 0; i < CHILD_STREAMS; i++)
        if (child->streams[i].fd >= 0)
            fds[n++] = (struct pollfd){.fd = child->streams[i].fd, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = child->pidfd, .events = POLLIN};
    return n;
}

/* A helper of the command may keep its output open: the end of the command itself counts. */
static void look(struct child *child)
{
    for (int i = 0; i < CHILD_STREAMS; i++)
        take(&child->streams[i]);
    if (reap(child))
        take_rest(child);
}

void child_gather(struct child *children, int count, int limit_ms)
{
    double until_s = clock_s(CLOCK_MONOTONIC) + limit_ms / 1e3;
    struct pollfd *fds = calloc((size_t)count * FDS + 1, sizeof(*fds));

    while (fds != NULL && !child_stop) {
        int n = 0;
        for (int i = 0; i < count; i++)
            n += children[i].pid > 0 ? watch(&children[i], fds + n) : 0;
        double left_s = until_s - clock_s(CLOCK_MONOTONIC);
        if (n == 0 || left_s <= 0 || (poll(fds, (nfds_t)n, (int)(left_s * 1e3) + 1) < 0 && errno != EINTR))
            break;
        for (int i = 0; i < count; i++)
            if (children[i].pid > 0)
                look(&children[i]);
    }
    free(fds);
    for (int i = 0; i < count; i++)
        if (children[i].pid > 0)
            kill_late(&children[i]);
}

const char *child_text(const struct child *child, int stream)
{
    return child->streams[stream].text != NULL ? child->streams[stream].text : "";
}

void child_free(struct child *child)
{
    for (int i = 0; i < CHILD_STREAMS; i++) {
        if (child->streams[i].fd >= 0)
            close(child->streams[i].fd);
        free(child->streams[i].text);
    }
    if (child->pidfd >= 0)
        close(child->pidfd);
    clear(child);
}
