/*
 * run.c - pvm run: starts a virtual machine if none runs, starts copies of programs, passes on their input, output and
 * signals, waits for their end, and cleans up.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "console/collector.h"
#include "console/commands/diagnose.h"
#include "console/commands/host.h"
#include "console/commands/job.h"
#include "console/console.h"
#include "console/progress.h"
#include "console/scheduler/scheduler.h"
#include "core/config.h"
#include "core/place/rpath.h"
#include "core/visible.h"
#include "dpvm.h"
#include "guard.h"
#include "input.h"
#include "options.h"
#include "run.h"
#include "verdict.h"

enum {
    GRACE_MS = 5000,     /* after SIGTERM, before SIGKILL */
    LEAVE_MS = 1000,     /* after SIGKILL: children of tasks may keep their output open */
    BACKGROUND_MS = 500, /* between looks at the terminal, which may become ours */
    FULL_MS = 20,        /* until tasks that were full are given input again */
};

static struct run {
    struct run_options options;
    char **added; /* hosts that were not in the machine; the texts are the places' */
    int added_count;
    int *tids, started; /* of all programs, in order */
    bool machine_is_ours;
    double deadline_s; /* of --timeout; 0: none */
    double kill_s;     /* when SIGKILL follows SIGTERM; 0: never */
    double leave_s;    /* when we no longer wait for tasks that we have killed; 0: we do */
    bool timed_out, ended_by_us;
} run;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- hosts ---- */

static bool in_machine(const struct run_place *place)
{
    int n, formats, length = run_place_name_length(place);
    struct pvmhostinfo *hosts = host_list(&n, &formats);

    if (run_place_is_here(place))
        return true;
    for (int i = 0; i < n; i++)
        if (strlen(hosts[i].hi_name) == (size_t)length && strncmp(hosts[i].hi_name, place->host, (size_t)length) == 0)
            return true;
    return false;
}

static bool is_to_be_added(const struct run_place *place)
{
    for (int i = 0; i < run.added_count; i++)
        if (strcmp(run.added[i], place->host) == 0)
            return true;
    return false;
}

/* Lists the hosts of all programs that are not in the machine. False: out of memory. */
static bool list_new_hosts(void)
{
    int places = 0;

    for (int i = 0; i < run.options.program_count; i++)
        places += run.options.programs[i].places.count;
    run.added = calloc((size_t)places + 1, sizeof(*run.added));
    for (int i = 0; i < run.options.program_count && run.added != NULL; i++) {
        const struct run_places *p = &run.options.programs[i].places;
        for (int k = 0; k < p->count; k++)
            if (!in_machine(&p->all[k]) && !is_to_be_added(&p->all[k]))
                run.added[run.added_count++] = p->all[k].host;
    }
    return run.added != NULL;
}

/* Adds them. False after a message. */
static bool add_hosts(void)
{
    bool good = true;
    int kept = 0;

    if (!list_new_hosts())
        return false;
    if (run.added_count == 0)
        return true;
    int *status = calloc((size_t)run.added_count, sizeof(*status));
    if (status == NULL)
        return false;
    struct log_mark *mark = diagnose_begin();
    int code = diagnose_addhosts(run.added, run.added_count, status);
    for (int i = 0; i < run.added_count; i++) {
        if (code < 0)
            status[i] = code;
        if (status[i] > 0) {
            run.added[kept++] = run.added[i];
            continue;
        }
        good =
            status[i] == PvmDupHost && good; /* another name of a present host, by which pvm_spawn() cannot find it */
        advise("pvm run: %s: %s", run.added[i], error_text(status[i]));
        diagnose_failed(&run.added[i], &status[i], 1, mark);
    }
    run.added_count = kept;
    diagnose_end(mark);
    free(status);
    return good;
}

/* ---- slots ---- */

static int compare_names(const void *a, const void *b)
{
    return strverscmp(((const struct pvmhostinfo *)a)->hi_name, ((const struct pvmhostinfo *)b)->hi_name);
}

/* All hosts of the machine that have slots, by name: they joined in any order. False: out of memory. */
static bool place_by_slots(struct run_program *program)
{
    int n, formats;
    struct pvmhostinfo *hosts = host_list(&n, &formats);

    if (n > 0)
        qsort(hosts, (size_t)n, sizeof(*hosts), compare_names);
    for (int i = 0; i < n; i++) {
        int slots = pvm_hostslots(hosts[i].hi_tid);
        if (slots > 0 && run_places_add(&program->places, hosts[i].hi_name, slots) != NULL)
            return false;
    }
    return true;
}

