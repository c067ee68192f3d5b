/*
 * candidates.h - which addresses of an offer are worth a try, best first, and from which address of ours.
 */
#ifndef PVMI_TCP_CANDIDATES_H
#define PVMI_TCP_CANDIDATES_H

#include "offer.h"

#define PVMI_TCP_CANDIDATES_MAX 8

struct pvmi_tcp_candidate {
    union pvmi_tcp_address address;
    bool trusted;                  /* the offering side trusts its network */
    bool bound;                    /* connect from `source`, because the user chose interfaces */
    union pvmi_tcp_address source; /* port 0 */
};

struct pvmi_tcp_candidates {
    unsigned count;
    struct pvmi_tcp_candidate list[PVMI_TCP_CANDIDATES_MAX];
};

/*
 * In this order: `remembered` (may be NULL: the address that worked last time); loopback, if both are on one host;
 * addresses in a subnet of ours; the others; link-local ones. Never: loopback of another host, an address of another
 * host that is ours as well, what PVM_TCP_IF (`choice`) does not allow to leave from. 0, or a PVMI_E code as
 * pvmi_tcp_locals().
 */
int pvmi_tcp_candidates_of(const struct pvmi_tcp_offer *o, const uint8_t own_host[PVMI_TCP_HOST_BYTES],
                           const char *choice, const union pvmi_tcp_address *remembered,
                           struct pvmi_tcp_candidates *out);

#endif
