/* virtual.c - see virtual.h. Naps here are poll(): libatmclock would let a sleep pass in virtual time. */
#include "virtual.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "call.h"
#include "task.h"

#define WATCHED_LOOKS 20   /* of 100 ms */
#define OUTPUT_NAPS   200  /* of 1 ms in which the daemon should have read what a task printed */
#define BYPASS_MS     1000 /* longest look at the daemon's socket before the caller looks again */

bool pvmi_virtual_is_watched(const struct pvmc_bypass *daemon)
{
    for (int i = 0; i < WATCHED_LOOKS; i++) {
        if (pvmc_virtual_clock->is_watched(daemon->pid))
            return true;
        poll(NULL, 0, 100);
    }
    return false;
}

int pvmi_virtual_give(struct pvmc_bypass daemon, size_t bytes)
{
    daemon.given += bytes;
    return pvmc_virtual_clock->give(&daemon);
}

static void await_daemon(int fd)
{
    struct pollfd from = {.fd = fd, .events = POLLIN};
    poll(&from, 1, BYPASS_MS);
}

/* The output of a spawned task bypasses the network as well. */
static void await_output(void)
{
    struct stat status;
    int bytes = 0;
    if (!pvmi_task.spawned || fstat(STDOUT_FILENO, &status) || !S_ISFIFO(status.st_mode))
        return;
    for (int i = 0; i < OUTPUT_NAPS && !ioctl(STDOUT_FILENO, FIONREAD, &bytes) && bytes; i++)
        poll(NULL, 0, 1);
}

int pvmi_virtual_sleep(int64_t until_us, const struct pvmc_bypass *daemon, bool owing, int fd)
{
    await_output();
    int rc = owing ? 1 : pvmc_virtual_clock->sleep(until_us, daemon);
    if (rc > 0)
        await_daemon(fd);
    return rc < 0 ? rc : 0;
}

/* ---- the program's own time ---- */

static void stop(void)
{
    if (pvmi_virtual())
        pvmc_virtual_clock->enter();
}

static void go_on(void)
{
    if (pvmi_virtual())
        pvmc_virtual_clock->leave();
}

static void pass_nothing(void)
{
}

static struct pvmi_call_clock its_clock = {.stop = stop, .pass = pass_nothing, .go_on = go_on};

static void watch_calls(void)
{
    pvmi_call_clock = &its_clock;
    __atomic_fetch_or(&pvmi_call_watch, PVMI_WATCH_TIME, __ATOMIC_RELAXED);
}

/* The program sleeps by itself, outside of the library. */
static void sleep_of_program(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    PVMI_END(PVMI_UNTRACED);
}

void pvmi_virtual_begin(void (*pass)(void))
{
    if (!pvmi_virtual()) {
        __atomic_fetch_and(&pvmi_call_watch, ~(unsigned)PVMI_WATCH_TIME, __ATOMIC_RELAXED);
        return;
    }
    its_clock.pass = pass;
    watch_calls();
    pvmc_virtual_clock->enter();
    pvmc_virtual_clock->on_pass(sleep_of_program);
}

/* The call that enrols must be watched from its beginning, so that the program's time counts from its end on. */
__attribute__((constructor)) static void watch_from_start(void)
{
    const char *transports = getenv("PVM_TRANSPORT");
    if (getenv("PVM_ATM_SOCKET") || (transports && strstr(transports, "atm")))
        watch_calls();
}
