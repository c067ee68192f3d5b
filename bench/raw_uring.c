/* raw_uring.c - io_uring: see raw_way.h. With `spin`, polls the completion queue instead of waiting in the kernel. */
#include "raw_way.h"
#include <err.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ENTRIES = 8 };

struct uring {
    struct io_uring ring;
    int fd;
    bool spin;
};

static void *uring_open(int fd, bool spin)
{
    struct uring *u = calloc(1, sizeof *u);
    int rc = u ? io_uring_queue_init(ENTRIES, &u->ring, 0) : -ENOMEM;
    if (rc < 0)
        errx(1, "io_uring: %s", strerror(-rc));
    u->fd = fd;
    u->spin = spin;
    return u;
}

static void uring_close(void *state)
{
    struct uring *u = state;
    io_uring_queue_exit(&u->ring);
    free(u);
}

/* Submits the prepared request and waits for its result. */
static ssize_t complete(struct uring *u)
{
    struct io_uring_cqe *done = NULL;
    int rc = u->spin ? io_uring_submit(&u->ring) : io_uring_submit_and_wait(&u->ring, 1);
    while (rc >= 0 && !done)
        rc = u->spin ? io_uring_peek_cqe(&u->ring, &done) == -EAGAIN ? 0 : rc : io_uring_wait_cqe(&u->ring, &done);
    if (!done)
        return -1;
    ssize_t n = done->res;
    io_uring_cqe_seen(&u->ring, done);
    return n;
}

static bool uring_send(void *state, const char *data, size_t bytes)
{
    struct uring *u = state;
    for (size_t done = 0; done < bytes;) {
        io_uring_prep_send(io_uring_get_sqe(&u->ring), u->fd, data + done, bytes - done, MSG_NOSIGNAL);
        ssize_t n = complete(u);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool uring_receive(void *state, char *data, size_t bytes)
{
    struct uring *u = state;
    for (size_t done = 0; done < bytes;) {
        io_uring_prep_recv(io_uring_get_sqe(&u->ring), u->fd, data + done, bytes - done, 0);
        ssize_t n = complete(u);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

const struct raw_way raw_uring = {
    .name = "uring", .open = uring_open, .close = uring_close, .send = uring_send, .receive = uring_receive};
