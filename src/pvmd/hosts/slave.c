/* slave.c - see slave.h. */
#include "slave.h"
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/place/address.h"
#include "core/version.h"
#include "pvmd/launch/courier.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"
#include "pvmd/net/link.h"
#include "pvmd/door/listen.h"
#include "pvm3.h"

#define ORPHAN_LOOK_S 0.05 /* interval of checks, after the channel has ended, whether the master's call has failed */

static bool launched; /* we were started with -s */
static bool joined;   /* by applicant.c */
static bool linked;
static bool said;      /* an error line has been printed */
static int guard = -1; /* to the process that stays with the launcher: it ends on our word, and its death shows here */
static struct pvmd_start_text start;
static ev_io input_watcher, guard_watcher;
static ev_timer limit, orphaned;

const struct pvmd_start_text *pvmd_slave_text(void)
{
    return launched ? &start : NULL;
}

/* ---- messages to the launcher ---- */

static void print_line(const char *text, size_t length)
{
    char line[PVMD_START_LINE_MAX + 2];
    memcpy(line, text, length);
    line[length] = '\n';
    for (size_t done = 0; done <= length;) {
        ssize_t n = write(STDOUT_FILENO, line + done, length + 1 - done);
        if (n < 0 && errno != EINTR)
            return; /* the reader is gone */
        done += n > 0 ? (size_t)n : 0;
    }
}

void pvmd_slave_failed(int public_code, const char *why)
{
    char line[PVMD_START_LINE_MAX];
    if (!launched || linked || said)
        return;
    said = true;
    print_line(line, pvmd_error_line_format(public_code, why, line, sizeof line));
}

static void __attribute__((noreturn)) give_up(int public_code, const char *why)
{
    pvmd_slave_failed(public_code, why);
    exit(1);
}

/*
 * The launcher's process waits for this process to end, and then closes the channel; so the daemon continues in another
 * one.
 */
static void leave_parent(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        give_up(PvmDSysErr, strerror(errno));
    pid_t child = fork();
    if (child < 0)
        give_up(PvmDSysErr, strerror(errno));
    if (child == 0) {
        close(pair[0]);
        guard = pair[1];
        setsid();
        pvmd_sweeper_start();
        return;
    }
    uint8_t code = 1;
    close(pair[1]);
    while (read(pair[0], &code, 1) < 0 && errno == EINTR)
        continue;
    _exit(code);
}

/* The applicant's process stays, and waits for this one to end. */
static void stay_with_applicant(void)
{
    joined = true;
    guard = PVMD_SLAVE_GUARD;
    fcntl(guard, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    pvmd_sweeper_start();
}

/* ---- the start text ---- */

static double start_limit_s(void)
{
    return (double)pvmc_config_us(PVMC_SETTING_START_TIMEOUT) / 1e6;
}

/* Waits for more of the start text. A user who pastes it has no time limit. */
static bool wait_for_input(int64_t until_us)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    int64_t left_ms = (until_us - pvmc_clock_us()) / 1000;
    int n = poll(&p, 1, isatty(STDIN_FILENO) ? -1 : left_ms > 0 ? (int)left_ms : 0);
    return n > 0 || (n < 0 && errno == EINTR);
}

static size_t read_text(char *text, size_t size)
{
    int64_t until_us = pvmc_clock_us() + pvmc_config_us(PVMC_SETTING_START_TIMEOUT);
    size_t length = 0;
    while (!pvmd_start_text_is_whole(text, length)) {
        if (length == size)
            give_up(PvmBadMsg, "stdin does not hold a start text: only the master starts pvmd3 -s");
        if (!wait_for_input(until_us))
            give_up(PvmCantStart, "no start text arrived on stdin: the launcher must pass it on");
        ssize_t n = read(STDIN_FILENO, text + length, size - length);
        if (n == 0)
            give_up(PvmCantStart, "stdin ended before the start text was complete: only the master starts pvmd3 -s");
        if (n > 0)
            length += (size_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            give_up(PvmDSysErr, strerror(errno));
    }
    return length;
}

static void apply_settings(void)
{
    for (unsigned i = 0; i < start.setting_count; i++) {
        const struct pvmd_start_setting *s = &start.settings[i];
        if (!strncmp(s->name, "PVM", 3) && *s->value)
            setenv(s->name, s->value, 1);
        else if (!strncmp(s->name, "PVM", 3))
            unsetenv(s->name);
    }
    if (*start.listen_ip)
        setenv("PVM_IP", start.listen_ip, 1);
}

static __attribute__((noreturn)) void give_up_other_version(void)
{
    char why[128];
    snprintf(why, sizeof why, "it has dpvm %s and does not understand this one: install the same version on both",
             pvmc_version);
    give_up(PvmBadVersion, why);
}

/* Whether programs here find another daemon of this user and virtual machine: its files must remain. */
static bool another_daemon_runs(void)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256];
    return !pvmc_address_find(path, why, sizeof why) && pvmc_address_listener(path) != 0;
}

