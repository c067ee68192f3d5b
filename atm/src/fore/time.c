/* time.c - the calls of fore_atm.h for the clock of the simulation. */
#include <errno.h>
#include <poll.h>
#include <time.h>
#include "channel.h"
#include "endpoint.h"

int atm_sim_clock(void)
{
    if (pvma_fore_enter())
        return -1;
    return pvma_fore_leave((int)pvma_fore_welcome()->clock, 0);
}

int atm_sim_time(int64_t *now_ns)
{
    if (pvma_fore_enter())
        return -1;
    return pvma_fore_leave(0, pvma_fore_now(now_ns));
}

int atm_sim_cost(int64_t ns)
{
    if (ns < 0)
        return pvma_fore_fail(EINVAL);
    if (pvma_fore_enter())
        return -1;
    pvma_fore_charge(ns);
    return pvma_fore_leave(0, 0);
}

void atm_sim_enter_library(void)
{
    pvma_fore_enter_above();
}

void atm_sim_leave_library(void)
{
    pvma_fore_leave_above();
}

int64_t atm_sim_debt(void)
{
    return pvma_fore_debt();
}

static void (*pass)(void); /* lets debt pass, for a program of a library above */

void atm_sim_on_pass(void (*it)(void))
{
    pass = it;
}

int atm_sim_look(void)
{
    return pvma_fore_look();
}

int atm_sim_now(int64_t *now_ns)
{
    if (!pvma_fore_is_outside())
        return pvma_fore_fail(ENOTCONN);
    if (pvma_fore_enter_free())
        return -1;
    pvma_fore_look_at_clock();
    return pvma_fore_leave(0, pvma_fore_now(now_ns));
}

int atm_sim_wait(int64_t until_ns)
{
    if (pvma_fore_enter())
        return -1;
    return pvma_fore_leave(0, pvma_fore_wait_begin(until_ns));
}

int atm_sim_resume(void)
{
    if (pvma_fore_enter())
        return -1;
    return pvma_fore_leave(pvma_fore_wait_end(), 0);
}

int atm_sim_fd(void)
{
    if (pvma_fore_enter())
        return -1;
    return pvma_fore_leave(pvma_fore_descriptor(), 0);
}

int atm_sim_address(Atm_address *own)
{
    if (pvma_fore_enter())
        return -1;
    *own = pvma_fore_welcome()->address.nsap;
    return pvma_fore_leave(0, 0);
}

int atm_sim_leave(void)
{
    pvma_fore_lock();
    return pvma_fore_leave(0, pvma_fore_part());
}

/* ---- other channels ---- */

int atm_sim_sleep(int64_t until_ns, pid_t pid, uint64_t given, uint64_t taken)
{
    uint64_t owed = 0;
    if (pvma_fore_enter_free())
        return -1;
    if (!pvma_fore_is_virtual())
        return pvma_fore_leave(-1, EOPNOTSUPP);
    int error = pvma_fore_sleep(until_ns, pid, given, taken, &owed);
    return pvma_fore_leave(owed > 0, error);
}

int atm_sim_catch_up(void)
{
    if (pvma_fore_enter_free())
        return -1;
    return pvma_fore_leave(0, pvma_fore_catch_up());
}

int atm_sim_knows(pid_t pid)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_KNOWS, .process = (uint32_t)pid};
    if (pvma_fore_enter_free())
        return -1;
    return pvma_fore_leave(0, pvma_fore_ask(&ask, &reply, NULL));
}

int atm_sim_observe(void)
{
    pvma_fore_call_itself("-");
    return atm_sim_clock();
}

int atm_sim_local(pid_t pid, uint64_t given, uint64_t taken)
{
    struct pvma_fore_message tell = {.type = PVMA_FORE_LOCAL, .process = (uint32_t)pid, .given = given, .taken = taken};
    if (pvma_fore_enter_free())
        return -1;
    return pvma_fore_leave(0, pvma_fore_tell(&tell));
}

int atm_sim_expect(pid_t pid)
{
    struct pvma_fore_message tell = {.type = PVMA_FORE_EXPECT, .process = (uint32_t)pid};
    if (pvma_fore_enter_free())
        return -1;
    return pvma_fore_leave(0, pvma_fore_tell(&tell));
}

/* ---- poll ---- */

static int poll_in_real_time(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    struct timespec limit = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    int n = ppoll(fds, count, timeout_ns < 0 ? NULL : &limit, NULL);
    return n < 0 ? pvma_fore_fail(errno) : n;
}

/* Alternates poll() and waits until a descriptor is ready or the time is up. */
static int poll_in_virtual_time(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    int64_t now_ns = 0, until_ns = PVMA_FORE_NEVER;
    int error = pvma_fore_now(&now_ns), n = 0;
    if (timeout_ns >= 0 && now_ns < PVMA_FORE_NEVER - timeout_ns)
        until_ns = now_ns + timeout_ns;
    bool over = false;
    while (!error && !(n = poll(fds, count, 0)) && !over) {
        error = pvma_fore_wait(until_ns);
        if (!error)
            error = pvma_fore_now(&now_ns);
        over = now_ns >= until_ns;
    }
    return pvma_fore_leave(n, n < 0 ? errno : error);
}

int atm_sim_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns)
{
    bool sleeps = !count && timeout_ns >= 0 && pass && pvma_fore_is_program_of_above();
    if (pvma_fore_enter())
        return -1;
    if (sleeps) {
        pvma_fore_charge(timeout_ns);
        pvma_fore_leave(0, 0);
        pass();
        return 0;
    }
    if (pvma_fore_is_virtual())
        return poll_in_virtual_time(fds, count, timeout_ns);
    pvma_fore_leave(0, 0);
    return poll_in_real_time(fds, count, timeout_ns);
}
