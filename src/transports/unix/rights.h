/* rights.h - a descriptor beside the bytes of a message on a Unix socket (SCM_RIGHTS). */
#ifndef PVMI_UNIX_RIGHTS_H
#define PVMI_UNIX_RIGHTS_H

#include <stdint.h>
#include <sys/socket.h>

#define PVMI_RIGHTS_MAX 4 /* a message brings one; room for what a peer that errs may send, to close it */

/* Aligned as the kernel wants it. */
union pvmi_rights_room {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(PVMI_RIGHTS_MAX * sizeof(int))];
};

/* Lets sendmsg() send fd along, which stays the caller's. */
void pvmi_rights_attach(struct msghdr *msg, union pvmi_rights_room *room, int fd);

/* After recvmsg(): the descriptor that came, now the caller's, or -1; whatever came beyond one is closed. */
int pvmi_rights_take(struct msghdr *msg);

#endif