void pvmd_slave_start(const char *courier_key, bool joins)
{
    launched = true;
    const char *why = courier_key ? pvmd_courier_wait(courier_key) : NULL;
    if (why)
        give_up(PvmCantStart, why);
    if (joins)
        stay_with_applicant();
    else
        leave_parent();
    char *text = malloc(PVMD_START_TEXT_MAX);
    if (!text)
        give_up(PvmNoMem, "out of memory");
    size_t length = read_text(text, PVMD_START_TEXT_MAX);
    int rc = pvmd_start_text_parse(text, length, &start);
    OPENSSL_cleanse(text, length);
    free(text);
    if (rc == PVMC_EVERSION)
        give_up_other_version();
    if (rc)
        give_up(pvmc_error_public(rc), "the start text is damaged");
    apply_settings();
    rc = pvmd_machine_join(&start.machine);
    if (rc)
        give_up(pvmc_error_public(rc), pvmc_error_text(rc));
    OPENSSL_cleanse(&start.machine, sizeof start.machine);
    pvmd.host_index = start.index;
    pvmd.master_index = start.master_index;
    if (start.shares_machine || (joins && another_daemon_runs()))
        snprintf(pvmd.file_suffix, sizeof pvmd.file_suffix, ".%s", start.name);
    pvmd.host_name = strdup(start.name);
    if (!pvmd.host_name)
        give_up(PvmNoMem, "out of memory");
}

/* ---- ready ---- */

static void add_addresses(struct pvmd_start_line *line)
{
    const char *ip = pvmc_config_text(PVMC_SETTING_IP);
    union pvmw_address a;
    if (*ip && !pvmw_address_parse(ip, line->port, &a)) {
        pvmw_addresses_add(&line->addresses, &a);
        return;
    }
    pvmd_start_line_add_ssh(line);
    pvmw_addresses_add_own(&line->addresses, line->port);
}

/*
 * The channel has ended. The master closes it after its call has succeeded, but the two may arrive here in any order.
 */
static void orphaned_event(struct ev_loop *loop, ev_timer *w, int events)
{
    const struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    (void)loop, (void)w, (void)events;
    if (!master || pvmd_link_state(master) == PVMD_LINK_IDLE)
        pvmd_end(1, "the launcher has ended before the master called");
}

static void channel_event(struct ev_loop *loop, ev_io *w, int events)
{
    char rest[256];
    (void)loop, (void)events;
    ssize_t n = read(w->fd, rest, sizeof rest);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    ev_io_stop(pvmd.loop, w);
    ev_timer_again(pvmd.loop, &orphaned);
    ev_feed_event(pvmd.loop, &orphaned, EV_TIMER);
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    pvmd_slave_failed(PvmCantStart, "the master did not call this daemon's port in time");
    pvmd_end(1, "the master did not call in time");
}

static void watch(void)
{
    ev_io_init(&input_watcher, channel_event, STDIN_FILENO, EV_READ);
    ev_io_start(pvmd.loop, &input_watcher);
    ev_io_init(&guard_watcher, channel_event, guard, EV_READ);
    ev_io_start(pvmd.loop, &guard_watcher);
    ev_timer_init(&orphaned, orphaned_event, 0., ORPHAN_LOOK_S);
    ev_timer_init(&limit, limit_event, start_limit_s(), 0.);
    ev_timer_start(pvmd.loop, &limit);
}

void pvmd_slave_ready(void)
{
    struct pvmd_start_line line;
    char text[PVMD_START_LINE_MAX];
    pvmd_start_line_begin(&line, pvmd_listen_port());
    snprintf(line.arch, sizeof line.arch, "%s", pvmd_host_self()->arch);
    line.slots = pvmd_host_self()->slots;
    add_addresses(&line);
    watch();
    print_line(text, pvmd_start_line_format(&line, text, sizeof text));
}

static void stop_watching(void)
{
    ev_io_stop(pvmd.loop, &input_watcher);
    ev_io_stop(pvmd.loop, &guard_watcher);
    ev_timer_stop(pvmd.loop, &limit);
    ev_timer_stop(pvmd.loop, &orphaned);
}

/* Closes the launcher's channel completely, because ssh would wait for it. */
void pvmd_slave_linked(void)
{
    uint8_t code = 0;
    if (!launched || linked)
        return;
    linked = true;
    stop_watching();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < (joined ? 2 : 3) && null >= 0; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    if (write(guard, &code, 1) != 1)
        pvmc_log(PVMC_LOG_WARNING, "the launcher's process is gone already");
    if (joined)
        return;
    close(guard);
    guard = -1;
}

/* Tells the applicant where the other members are, should it have to come back. */
static void tell_members(void)
{
    char text[PVMW_ADDRESS_MAX * PVMW_ADDRESS_TEXT];
    struct pvmw_addresses members = {0};
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        const struct pvmd_host *h = pvmd_host_any(i);
        union pvmw_address a;
        if (h && h != pvmd_host_self() && h->port && !pvmw_address_parse(h->address, h->port, &a))
            pvmw_addresses_add(&members, &a);
    }
    pvmw_addresses_format(&members, text, sizeof text);
    if (write(guard, text, strlen(text)) < 0)
        pvmc_log(PVMC_LOG_WARNING, "the process that started this daemon is gone");
}

void pvmd_slave_stop(void)
{
    if (!launched)
        return;
    if (!linked)
        stop_watching();
    else if (joined)
        tell_members();
    pvmd_slave_failed(PvmCantStart, "the daemon ended while it started; its log on that host says why");
    pvmd_start_text_free(&start);
}
