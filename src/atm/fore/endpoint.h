/* endpoint.h - what this process knows of its open descriptors. Under the lock of channel.h. */
#ifndef PVMI_FORE_ENDPOINT_H
#define PVMI_FORE_ENDPOINT_H

#include <stdbool.h>
#include "../../core/hash.h"
#include "fore_atm.h"

struct pvmi_fore_endpoint {
    int fd;
    uint32_t number; /* as the network process counts */
    uint32_t mtu;
    bool bound, connected;
    bool connecting;      /* without waiting for it */
    bool orphaned;        /* its network has ended: it can be closed, and nothing else */
    bool sends, receives; /* what the dataflow lets it do */
    Atm_dataflow dataflow;
    Aal_type aal;
    UT_hash_handle hh;
};

/* A new one over fd, which stays the caller's if there is no memory (NULL). */
struct pvmi_fore_endpoint *pvmi_fore_endpoint_new(int fd, uint32_t number);

/* The one of a descriptor; NULL: that is none of ours. */
struct pvmi_fore_endpoint *pvmi_fore_endpoint_find(int fd);

/* Closes the descriptor and frees it. */
void pvmi_fore_endpoint_free(struct pvmi_fore_endpoint *e);

/* The network has ended: so have all that there are now. */
void pvmi_fore_endpoint_orphan_all(void);

/* Whether there is any. */
bool pvmi_fore_endpoint_any(void);

/* It is connected now; `caller`: it has connected and not accepted. */
void pvmi_fore_endpoint_connected(struct pvmi_fore_endpoint *e, Atm_dataflow dataflow, bool caller);

#endif
