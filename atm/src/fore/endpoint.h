/* endpoint.h - this process's state of its open descriptors. Under the lock of channel.h. */
#ifndef PVMA_FORE_ENDPOINT_H
#define PVMA_FORE_ENDPOINT_H

#include <stdbool.h>
#include "core/hash.h"
#include "fore_atm.h"

struct pvma_fore_endpoint {
    int fd;
    uint32_t number; /* the network process's number of it */
    uint32_t mtu;
    bool bound, connected;
    bool connecting;      /* in the background */
    bool orphaned;        /* its network has ended: it can only be closed */
    bool sends, receives; /* allowed by the dataflow */
    Atm_dataflow dataflow;
    Aal_type aal;
    Atm_protocol protocol; /* atm_native: packets */
    uint32_t item;         /* bytes, of an assured connection */
    uint32_t low_water;    /* bytes */
    UT_hash_handle hh;
};

/* Creates one over fd. NULL: out of memory, and fd remains the caller's. */
struct pvma_fore_endpoint *pvma_fore_endpoint_new(int fd, uint32_t number);

/* The endpoint of a descriptor; NULL if it is not a Fore endpoint. */
struct pvma_fore_endpoint *pvma_fore_endpoint_find(int fd);

/* Enters the library (channel.h) and finds the endpoint of fd. NULL: failed, and the lock is released. */
struct pvma_fore_endpoint *pvma_fore_endpoint_enter(int fd);

/* Closes the descriptor and frees the endpoint. */
void pvma_fore_endpoint_free(struct pvma_fore_endpoint *e);

/* Orphans all endpoints, because the network has ended. */
void pvma_fore_endpoint_orphan_all(void);

/* Whether there are any endpoints. */
bool pvma_fore_endpoint_any(void);

/* Marks an endpoint connected; `caller`: as the calling side. */
void pvma_fore_endpoint_connected(struct pvma_fore_endpoint *e, Atm_dataflow dataflow, bool caller);

/*
 * atm_send() and atm_recv() for an assured connection, after the checks that both kinds need. They leave the library.
 */
int pvma_fore_assured_send(struct pvma_fore_endpoint *e, const char *buf, int len);
int pvma_fore_assured_recv(struct pvma_fore_endpoint *e, char *buf, int len);

#endif
