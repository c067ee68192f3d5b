/* daemon.c - the order in which the daemon's parts start and end, its loop, and its signals. */
#include "daemon.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "../core/config.h"
#include "../core/error.h"
#include "../core/log.h"
#include "clients.h"
#include "context.h"
#include "exec.h"
#include "helpers.h"
#include "hoster.h"
#include "hosts.h"
#include "info.h"
#include "join.h"
#include "logfile.h"
#include "loop.h"
#include "mailbox.h"
#include "manager.h"
#include "memory.h"
#include "multicast.h"
#include "notify.h"
#include "output.h"
#include "relay.h"
#include "rendezvous.h"
#include "rpc.h"
#include "service.h"
#include "siblings.h"
#include "spawn.h"
#include "tasker.h"
#include "tasks.h"
#include "trace.h"
#include "turn.h"
#include "virtual.h"
#include "watch.h"

#define EXIT_SIGTERM    15 /* as PVM's daemon does */
#define EXIT_SIGINT     2
#define EXIT_NO_START   1
#define TRIM_AFTER_S    1.0
#define LAUNCH_CHECK_S  0.02
#define DESCRIPTORS_MIN 24 /* what the daemon needs for itself, and a few tasks */

struct pvmd_daemon pvmd;

/* ---- memory ---- */

static ev_timer trim;

static void trim_now(EV_P_ ev_timer *timer, int events)
{
    (void)events;
    ev_timer_stop(EV_A_ timer);
    pvmd_memory_trim();
}

void pvmd_trim_later(void)
{
    if (!pvmd.loop)
        return;
    trim.repeat = TRIM_AFTER_S;
    ev_timer_again(pvmd.loop, &trim); /* from now on, if it runs already */
}

/* ---- signals ---- */

static ev_signal on_term, on_int, on_hup;

static void end_by_signal(EV_P_ ev_signal *signal, int events)
{
    (void)loop;
    (void)events;
    pvmd_halt(signal->signum == SIGTERM ? EXIT_SIGTERM : EXIT_SIGINT, strsignal(signal->signum));
}

/* The machine outlives the terminal that it was started from. */
static void ignore_signal(EV_P_ ev_signal *signal, int events)
{
    (void)loop;
    (void)events;
    pvmi_log(PVMI_LOG_INFO, "ignored signal %s", strsignal(signal->signum));
}

static void watch_signals(void)
{
    struct sigaction old;
    signal(SIGPIPE, SIG_IGN);
    ev_signal_init(&on_term, end_by_signal, SIGTERM);
    ev_signal_start(pvmd.loop, &on_term);
    ev_signal_init(&on_hup, ignore_signal, SIGHUP);
    ev_signal_start(pvmd.loop, &on_hup);
    ev_signal_init(&on_int, end_by_signal, SIGINT);
    if (!sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN)
        ev_signal_start(pvmd.loop, &on_int); /* a shell's background job does not want it */
}

/* ---- start ---- */

/* Says why there will be no daemon: to the user, and to the launcher if there is one. Returns the exit code. */
static int no_start(int rc, const char *why)
{
    pvmi_log(PVMI_LOG_ERROR, "%s", why);
    pvmd_slave_failed(rc == PVMI_EEXISTS ? PvmDupHost : PvmCantStart, why);
    return EXIT_NO_START;
}

/*
 * Descriptors 0 to 2 exist, so that nothing else can get their numbers. Others that we inherited are closed: whoever
 * holds the other end of a pipe would wait for us as long as the machine runs.
 */
