/*
 * socket.h - raw sockets of endpoints. They need CAP_NET_RAW: the process has it, or asks the helper (helper.h).
 *
 * The socket is bound to one interface and EtherType, and its filter passes only frames for its endpoint. The filter is
 * locked, so a process that gets the descriptor cannot see frames of others.
 *
 * A point belongs to one socket of the host (network namespace), whatever its interface and node, for as long as that
 * socket is open. The kernel enforces this: the socket joins the packet fanout group of the point's number, which can
 * have one member, cannot be left, and ties the socket to its interface.
 */
#ifndef DPI_DP_SOCKET_H
#define DPI_DP_SOCKET_H

#include <stdint.h>
#include "interface.h"
#include "message.h"

/*
 * Opens a locked socket for *point on that interface. Point 0 draws a free point and stores it. Errors: PVMC_EDENIED
 * (no CAP_NET_RAW), PVMC_EUNSUPPORTED (no raw sockets in this kernel), PVMC_EEXISTS (the point is taken), PVMC_ELIMIT,
 * PVMC_ESYSTEM.
 */
int dpi_socket_open(const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point);

#endif
