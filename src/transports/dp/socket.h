/*
 * socket.h - raw sockets of endpoints: opened by this process if it may (CAP_NET_RAW), else by the helper dp-socket,
 * which does the same and passes the descriptor.
 *
 * The socket is bound to one interface and EtherType, and lets through what is for its endpoint alone; its filter is
 * locked, so whoever gets the descriptor sees no frames of others.
 */
#ifndef PVMI_DP_SOCKET_H
#define PVMI_DP_SOCKET_H

#include <stdint.h>
#include "message.h"

struct pvmi_dp_interface {
    char name[16];
    int index;
    uint8_t hardware[6];
    int mtu; /* bytes of a frame behind the Ethernet header */
};

/*
 * The interface of that name, NULL: the first that is Ethernet, up and not the loopback. PVMI_ENOTFOUND: there is none;
 * PVMI_EUNSUPPORTED: not Ethernet, or down; PVMI_EPARAM: no such name.
 */
int pvmi_dp_interface_find(const char *name, struct pvmi_dp_interface *out);

/* A locked socket for `point` on that interface, or PVMI_EDENIED (no CAP_NET_RAW), PVMI_ELIMIT, PVMI_ESYSTEM. */
int pvmi_dp_socket_open(const struct pvmi_dp_interface *interface, uint16_t ethertype, struct pvmi_dp_point point);

#endif
