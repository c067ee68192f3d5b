/* carrier_ip.c - messages over UDP and TCP between the addresses of the same interfaces. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "carrier.h"
#include "tools/dp-perf/watchdog.h"

enum { UDP_HEADERS_BYTES = 28, UDP_BYTES_MAX = 65507, BUFFER_BYTES = ROOM_BYTES_MAX };

static char landing[MESSAGE_BYTES_MAX];

/* Opens a socket of this type at our address and a free port. */
static int open_socket(struct end *end, int type, int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = end->wire->ip};
    socklen_t length = sizeof address;
    if (!end->wire->ip) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    *fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (*fd < 0 || bind(*fd, (struct sockaddr *)&address, length) < 0 ||
        getsockname(*fd, (struct sockaddr *)&address, &length) < 0)
        return -1;
    end->here.port = ntohs(address.sin_port);
    return 0;
}

static int connect_to_peer(struct end *end)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = end->peer.ip, .sin_port = htons(end->peer.port)};
    return connect(end->fd, (struct sockaddr *)&address, sizeof address);
}

static int flags_of(const struct end *end, bool wait)
{
    return MSG_NOSIGNAL | (end->spin || !wait ? MSG_DONTWAIT : 0);
}

/* Handles a failed call. Returns 0: not now; 1: try again; -1: failed. */
static int after_failure(bool wait)
{
    if (errno == EAGAIN && !wait)
        return 0;
    if (errno == EAGAIN)
        return watchdog_check() < 0 ? -1 : 1;
    return watchdog_again() ? 1 : -1;
}

void socket_end_close(struct end *end)
{
    if (end->fd >= 0)
        close(end->fd);
    if (end->listener >= 0)
        close(end->listener);
}

/* ---- UDP ---- */

int udp_end_open(struct end *end)
{
    int bytes = BUFFER_BYTES;
    if (open_socket(end, SOCK_DGRAM, &end->fd) < 0)
        return -1;
    if (setsockopt(end->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(end->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); /* as much as is permitted */
    int longest = end->wire->mtu - UDP_HEADERS_BYTES;
    end->longest = longest < UDP_BYTES_MAX ? longest : UDP_BYTES_MAX;
    return 0;
}

int udp_end_meet(struct end *end)
{
    return connect_to_peer(end);
}

int udp_end_send(struct end *end, const char *message, size_t bytes, bool wait)
{
    int more = 1;
    while (more == 1) {
        if (send(end->fd, message, bytes, flags_of(end, wait)) >= 0) {
            watchdog_moved();
            return 1;
        }
        more = after_failure(wait);
    }
    return more;
}

int udp_end_take(struct end *end, size_t bytes, bool wait)
{
    int more = 1;
    (void)bytes;
    while (more == 1) {
        if (recv(end->fd, landing, sizeof landing, flags_of(end, wait)) >= 0) {
            watchdog_moved();
            memcpy(&end->head, landing, sizeof end->head);
            return 1;
        }
        more = after_failure(wait);
    }
    return more;
}

/* ---- TCP ---- */

int tcp_end_open(struct end *end)
{
    end->longest = MESSAGE_BYTES_MAX;
    if (open_socket(end, SOCK_STREAM, end->passive ? &end->listener : &end->fd) < 0)
        return -1;
    return end->passive ? listen(end->listener, 1) : 0;
}

int tcp_end_meet(struct end *end)
{
    int on = 1;
    if (!end->passive && connect_to_peer(end) < 0)
        return -1;
    while (end->passive && (end->fd = accept4(end->listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
        if (!watchdog_again())
            return -1;
    return setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int tcp_end_send(struct end *end, const char *message, size_t bytes, bool wait)
{
    while (end->moved_out < bytes) {
        ssize_t n = send(end->fd, message + end->moved_out, bytes - end->moved_out, flags_of(end, wait));
        int more = n < 0 ? after_failure(wait) : 1;
        if (more != 1)
            return more;
        end->moved_out += n > 0 ? (size_t)n : 0;
        if (n > 0)
            watchdog_moved();
    }
    end->moved_out = 0;
    return 1;
}

int tcp_end_take(struct end *end, size_t bytes, bool wait)
{
    while (end->moved_in < bytes) {
        ssize_t n = recv(end->fd, landing, bytes - end->moved_in, flags_of(end, wait));
        if (n == 0)
            errno = ECONNRESET;
        int more = n == 0 ? -1 : n < 0 ? after_failure(wait) : 1;
        if (more != 1)
            return more;
        end->moved_in += n > 0 ? (size_t)n : 0;
        if (n > 0)
            watchdog_moved();
    }
    end->moved_in = 0;
    return 1;
}
