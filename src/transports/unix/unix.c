/* unix.c - frames over a Unix stream socket: how a task talks to its daemon. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "unix.h"

#define DIRECT_MAX PVMT_SLEEP_FDS /* with up to this many endpoints, they are read without epoll */

static int unix_available(char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return 0;
}

/* ---- opening and closing ---- */

int pvmt_unix_watch(struct unix_transport *t, int op, int fd, uint32_t events, void *who)
{
    struct epoll_event event = {.events = events, .data.ptr = who};
    return epoll_ctl(t->epoll_fd, op, fd, &event) ? PVMC_ESYSTEM : 0;
}

static int listen_on(struct unix_transport *t, const char *path)
{
    int fd = pvmt_unix_path_listen(path);
    if (fd < 0)
        return fd;
    t->listen_fd = fd;
    t->path = strdup(path);
    t->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return t->path ? pvmt_unix_watch(t, EPOLL_CTL_ADD, fd, EPOLLIN, NULL) : PVMC_ENOMEM;
}

static void unix_close(struct pvmt_transport *base);

static int unix_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                     struct pvmt_transport **out)
{
    struct unix_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMC_ENOMEM;
    extern const struct pvmt_transport_ops pvmt_unix_ops;
    t->base = (struct pvmt_transport){.ops = &pvmt_unix_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->listen_fd = t->spare_fd = -1;
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int rc = t->epoll_fd < 0 ? pvmt_unix_system_error() : address ? listen_on(t, address) : 0;
    if (rc) {
        unix_close(&t->base);
        return rc;
    }
    *out = &t->base;
    return 0;
}

static void unix_close(struct pvmt_transport *base)
{
    struct unix_transport *t = (struct unix_transport *)base;
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next)
        pvmt_unix_endpoint_free(e);
    DL_FOREACH_SAFE (t->graveyard, e, next)
        pvmt_unix_endpoint_free(e);
    if (t->path && t->pid == getpid())
        unlink(t->path);
    free(t->path);
    int fds[] = {t->listen_fd, t->spare_fd, t->epoll_fd};
    for (unsigned i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(t);
}

static void unix_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    *out = (struct pvmt_attributes){
        .frame_max = 65536, .copy_max = 65536, .latency_ns = 4000, .bandwidth_mbs = 7000, .local_only = true};
}

static int unix_address(const struct pvmt_transport *base, uint8_t *blob, size_t size)
{
    const struct unix_transport *t = (const struct unix_transport *)base;
    size_t length = t->path ? strlen(t->path) : 0;
    if (!length || length > size)
        return PVMC_ELIMIT;
    memcpy(blob, t->path, length);
    return (int)length;
}

static char *path_of_blob(const uint8_t *blob, size_t length)
{
    return length && length < 4096 && !memchr(blob, 0, length) ? strndup((const char *)blob, length) : NULL;
}

static int unix_reach(const struct pvmt_transport *t, const uint8_t *blob, size_t length)
{
    (void)t;
    struct stat st;
    char *path = path_of_blob(blob, length);
    int score = path && !stat(path, &st) && S_ISSOCK(st.st_mode) ? 1 : 0;
    free(path);
    return score;
}

/* ---- endpoints ---- */

static int unix_connect(struct pvmt_transport *base, const uint8_t *blob, size_t length, void *owner,
                        struct pvmt_endpoint **out)
{
    char *path = path_of_blob(blob, length);
    if (!path)
        return PVMC_EPARAM;
    int fd = pvmt_unix_path_connect(path);
    free(path);
    if (fd < 0)
        return fd;
    struct unix_endpoint *e;
    int rc = pvmt_unix_endpoint_new((struct unix_transport *)base, fd, &e);
    if (rc)
        return rc;
    e->base.owner = owner;
    *out = &e->base;
    return 0;
}

static void unix_disconnect(struct pvmt_endpoint *base)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    struct unix_transport *t = (struct unix_transport *)base->transport;
    pvmt_unix_endpoint_bury(e);
    e->told = true; /* the owner no longer needs it: free it as soon as possible */
    if (!t->in_progress) {
        DL_DELETE(t->graveyard, e);
        pvmt_unix_endpoint_free(e);
    }
}

static void unix_traffic(const struct pvmt_endpoint *base, struct pvmc_bypass *out)
{
    const struct unix_endpoint *e = (const struct unix_endpoint *)base;
    *out = (struct pvmc_bypass){.pid = e->pid, .given = e->stream.given, .taken = e->stream.taken};
}

static size_t unix_pending(const struct pvmt_endpoint *base)
{
    return ((const struct unix_endpoint *)base)->stream.queued;
}

/* ---- accepting ---- */

/*
 * Out of descriptors: uses the spare one to accept and close the connection, which would otherwise wake us
 * continuously.
 */
