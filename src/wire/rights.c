/* rights.c - see rights.h. */
#include "rights.h"
#include <string.h>
#include <unistd.h>

void pvmw_rights_attach(struct msghdr *msg, union pvmw_rights_room *room, int fd)
{
    memset(room, 0, sizeof *room);
    msg->msg_control = room;
    msg->msg_controllen = CMSG_SPACE(sizeof fd);
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
}

int pvmw_rights_take(struct msghdr *msg)
{
    int first = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (first < 0)
                first = fd;
            else
                close(fd);
        }
    }
    return first;
}
