/*
 * helper.h - raw sockets for processes that may not open them: the program dp-socket, which has the file capability
 * CAP_NET_RAW, opens one and passes it to the caller (doc/security.md).
 */
#ifndef DPI_DP_HELPER_H
#define DPI_DP_HELPER_H

#include "socket.h"

/* What dp-socket sends on its descriptor 0, with the socket if code is 0. In host byte order. */
struct dpi_helper_answer {
    int32_t code;   /* 0 or a PVMC_E code */
    uint16_t point; /* drawn, or as requested */
    uint16_t zero;
};

/*
 * Checks whether this process can get raw sockets. 0: yes, and *helper is the program that opens them (NULL: the
 * process itself). Otherwise a PVMC_E code, with the reason and the remedy in why[size]. Leaves nothing open.
 */
int dpi_helper_may_open(const char **helper, char *why, size_t size);

/* Like dpi_socket_open(), but uses the helper if this process may not open raw sockets. Failures are logged. */
int dpi_helper_open(const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point);

#endif
