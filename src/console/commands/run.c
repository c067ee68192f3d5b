/*
 * run.c - pvm run: starts a virtual machine if none runs, starts copies of a program, prints their output, waits for
 * their end, and cleans up.
 */
#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "console/collector.h"
#include "console/console.h"
#include "diagnose.h"
#include "guard.h"
#include "host.h"
#include "job.h"
#include "run.h"

enum { RUN_COUNT_MAX = 1 << 18, HOSTS_MAX = 4095, EXIT_SIGNAL = 128 };

struct run {
    int count;
    char *hosts[HOSTS_MAX + 1]; /* of -H, in host_list */
    int host_count;
    char *added[HOSTS_MAX]; /* those of them that were not in the machine */
    int added_count;
    char *host_list; /* copy of -H's argument */
    bool prefix;
    const char *folder;
    const char *wrapper;
    char **program; /* and its arguments */
    int *tids;
    int started;
    bool machine_is_ours;
};

static const char doc[] =
    "Start N copies of PROGRAM on the virtual machine, print their output, and wait until they end."
    "\vIf no virtual machine runs, one is started, and halted at the end. PROGRAM is searched for as in pvm_spawn(3); "
    "if it contains '/', it is a path relative to this directory.\n"
    "Ctrl-C interrupts the tasks; a second Ctrl-C kills them.\n"
    "The exit code is 0 if all tasks were started and ended, 1 if one could not be started or was lost with its host, "
    "2 for a wrong command line, 3 without a virtual machine, and 130 after Ctrl-C. PVM does not report exit codes of "
    "tasks.";

static const struct argp_option option_table[] = {
    {"copies", 'n', "N", 0, "Number of copies (default: 1, or one per host of -H)", 0},
    {NULL, 'N', NULL, OPTION_ALIAS, NULL, 0},
    {"host", 'H', "HOST[,HOST...]", 0, "Run on these hosts, in turn; hosts that are not in the machine are added", 0},
    {"prefix", 'p', NULL, 0, "Prefix each line of output with the task id", 0},
    {"directory", 'w', "DIR", 0, "Working directory of the tasks (default: this one, if it exists there)", 0},
    {"wrap", 'W', "COMMAND", 0, "Run the tasks, and tasks that they spawn, under COMMAND, such as 'valgrind -q'", 0},
    {0}};

