/* socket.c - see socket.h. */
#include "socket.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A descriptor, or a negative errno. */
static int new_socket(int family, const struct pvmw_socket_buffers *b)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (b && b->send_bytes)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &b->send_bytes, sizeof b->send_bytes);
    if (b && b->receive_bytes) /* before connect() and listen(), which negotiate the window scale */
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &b->receive_bytes, sizeof b->receive_bytes);
    return fd;
}

static int close_failed(int fd)
{
    int error = errno;
    close(fd);
    return -error;
}

/* ---- connecting ---- */

int pvmw_socket_connect(const union pvmw_address *to, const union pvmw_address *from,
                        const struct pvmw_socket_buffers *buffers)
{
    int on = 1, fd = new_socket(to->any.sa_family, buffers);
    if (fd < 0)
        return fd;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on); /* connect() chooses one */
    if (from && bind(fd, &from->any, pvmw_address_size(from)))
        return close_failed(fd);
    if (connect(fd, &to->any, pvmw_address_size(to)) && errno != EINPROGRESS)
        return close_failed(fd);
    return fd;
}

bool pvmw_socket_is_own_end(int fd, const union pvmw_address *to)
{
    union pvmw_address own = {.v4 = {0}};
    socklen_t size = sizeof own;
    return !getsockname(fd, &own.any, &size) && pvmw_address_same(&own, to) &&
           pvmw_address_port(&own) == pvmw_address_port(to);
}

int pvmw_socket_connected(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
}

/* ---- listening ---- */

static int listen_at(union pvmw_address *a, const struct pvmw_socket_listen *how)
{
    int on = 1, v6_only = !how->v4_too, fd = new_socket(a->any.sa_family, how->buffers);
    socklen_t size = sizeof *a;
    if (fd < 0)
        return fd;
    if (a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* old connections do not block a port */
    if (bind(fd, &a->any, pvmw_address_size(a)) || listen(fd, how->backlog) || getsockname(fd, &a->any, &size))
        return close_failed(fd);
    return fd;
}

int pvmw_socket_listen(union pvmw_address *a, const struct pvmw_socket_listen *how)
{
    int fd = -EADDRINUSE;
    for (unsigned i = 0; i < how->count && fd == -EADDRINUSE; i++) {
        pvmw_address_set_port(a, (uint16_t)(how->low + (how->first + i) % how->count));
        fd = listen_at(a, how);
    }
    return fd;
}
