/*
 * channel.h - the courier's connection: carries bytes both ways between a pair of descriptors on this host and the
 * other end, over TLS. All functions block, because the courier's processes do nothing else.
 */
#ifndef PVMD_CHANNEL_H
#define PVMD_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/tls.h"

struct pvmd_channel {
    int fd;
    struct pvmw_tls *tls;
};

/* Waits until fd has one of poll's events. False: the time limit has passed. */
bool pvmd_channel_wait(int fd, short events, int64_t deadline_us);

/*
 * The calling side's handshake over fd, which the channel takes over. Returns NULL, or why the other side has not
 * proven that it has the key; fd is then closed. The text is valid until the next call.
 */
const char *pvmd_channel_open(struct pvmd_channel *c, int fd, const struct pvmw_tls_key *key);

/* Carries bytes from `in` to the other side and from there to `out`, until one side ends. Closes the channel. */
void pvmd_channel_carry(struct pvmd_channel *c, int in, int out);

void pvmd_channel_close(struct pvmd_channel *c);

#endif