static void take_hosts(struct run *run, char *text, struct argp_state *state)
{
    char *rest, *host;

    free(run->host_list);
    run->host_count = 0;
    run->host_list = rest = strdup(text);
    if (rest == NULL)
        argp_failure(state, CONSOLE_FAILED, 0, "out of memory");
    while ((host = strsep(&rest, ",")) != NULL) {
        if (*host == '\0' || run->host_count == HOSTS_MAX)
            argp_error(state, "%s: give at most %d comma-separated host names", text, HOSTS_MAX);
        run->hosts[run->host_count++] = host;
    }
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    struct run *run = state->input;
    char *end;
    long number;

    switch (key) {
    case 'n':
    case 'N':
        number = strtol(arg, &end, 10);
        if (*arg == '\0' || *end != '\0' || number < 1 || number > RUN_COUNT_MAX)
            argp_error(state, "-n %s: give a number from 1 to %d", arg, RUN_COUNT_MAX);
        run->count = (int)number;
        return 0;
    case 'H':
        take_hosts(run, arg, state);
        return 0;
    case 'p':
        run->prefix = true;
        return 0;
    case 'w':
        run->folder = arg;
        return 0;
    case 'W':
        if (arg[strspn(arg, " \t")] == '\0')
            argp_error(state, "--wrap: give a command, such as --wrap 'valgrind -q'");
        if (arg[0] != '/' && memchr(arg, '/', strcspn(arg, " \t")) != NULL)
            argp_error(state, "--wrap %s: give the full path, or the name of a command in PATH", arg);
        run->wrapper = arg;
        return 0;
    case ARGP_KEY_ARGS:
        run->program = state->argv + state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program given. Try: pvm run -n 2 hello");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- hosts ---- */

static bool in_machine(const char *name)
{
    int n, formats;
    struct pvmhostinfo *hosts = host_list(&n, &formats);

    for (int i = 0; i < n; i++)
        if (strcmp(hosts[i].hi_name, name) == 0)
            return true;
    return false;
}

/* Adds the hosts of -H that are not in the machine. False after a message. */
static bool add_hosts(struct run *run)
{
    int *status;
    bool good = true;

    for (int i = 0; i < run->host_count; i++)
        if (!in_machine(run->hosts[i]))
            run->added[run->added_count++] = run->hosts[i];
    if (run->added_count == 0)
        return true;
    status = calloc((size_t)run->added_count, sizeof(*status));
    if (status == NULL)
        return false;
    struct log_mark *mark = diagnose_begin();
    int code = diagnose_addhosts(run->added, run->added_count, status);
    int kept = 0;
    for (int i = 0; i < run->added_count; i++) {
        if (code < 0)
            status[i] = code;
        if (status[i] > 0) {
            run->added[kept++] = run->added[i];
            continue;
        }
        good =
            status[i] == PvmDupHost && good; /* another name of a present host, by which pvm_spawn() cannot find it */
        advise("pvm run: %s: %s", run->added[i], error_text(status[i]));
        diagnose_failed(&run->added[i], &status[i], 1, mark);
    }
    run->added_count = kept;
    diagnose_end(mark);
    free(status);
    return good;
}

/* ---- tasks ---- */

/* The program for pvm_spawn(): a relative path becomes absolute. The caller frees it; NULL after a message. */
static char *program_path(const char *name)
{
    char *path = strchr(name, '/') != NULL ? realpath(name, NULL) : strdup(name);

    if (path == NULL)
        advise("pvm run: %s: %m", name);
    return path;
}

/* Explains PvmNoFile: pvmd did not find the program or the command of --wrap. */
static void advise_no_file(const struct run *run, const char *path)
{
    if (run->wrapper != NULL && path[0] == '/' && access(path, X_OK) == 0)
        advise("pvm run: --wrap '%s': pvmd finds no such command in its PATH; see its log", run->wrapper);
    else if (path[0] == '/')
        advise("pvm run: %s must exist on each host", path);
    else
        advise("pvm run: pvmd searches for %s in PVM_PATH; write ./%s for a file in this directory", path, path);
}

/* The wrapper is a setting that spawned tasks inherit, and those that they spawn. False when out of memory. */
static bool set_wrapper(const struct run *run)
{
    return run->wrapper == NULL || setenv("PVM_WRAP", run->wrapper, 1) == 0;
}

/* Starts `count` copies on one host, or anywhere, and adds them to run->started. False after a message if one failed.
 */
static bool start_on(struct run *run, char *path, const char *host, int count)
{
    char cwd[PATH_MAX] = "", where[2 * PATH_MAX];
    int *tids = run->tids + run->started;

    const char *folder = run->folder != NULL ? run->folder : getcwd(cwd, sizeof(cwd));
    snprintf(where, sizeof(where), "%s%s%s", host != NULL ? host : "", folder != NULL ? ":" : "",
             folder != NULL ? folder : "");
    int flags = PvmNoSpawnParent | (host != NULL ? PvmTaskHost : PvmTaskDefault);
    int started = pvm_spawn(path, run->program + 1, flags, where, count, tids);
    if (started < count) {
        int code = started < 0 ? started : tids[started];
        advise("pvm run: %s%s%s: %s", path, host != NULL ? " on " : "", host != NULL ? host : "", error_text(code));
        if (code == PvmNoFile)
            advise_no_file(run, path);
    }
    run->started += started > 0 ? started : 0;
    return started == count;
}

/* Distributes the copies over the hosts. False when one could not be started. */
static bool start_all(struct run *run)
{
    bool good = true;
    char *path = program_path(run->program[0]);

    if (path == NULL)
        return false;
    for (int i = 0; i < run->host_count; i++) {
        int share = run->count / run->host_count + (i < run->count % run->host_count);
        if (share > 0)
            good = start_on(run, path, run->hosts[i], share) && good;
    }
    if (run->host_count == 0)
        good = start_on(run, path, NULL, run->count);
    free(path);
    return good;
}

static void signal_all(const struct run *run, int number)
{
    for (int i = 0; i < run->started; i++)
        pvm_sendsig(run->tids[i], number); /* no effect on tasks that have ended */
}

/* Waits for the end of all tasks. The first Ctrl-C sends them SIGINT, the second SIGKILL, the third ends the wait. */
static void wait_for_end(const struct run *run)
{
    int passed = 0;

    while (job_any() && !console.done) {
        console_progress();
        if (!job_any() || console.done)
            break;
        console_wait(-1, -1);
        while (passed < console_interrupts) {
            passed++;
            if (passed > 2)
                return;
            signal_all(run, passed == 1 ? SIGINT : SIGKILL);
        }
    }
}

/* ---- the whole run ---- */

static int run_tasks(struct run *run)
{
    struct job *job;
    bool good;

    if (!add_hosts(run))
        return CONSOLE_FAILED;
    job = job_new(run->prefix ? JOB_TIDS : JOB_PLAIN);
    run->tids = calloc((size_t)run->count, sizeof(*run->tids));
    if (job == NULL || run->tids == NULL || !set_wrapper(run)) {
        advise("pvm run: out of memory");
        return CONSOLE_FAILED;
    }
    console_catch_interrupts(true);
    good = start_all(run);
    if (!good) /* an incomplete program is useless */
        signal_all(run, SIGTERM);
    guard_tasks(run->tids, run->started);
    job_launched(job, run->tids, run->started);
    wait_for_end(run);
    if (console.lost)
        return CONSOLE_NO_MACHINE;
    if (job_tasks_lost() > 0)
        advise("pvm run: %d task%s lost with a host", job_tasks_lost(), job_tasks_lost() == 1 ? " was" : "s were");
    if (console_interrupts > 0)
        return EXIT_SIGNAL + SIGINT;
    return good && job_tasks_lost() == 0 ? CONSOLE_OK : CONSOLE_FAILED;
}

/* Removes what this run has created: the machine, or the hosts that it has added. */
static void clean_up(struct run *run)
{
    int *status;

    if (console.lost) { /* the machine was halted, or we got SIGTERM */
        guard_end(false);
        return;
    }
    collector_await();
    if (run->machine_is_ours) {
        int code = console_halt();
        if (code < 0)
            advise("pvm run: cannot halt the virtual machine: %s. Try: pvm -c halt", error_text(code));
        guard_end(true);
        return;
    }
    guard_end(true);
    status = calloc((size_t)run->added_count + 1, sizeof(*status));
    if (status != NULL && run->added_count > 0)
        pvm_delhosts(run->added, run->added_count, status);
    free(status);
}

int run_main(int argc, char **argv)
{
    static struct run run;
    struct argp argp = {option_table, take_option, "PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
    bool started = false;

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
    if (run.count == 0)
        run.count = run.host_count > 0 ? run.host_count : 1;
    console.mode = CONSOLE_SCRIPT;
    guard_start();
    if (console_open(0, NULL, &started) < 0) {
        guard_end(true);
        free(run.host_list);
        return CONSOLE_NO_MACHINE;
    }
    run.machine_is_ours = started;
    guard_machine(console_daemon(), started);
    pvm_setopt(PvmAutoErr, 0);
    int result = run_tasks(&run);
    job_forget_all();
    clean_up(&run);
    console_close();
    free(run.tids);
    free(run.host_list);
    return result;
}
