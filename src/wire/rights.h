/*
 * rights.h - descriptors passed beside the bytes of a message on a Unix socket (SCM_RIGHTS). A receiver that gives
 * recvmsg() room for control data must call pvmw_rights_take(), because a peer may send more descriptors than expected,
 * and with messages that should have none.
 */
#ifndef PVMW_RIGHTS_H
#define PVMW_RIGHTS_H

#include <stdint.h>
#include <sys/socket.h>

/*
 * Aligned as the kernel requires. With SO_PASSCRED the sender's credentials take room, too. The kernel closes
 * descriptors that do not fit; because of the alignment more than one may fit.
 */
union pvmw_rights_room {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Makes sendmsg() pass fd along. fd stays the caller's. */
void pvmw_rights_attach(struct msghdr *msg, union pvmw_rights_room *room, int fd);

/*
 * After recvmsg() has succeeded, even with no bytes: returns the descriptor that came, now the caller's, or -1. Any
 * further descriptors are closed.
 */
int pvmw_rights_take(struct msghdr *msg);

#endif
