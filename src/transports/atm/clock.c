/* clock.c - the network's virtual time is the process's clock while a transport is open; a daemon only watches it. */
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "atm_transport.h"

#define NS_OF_US 1000

static struct atm_transport *here; /* open transports in virtual time; mostly one */

static int64_t now_ns(void)
{
    static int64_t last_ns; /* once the network is gone, time stands still at this value */
    int64_t ns;
    if (!here->library->sim_now(&ns))
        last_ns = ns;
    return last_ns;
}

/* The earliest wake_us of all armed transports; disarms them. */
static int64_t take_due_us(void)
{
    int64_t due_us = INT64_MAX;
    for (struct atm_transport *t = here; t; t = t->next_here) {
        due_us = t->wake_us < due_us ? t->wake_us : due_us;
        t->wake_us = INT64_MAX;
    }
    return due_us;
}

static int sleep_until(int64_t until_us, const struct pvmc_bypass *bypass)
{
    int64_t due_us = take_due_us();
    due_us = due_us < until_us ? due_us : until_us;
    int64_t until_ns = due_us < INT64_MAX / NS_OF_US ? due_us * NS_OF_US : -1;
    int rc = here->library->sim_sleep(until_ns, bypass->pid, bypass->given, bypass->taken);
    return rc < 0 ? PVMC_EDOWN : rc;
}

static int give(const struct pvmc_bypass *bypass)
{
    bool good = !here->library->sim_catch_up() && !here->library->sim_local(bypass->pid, bypass->given, bypass->taken);
    return good ? 0 : PVMC_EDOWN;
}

static void enter(void)
{
    here->library->sim_enter_library();
}

static void leave(void)
{
    here->library->sim_leave_library();
}

static int64_t debt_ns(void)
{
    return here->library->sim_debt();
}

static void on_pass(void (*pass)(void))
{
    here->library->sim_on_pass(pass);
}

static bool is_watched(pid_t pid)
{
    return !here->library->sim_knows(pid);
}

static int name(uint32_t task)
{
    return pvmt_atm_route_name(here->library, task);
}

static int carry(const struct pvmc_shadow *to, unsigned count, uint64_t bytes)
{
    return pvmt_atm_route_carry(here->library, to, count, bytes);
}

static int under_way(unsigned first, struct pvmc_shadow list[PVMC_SHADOWS_MAX], bool *handing)
{
    return pvmt_atm_route_under_way(here->library, first, list, handing);
}

static const struct pvmc_virtual_clock virtual_clock = {.now_ns = now_ns,
                                                        .sleep = sleep_until,
                                                        .give = give,
                                                        .enter = enter,
                                                        .leave = leave,
                                                        .debt_ns = debt_ns,
                                                        .on_pass = on_pass,
                                                        .is_watched = is_watched,
                                                        .name = name,
                                                        .carry = carry,
                                                        .under_way = under_way};

void pvmt_atm_clock_enter(struct atm_transport *t)
{
    t->wake_us = INT64_MAX;
    LL_PREPEND2(here, t, next_here);
    pvmc_virtual_clock = &virtual_clock;
}

void pvmt_atm_clock_leave(struct atm_transport *t)
{
    if (here)
        LL_DELETE2(here, t, next_here);
    if (!here)
        pvmc_virtual_clock = NULL;
}

/* ---- for processes that only watch ---- */

static const struct pvmt_atm_library *watched; /* since pvmt_atm_clock_watch() */

static bool is_there(void)
{
    return watched->sim_look() == ATM_CLOCK_VIRTUAL;
}

static int watch_begin(void)
{
    if (!is_there() || watched->sim_observe() < 0)
        return -1;
    return watched->sim_fd();
}

static void watch_end(void)
{
    watched->sim_leave();
}

static int watch_tell(pid_t pid, uint64_t given, uint64_t taken)
{
    return watched->sim_local(pid, given, taken);
}

static int watch_expect(pid_t pid)
{
    return watched->sim_expect(pid);
}

const struct pvmc_clock_watch *pvmt_atm_clock_watch(char *why, size_t size)
{
    static const struct pvmc_clock_watch watch = {
        .is_there = is_there, .begin = watch_begin, .end = watch_end, .tell = watch_tell, .expect = watch_expect};
    watched = pvmt_atm_library(why, size);
    return watched ? &watch : NULL;
}
