/* liveness.c - one timer looks at all links. */
#include "liveness.h"
#include <ev.h>
#include <stdio.h>
#include "core/clock.h"
#include "core/config.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "link.h"
#include "linked.h"

#define LOOKS       32          /* per time limit */
#define STUCK_LOOKS (LOOKS / 4) /* of silence before a fresh connection is tried */

/*
 * Silence begins up to 2 looks before its cause, because a quiet side pings every second look, and is noticed up to a
 * look late. A host is thus lost from 1.09 to 1.19 limits after the cause, and never by an outage that ends before.
 */
#define LOST_LOOKS (LOOKS + 5)

static ev_timer timer;
static int64_t limit_us, last_look_us;

static bool concerns_master(const struct pvmd_host *h)
{
    return pvmd_is_master() || h->index == pvmd.master_index;
}

/* Slaves need each other's answers only while frames wait for a count or a connection. */
static bool is_our_concern(const struct pvmd_host *h)
{
    return concerns_master(h) || pvmd_link_state(h) == PVMD_LINK_LOST || pvmd_link_has_kept(h);
}

static void look_at(struct pvmd_host *h, int64_t now_us, int64_t late_us)
{
    int64_t step_us = limit_us / LOOKS, lost_us = concerns_master(h) ? LOST_LOOKS * step_us : limit_us;
    bool is_up = pvmd_link_state(h) == PVMD_LINK_UP, is_quiet = is_up && pvmd_link_look(h);
    char why[64];
    int64_t silent_us = is_our_concern(h) ? now_us - pvmd_link_proven_us(h) - late_us : 0;
    if (late_us > 0 || !is_our_concern(h))
        pvmd_link_forgive(h, now_us - (silent_us > 0 ? silent_us : 0));
    int64_t useless_us = now_us - pvmd_link_useful_us(h); /* includes silence */
    snprintf(why, sizeof why, "silent for %.1f s", (double)useless_us / 1e6);
    if (useless_us > lost_us)
        pvmd_link_silent(h, why); /* h may be gone now */
    else if (is_up && silent_us > STUCK_LOOKS * step_us)
        pvmd_link_stuck(h, why);
    else if (is_quiet && is_our_concern(h))
        pvmd_link_ping(h);
    else if (is_up && !concerns_master(h))
        pvmd_link_look_idle(h, now_us);
}

static bool is_open(const struct pvmd_host *h)
{
    return pvmd_link_state(h) == PVMD_LINK_UP || pvmd_link_state(h) == PVMD_LINK_LOST;
}

static bool has_others(void)
{
    for (unsigned i = 1; i < pvmd_host_end(); i++)
        if (pvmd_host_any(i) && pvmd_host_any(i) != pvmd_host_self())
            return true;
    return false;
}

static void look(struct ev_loop *loop, ev_timer *w, int events)
{
    int64_t now_us = pvmc_clock_us(), step_us = limit_us / LOOKS;
    int64_t late_us = now_us - last_look_us - step_us;
    static unsigned indices[PVMC_HOST_INDEX_MAX];
    (void)events;
    last_look_us = now_us;
    for (unsigned count = pvmd_linked_list(indices), i = 0; i < count; i++) {
        struct pvmd_host *h = pvmd_host_any(indices[i]);
        if (!h)
            continue;
        if (is_open(h))
            look_at(h, now_us, late_us > step_us / 2 ? late_us : 0);
        else if (pvmd_link_state(h) == PVMD_LINK_RELAYED)
            pvmd_link_ask_again(h);
    }
    if (!has_others())
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
