/*
 * circuits.h - the further circuits of an assured endpoint. ECE has three: the first one, best effort, which is the
 * endpoint's call, one with a rate that the network tells (ABR), and one for control (VBR).
 *
 * The calling side opens all three calls at once. The contracts of the further ones have the circuit's number beside
 * the protocol, and go to an access point of the network's own: the listener may have closed when they come. There they
 * wait with the caller until the program has accepted it.
 */
#ifndef PVMA_CIRCUITS_H
#define PVMA_CIRCUITS_H

#include "endpoint.h"

/* Where hosts take further calls. No program can bind it. */
#define PVMA_CIRCUITS_ASAP UINT32_MAX

/* How many further circuits a protocol has. */
unsigned pvma_circuits_of(enum pvma_protocol protocol);

/* Whether all circuits of a connected endpoint are there. */
bool pvma_circuits_are_up(const struct pvma_endpoint *e);

/* The endpoint has called: calls with its further circuits. */
void pvma_circuits_open(struct pvma_endpoint *e, struct pvma_address to);

/* The program has accepted a caller as `fresh`; or the caller is refused or gone. */
void pvma_circuits_accept(struct pvma_endpoint *fresh, struct pvma_caller *caller);
void pvma_circuits_refuse(struct pvma_caller *caller);

/* Releases those of an endpoint, for a cause that the peer is told. */
void pvma_circuits_free(struct pvma_endpoint *e, enum pvma_cause cause);

#endif
