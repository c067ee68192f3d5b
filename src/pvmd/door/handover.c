/* handover.c - see handover.h. */
#include "handover.h"
#include <errno.h>
#include <string.h>
#include "wire/rights.h"

int pvmd_handover_send(int to, const void *message, size_t size, int fd)
{
    union pvmw_rights_room room;
    struct iovec piece = {.iov_base = (void *)message, .iov_len = size};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1};
    pvmw_rights_attach(&m, &room, &fd, 1);
    return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

ssize_t pvmd_handover_receive(int from, void *message, size_t size, int *fd)
{
    union pvmw_rights_room room;
    struct iovec piece = {.iov_base = message, .iov_len = size};
    struct msghdr m = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
    *fd = -1;
    ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
    if (n < 0)
        return -1;
    pvmw_rights_take(&m, fd, 1);
    if (!(m.msg_flags & MSG_TRUNC))
        return n;
    errno = EPROTO;
    return -1;
}
