/*
 * host.h - hosts: a processor, one or more adapters, and the ends of VCs. A PDU given to pvma_vc_send() is charged the
 * host's costs (profile.h), becomes cells, crosses the network, and is charged at the receiving host before the handler
 * runs.
 */
#ifndef PVMA_HOST_H
#define PVMA_HOST_H

#include "base/contract.h"
#include "link.h"
#include "base/profile.h"
#include "stage.h"

struct pvma_host;
struct pvma_vc; /* an end of a VC at a host */

struct pvma_host_counters {
    uint64_t pdus_sent;      /* PDUs segmented to the last cell */
    uint64_t bytes_sent;     /* octets of those PDUs */
    uint64_t tx_queue_drops; /* PDUs lost in a full send queue (send=flood) */
    uint64_t tx_queue_waits; /* PDUs refused for now (send=block) */
    uint64_t cells_sent;
    uint64_t cells_received;
    uint64_t rx_fifo_drops; /* cells lost in the adapter's full FIFO */
    uint64_t rx_unknown;    /* cells of no VC */
    uint64_t inject_drops;  /* cells of background sources that found the link busy too long */
    uint64_t rx_background; /* cells of cross traffic, discarded */
    uint64_t rm_sent;       /* ABR: resource-management cells of sources, and those that came back to them */
    uint64_t rm_returned;
    uint64_t rm_turned;     /* ABR: those of other hosts, turned round here */
    uint64_t rm_bad;        /* resource-management cells of no ABR VC, and damaged ones */
    uint64_t pdus_received; /* whole and good */
    uint64_t bytes_received;
    uint64_t rx_queue_drops;       /* good PDUs lost because the processor fell behind */
    uint64_t reader_drops;         /* good PDUs without a handler, or lost by the layer above, which counts them */
    uint64_t aal[PVMA_AAL_ERRORS]; /* PDUs and cells given up by reassembly */
};

enum pvma_drop {
    PVMA_DROP_QUEUE,  /* the send queue was full */
    PVMA_DROP_CLOSED, /* the VC was closed first */
};

/* Callbacks of a VC's end. Any may be NULL. Called from events only, never from pvma_vc_send(). */
struct pvma_vc_handler {
    /* A PDU has arrived; the octets are valid during the call. */
    void (*received)(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length);
    /*
     * The processor has finished with a PDU, which with sar=host includes cutting its cells: a sender that waits for
     * its call continues here.
     */
    void (*taken)(void *arg, struct pvma_vc *vc, uint64_t cookie);
    /* The adapter has segmented a PDU completely: its place in the send queue is free. */
    void (*sent)(void *arg, struct pvma_vc *vc, uint64_t cookie);
    /* A PDU was lost before it became cells. */
    void (*dropped)(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why);
    /* The send queue has room again, after PVMC_EAGAIN. */
    void (*room)(void *arg, struct pvma_vc *vc);
    /* The VC is gone: the network or the other side released it. The end is freed on return. */
    void (*closed)(void *arg, struct pvma_vc *vc, int cause);
};

/*
 * Sends a copy of a PDU. `cookie` is the caller's and comes back in the handler. Returns 0, or
 * PVMC_EAGAIN: the send queue is full (send=block) and `room` will be called; PVMC_ELIMIT: longer than the MTU, or
 * empty on a raw VC; PVMC_EPARAM: this end cannot send. A PDU dropped by a full queue (send=flood) still costs
 * processor time: the call returns 0 and `dropped` follows.
 */
int pvma_vc_send(struct pvma_vc *vc, const void *data, size_t length, uint64_t cookie);

/* As pvma_vc_send(), but the processor needs tx_again more: for a PDU of a protocol that sends it again. */
int pvma_vc_send_again(struct pvma_vc *vc, const void *data, size_t length, uint64_t cookie);

/* Sets the handler. Until then, PDUs that arrive are counted as reader_drops and cost no processor time. */
void pvma_vc_handle(struct pvma_vc *vc, const struct pvma_vc_handler *handler, void *arg);

struct pvma_host *pvma_vc_host(const struct pvma_vc *vc);
size_t pvma_vc_mtu(const struct pvma_vc *vc);
bool pvma_vc_sends(const struct pvma_vc *vc);
unsigned pvma_vc_queued(const struct pvma_vc *vc); /* PDUs not sent yet */

