/*
 * hello.h - how the two ends of a reliable channel name themselves: each draws a random number for this connection, its
 * incarnation, and tells it. So packets of an earlier life of either end are known for what they are.
 */
#ifndef PVMI_DP_HELLO_H
#define PVMI_DP_HELLO_H

#include "peer.h"

#define PVMI_HELLO_BYTES 16 /* behind the message header: own, yours, flags, three zeros, checksum */

enum pvmi_hello_flag {
    PVMI_HELLO_ASKS = 1,     /* wants a hello back */
    PVMI_HELLO_BACK_N = 2,   /* the channel is Go-Back-N */
    PVMI_HELLO_BYE = 4,      /* the sender will close this connection */
    PVMI_HELLO_FAREWELL = 8, /* the answer: nothing more is due from it */
};

struct pvmi_hello {
    uint32_t own, yours; /* incarnations, seen from the sender; yours 0: not known */
    uint8_t flags;
};

void pvmi_hello_say(struct pvmi_endpoint *e, const struct pvmi_peer *p, const struct pvmi_hello *h);

/* A message of kind HELLO came. False: it is malformed. */
bool pvmi_hello_read(const uint8_t *frame, const struct pvmi_dp_message *m, struct pvmi_hello *out);

#endif
