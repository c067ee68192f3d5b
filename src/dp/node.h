/* node.h - what an endpoint takes from its host: interface, EtherType, the table of nodes and this node's id. */
#ifndef PVMI_DP_NODE_H
#define PVMI_DP_NODE_H

#include "../transports/dp/nart.h"
#include "../transports/dp/socket.h"

struct pvmi_node {
    struct pvmi_dp_interface interface;
    uint16_t ethertype, id;
    struct pvmi_nart *nart;
};

/*
 * Finds them, on the interface `ifname` (NULL: DP_INTERFACE, else the first). The table is then the caller's to close.
 * 0 or PVMI_ENOTFOUND, PVMI_EUNSUPPORTED, PVMI_EPARAM (interface), PVMI_EFORMAT (table; logged), PVMI_ENOMEM.
 */
int pvmi_node_find(const char *ifname, struct pvmi_node *out);

/*
 * The id of a node that neither DP_NID nor the table's file tells: the last two bytes of its hardware address as a
 * number, but 65534 for 0 and 65535.
 */
uint16_t pvmi_node_derive(const uint8_t hardware[6]);

#endif
