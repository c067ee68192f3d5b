/* rights.c - see rights.h. */
#include "rights.h"
#include <string.h>
#include <unistd.h>

void pvmw_rights_attach(struct msghdr *msg, union pvmw_rights_room *room, const int *fds, unsigned count)
{
    int given[PVMW_RIGHTS_MAX];
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        if (fds[i] >= 0) {
            given[bytes / sizeof *given] = fds[i];
            bytes += sizeof *given;
        }
    if (!bytes)
        return;
    memset(room, 0, sizeof *room);
    msg->msg_control = room;
    msg->msg_controllen = CMSG_SPACE(bytes);
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(bytes)};
    memcpy(CMSG_DATA(c), given, bytes);
}

void pvmw_rights_take(struct msghdr *msg, int *fds, unsigned count)
{
    unsigned taken = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t came = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < came; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (taken < count)
                fds[taken++] = fd;
            else
                close(fd);
        }
    }
    while (taken < count)
        fds[taken++] = -1;
}
