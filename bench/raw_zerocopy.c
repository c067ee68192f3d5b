/* raw_zerocopy.c - MSG_ZEROCOPY: see raw_way.h. */
#include "raw_way.h"
#include <err.h>
#include <errno.h>
#include <time.h> /* before errqueue.h, which needs it */

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

struct zerocopy {
    int fd;
};

static void *zerocopy_open(int fd, bool spin)
{
    int on = 1;
    struct zerocopy *z = malloc(sizeof *z);
    (void)spin; /* it polls for the notices in any case */
    if (!z || setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) < 0)
        err(1, "SO_ZEROCOPY");
    z->fd = fd;
    return z;
}

/* The number of sends that the next notice says are done; 0: there is no notice yet. */
static uint32_t sends_done(int fd)
{
    char control[256];
    struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return 0;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    const struct sock_extended_err *e = c ? (const struct sock_extended_err *)(const void *)CMSG_DATA(c) : NULL;
    return e && e->ee_origin == SO_EE_ORIGIN_ZEROCOPY ? e->ee_data - e->ee_info + 1 : 0;
}

static bool zerocopy_send(void *state, const char *data, size_t bytes)
{
    int fd = ((struct zerocopy *)state)->fd;
    uint32_t pending = 0;
    for (size_t done = 0; done < bytes;) {
        ssize_t n = send(fd, data + done, bytes - done, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_ZEROCOPY);
        if (n < 0 && errno != EAGAIN && errno != ENOBUFS)
            return false;
        done += n > 0 ? (size_t)n : 0;
        pending += n > 0;
        pending -= sends_done(fd);
    }
    while (pending)
        pending -= sends_done(fd);
    return true;
}

const struct raw_way raw_zerocopy = {.name = "zerocopy", .open = zerocopy_open, .close = free, .send = zerocopy_send};
