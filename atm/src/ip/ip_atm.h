/*
 * ip_atm.h - IP over ATM as in RFC 1483 and RFC 1577: a packet with an LLC/SNAP header is an AAL5 PDU. The VC between
 * two stations is permanent and is made by the first packet. Address resolution is left out, as the papers exclude the
 * first message from their times.
 */
#ifndef PVMA_IP_ATM_H
#define PVMA_IP_ATM_H

#include "network/network.h"
#include "lan/station.h"

enum {
    PVMA_IP_ATM_MTU = 9180, /* RFC 1626; a PDU is 8 bytes longer */
    PVMA_IP_ATM_STATIONS_MAX = 64,
    PVMA_IP_ATM_QUEUE = 50, /* packets in a driver for a VC whose adapter is full */
};

struct pvma_ip_atm;

/* An IP network on an ATM network, which must outlive it. */
struct pvma_ip_atm *pvma_ip_atm_new(struct pvma_net *net, uint32_t mtu);
void pvma_ip_atm_free(struct pvma_ip_atm *ip);

/* Makes a host a station and returns its interface, which the network owns. Numbers start at 1. NULL: no more room. */
struct pvma_interface *pvma_ip_atm_join(struct pvma_ip_atm *ip, struct pvma_host *host);

#endif
