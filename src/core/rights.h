/*
 * rights.h - a descriptor beside the bytes of a message on a Unix socket (SCM_RIGHTS). Whoever receives from a Unix
 * socket with room for control data takes what came with pvmi_rights_take(): a peer may send more than it should, and
 * with messages that should have none.
 */
#ifndef PVMI_RIGHTS_H
#define PVMI_RIGHTS_H

#include <stdint.h>
#include <sys/socket.h>

/*
 * Aligned as the kernel wants it. The sender's credentials take room where SO_PASSCRED is set. Descriptors that find no
 * room are closed by the kernel; for alignment's sake there is some for more than one.
 */
union pvmi_rights_room {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Lets sendmsg() send fd along, which stays the caller's. */
void pvmi_rights_attach(struct msghdr *msg, union pvmi_rights_room *room, int fd);

/*
 * After recvmsg() has succeeded, be it with no bytes: the descriptor that came, now the caller's, or -1; whatever came
 * beyond one is closed.
 */
int pvmi_rights_take(struct msghdr *msg);

#endif
