/*
 * host.h - hosts: a processor, an adapter, and the ends of VCs. A PDU handed to pvma_vc_send() pays the host's costs
 * (profile.h), becomes cells, crosses the network, and pays at the other host before its handler gets it.
 */
#ifndef PVMA_HOST_H
#define PVMA_HOST_H

#include "contract.h"
#include "link.h"
#include "profile.h"
#include "stage.h"

struct pvma_host;
struct pvma_vc; /* an end of a VC at a host */

struct pvma_host_counters {
    uint64_t pdus_sent;      /* cut to the last cell */
    uint64_t bytes_sent;     /* octets of them */
    uint64_t tx_queue_drops; /* PDUs lost in a full send queue (send=flood) */
    uint64_t tx_queue_waits; /* PDUs refused for now (send=block) */
    uint64_t cells_sent;
    uint64_t cells_received;
    uint64_t rx_fifo_drops; /* cells lost in the adapter's full FIFO */
    uint64_t rx_unknown;    /* cells of no VC */
    uint64_t inject_drops;  /* cells of background sources that the link had no time for */
    uint64_t rx_background; /* cells of cross traffic, swallowed */
    uint64_t pdus_received; /* whole and good */
    uint64_t bytes_received;
    uint64_t rx_queue_drops;       /* good PDUs lost because the processor was late */
    uint64_t reader_drops;         /* good PDUs lost by what stands above; counted by it, not here */
    uint64_t aal[PVMA_AAL_ERRORS]; /* PDUs and cells given up by reassembly */
};

enum pvma_drop {
    PVMA_DROP_QUEUE,  /* the send queue was full */
    PVMA_DROP_CLOSED, /* the VC was closed first */
};

/* What the user of a VC's end wants to know. Any may be NULL. Called from events only, never from pvma_vc_send(). */
struct pvma_vc_handler {
    /* A PDU has come; the octets are valid during the call. */
    void (*received)(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length);
    /* The processor is through with a PDU: a sender that waits for its call goes on here. */
    void (*taken)(void *arg, struct pvma_vc *vc, uint64_t cookie);
    /* The adapter has cut all of a PDU: its place in the send queue is free. */
    void (*sent)(void *arg, struct pvma_vc *vc, uint64_t cookie);
    /* A PDU was lost before it became cells. */
    void (*dropped)(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why);
    /* The send queue has room again, after PVMI_EAGAIN. */
    void (*room)(void *arg, struct pvma_vc *vc);
    /* The VC is gone: the network or the other side released it. The end is freed when this returns. */
    void (*closed)(void *arg, struct pvma_vc *vc, int cause);
};

/*
 * Sends a PDU, of which a copy is kept. `cookie` is the caller's and comes back in the handler.
 * 0; PVMI_EAGAIN: the send queue is full (send=block) and `room` will be called; PVMI_ELIMIT: longer than the MTU, or
 * empty on a raw VC; PVMI_EPARAM: this end cannot send. A PDU that a full queue loses (send=flood) costs the processor
 * its time, returns 0 and is reported to `dropped`.
 */
int pvma_vc_send(struct pvma_vc *vc, const void *data, size_t length, uint64_t cookie);

/*
 * Sets who is told. Before, nobody is: PDUs that come are counted as reader_drops and cost the processor nothing.
 */
void pvma_vc_handle(struct pvma_vc *vc, const struct pvma_vc_handler *handler, void *arg);

struct pvma_host *pvma_vc_host(const struct pvma_vc *vc);
enum pvma_aal pvma_vc_aal(const struct pvma_vc *vc);
size_t pvma_vc_mtu(const struct pvma_vc *vc);
bool pvma_vc_sends(const struct pvma_vc *vc);
bool pvma_vc_receives(const struct pvma_vc *vc);
unsigned pvma_vc_queued(const struct pvma_vc *vc); /* PDUs not sent yet */

/* VPI and VCI at this host, of the direction that it has (of sending, if of both). */
void pvma_vc_identifiers(const struct pvma_vc *vc, uint16_t *vpi, uint16_t *vci);

/* ---- the host ---- */

const char *pvma_host_name(const struct pvma_host *host);
const struct pvma_profile *pvma_host_profile(const struct pvma_host *host);
struct pvma_host_counters *pvma_host_counters(struct pvma_host *host);
struct pvma_node *pvma_host_node(struct pvma_host *host);

/* The host's processor, for protocols above that cost time: pvma_stage_put() on it. */
struct pvma_stage *pvma_host_processor(struct pvma_host *host);

/* How long the processor has worked so far, with what it has been given to do. */
pvma_ps pvma_host_busy(const struct pvma_host *host);

/* PDUs in the send queue of the host, over all VCs. */
unsigned pvma_host_queued(const struct pvma_host *host);

/* ---- for network.c, path.c and call.c ---- */

/* A host with one port. The profile must outlive it. */
struct pvma_host *pvma_host_new(struct pvma_sim *sim, struct pvma_cells *cells, const char *name, unsigned number,
                                const struct pvma_profile *profile);
void pvma_host_free(struct pvma_host *host);

/* The host of a node that is one. */
struct pvma_host *pvma_host_of(struct pvma_node *node);

struct pvma_vc_ids {
    bool sends, receives;
    uint16_t tx_vpi, tx_vci, rx_vpi, rx_vci;
    uint32_t credits;  /* the far end of our link gives this many; 0: it has no credits */
    int64_t paced_bps; /* cells are spaced at this rate; 0: as fast as the link */
};

/* Adds an end of a VC. It is the host's. */
struct pvma_vc *pvma_vc_add(struct pvma_host *host, enum pvma_aal aal, const struct pvma_vc_ids *ids);

/* Takes an end away at once: PDUs not sent are dropped, the handler's `closed` is called, the end is freed. */
void pvma_vc_remove(struct pvma_vc *vc, int cause);

/* Injects cells at the adapter without cost to the processor: for background sources. Lost when its FIFO is full. */
void pvma_vc_inject(struct pvma_vc *vc, struct pvma_cell *cell);

#endif
