/*
 * helper.h - raw sockets for processes that may not open them: the program dp-socket, which has CAP_NET_RAW as a file
 * capability, opens one for the caller and passes it (doc/security.md).
 */
#ifndef PVMI_DP_HELPER_H
#define PVMI_DP_HELPER_H

#include "socket.h"

/* What dp-socket sends on its descriptor 0, with the socket if code is 0. In the order of bytes of this machine. */
struct pvmi_dp_helper_answer {
    int32_t code;   /* 0 or a PVMI_E code */
    uint16_t point; /* which was drawn, or asked for */
    uint16_t zero;
};

/*
 * Whether this process can have raw sockets: 0, and *helper is the program that opens them, NULL: the process itself;
 * or a PVMI_E code with the reason and the cure in why[size]. Opens nothing that stays.
 */
int pvmi_dp_helper_may_open(const char **helper, char *why, size_t size);

/* As pvmi_dp_socket_open(), by the helper where this process may not do it itself. What fails is logged. */
int pvmi_dp_helper_open(const struct pvmi_dp_interface *interface, uint16_t ethertype, struct pvmi_dp_point *point);

#endif
