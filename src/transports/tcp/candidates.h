/* candidates.h - which addresses of an offer to try, best first, and from which address of ours. */
#ifndef PVMT_TCP_CANDIDATES_H
#define PVMT_TCP_CANDIDATES_H

#include "offer.h"

#define PVMT_TCP_CANDIDATES_MAX 8

struct pvmt_tcp_candidate {
    union pvmw_address address;
    bool trusted;              /* the offering side trusts its network */
    bool bound;                /* connect from `source`, because the user chose interfaces */
    union pvmw_address source; /* port 0 */
};

struct pvmt_tcp_candidates {
    unsigned count;
    struct pvmt_tcp_candidate list[PVMT_TCP_CANDIDATES_MAX];
};

/*
 * In this order: `remembered` (may be NULL: the address that worked last time); loopback, if both are on one host;
 * addresses in a subnet of ours; the others; link-local ones. Never: loopback of another host, an address of another
 * host that is also ours, or one that cannot be reached from the interfaces in PVM_TCP_IF (`choice`). 0, or a PVMC_E
 * code like pvmw_interfaces().
 */
int pvmt_tcp_candidates_of(const struct pvmt_tcp_offer *o, const uint8_t own_host[PVMT_TCP_HOST_BYTES],
                           const char *choice, const union pvmw_address *remembered, struct pvmt_tcp_candidates *out);

#endif
