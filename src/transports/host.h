/* host.h - which host this is, or rather which network this process sees: for transports that must know their own. */
#ifndef PVMI_HOST_H
#define PVMI_HOST_H

#include <stdint.h>

#define PVMI_HOST_IDENTITY_BYTES 24

/*
 * The kernel's boot id and its number of the network namespace: containers of one host have loopbacks of their own.
 * Where they cannot be read the identity is random: then nobody is taken for a process of this host.
 */
void pvmi_host_identity(uint8_t host[PVMI_HOST_IDENTITY_BYTES]);

#endif
