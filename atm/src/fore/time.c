/* time.c - the calls of fore_atm.h that are about the clock of the simulation. */
#include <errno.h>
#include <poll.h>
#include <time.h>
#include "channel.h"
#include "endpoint.h"

int atm_sim_clock(void)
{
    if (pvmi_fore_enter())
        return -1;
    return pvmi_fore_leave((int)pvmi_fore_welcome()->clock, 0);
}

int atm_sim_time(int64_t *now_ns)
{
    if (pvmi_fore_enter())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_now(now_ns));
}

int atm_sim_cost(int64_t ns)
{
    if (ns < 0)
        return pvmi_fore_fail(EINVAL);
    if (pvmi_fore_enter())
        return -1;
    pvmi_fore_charge(ns);
    return pvmi_fore_leave(0, 0);
}

int atm_sim_look(void)
{
    return pvmi_fore_look();
}

int atm_sim_now(int64_t *now_ns)
{
    if (!pvmi_fore_is_outside())
        return pvmi_fore_fail(ENOTCONN);
    if (pvmi_fore_enter_free())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_now(now_ns));
}

int atm_sim_wait(int64_t until_ns)
{
    if (pvmi_fore_enter())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_wait_begin(until_ns));
}

int atm_sim_resume(void)
{
    if (pvmi_fore_enter())
        return -1;
    return pvmi_fore_leave(pvmi_fore_wait_end(), 0);
}

int atm_sim_fd(void)
{
    if (pvmi_fore_enter())
        return -1;
    return pvmi_fore_leave(pvmi_fore_descriptor(), 0);
}

int atm_sim_address(Atm_address *own)
{
    if (pvmi_fore_enter())
        return -1;
    *own = pvmi_fore_welcome()->address.nsap;
    return pvmi_fore_leave(0, 0);
}

int atm_sim_leave(void)
{
    pvmi_fore_lock();
    return pvmi_fore_leave(0, pvmi_fore_part());
}

/* ---- other channels ---- */

int atm_sim_sleep(int64_t until_ns, pid_t pid, uint64_t given, uint64_t taken)
{
    uint64_t owed = 0;
    if (pvmi_fore_enter_free())
        return -1;
    if (!pvmi_fore_is_virtual())
        return pvmi_fore_leave(-1, EOPNOTSUPP);
    int error = pvmi_fore_sleep(until_ns, pid, given, taken, &owed);
    return pvmi_fore_leave(owed > 0, error);
}

int atm_sim_catch_up(void)
{
    if (pvmi_fore_enter_free())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_catch_up());
}

int atm_sim_knows(pid_t pid)
{
    struct pvmi_atm_message reply, ask = {.type = PVMI_ATM_KNOWS, .process = (uint32_t)pid};
    if (pvmi_fore_enter_free())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_ask(&ask, &reply, NULL));
}

int atm_sim_observe(void)
{
    pvmi_fore_call_itself("-");
    return atm_sim_clock();
}

int atm_sim_local(pid_t pid, uint64_t given, uint64_t taken)
{
    struct pvmi_atm_message tell = {.type = PVMI_ATM_LOCAL, .process = (uint32_t)pid, .given = given, .taken = taken};
    if (pvmi_fore_enter_free())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_tell(&tell));
}

int atm_sim_expect(pid_t pid)
{
    struct pvmi_atm_message tell = {.type = PVMI_ATM_EXPECT, .process = (uint32_t)pid};
    if (pvmi_fore_enter_free())
        return -1;
    return pvmi_fore_leave(0, pvmi_fore_tell(&tell));
}

/* ---- poll ---- */

static int poll_in_real_time(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    struct timespec limit = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    int n = ppoll(fds, count, timeout_ns < 0 ? NULL : &limit, NULL);
    return n < 0 ? pvmi_fore_fail(errno) : n;
}

/* Looks, waits, looks again, until there is something or the time is over. */
static int poll_in_virtual_time(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    int64_t now_ns = 0, until_ns = PVMI_ATM_NEVER;
    int error = pvmi_fore_now(&now_ns), n = 0;
    if (timeout_ns >= 0 && now_ns < PVMI_ATM_NEVER - timeout_ns)
        until_ns = now_ns + timeout_ns;
    bool over = false;
    while (!error && !(n = poll(fds, count, 0)) && !over) {
        error = pvmi_fore_wait(until_ns);
        if (!error)
            error = pvmi_fore_now(&now_ns);
        over = now_ns >= until_ns;
    }
    return pvmi_fore_leave(n, n < 0 ? errno : error);
}

int atm_sim_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    if (pvmi_fore_enter())
        return -1;
    if (pvmi_fore_is_virtual())
        return poll_in_virtual_time(fds, count, timeout_ns);
    pvmi_fore_leave(0, 0);
    return poll_in_real_time(fds, count, timeout_ns);
}
