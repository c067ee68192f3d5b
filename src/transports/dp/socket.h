/*
 * socket.h - raw sockets of endpoints. Needs CAP_NET_RAW: a process has it, or asks the helper (helper.h).
 *
 * The socket is bound to one interface and EtherType, and lets through what is for its endpoint alone; its filter is
 * locked, so whoever gets the descriptor sees no frames of others.
 *
 * A point belongs to one socket of the host (network namespace), whatever its interface and node, for as long as that
 * socket is open: the kernel sees to it. The socket joins the packet fanout group of the point's number, which may have
 * one member, cannot be left, and ties the socket to its interface.
 */
#ifndef PVMI_DP_SOCKET_H
#define PVMI_DP_SOCKET_H

#include <stdint.h>
#include "interface.h"
#include "message.h"

/*
 * A locked socket for *point on that interface. Point 0: one that is free is drawn, and filled in. Or PVMI_EDENIED (no
 * CAP_NET_RAW), PVMI_EUNSUPPORTED (no raw sockets in this kernel), PVMI_EEXISTS (the point is taken), PVMI_ELIMIT,
 * PVMI_ESYSTEM.
 */
int pvmi_dp_socket_open(const struct pvmi_dp_interface *interface, uint16_t ethertype, struct pvmi_dp_point *point);

#endif