static void set_up_descriptors(void)
{
    int fd;
    close_range(STDERR_FILENO + 1, ~0U, 0);
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

static int set_host_name(const char *given)
{
    char name[PVMD_HOST_NAME_MAX + 1] = "";
    if (!given && gethostname(name, sizeof name - 1))
        return PVMI_ESYSTEM;
    pvmd.host_name = strdup(given ? given : name);
    if (!pvmd.host_index)
        pvmd.host_index = pvmd.master_index = 1;
    return pvmd.host_name ? 0 : PVMI_ENOMEM;
}

static void start_duties(void)
{
    pvmd_info_start();
    pvmd_task_list_start();
    pvmd_tickle_start();
    pvmd_context_start();
    pvmd_watch_start();
    pvmd_notify_start();
    pvmd_mailbox_start();
    pvmd_multicast_start();
    pvmd_output_start();
    pvmd_siblings_start();
    pvmd_spawn_start();
    pvmd_exec_start();
    pvmd_tasker_start();
    pvmd_hoster_start();
    pvmd_manager_start();
}

static int read_hostfile(const char *given)
{
    const char *path = given ? given : pvmi_config_text(PVMI_SETTING_HOSTFILE);
    return *path ? pvmd_join_read_hostfile(path) : 0;
}

/* What can fail. 0, or a PVMI_E code with the reason in why[size]. */
static int start(const struct pvmd_options *options, char *why, size_t size)
{
    int rc = options->slave ? 0 : set_host_name(options->host_name);
    snprintf(why, size, "cannot start: %s", pvmi_error_text(rc));
    if (!rc) {
        snprintf(why, size, "not started: the hostfile is faulty");
        rc = options->slave ? 0 : read_hostfile(options->hostfile);
    }
    if (!rc)
        rc = pvmd_rendezvous_check(why, size);
    if (rc)
        return rc;
    pvmd_logfile_open();
    pvmd.loop = pvmd_loop_new();
    ev_timer_init(&trim, trim_now, 0., 0.);
    snprintf(why, size, "not started: no event loop");
    rc = pvmd.loop ? 0 : PVMI_ESYSTEM;
    if (!rc) {
        pvmd_turn_watch(pvmd.loop);
        watch_signals();
        start_duties();
        snprintf(why, size, "not started: no network");
        rc = pvmd_net_start();
    }
    if (!rc) {
        snprintf(why, size, "not started: cannot listen on socket %s", pvmd.socket_path);
        pvmd_virtual_start();
        rc = pvmd_clients_start(pvmd.socket_path);
    }
    return rc ? rc : pvmd_rendezvous_publish(why, size);
}

/* ---- being ready ---- */

static ev_timer hosts_added;
static bool keeps_stderr;

/*
 * Who started us reads our standard output: the socket's path once tasks can connect, its end when the hosts of the
 * hostfile are added.
 */
static void detach_when_hosts_added(EV_P_ ev_timer *timer, int events)
{
    (void)events;
    if (pvmd_join_busy())
        return;
    ev_timer_stop(EV_A_ timer);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    if (!keeps_stderr)
        pvmd_logfile_detach();
}

static void say_ready(const struct pvmd_options *options)
{
    time_t now = time(NULL);
    char when[32] = "";
    ctime_r(&now, when);
    when[strcspn(when, "\n")] = '\0';
    pvmi_log(PVMI_LOG_INFO, "%s %s %s", pvmd.host_name, pvmd_host_self()->arch, PVM_VER);
    pvmi_log(PVMI_LOG_INFO, "ready %s", when);
    keeps_stderr = options->foreground || options->debug_mask;
    if (!options->slave) {
        printf("%s\n", pvmd.socket_path);
        fflush(stdout);
    }
    pvmd_helpers_start();
    pvmd_join_start();
    pvmd_trim_later();
    if (options->slave)
        return;
    ev_timer_init(&hosts_added, detach_when_hosts_added, 0., LAUNCH_CHECK_S);
    ev_timer_start(pvmd.loop, &hosts_added);
}

/* ---- end ---- */

void pvmd_end(int exit_code, const char *why)
{
    if (pvmd.ending)
        return;
    pvmi_log(PVMI_LOG_INFO, "ending: %s", why);
    pvmd.ending = true;
    pvmd.exit_code = exit_code;
    pvmd_tasks_terminate();
    ev_break(pvmd.loop, EVBREAK_ALL);
}

/* Who waits for an answer of ours or the master's frees what it keeps for it. */
static void give_up_questions(void)
{
    pvmd_rpc_host_left(pvmd.host_index);
    if (!pvmd_is_master())
        pvmd_rpc_host_left(pvmd.master_index);
}

static void stop(void)
{
    if (pvmd.loop) {
        pvmd_virtual_stop();
        pvmd_clients_stop();
        give_up_questions();
        pvmd_net_stop();
        pvmd_exec_stop();
        pvmd_output_stop();
        pvmd_mailbox_stop();
        pvmd_notify_stop();
        pvmd_trace_stop();
        pvmd_watch_stop();
        pvmd_context_stop();
        pvmd_tasks_stop();
        pvmd_manager_stop();
        pvmd_hoster_stop();
        pvmd_service_stop();
        pvmd_relay_stop();
        ev_loop_destroy(pvmd.loop);
        pvmd.loop = NULL;
    }
    pvmd_rendezvous_release();
    pvmd_logfile_close();
    free(pvmd.host_name);
    pvmd.host_name = NULL;
}

static int check_user(void)
{
    if (geteuid() || pvmi_config_bool(PVMI_SETTING_ALLOW_ROOT))
        return 0;
    return no_start(PVMI_EDENIED, "not started as root: all tasks of the machine would run as root. Start it as an "
                                  "ordinary user, or set PVM_ALLOW_ROOT=1 if you mean it");
}

static int check_descriptors(void)
{
    struct rlimit limit;
    char why[128];
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_MIN)
        return 0;
    snprintf(why, sizeof why, "not started: %u descriptors are too few; raise the limit (ulimit -n) to %u or more",
             (unsigned)limit.rlim_cur, DESCRIPTORS_MIN);
    return no_start(PVMI_ELIMIT, why);
}

/* Neither a core dump nor another process of this user gets at the machine's secret. Tasks are not bound by it: exec()
 * takes it off. */
static void close_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

int pvmd_run(const struct pvmd_options *options)
{
    char why[8192];
    close_memory();
    set_up_descriptors();
    pvmd_exec_raise_limits();
    if (options->slave)
        pvmd_slave_start(options->courier_key);
    pvmd_logfile_set_mask(options->debug_mask);
    int code = check_user();
    if (!code)
        code = check_descriptors();
    if (code)
        return code;
    pvmi_config_warn_unknown();
    int rc = start(options, why, sizeof why);
    if (!rc) {
        say_ready(options);
        ev_run(pvmd.loop, 0);
    }
    code = rc ? no_start(rc, why) : pvmd.exit_code;
    stop();
    return code;
}
