/*
 * ip_atm.h - IP over ATM as in RFC 1483 and RFC 1577: a packet with an LLC/SNAP header is an AAL5 PDU. The VC between
 * two stations is a permanent one, made when the first packet goes; resolving addresses is left out, as the papers
 * leave the first message out of their times.
 */
#ifndef PVMA_IP_ATM_H
#define PVMA_IP_ATM_H

#include "../network.h"
#include "station.h"

enum {
    PVMA_IP_ATM_MTU = 9180, /* RFC 1626; a PDU has 8 bytes more */
    PVMA_IP_ATM_STATIONS_MAX = 64,
    PVMA_IP_ATM_QUEUE = 50, /* packets that a driver holds for a VC whose adapter is full */
};

struct pvma_ip_atm;

/* An IP network on an ATM network, which must outlive it. */
struct pvma_ip_atm *pvma_ip_atm_new(struct pvma_net *net, uint32_t mtu);
void pvma_ip_atm_free(struct pvma_ip_atm *ip);

/* A host becomes a station: its interface, which is the network's. Numbers go from 1. NULL: no more stations. */
struct pvma_interface *pvma_ip_atm_join(struct pvma_ip_atm *ip, struct pvma_host *host);

/* What new VCs ask for; before the first packet. Best effort else. */
void pvma_ip_atm_contract(struct pvma_ip_atm *ip, const struct pvma_contract *contract);

#endif
