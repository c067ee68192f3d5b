/*
 * rights.h - a descriptor beside the bytes of a message on a Unix socket (SCM_RIGHTS). A receiver that gives recvmsg()
 * room for control data must call pvmw_rights_take(): a peer may send more descriptors than it should, and send them
 * with messages that should have none.
 */
#ifndef PVMW_RIGHTS_H
#define PVMW_RIGHTS_H

#include <stdint.h>
#include <sys/socket.h>

/*
 * Aligned as the kernel requires. The sender's credentials take room if SO_PASSCRED is set. The kernel closes
 * descriptors that do not fit; alignment leaves room for more than one.
 */
union pvmw_rights_room {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Lets sendmsg() send fd along, which stays the caller's. */
void pvmw_rights_attach(struct msghdr *msg, union pvmw_rights_room *room, int fd);

/*
 * After recvmsg() has succeeded, even with no bytes: returns the descriptor that came, now the caller's, or -1. Any
 * further descriptors are closed.
 */
int pvmw_rights_take(struct msghdr *msg);

#endif
