/* world.c - living in the network's virtual time: pvmi_world, for as long as the transport is open. */
#include "../../core/clock.h"
#include "../../core/error.h"
#include "atm_transport.h"

#define NS_OF_US 1000

static struct atm_transport *here;

static int64_t now_ns(void)
{
    static int64_t last_ns; /* what it was when the network went, from where on time stands */
    int64_t ns;
    if (!here->library->sim_now(&ns))
        last_ns = ns;
    return last_ns;
}

/* When some link of ours must be looked at. */
static int64_t due_us(void)
{
    const struct pvmi_agenda_entry *e = pvmi_agenda_first(&here->agenda);
    return e ? e->due_us : INT64_MAX;
}

static int sleep_until(int64_t until_us, const struct pvmi_aside *aside)
{
    int64_t due = due_us();
    due = due < until_us ? due : until_us;
    int64_t until_ns = due < INT64_MAX / NS_OF_US ? due * NS_OF_US : -1;
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
    here = t;
    pvmi_world = &world;
}

void pvmi_atm_world_leave(const struct atm_transport *t)
{
    if (here != t)
        return;
    here = NULL;
    pvmi_world = NULL;
}
