/* daemon.c - how a daemon starts and ends, its loop, and its signals. */
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
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/place/start.h"
#include "core/version.h"
#include "parts.h"
#include "pvmd/base/address_file.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/logfile.h"
#include "pvmd/base/loop.h"
#include "pvmd/base/memory.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"
#include "pvmd/base/turn.h"
#include "pvmd/duties/helpers.h"
#include "pvmd/duties/virtual_time.h"
#include "pvmd/hosts/drain.h"
#include "pvmd/hosts/join.h"
#include "pvmd/hosts/slave.h"
#include "pvmd/hosts/tokens.h"
#include "pvmd/metrics/metrics.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/quorum/tables.h"
#include "pvmd/spawn/exec.h"
#include "pvmd/tasks/clients.h"
#include "transports/choice.h"
#include "pvm3.h"

#define EXIT_SIGTERM   0 /* as service managers expect; PVM's daemon has 15 */
#define EXIT_SIGINT    2
#define EXIT_NO_START  1
#define LAUNCH_CHECK_S 0.02

/* ---- signals ---- */

static ev_signal on_term, on_int, on_hup;

/* SIGTERM ends the machine at the master; elsewhere the host leaves once its tasks have ended. */
static void end_by_signal(EV_P_ ev_signal *signal, int events)
{
    (void)loop;
    (void)events;
    if (signal->signum == SIGTERM && pvmd_drain_signal())
        return;
    pvmd_halt(signal->signum == SIGTERM ? EXIT_SIGTERM : EXIT_SIGINT, strsignal(signal->signum));
}

/* The virtual machine outlives the terminal from which it was started. */
static void ignore_signal(EV_P_ ev_signal *signal, int events)
{
    (void)loop;
    (void)events;
    pvmc_log(PVMC_LOG_INFO, "ignored signal %s", strsignal(signal->signum));
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
        ev_signal_start(pvmd.loop, &on_int); /* in a shell's background job, it starts out ignored */
}

/* ---- start ---- */

/* Tells the user, and the launcher if there is one, why the daemon did not start. Returns the exit code. */
static int no_start(int rc, const char *why)
{
    pvmc_log(PVMC_LOG_ERROR, "%s", why);
    pvmd_slave_failed(rc == PVMC_EEXISTS ? PvmDupHost : PvmCantStart, why);
    return EXIT_NO_START;
}

/*
 * Opens descriptors 0 to 2 if they are closed, so that no other file gets their numbers. Closes all others that we
 * inherited: the reader of an inherited pipe would otherwise wait until the machine ends.
 */
static void set_up_descriptors(bool has_guard)
{
    int fd;
    close_range(has_guard ? PVMD_SLAVE_GUARD + 1 : STDERR_FILENO + 1, ~0U, 0);
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
        return PVMC_ESYSTEM;
    pvmd.host_name = strdup(given ? given : name);
    if (!pvmd.host_index)
        pvmd.host_index = pvmd.master_index = 1;
    return pvmd.host_name ? 0 : PVMC_ENOMEM;
}

static int read_hostfile(const char *given)
{
    const char *path = given ? given : pvmc_config_text(PVMC_SETTING_HOSTFILE);
    return *path ? pvmd_join_read_hostfile(path) : 0;
}

static bool starts_anew; /* as a process that has no past */

/* If our predecessor was the master and was killed, its hosts may still wait for it. Nobody knows of us yet. */
static int take_machine_back(void)
{
    while (pvmd_tables_are_returning() && !pvmd.ending)
        ev_run(pvmd.loop, EVRUN_ONCE);
    if (pvmd_tables_are_ours() || pvmd.ending)
        return 0;
    pvmc_log(PVMC_LOG_INFO, "the machine of the journal is gone, or goes on without this host: starting a new one");
    starts_anew = true;
    return PVMC_ENOTFOUND;
}

/* With a value that no task understands, each would fail. */
static int check_transports(char *why, size_t size)
{
    char reason[512];
    int rc = pvmt_choice_check(pvmc_config_text(PVMC_SETTING_TRANSPORT), reason, sizeof reason);
    if (rc)
        snprintf(why, size, "not started: %s", reason);
    return rc;
}

