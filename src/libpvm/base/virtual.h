/*
 * virtual.h - the virtual time of a simulated network, for a task that lives in it: with shadow.h the only place in the
 * library that uses pvmc_virtual_clock (core/clock.h).
 *
 * Bytes to or from the daemon bypass that network and take no virtual time by themselves (see shadow.h). So the network
 * is told before a frame is passed to the daemon, and time stands still until the other side has received it.
 */
#ifndef PVMI_VIRTUAL_H
#define PVMI_VIRTUAL_H

#include <stddef.h>
#include "core/clock.h"

/* Whether this process lives in virtual time. Time then passes only in pvmi_virtual_sleep(): polling is no use. */
static inline bool pvmi_virtual(void)
{
    return __builtin_expect(pvmc_virtual_clock != NULL, 0);
}

/*
 * The task enrols. In virtual time, each call of a public function from now on first calls `pass`, which lets the time
 * pass that the program has computed (struct pvmc_virtual_clock), if the call may depend on the time. So does a sleep
 * of the program itself.
 */
void pvmi_virtual_begin(void (*pass)(void));

/* Whether the daemon, at the other end of the bypass, watches the network. Waits two seconds of real time for it. */
bool pvmi_virtual_is_watched(const struct pvmc_bypass *daemon);

/* Call before `bytes` go to the daemon; *daemon is the traffic so far. 0 or PVMC_EDOWN. */
int pvmi_virtual_give(struct pvmc_bypass daemon, size_t bytes);

/*
 * Sleeps until something may have arrived, or until_us of pvmc_clock_us(). fd is readable when the daemon has sent
 * something. owing: the daemon has not received all our bytes yet, so the sleep waits for it in real time. 0, or
 * PVMC_EDOWN if the network is gone.
 */
int pvmi_virtual_sleep(int64_t until_us, const struct pvmc_bypass *daemon, bool owing, int fd);

#endif
