/* network.h - what hosts compare about the network between them. */
#ifndef NETWORK_H
#define NETWORK_H

#include <jansson.h>

/* MTU of the interface that has this address, if it also reaches `peer` without a router; else 0. */
int network_mtu(const char *own, const char *peer);

/* If we run under sshd: {from, to, mtu}, the addresses of the connection and the MTU here. Else NULL. */
json_t *network_path(void);

#endif
