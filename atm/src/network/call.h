/*
 * call.h - switched VCs: calls between hosts, set up by signalling messages (signal.h) that travel from node to node in
 * cells on VPI 0, VCI 5. Each switch on the path finds the next hop, admits or refuses the bandwidth, picks a VCI and
 * forwards the message. Signalling cells are never lost: the layer that makes them reliable (SAAL) is not modelled.
 *
 * The caller opens; the called side listens at a service access point, is offered the call, and accepts (maybe with
 * less bandwidth) or refuses. A multicast call starts with one party; more are added and dropped later.
 */
#ifndef PVMA_CALL_H
#define PVMA_CALL_H

#include "nodes/host.h"

/* A host's address of 8 octets, modelled on Fore's NSAP. A host with several links has as many addresses; all lead to
 * it, on whichever link, and pvma_host_address() gives the first link's. */
struct pvma_address {
    uint32_t switch_id; /* number of the host's switch, from 1; 0: linked to a host */
    uint32_t port;      /* port of that switch; without a switch: number of the host */
};

struct pvma_call;

/* Callbacks of a call. Any may be NULL. Called from events only. */
struct pvma_call_handler {
    /* The called side has accepted with the contract `granted`. The VC's end lives until `ended`. */
    void (*connected)(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted);
    /* The call was refused, or released by the other side or the network. It is freed on return, with its VC's end. */
    void (*ended)(void *arg, struct pvma_call *call, int cause);
    /* The answer to pvma_call_add_party(). Cause 0: the party has joined; else it has not, and its number is free. */
    void (*party)(void *arg, struct pvma_call *call, uint16_t party, int cause);
    /* A party has left a multicast call by itself. */
    void (*party_left)(void *arg, struct pvma_call *call, uint16_t party, int cause);
};

/*
 * Opens a call. The result is valid until `ended` or pvma_call_release(). A refusal always comes through `ended`,
 * later, never in this call. The contract is copied.
 */
struct pvma_call *pvma_call_open(struct pvma_host *from, struct pvma_address to, uint32_t asap,
                                 const struct pvma_contract *contract, const struct pvma_call_handler *handler,
                                 void *arg);

/* Ends a call from either side, without calling its `ended`. The call and its VC's end are freed at once. */
void pvma_call_release(struct pvma_call *call);

/* The same for a reason that the other side is told. pvma_call_release() tells it PVMA_CAUSE_NORMAL. */
void pvma_call_abandon(struct pvma_call *call, enum pvma_cause cause);

/* Requests one more party of a multicast call. Returns its number (> 0), or PVMC_EPARAM: not multicast, or not
 * connected. */
int pvma_call_add_party(struct pvma_call *call, struct pvma_address to, uint32_t asap);

/*
 * Drops a party, which sees `ended`; no callback runs here. PVMC_ENOTFOUND when there is none of that number,
 * PVMC_EPARAM when it is the last one: release the call instead.
 */
int pvma_call_drop_party(struct pvma_call *call, uint16_t party);

/* ---- the called side ---- */

/*
 * Called for each call to a service access point, from the address `caller`. The listener owns the call and answers
 * it, now or later, with pvma_call_accept() or pvma_call_refuse(). If later, pvma_call_watch() reports a caller that
 * gives up.
 */
typedef void pvma_listener(void *arg, struct pvma_call *call, struct pvma_address caller,
                           const struct pvma_contract *contract);

/* Listens at `asap`. Returns 0, or PVMC_EEXISTS when there is a listener already. */
int pvma_host_listen(struct pvma_host *host, uint32_t asap, pvma_listener *listener, void *arg);

/* Stops listening; calls already offered remain. */
void pvma_host_unlisten(struct pvma_host *host, uint32_t asap);

/*
 * Accepts an offered call, with at most the offered bandwidth; NULL grants all of it. Returns this host's end of the
 * VC, which can be used at once. From now on `handler` is used.
 */
struct pvma_vc *pvma_call_accept(struct pvma_call *call, const struct pvma_bandwidth *granted,
                                 const struct pvma_call_handler *handler, void *arg);

/*
 * For an offered call that is answered later: `ended` is called when the caller gives up first, and the call is freed
 * on return. `handler` is not used after pvma_call_accept() or pvma_call_refuse().
 */
void pvma_call_watch(struct pvma_call *call, const struct pvma_call_handler *handler, void *arg);

/* Whether an offered call is the called side of `asking`. */
bool pvma_call_is_other_end(const struct pvma_call *offered, const struct pvma_call *asking);

/* Refuses an offered call, which is freed. */
void pvma_call_refuse(struct pvma_call *call, enum pvma_cause cause);

struct pvma_vc *pvma_call_vc(const struct pvma_call *call); /* NULL before it is connected */

/* The address of the other side. */
struct pvma_address pvma_call_peer(const struct pvma_call *call);
struct pvma_address pvma_host_address(const struct pvma_host *host);

#endif
