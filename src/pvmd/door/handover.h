/* handover.h - messages of a fixed size between the daemon and its helpers, with or without a descriptor. */
#ifndef PVMD_HANDOVER_H
#define PVMD_HANDOVER_H

#include <stddef.h>
#include <sys/types.h>

/* Sends one message over the SOCK_SEQPACKET socket `to`, with fd unless that is -1: 0, or -1 with errno. */
int pvmd_handover_send(int to, const void *message, size_t size, int fd);

/*
 * Receives a message: its length, which may be any up to size; 0 at the end, -1 with errno (EPROTO: too long). *fd is
 * the descriptor that came with it, or -1; the caller owns it whatever the result.
 */
ssize_t pvmd_handover_receive(int from, void *message, size_t size, int *fd);

#endif
