/*
 * call.h - switched VCs: calls between hosts, set up by signalling messages (signal.h) that travel from node to node in
 * cells on VPI 0, VCI 5. Each switch on the way finds the next hop, admits or refuses the bandwidth, picks a VCI and
 * passes the message on. Signalling cells are not lost: what would make them reliable (SAAL) is not modelled.
 *
 * The caller opens; the called side listens at a service access point, is offered the call, and accepts (maybe with
 * less bandwidth) or refuses. A multicast call starts with one party; more are added and dropped later.
 */
#ifndef PVMA_CALL_H
#define PVMA_CALL_H

#include "host.h"

/* A host's address, in the manner of Fore's NSAP: 8 octets. */
struct pvma_address {
    uint32_t switch_id; /* number of the switch that the host hangs on, from 1; 0: on another host */
    uint32_t port;      /* port of that switch; there: number of the host */
};

struct pvma_call;

/* What the owner of a call wants to know. Any may be NULL. Called from events only. */
struct pvma_call_handler {
    /* The called side has accepted; `granted` is what was agreed. The VC's end lives until `ended`. */
    void (*connected)(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted);
    /* The call was refused, released by the other side or the network; it and its VC's end are freed on return. */
    void (*ended)(void *arg, struct pvma_call *call, int cause);
    /* An answer to pvma_call_add_party(): cause 0, the party is there; else it is not and its number is free again. */
    void (*party)(void *arg, struct pvma_call *call, uint16_t party, int cause);
    /* A party has left a multicast call by itself. */
    void (*party_left)(void *arg, struct pvma_call *call, uint16_t party, int cause);
};

/*
 * Opens a call. The result is good until `ended`, or pvma_call_release(). A refusal always comes through `ended`,
 * later, never from this call. The contract is copied.
 */
struct pvma_call *pvma_call_open(struct pvma_host *from, struct pvma_address to, uint32_t asap,
                                 const struct pvma_contract *contract, const struct pvma_call_handler *handler,
                                 void *arg);

/* Ends a call from either side; `ended` is not called on this one. The call and its VC's end are freed at once. */
void pvma_call_release(struct pvma_call *call);

/* Asks for one more party of a multicast call. Returns its number (> 0), or PVMI_EPARAM: not multicast, not connected.
 */
int pvma_call_add_party(struct pvma_call *call, struct pvma_address to, uint32_t asap);

/*
 * Drops a party; nothing is called here, `ended` there. PVMI_ENOTFOUND when there is none of that number, PVMI_EPARAM
 * when it is the last one: release the call instead.
 */
int pvma_call_drop_party(struct pvma_call *call, uint16_t party);

/* ---- the called side ---- */

/*
 * Called for each call to a service access point. The listener keeps the call and answers it, now or later, with
 * pvma_call_accept() or pvma_call_refuse(); if later, pvma_call_watch() tells that it need not. `caller` is where it
 * comes from.
 */
typedef void pvma_listener(void *arg, struct pvma_call *call, struct pvma_address caller,
                           const struct pvma_contract *contract);

/* Listens at `asap`. 0, or PVMI_EEXISTS: somebody does. */
int pvma_host_listen(struct pvma_host *host, uint32_t asap, pvma_listener *listener, void *arg);

/* Stops; calls already offered stay. */
void pvma_host_unlisten(struct pvma_host *host, uint32_t asap);

/*
 * Accepts an offered call, with at most the offered bandwidth; NULL: with all of it. Returns this host's end of the VC,
 * which can be used at once. From now on `handler` is told.
 */
struct pvma_vc *pvma_call_accept(struct pvma_call *call, const struct pvma_bandwidth *granted,
                                 const struct pvma_call_handler *handler, void *arg);

/*
 * Whoever keeps an offered call for a later answer is told by `ended` when its caller gives up before; the call is
 * freed on return. Nothing of `handler` is called after pvma_call_accept() or pvma_call_refuse().
 */
void pvma_call_watch(struct pvma_call *call, const struct pvma_call_handler *handler, void *arg);

/* Whether an offered call is what the host that `asking` belongs to has opened with it. */
bool pvma_call_is_other_end(const struct pvma_call *offered, const struct pvma_call *asking);

/* Refuses an offered call, which is freed. */
void pvma_call_refuse(struct pvma_call *call, enum pvma_cause cause);

struct pvma_vc *pvma_call_vc(const struct pvma_call *call); /* NULL before it is connected */
struct pvma_address pvma_host_address(const struct pvma_host *host);

#endif