static void refuse_one(struct unix_transport *t)
{
    pvmc_log_once(PVMC_LOG_ERROR, "out of descriptors: refusing connections; raise the limit (ulimit -n)");
    close(t->spare_fd);
    int fd = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    t->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static __attribute__((noinline)) void accept_all(struct unix_transport *t)
{
    for (int i = 0; i < UNIX_EVENTS_MAX; i++) {
        int fd = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                refuse_one(t);
            return;
        }
        struct ucred cred = {.pid = -1, .uid = -1};
        socklen_t size = sizeof cred;
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size);
        struct pvmt_credentials who = {.pid = cred.pid, .uid = cred.uid};
        struct unix_endpoint *e;
        if (!pvmt_unix_endpoint_new(t, fd, &e) && t->base.callbacks->accepted(t->base.arg, &e->base, &who) &&
            !e->stream.ended) {
            pvmt_unix_endpoint_bury(e);
            e->told = true;
        }
    }
}

/* ---- progress ---- */

static void bury_finished(struct unix_transport *t)
{
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->graveyard, e, next)
        if (e->told) {
            DL_DELETE(t->graveyard, e);
            pvmt_unix_endpoint_free(e);
        }
}

static int go_on_after_pauses(struct unix_transport *t)
{
    int n = 0;
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next)
        n += pvmt_unix_endpoint_resume(e);
    return n;
}

static void handle(struct unix_endpoint *e, uint32_t what)
{
    if (!e->stream.ended && what & EPOLLOUT)
        pvmt_unix_endpoint_writable(e);
    if (!e->stream.ended && what & (EPOLLHUP | EPOLLERR))
        pvmt_unix_endpoint_hung_up(e);
    if (!e->stream.ended && what & (EPOLLIN | EPOLLHUP | EPOLLERR))
        pvmt_unix_endpoint_readable(e);
}

static int handle_events(struct unix_transport *t)
{
    int n = epoll_wait(t->epoll_fd, t->events, UNIX_EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        struct unix_endpoint *e = t->events[i].data.ptr;
        uint32_t what = t->events[i].events;
        if (!e)
            accept_all(t);
        else if (what == EPOLLIN && !e->stream.ended)
            pvmt_unix_endpoint_readable(e);
        else
            handle(e, what);
    }
    return n >= 0 ? n : errno == EINTR ? 0 : PVMC_ESYSTEM;
}

/* With one or two quiet connections, epoll only costs time: read them at once. */
static int handle_directly(struct unix_transport *t)
{
    int n = 0;
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next) {
        n += pvmt_unix_endpoint_readable(e);
        if (e->stream.ended)
            return n + 1;
    }
    return n;
}

static bool any_waits_for_room(const struct unix_transport *t)
{
    for (const struct unix_endpoint *e = t->endpoints; e; e = e->next)
        if (e->polls_out)
            return true;
    return false;
}

/* Whether the endpoints are few, and only reading is due. */
static bool is_direct(const struct unix_transport *t)
{
    return t->listen_fd < 0 && t->count <= DIRECT_MAX && !any_waits_for_room(t);
}

static void end_yields(struct unix_transport *t)
{
    t->yielded = false;
    for (struct unix_endpoint *e = t->endpoints; e; e = e->next)
        pvmt_unix_endpoint_unyield(e);
}

static int unix_progress(struct pvmt_transport *base)
{
    struct unix_transport *t = (struct unix_transport *)base;
    bool direct = is_direct(t);
    t->in_progress = true;
    if (t->yielded)
        end_yields(t);
    int taken = t->unread ? go_on_after_pauses(t) : 0;
    int n = direct ? handle_directly(t) : handle_events(t);
    t->in_progress = false;
    if (t->graveyard)
        bury_finished(t);
    return n < 0 ? n : n + taken;
}

static int unix_fd(struct pvmt_transport *base)
{
    return ((struct unix_transport *)base)->epoll_fd;
}

static int unix_arm(struct pvmt_transport *base)
{
    const struct unix_transport *t = (const struct unix_transport *)base;
    const struct unix_endpoint *e = t->unread ? t->endpoints : NULL;
    for (; e; e = e->next)
        if (e->stream.unread && !e->paused)
            return 1;
    return 0; /* epoll is level-triggered: unread data stays readable */
}

static unsigned unix_sleep_on(struct pvmt_transport *base, struct pollfd fds[PVMT_SLEEP_FDS])
{
    const struct unix_transport *t = (const struct unix_transport *)base;
    unsigned n = 0;
    if (!is_direct(t))
        return 0;
    for (const struct unix_endpoint *e = t->endpoints; e; e = e->next) {
        if (e->paused || e->yielded || e->stream.unread)
            return 0;
        fds[n++] = (struct pollfd){.fd = e->stream.fd, .events = POLLIN};
    }
    return n;
}

const struct pvmt_transport_ops pvmt_unix_ops = {
    .name = "unix",
    .summary = "Unix stream socket between a task and its daemon",
    .available = unix_available,
    .open = unix_open,
    .close = unix_close,
    .query = unix_query,
    .address = unix_address,
    .reach = unix_reach,
    .connect = unix_connect,
    .disconnect = unix_disconnect,
    .send = pvmt_unix_endpoint_send,
    .send_wire = pvmt_unix_endpoint_send_wire,
    .pending = unix_pending,
    .traffic = unix_traffic,
    .pause = pvmt_unix_endpoint_pause,
    .yield = pvmt_unix_endpoint_yield,
    .progress = unix_progress,
    .fd = unix_fd,
    .arm = unix_arm,
    .sleep_on = unix_sleep_on,
};
