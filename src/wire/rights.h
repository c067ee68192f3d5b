/*
 * rights.h - descriptors passed beside the bytes of a message on a Unix socket (SCM_RIGHTS). A receiver that gives
 * recvmsg() room for control data must call pvmw_rights_take(), because a peer may send more descriptors than expected,
 * and with messages that should have none.
 */
#ifndef PVMW_RIGHTS_H
#define PVMW_RIGHTS_H

#include <stdint.h>
#include <sys/socket.h>

#define PVMW_RIGHTS_MAX 2 /* beside one message */

/*
 * Aligned as the kernel requires. A peer that has made the socket may have set SO_PASSCRED, and then its credentials
 * take room, too. The kernel closes descriptors that do not fit; because of the alignment more than one may fit.
 */
union pvmw_rights_room {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(PVMW_RIGHTS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Makes sendmsg() pass those of `count` descriptors along that are not -1. They stay the caller's. */
void pvmw_rights_attach(struct msghdr *msg, union pvmw_rights_room *room, const int *fds, unsigned count);

/*
 * After recvmsg() has succeeded, even with no bytes: stores the first `count` descriptors that came, now the caller's,
 * and -1 where there is none. Any further descriptors are closed.
 */
void pvmw_rights_take(struct msghdr *msg, int *fds, unsigned count);

#endif
