/*
 * stream_bytes.h - how stream.c moves its bytes: over a plain socket, with descriptors, or within TLS. Inline, because
 * every frame passes here twice.
 */
#ifndef PVMW_STREAM_BYTES_H
#define PVMW_STREAM_BYTES_H

#include <errno.h>
#include <sys/socket.h>
#include "core/error.h"
#include "rights.h"
#include "stream.h"

/* Result of a failed write: 0 if the socket is full, else PVMC_EDOWN. */
static inline ssize_t write_failed(void)
{
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM ? 0 : PVMC_EDOWN;
}

static inline ssize_t read_result(ssize_t n)
{
    return n > 0 ? n : !n ? PVMC_ESHORT : errno == EAGAIN ? 0 : PVMC_EDOWN;
}

/* ---- a plain socket ---- */

static inline ssize_t write_message(struct pvmw_stream *s, struct msghdr *msg)
{
    ssize_t n = sendmsg(s->fd, msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n >= 0 ? n : write_failed();
}

static inline ssize_t plain_send(struct pvmw_stream *s, const void *data, size_t length)
{
    ssize_t n = send(s->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n >= 0 ? n : write_failed();
}

static inline ssize_t plain_write(struct pvmw_stream *s, struct iovec *iov, unsigned count)
{
    if (count > 1)
        return write_message(s, &(struct msghdr){.msg_iov = iov, .msg_iovlen = count});
    return plain_send(s, iov->iov_base, iov->iov_len);
}

static inline ssize_t plain_read(struct pvmw_stream *s, struct iovec *iov, unsigned count, size_t wanted, bool *drained)
{
    ssize_t n;
    do
        n = count == 1 ? recv(s->fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT)
                       : recvmsg(s->fd, &(struct msghdr){.msg_iov = iov, .msg_iovlen = count}, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    *drained = n < (ssize_t)wanted;
    return read_result(n);
}

/* ---- a Unix socket, with descriptors ---- */

/*
 * Not inline: the room for descriptors would slow down every frame. If too many descriptors are in flight the frame
 * goes without its own, and the receiver learns that it was lost.
 */
static __attribute__((noinline)) ssize_t write_with(struct pvmw_stream *s, struct iovec *iov, unsigned count, int fd)
{
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = count};
    union pvmw_rights_room control;
    pvmw_rights_attach(&msg, &control, &fd, 1);
    ssize_t n = sendmsg(s->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == ETOOMANYREFS)
        return plain_write(s, iov, count);
    return n >= 0 ? n : write_failed();
}

static inline ssize_t rights_read(struct pvmw_stream *s, struct iovec *iov, unsigned count, size_t wanted, int *fd,
                                  bool *drained)
{
    union pvmw_rights_room control;
    struct msghdr msg = {
        .msg_iov = iov, .msg_iovlen = count, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    do
        n = recvmsg(s->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    *drained = n < (ssize_t)wanted && !msg.msg_controllen;
    if (n > 0 && msg.msg_controllen)
        pvmw_rights_take(&msg, fd, 1);
    return n > 0 ? n : read_result(n);
}

/* ---- TLS ---- */

static inline ssize_t tls_write(struct pvmw_stream *s, struct iovec *iov, unsigned count)
{
    size_t taken = 0, n = 0;
    for (unsigned i = 0; i < count && n == (i ? iov[i - 1].iov_len : 0); i++) {
        n = s->tls_ops->put(s->tls, iov[i].iov_base, iov[i].iov_len);
        taken += n;
    }
    return s->tls_ops->error(s->tls) ? PVMC_EDOWN : (ssize_t)taken;
}

static inline ssize_t tls_read(struct pvmw_stream *s, struct iovec *iov, bool *drained)
{
    ssize_t n = s->tls_ops->read(s->tls, iov->iov_base, iov->iov_len);
    *drained = n <= 0;
    return n >= 0 ? n : n == -1 ? PVMC_ESHORT : PVMC_EDOWN;
}

static inline bool tls_flush(struct pvmw_stream *s)
{
    bool all = s->tls_ops->flush(s->tls);
    s->broken |= s->tls_ops->error(s->tls) != NULL;
    return all && !s->broken;
}

/* ---- whichever it is ---- */

/* Bytes written, 0 when there is no room now, or PVMC_EDOWN. `fd` accompanies the first byte; -1: none. */
static inline ssize_t pvmw_stream_write_bytes(struct pvmw_stream *s, struct iovec *iov, unsigned count, int fd)
{
    if (s->kind == PVMW_STREAM_TLS)
        return tls_write(s, iov, count);
    return fd < 0 ? plain_write(s, iov, count) : write_with(s, iov, count, fd);
}

/*
 * Bytes read of the `wanted` of all iov, 0 when there are none now, PVMC_ESHORT when the peer has ended the stream, or
 * PVMC_EDOWN. Sets *fd if a descriptor came with them; *drained: nothing more is there.
 */
static inline ssize_t pvmw_stream_read_bytes(struct pvmw_stream *s, struct iovec *iov, unsigned count, size_t wanted,
                                             int *fd, bool *drained)
{
    if (s->kind == PVMW_STREAM_RIGHTS)
        return rights_read(s, iov, count, wanted, fd, drained);
    return s->kind == PVMW_STREAM_PLAIN ? plain_read(s, iov, count, wanted, drained) : tls_read(s, iov, drained);
}

/* Sends buffered data: true when all of it is written. */
static inline bool pvmw_stream_flush_bytes(struct pvmw_stream *s)
{
    return s->kind != PVMW_STREAM_TLS || tls_flush(s);
}

#endif
