/* descriptors.h - a peer that sends descriptors freely, and a count of the descriptors open here. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <check.h>
#include <dirent.h>
#include <string.h>
#include <sys/socket.h>

#define DESCRIPTORS_MAX 253 /* the kernel's SCM_MAX_FD: the limit for one message */

static inline unsigned open_descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static inline void send_descriptors(int socket, const void *bytes, size_t length, const int *fds, size_t count)
{
    struct iovec iov = {(void *)bytes, length};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * DESCRIPTORS_MAX)] = {0};
    if (count) {
        msg.msg_control = control;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
    }
    ck_assert_int_eq(sendmsg(socket, &msg, MSG_NOSIGNAL), (ssize_t)length);
}

/* Sends the same descriptor `count` times. */
static inline void send_copies(int socket, const void *bytes, size_t length, int fd, size_t count)
{
    int fds[DESCRIPTORS_MAX];
    for (size_t i = 0; i < count; i++)
        fds[i] = fd;
    send_descriptors(socket, bytes, length, fds, count);
}

#endif
