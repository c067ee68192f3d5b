/*
 * carrier.h - the transports that this task has open: unix from enrolment on, the others from the first direct link
 * that is offered by or to us. One descriptor wakes a sleeping task for all of them, and for one point in time.
 */
#ifndef PVMI_CARRIER_H
#define PVMI_CARRIER_H

#include <stdbool.h>
#include <stdint.h>
#include "transports/transport.h"

struct pvmi_carrier {
    const struct pvmt_transport_ops *ops;
    struct pvmt_transport *transport;
    struct pvmt_attributes attributes;
};

/* The open transport of these operations, opened if need be. 0, PVMC_ELIMIT or what its open() says. */
int pvmi_carrier_open(const struct pvmt_transport_ops *ops, const struct pvmt_callbacks *callbacks,
                      struct pvmi_carrier **out);

/* Closes all; endpoints are freed without a callback. Also in a forked child, for the copies it inherited. */
void pvmi_carrier_close_all(void);

/* Moves what can be moved, without waiting: on all but the daemon's, on the daemon's. Number of things that happened.
 */
int pvmi_carrier_progress_direct(void);
int pvmi_carrier_progress_daemon(void);

/* A descriptor that is readable when progress has something to do; arm first, and do not sleep if that gives 1. */
int pvmi_carrier_fd(void);
int pvmi_carrier_arm(void);

/* The descriptor is readable from now on, whatever the transports say, until this is taken back. */
void pvmi_carrier_ring(bool on);

/*
 * While on, direct transports rest: the reorder queues are full, and the frames that are due come by the daemon.
 */
void pvmi_carrier_pause(bool on);

/* Makes the descriptor readable at that time of pvmc_clock_us() at the latest; in virtual time it only notes that. */
void pvmi_carrier_alarm(int64_t at_us);

/* When that is; INT64_MAX: never. */
int64_t pvmi_carrier_alarm_us(void);

/* Whether the time of an alarm has come; it is over then. Costs nothing while none is set. */
bool pvmi_carrier_alarmed(void);

#endif