/* Does everything that can fail. Returns 0, or a PVMC_E code with the reason in why[size]. */
static int start(const struct pvmd_options *options, char *why, size_t size)
{
    int rc = options->slave ? 0 : set_host_name(options->host_name);
    snprintf(why, size, "cannot start: %s", pvmc_error_text(rc));
    if (!rc) {
        snprintf(why, size, "not started: the hostfile is faulty");
        rc = options->slave ? 0 : read_hostfile(options->hostfile);
    }
    if (!rc && !options->slave)
        rc = check_transports(why, size);
    if (!rc)
        rc = pvmd_address_file_check(why, size);
    if (!rc)
        rc = pvmd_logfile_check(why, size);
    if (!rc)
        rc = pvmd_metrics_check(why, size);
    if (rc)
        return rc;
    pvmd_sweeper_know_files(pvmd_address_file_path(), pvmd.socket_path);
    pvmd_logfile_open(options->slave);
    pvmc_failpoint_start(pvmd.host_name);
    pvmd.loop = pvmd_loop_new();
    snprintf(why, size, "not started: no event loop");
    rc = pvmd.loop ? 0 : PVMC_ESYSTEM;
    if (!rc) {
        pvmd_turn_watch(pvmd.loop);
        pvmd_sweeper_watch();
        watch_signals();
        pvmd_parts_start();
        snprintf(why, size, "not started: no network");
        rc = pvmd_net_start();
    }
    if (!rc)
        rc = options->slave ? 0 : take_machine_back();
    if (!rc && options->accept)
        rc = pvmd_tokens_accept(options->accept);
    if (!rc) {
        snprintf(why, size, "not started: cannot listen on socket %s", pvmd.socket_path);
        pvmd_virtual_time_start();
        rc = pvmd_clients_start(pvmd.socket_path);
    }
    return rc ? rc : pvmd_address_file_publish(why, size);
}

/* ---- readiness ---- */

static ev_timer hosts_added;
static bool keeps_stderr;

/*
 * Our starter reads standard output: the socket's path once tasks can connect, and end of file once the hosts of the
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
    pvmc_log(PVMC_LOG_INFO, "%s %s dpvm %s, PVM %s", pvmd.host_name, pvmd_host_self()->arch, pvmc_version, PVM_VER);
    pvmc_log(PVMC_LOG_INFO, "ready %s", when);
    keeps_stderr = options->foreground || options->joined || options->debug_mask;
    if (!options->slave) {
        printf("%s\n", pvmd.socket_path);
        fflush(stdout);
    }
    pvmd_metrics_start();
    pvmd_helpers_start();
    pvmd_join_start();
    pvmd_trim_later();
    if (options->slave)
        return;
    ev_timer_init(&hosts_added, detach_when_hosts_added, 0., LAUNCH_CHECK_S);
    ev_timer_start(pvmd.loop, &hosts_added);
}

/* ---- end ---- */

/* Fails all questions to us and the master, so that the askers free what they keep for the answer. */
static void give_up_questions(void)
{
    pvmd_rpc_host_left(pvmd.host_index);
    if (!pvmd_is_master())
        pvmd_rpc_host_left(pvmd.master_index);
    pvmd_petition_stop();
}

static void stop(void)
{
    if (pvmd.loop) {
        pvmd_metrics_stop();
        pvmd_virtual_time_stop();
        pvmd_clients_stop();
        give_up_questions();
        pvmd_net_stop();
        pvmd_parts_stop();
        ev_loop_destroy(pvmd.loop);
        pvmd.loop = NULL;
    }
    pvmd_address_file_release();
    pvmd_sweeper_begin();
    pvmd_logfile_close();
    free(pvmd.host_name);
    pvmd.host_name = NULL;
}

/* Whether this process may be a daemon. 0 or the exit code. */
static int check_process(void)
{
    struct rlimit limit;
    char why[256];
    int rc = pvmc_start_check_user(why, sizeof why);
    if (!rc && !getrlimit(RLIMIT_NOFILE, &limit))
        rc = pvmc_start_check_descriptors(limit.rlim_cur, why, sizeof why);
    return rc ? no_start(rc, why) : 0;
}

/* Hides the machine's secret from core dumps and from other processes of this user. exec() undoes this for tasks. */
static void close_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

int pvmd_run(const struct pvmd_options *options)
{
    char why[8192];
    close_memory();
    set_up_descriptors(options->joined);
    pvmd_exec_raise_limits();
    if (options->application.address)
        return pvmd_applicant_run(&options->application);
    if (options->slave)
        pvmd_slave_start(options->courier_key, options->joined);
    else
        pvmd_sweeper_start();
    pvmd_logfile_set_mask(options->debug_mask);
    int code = check_process();
    if (code)
        return code;
    pvmc_config_warn_unknown();
    int rc = start(options, why, sizeof why);
    if (!rc) {
        say_ready(options);
        ev_run(pvmd.loop, 0);
    }
    if (!starts_anew)
        code = rc ? no_start(rc, why) : pvmd.exit_code;
    stop();
    return starts_anew ? PVMD_START_ANEW : code;
}
