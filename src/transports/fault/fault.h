/*
 * fault.h - wraps a transport so that its links fail as PVM_FAULT says: for tests of the layers above.
 *
 *   PVM_FAULT = NAME=VALUE,...          (core/fault/plan.h has all of the grammar)
 *     seed=N      of the random numbers; the same seed gives the same faults at the same frames of a process
 *     drop=P%     a frame is lost, and with it the connection: both ends are told by down
 *     cut=P%      the connection ends: before a frame, in the middle of one, or when one arrives
 *     refuse=P%   send() gives PVMC_EAGAIN though there is room; tx_ready follows
 *     nojoin=P%   an offer cannot be joined
 *     delay=TIME  frames that came are held back for this time on average (2ms, 500us, 0.1s); their order stays
 *   P is a percentage such as 1% or 0.05%, for each frame (nojoin: for each join).
 *
 * Only transports between tasks, and those of the conformance suite, are wrapped. The daemon's socket never is.
 */
#ifndef PVMT_FAULT_H
#define PVMT_FAULT_H

#include "core/fault/plan.h"
#include "transports/transport.h"

/*
 * The ops to use instead of inner: inner wrapped with the faults of PVM_FAULT, or inner itself when none are set, when
 * the text is malformed (logged once as an error), or when inner connects by address. Name and attributes stay the
 * same, except that lossless is false if frames get lost.
 */
const struct pvmt_transport_ops *pvmt_fault_wrap(const struct pvmt_transport_ops *inner);

#endif
