/* watchdog.c - see watchdog.h. */
#include "watchdog.h"
#include <ev.h>
#include "core/notify_socket.h"
#include "pvmd/base/self.h"
#include "pvmd/hosts/slave.h"

static ev_timer interval;

static void report(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
    pvmc_notify_socket_send("WATCHDOG=1");
    pvmd_slave_is_well();
}

void pvmd_watchdog_ready(void)
{
    pvmc_notify_socket_send("READY=1\nSTATUS=tasks can connect");
    double seconds = (double)pvmc_notify_socket_watchdog_us() / 2e6; /* half of it, as sd_watchdog_enabled(3) advises */
    if (seconds <= 0.)
        return;
    ev_timer_init(&interval, report, seconds, seconds);
    ev_timer_start(pvmd.loop, &interval);
}

void pvmd_watchdog_stopping(void)
{
    pvmc_notify_socket_send("STOPPING=1");
}
