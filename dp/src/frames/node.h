/* node.h - what an endpoint uses of its host: interface, EtherType, the table of nodes and this node's id. */
#ifndef DPI_DP_NODE_H
#define DPI_DP_NODE_H

#include "nart.h"
#include "socket.h"

struct dpi_node {
    struct dpi_interface interface;
    uint16_t ethertype, id;
    struct dpi_nart *nart;
};

/*
 * Finds them, for the interface `ifname` (NULL: DP_INTERFACE, else the first). The caller closes the table.
 * 0 or PVMC_ENOTFOUND, PVMC_EUNSUPPORTED, PVMC_EPARAM (interface), PVMC_EFORMAT (table; logged), PVMC_ENOMEM.
 */
int dpi_node_find(const char *ifname, struct dpi_node *out);

/*
 * The id of a node when neither DP_NID nor the table's file gives one: the last two bytes of its hardware address as a
 * number, or 65534 for 0 and 65535.
 */
uint16_t dpi_node_derive(const uint8_t hardware[6]);

#endif
