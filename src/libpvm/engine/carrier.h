/*
 * carrier.h - the transports that this task has open: unix from enrolment on, others from the first direct link that is
 * offered by or to us. One descriptor wakes a sleeping task for all of them and for one timer.
 */
#ifndef PVMI_CARRIER_H
#define PVMI_CARRIER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include "libpvm/base/gauges.h"
#include "transports/transport.h"

#define PVMI_CARRIERS_MAX 8
#define PVMI_CARRIER_FDS  (PVMI_CARRIERS_MAX * PVMT_SLEEP_FDS + 1) /* and the timer */

struct pvmi_carrier {
    const struct pvmt_transport_ops *ops;
    struct pvmt_transport *transport;
    struct pvmt_attributes attributes;
    struct pvmc_gauges_route *shown; /* counts the messages of its links */
};

/* The open transport with these operations; opens it if necessary. 0, PVMC_ELIMIT or the error of its open(). */
int pvmi_carrier_open(const struct pvmt_transport_ops *ops, const struct pvmt_callbacks *callbacks,
                      struct pvmi_carrier **out);

/* Closes all and frees endpoints without a callback. Also in a forked child, for inherited copies. */
void pvmi_carrier_close_all(void);

/* Moves data without waiting: on all transports but the daemon's, or on the daemon's. Returns the number of events. */
int pvmi_carrier_progress_direct(void);
int pvmi_carrier_progress_daemon(void);

/* As pvmi_carrier_progress_direct(), for a tight loop: see glance() in transport.h. */
int pvmi_carrier_glance_direct(void);

/* A descriptor that is readable when progress has something to do. Arm it first, and do not sleep if that returns 1. */
int pvmi_carrier_fd(void);
int pvmi_carrier_arm(void);

/*
 * The same for a task whose only thread sleeps: arms, and fills in what to poll in place of the descriptor, since that
 * wakes it sooner. Returns their number; 0: do not sleep.
 */
unsigned pvmi_carrier_sleep_on(struct pollfd fds[PVMI_CARRIER_FDS]);

/* Keeps the descriptor readable, whatever the transports say, until it is turned off again. */
void pvmi_carrier_ring(bool on);

/*
 * While on, direct transports are paused: the reorder queues are full, and the frames that are due come by the daemon.
 */
void pvmi_carrier_pause(bool on);

/*
 * Makes the descriptor readable at that time of pvmc_clock_us() at the latest. In virtual time it only records the
 * time.
 */
void pvmi_carrier_alarm(int64_t at_us);

/* The time of the alarm; INT64_MAX: never. */
int64_t pvmi_carrier_alarm_us(void);

/* Whether the alarm is due; clears it if so. Costs nothing while none is set. */
bool pvmi_carrier_alarmed(void);

#endif
