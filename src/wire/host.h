/* host.h - which network this process sees, so that a transport can recognize processes that share its loopback. */
#ifndef PVMW_HOST_H
#define PVMW_HOST_H

#include <stdint.h>

#define PVMW_HOST_IDENTITY_BYTES 24

/*
 * The kernel's boot id and the number of the network namespace, since containers of one host have separate loopbacks.
 * If these cannot be read, the identity is random and no other process is taken to be on this host.
 */
void pvmw_host_identity(uint8_t host[PVMW_HOST_IDENTITY_BYTES]);

#endif