/* Cells that this end has sent, with those of resource management, and the rate of an ABR VC now (0: not ABR). */
uint64_t pvma_vc_cells(const struct pvma_vc *vc);
int64_t pvma_vc_abr_rate(const struct pvma_vc *vc);

/* Cells of AAL5 that came for nothing: those of PDUs that reassembly gave up. */
uint64_t pvma_vc_useless_cells(const struct pvma_vc *vc);

/* VPI and VCI at this host, of the sending direction if there is one, else of the receiving direction. */
void pvma_vc_identifiers(const struct pvma_vc *vc, uint16_t *vpi, uint16_t *vci);

/* ---- the host ---- */

const char *pvma_host_name(const struct pvma_host *host);
const struct pvma_profile *pvma_host_profile(const struct pvma_host *host);
struct pvma_host_counters *pvma_host_counters(struct pvma_host *host);
struct pvma_node *pvma_host_node(struct pvma_host *host);

/* The host's processor, for pvma_stage_put() of protocols above that cost time. */
struct pvma_stage *pvma_host_processor(struct pvma_host *host);

/* PDUs in the send queues of the host's adapters, over all VCs. */
unsigned pvma_host_queued(const struct pvma_host *host);

/* The largest PDU that programs of the host may send: its profile's, unless something above lowers it. */
size_t pvma_host_mtu(const struct pvma_host *host);
void pvma_host_set_mtu(struct pvma_host *host, size_t mtu);

/* ---- ends without identifiers of their own, whose PDUs travel on the VC of another end ---- */

/* Takes a PDU as pvma_vc_send() does, after its checks, for an end that was made with `arg`. */
typedef int pvma_vc_carrier(void *arg, const void *data, size_t length, uint64_t cookie);

/* Adds such an end, which pvma_vc_remove() removes. What carries it calls the end's handler. */
struct pvma_vc *pvma_vc_add_carried(struct pvma_host *host, const struct pvma_contract *contract, bool sends,
                                    bool receives, pvma_vc_carrier *carrier, void *arg);

/* The handler of an end, for its carrier; never NULL. */
const struct pvma_vc_handler *pvma_vc_handler(const struct pvma_vc *vc, void **arg);

/* Counts PDUs that a carried end has sent and that are not cells yet, for pvma_vc_queued(). */
void pvma_vc_count_queued(struct pvma_vc *vc, int change);

/* The largest PDU of one VC, whatever the host's MTU. */
void pvma_vc_set_mtu(struct pvma_vc *vc, size_t mtu);

/* ---- for network.c, path.c and call.c ---- */

/* A host with that many adapters, each at a port. The profile must outlive it. */
struct pvma_host *pvma_host_new(struct pvma_sim *sim, struct pvma_cells *cells, const char *name, unsigned number,
                                const struct pvma_profile *profile, unsigned adapters);
void pvma_host_free(struct pvma_host *host);

/* The host of a node, which must be one. */
struct pvma_host *pvma_host_of(struct pvma_node *node);

struct pvma_vc_ids {
    bool sends, receives;
    unsigned tx_port, rx_port; /* of the host */
    uint16_t tx_vpi, tx_vci, rx_vpi, rx_vci;
    uint32_t credits;  /* number of credits from the far end of the link; 0: no credits */
    int64_t paced_bps; /* cells are spaced at this rate; 0: as fast as the link */
};

/* Makes an end that sends an ABR source, at no more than `granted` and no more than its link's rate. */
void pvma_vc_control(struct pvma_vc *vc, const struct pvma_bandwidth *granted, int64_t initial_bps);

/* Adds an end of a VC, which the host owns. */
struct pvma_vc *pvma_vc_add(struct pvma_host *host, enum pvma_aal aal, const struct pvma_vc_ids *ids);

/* Removes an end at once: unsent PDUs are dropped, the handler's `closed` is called, the end is freed. */
void pvma_vc_remove(struct pvma_vc *vc, int cause);

/* Injects a cell at the adapter at no processor cost, for background sources. Dropped when the adapter is full. */
void pvma_vc_inject(struct pvma_vc *vc, struct pvma_cell *cell);

#endif
