/* liveness.c - one timer looks at all links. */
#include "liveness.h"
#include <ev.h>
#include <stdio.h>
#include "core/clock.h"
#include "core/config.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "link.h"

#define LOOKS 8 /* checks per time limit */

static ev_timer timer;
static int64_t limit_us, last_look_us;

static bool is_our_concern(const struct pvmd_host *h)
{
    return pvmd_is_master() || h->index == pvmd.master_index || pvmd_link_has_kept(h);
}

static void look_at(struct pvmd_host *h, int64_t now_us, int64_t late_us)
{
    char why[64];
    if (late_us > 0)
        pvmd_link_excuse(h, late_us);
    int64_t silent_us = now_us - pvmd_link_heard_us(h);
    if (!is_our_concern(h))
        return;
    if (silent_us > limit_us) {
        snprintf(why, sizeof why, "silent for %.1f s", (double)silent_us / 1e6);
        pvmd_link_silent(h, why);                                   /* h may be gone now */
    } else if (silent_us > limit_us / (pvmd_is_master() ? 4 : 2)) { /* the master's ping comes first and suffices */
        pvmd_link_ping(h);
    }
}

static void look(struct ev_loop *loop, ev_timer *w, int events)
{
    int64_t now_us = pvmc_clock_us(), step_us = limit_us / LOOKS;
    int64_t late_us = now_us - last_look_us - step_us;
    unsigned others = 0;
    (void)events;
    last_look_us = now_us;
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (!h || h == pvmd_host_self())
            continue;
        others++;
        if (pvmd_link_state(h) == PVMD_LINK_UP)
            look_at(h, now_us, late_us > step_us / 2 ? late_us : 0);
    }
    if (!others)
        ev_timer_stop(loop, w);
}

void pvmd_liveness_start(void)
{
    limit_us = pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT);
    double step_s = (double)limit_us / LOOKS / 1e6;
    ev_timer_init(&timer, look, step_s, step_s);
}

void pvmd_liveness_go_on(void)
{
    if (ev_is_active(&timer))
        return;
    last_look_us = pvmc_clock_us();
    ev_now_update(pvmd.loop);
    ev_timer_again(pvmd.loop, &timer);
}

void pvmd_liveness_stop(void)
{
    ev_timer_stop(pvmd.loop, &timer);
}
