/* world.c - living in the network's virtual time: pvmi_world, for as long as some transport is open. */
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/error.h"
#include "atm_transport.h"

#define NS_OF_US 1000

static struct atm_transport *here; /* all that live there; mostly one */

static int64_t now_ns(void)
{
    static int64_t last_ns; /* what it was when the network went, from where on time stands */
    int64_t ns;
    if (!here->library->sim_now(&ns))
        last_ns = ns;
    return last_ns;
}

/* When some link must be looked at, of those whose transports are armed. None is afterwards. */
static int64_t take_due_us(void)
{
    int64_t due_us = INT64_MAX;
    for (struct atm_transport *t = here; t; t = t->next_here) {
        due_us = t->wake_us < due_us ? t->wake_us : due_us;
        t->wake_us = INT64_MAX;
    }
    return due_us;
}

static int sleep_until(int64_t until_us, const struct pvmi_aside *aside)
{
    int64_t due_us = take_due_us();
    due_us = due_us < until_us ? due_us : until_us;
    int64_t until_ns = due_us < INT64_MAX / NS_OF_US ? due_us * NS_OF_US : -1;
    int rc = here->library->sim_sleep(until_ns, aside->pid, aside->given, aside->taken);
    return rc < 0 ? PVMI_EDOWN : rc;
}

static int give(const struct pvmi_aside *aside)
{
    bool good = !here->library->sim_catch_up() && !here->library->sim_local(aside->pid, aside->given, aside->taken);
    return good ? 0 : PVMI_EDOWN;
}

static bool is_watched(pid_t pid)
{
    return !here->library->sim_knows(pid);
}

static const struct pvmi_world world = {.now_ns = now_ns, .sleep = sleep_until, .give = give, .is_watched = is_watched};

void pvmi_atm_world_enter(struct atm_transport *t)
{
    t->wake_us = INT64_MAX;
    LL_PREPEND2(here, t, next_here);
    pvmi_world = &world;
}

void pvmi_atm_world_leave(struct atm_transport *t)
{
    if (here)
        LL_DELETE2(here, t, next_here);
    if (!here)
        pvmi_world = NULL;
}