/* In a job of a batch system, programs for which no hosts are given get those of the machine, and a task per slot. */
static bool use_slots(void)
{
    for (int i = 0; i < run.options.program_count; i++) {
        struct run_program *program = &run.options.programs[i];
        if (scheduler_is_there() && program->places.count == 0 && !place_by_slots(program)) {
            advise("pvm run: out of memory");
            return false;
        }
    }
    if (run_options_count(&run.options))
        return true;
    advise("pvm run: there can be no more than %d tasks", RUN_COPIES_MAX);
    return false;
}

/* ---- tasks ---- */

static bool is_program(const char *path)
{
    struct stat st;

    return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The full path of a command as a shell finds it, or NULL. The caller frees it. */
static char *command_path(const char *name)
{
    const char *folders = getenv("PATH");

    while (folders != NULL && *folders != '\0') {
        char *path = NULL;
        size_t length = strcspn(folders, ":");
        if (length > 0 && asprintf(&path, "%.*s/%s", (int)length, folders, name) < 0)
            return NULL;
        if (path != NULL && is_program(path))
            return path;
        free(path);
        folders += length + (folders[length] == ':');
    }
    return NULL;
}

/* The program for pvm_spawn(): a path is relative to this directory. The caller frees it; NULL after a message. */
static char *program_path(const char *name)
{
    char cwd[PATH_MAX], *path = NULL;

    if (strchr(name, '/') == NULL || name[0] == '/')
        return strdup(name);
    while (name[0] == '.' && name[1] == '/')
        name += 1 + strspn(name + 1, "/");
    if (getcwd(cwd, sizeof(cwd)) == NULL || asprintf(&path, "%s/%s", cwd, name) < 0) {
        advise("pvm run: %s: %m", name);
        return NULL;
    }
    return path;
}

/* Says why fewer tasks were started than asked for. */
static void advise_failure(const char *name, const char *host, int code)
{
    const char *why = pvm_spawnerr();

    if (*why != '\0')
        advise("pvm run: %s", PVMC_VISIBLE(why));
    else
        advise("pvm run: %s%s%s: %s", name, host != NULL ? " on " : "", host != NULL ? host : "", error_text(code));
}

/* The wrapper is a setting that spawned tasks inherit, and those that they spawn. */
static void set_wrapper(const struct run_program *program)
{
    static char *users;
    static bool is_known;
    const char *wrapper = getenv("PVM_WRAP");

    if (!is_known && wrapper != NULL)
        users = strdup(wrapper);
    is_known = true;
    wrapper = program->wrapper != NULL ? program->wrapper : users;
    if (wrapper != NULL)
        setenv("PVM_WRAP", wrapper, 1);
    else
        unsetenv("PVM_WRAP");
}

static int spawn_flags(const struct run_program *program)
{
    int flags = PvmNoSpawnParent | PvmTaskStreams;

    if (program->folder != NULL)
        flags |= PvmTaskDirectory;
    if (run.options.input == RUN_INPUT_ALL)
        flags |= PvmTaskInputAll;
    else if (run.options.input == RUN_INPUT_FIRST && run.started == 0)
        flags |= PvmTaskInput;
    return flags;
}

/* `where` for pvm_spawn(): the host, if there is one, and the folder. The caller frees it; NULL after a message. */
static char *place_of(const struct run_program *program, const char *host)
{
    char cwd[PATH_MAX], *where = NULL;
    bool here = getcwd(cwd, sizeof(cwd)) != NULL;
    const char *folder = program->folder, *base = "";

    if (folder == NULL)
        folder = here ? cwd : NULL;
    else if (folder[0] != '/' && here)
        base = cwd;
    if (asprintf(&where, "%s%s%s%s%s", host != NULL ? host : "", folder != NULL ? ":" : "", base,
                 *base != '\0' ? "/" : "", folder != NULL ? folder : "") >= 0)
        return where;
    advise("pvm run: out of memory");
    return NULL;
}

/* Starts `count` copies on one host, or anywhere. False after a message if one failed. */
static bool start_on(const struct run_program *program, char *path, const char *host, int count)
{
    int *tids = run.tids + run.started;
    char *where = place_of(program, host);

    if (where == NULL)
        return false;
    int flags = spawn_flags(program) | (host != NULL ? PvmTaskHost : PvmTaskDefault);
    int started = pvm_spawn(path, program->words + 1, flags, where, count, tids);
    bool is_unknown =
        started == 0 && tids[0] == PvmNoFile && strchr(path, '/') == NULL && strstr(pvm_spawnerr(), ": no program ");
    char *command = is_unknown ? command_path(path) : NULL;
    if (command != NULL)
        started = pvm_spawn(command, program->words + 1, flags, where, count, tids);
    if (started < count)
        advise_failure(program->words[0], host, started < 0 ? started : tids[started]);
    if (is_unknown && command == NULL)
        advise("pvm run: nor is %s in PATH here; write ./%s for a file in this directory", PVMC_VISIBLE(path),
               PVMC_VISIBLE(path));
    free(command);
    run.started += started > 0 ? started : 0;
    free(where);
    return started == count;
}

/* On this host, where the file can be read, such a program would wait for a daemon in vain. */
static void warn_of_library(const char *path)
{
    char library[PATH_MAX];

    if (path[0] == '/' && strcmp(pvmc_config_text(PVMC_SETTING_LIBRARIES), "preload") != 0 &&
        pvmc_rpath_is_foreign(path, library))
        advise("pvm run: %s loads %s (DT_RPATH), which is not dpvm's, and cannot contact its daemon. "
               "Set PVM_LIBRARIES=preload, or build it with pvmcc",
               PVMC_VISIBLE(path), PVMC_VISIBLE(library));
}

/* Distributes the copies of one program over its hosts. False when one could not be started. */
static bool start_program(const struct run_program *program)
{
    const struct run_places *places = &program->places;
    bool good = true;
    char *path = program_path(program->words[0]);

    if (path == NULL)
        return false;
    warn_of_library(path);
    set_wrapper(program);
    for (int i = 0; i < places->count && good; i++) {
        int share = run_places_share(places, program->count, i);
        bool here = run_place_is_here(&places->all[i]);
        char *host = here ? strdup(".") : strndup(places->all[i].host, (size_t)run_place_name_length(&places->all[i]));
        good = host != NULL && (share == 0 || start_on(program, path, host, share));
        free(host);
    }
    if (places->count == 0)
        good = start_on(program, path, NULL, program->count);
    free(path);
    return good;
}

static bool start_all(void)
{
    bool good = true;

    for (int i = 0; i < run.options.program_count && good; i++)
        good = start_program(&run.options.programs[i]);
    return good;
}

static void signal_all(int number)
{
    for (int i = 0; i < run.started; i++)
        pvm_sendsig(run.tids[i], number); /* no effect on tasks that have ended */
}

/* Those that do not obey are killed some time later. */
static void end_all(void)
{
    if (run.ended_by_us)
        return;
    run.ended_by_us = true;
    run_verdict_close();
    signal_all(SIGTERM);
    run.kill_s = now_s() + GRACE_MS / 1e3;
}

/* ---- waiting ---- */

/* The first Ctrl-C sends SIGINT, the second SIGKILL. The third ends the wait: false. */
static bool pass_interrupts(void)
{
    static int passed;

    while (passed < console_interrupts) {
        run_verdict_close();
        if (++passed > 2)
            return false;
        signal_all(passed == 1 ? SIGINT : SIGKILL);
    }
    return true;
}

static void pass_signals(void)
{
    for (int number; (number = console_take_signal()) > 0;)
        signal_all(number);
}

static void check_times(void)
{
    double now = now_s();

    if (run.deadline_s > 0 && now >= run.deadline_s && !run.ended_by_us) {
        advise("pvm run: ended after %d s, as --timeout says", run.options.timeout_s);
        run.timed_out = true;
        end_all();
    }
    if (run.kill_s > 0 && now >= run.kill_s) {
        run.kill_s = 0;
        run.leave_s = now + LEAVE_MS / 1e3;
        signal_all(SIGKILL);
    }
}

static void earlier(double *next_s, double s)
{
    if (s > 0 && (*next_s <= 0 || s < *next_s))
        *next_s = s;
}

/* Until the next of these times; -1: there is none. */
static int wait_ms(void)
{
    double next_s = run.ended_by_us ? 0 : run.deadline_s, now = now_s();

    earlier(&next_s, run.kill_s);
    earlier(&next_s, run.leave_s);
    if (run_input_is_full())
        earlier(&next_s, now + FULL_MS / 1e3);
    else if (run_input_is_elsewhere())
        earlier(&next_s, now + BACKGROUND_MS / 1e3);
    if (next_s <= 0)
        return -1;
    double ms = (next_s - now) * 1e3 + 1;
    return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

static void wait_for_end(void)
{
    for (;;) {
        console_progress();
        if (!job_any() || console.done || (run.leave_s > 0 && now_s() >= run.leave_s))
            return;
        if ((run_verdict_failed() || job_tasks_lost() > 0) && !run.options.keep_going)
            end_all();
        if (console_wait(run_input_fd(), wait_ms()) || run_input_is_full())
            run_input_pass();
        pass_signals();
        if (!pass_interrupts())
            return;
        check_times();
    }
}

/* ---- the whole run ---- */

static int exit_code(bool good)
{
    if (console.lost)
        return CONSOLE_NO_MACHINE;
    if (job_tasks_lost() > 0)
        advise("pvm run: %d task%s lost with a host", job_tasks_lost(), job_tasks_lost() == 1 ? " was" : "s were");
    if (console_interrupts > 0)
        return RUN_SIGNALLED + SIGINT;
    if (run.timed_out)
        return RUN_TIMED_OUT;
    if (!good)
        return CONSOLE_FAILED;
    if (run_verdict_failed())
        return run_verdict_code();
    return job_tasks_lost() == 0 ? CONSOLE_OK : CONSOLE_FAILED;
}

static int run_tasks(void)
{
    static const enum job_style styles[] = {
        [RUN_PREFIX_NONE] = JOB_PLAIN, [RUN_PREFIX_TID] = JOB_TIDS, [RUN_PREFIX_TAG] = JOB_TAGS};

    if ((run.machine_is_ours && !scheduler_take()) || !use_slots() || !add_hosts())
        return CONSOLE_FAILED;
    struct job *job = job_new(styles[run.options.prefix]);
    run.tids = calloc((size_t)run.options.copies, sizeof(*run.tids));
    if (job == NULL || run.tids == NULL) {
        advise("pvm run: out of memory");
        return CONSOLE_FAILED;
    }
    job_keep_apart(job, run_verdict_take);
    console_catch_interrupts(true);
    console_catch_user_signals();
    progress_begin("starting %d task%s", run.options.copies, run.options.copies == 1 ? "" : "s");
    bool good = start_all();
    progress_end();
    if (!good) /* an incomplete program is useless */
        end_all();
    if (run.options.timeout_s > 0)
        run.deadline_s = now_s() + run.options.timeout_s;
    guard_tasks(run.tids, run.started);
    if (run.options.input != RUN_INPUT_NONE)
        run_input_start(run.tids, run.options.input == RUN_INPUT_ALL ? run.started : run.started > 0);
    job_launched(job, run.tids, run.started);
    wait_for_end();
    return exit_code(good);
}

/* Removes what this run has created: the machine, or the hosts that it has added. */
static void clean_up(void)
{
    int *status;

    if (console.lost) { /* the machine was halted, or we got SIGTERM */
        guard_end(false);
        return;
    }
    collector_await();
    if (run.machine_is_ours) {
        int code = console_halt();
        if (code < 0)
            advise("pvm run: cannot halt the virtual machine: %s. Try: pvm -c halt", error_text(code));
        scheduler_await_end();
        guard_end(true);
        return;
    }
    guard_end(true);
    status = calloc((size_t)run.added_count + 1, sizeof(*status));
    if (status != NULL && run.added_count > 0)
        pvm_delhosts(run.added, run.added_count, status);
    free(status);
}

static int run_connected(void)
{
    pvm_setopt(PvmAutoErr, 0);
    int result = run_tasks();
    job_forget_all();
    clean_up();
    console_close();
    return result;
}

/* Without standard streams, their numbers would be those of our sockets. */
static void fill_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int run_main(int argc, char **argv)
{
    int result = CONSOLE_NO_MACHINE;

    fill_streams();
    run_options_read(&run.options, argc, argv);
    console.mode = CONSOLE_SCRIPT;
    guard_start();
    if (console_open(0, NULL, &run.machine_is_ours) >= 0) {
        guard_machine(console_daemon(), run.machine_is_ours);
        result = run_connected();
    } else {
        guard_end(true);
    }
    run_input_stop();
    free(run.tids);
    free(run.added);
    run_options_free(&run.options);
    return result;
}
