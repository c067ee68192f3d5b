/*
 * run - runs one test program against daemons of its own, and sees that nothing is left of them.
 *
 *   run [-d PVMD] [-t SECONDS] [-e NAME=VALUE]... [-n] [-k] PROGRAM [ARGUMENT]...
 *
 *   -d  the daemon's program; without it none is started (the program does so itself)
 *   -t  seconds that the program may take on a quiet machine (default 60); three times as many are its limit
 *   -e  set for daemon and program
 *   -k  the program may end or kill the daemon
 *   -n  leave the folder where it is
 *   -H  only halt the machine (run calls itself so)
 *
 * The test gets a folder of its own as HOME and PVM_TMP, and a session of its own. It fails when the program does, when
 * a check fails in any spawned copy, when the daemon ends badly, and when a process, a socket, a file in its folder, in
 * /tmp or in /dev/shm is left. DPVM_VALGRIND=1 runs daemon and tasks under Valgrind: any error or definite leak fails.
 * Sanitizer reports fail, too. Exit code: 0 passed, 77 not run (the program says why), else failed.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pvm3.h"
#include "files.h"
#include "processes.h"

/* PATIENCE: a time limit catches hangs; it must not judge speed on a machine that is busy with other things. */
enum {
    EXIT_NOT_RUN = 77,
    ARGUMENTS_MAX = 64,
    SLOWNESS_VALGRIND = 8,
    SLOWNESS_SANITIZER = 3,
    SLOWNESS_EMULATOR = 4,
    PATIENCE = 3,
    AFTER_FAILURE_S = 5 /* for the program to end by itself once a check has failed, perhaps in a copy that it awaits */
};

extern char **environ;

static const char *const valgrind[] = {"valgrind",
                                       "-q",
                                       "--leak-check=full",
                                       "--show-leak-kinds=definite",
                                       "--trace-children=yes",
                                       "--vgdb=no",
                                       "--errors-for-leak-kinds=definite",
                                       "--trace-children-skip=*/ssh,*/env,*/bash,*/sh"};

static struct {
    const char *daemon; /* path, or NULL */
    double limit_s;
    bool daemon_may_die, keep_folder;
    const char *extra[16]; /* NAME=VALUE */
    int extra_count;
} options = {.limit_s = 60};

static char folder[64];
static int slowness = 1;
static bool failed;

static void fail(const char *what)
{
    printf("run: %s\n", what);
    failed = true;
}

/* `run -H`: halts the machine in a process of its own, because pvm_halt() ends the caller. */
static int halt_machine(void)
{
    alarm(20 * PATIENCE * slowness);
    return pvm_mytid() < 0 || pvm_halt() < 0;
}

static void usage(void)
{
    fprintf(stderr, "usage: run [-d PVMD] [-t SECONDS] [-e NAME=VALUE]... [-n] [-k] PROGRAM [ARGUMENT]...\n");
    exit(2);
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "+d:t:e:nkH")) != -1;) {
        if (c == 'd')
            options.daemon = optarg;
        else if (c == 't')
            options.limit_s = atof(optarg);
        else if (c == 'e' && options.extra_count < 16)
            options.extra[options.extra_count++] = optarg;
        else if (c == 'n')
            options.keep_folder = true;
        else if (c == 'k')
            options.daemon_may_die = true;
        else if (c == 'H')
            exit(halt_machine());
        else
            usage();
    }
    if (optind >= argc || options.limit_s <= 0)
        usage();
}

/* ---- environment ---- */

static void set(const char *name, const char *format, const char *value)
{
    char text[512];
    snprintf(text, sizeof text, format, value);
    if (setenv(name, text, 1) < 0)
        err(2, "run: setenv");
}

static void make_folder(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (mkdir(path, 0700) < 0)
        err(2, "run: %s", path);
}

/* The caller's PVM settings must not affect the test. */
static void forget_pvm_settings(void)
{
    char names[ARGUMENTS_MAX][128];
    int n = 0;
    for (char **e = environ; *e && n < ARGUMENTS_MAX; e++)
        if (strncmp(*e, "PVM", 3) == 0 && strcspn(*e, "=") < sizeof names[0])
            snprintf(names[n++], sizeof names[0], "%.*s", (int)strcspn(*e, "="), *e);
    while (n > 0)
        unsetenv(names[--n]);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/dpvm-machine.XXXXXX");
    if (!mkdtemp(folder))
        err(2, "run: %s", folder);
    make_folder("tmp");
    make_folder("home");
    make_folder("reports");
    forget_pvm_settings();
    set("HOME", "%s/home", folder);
    set("PVM_TMP", "%s/tmp", folder);
    set("PVM_ALLOW_ROOT", "%s", "1");
    set("CHECK_FAILED", "%s/reports/failed", folder);
    set("ASAN_OPTIONS", "log_path=%s/reports/asan:detect_stack_use_after_return=1:quarantine_size_mb=16", folder);
    set("LSAN_OPTIONS", "suppressions=%s:print_suppressions=0", LEAKS_FILE);
    set("UBSAN_OPTIONS", "log_path=%s/reports/ubsan:print_stacktrace=1", folder);
    set("TSAN_OPTIONS", "log_path=%s/reports/tsan", folder);
    for (int i = 0; i < options.extra_count; i++)
        if (putenv((char *)options.extra[i]) != 0)
            err(2, "run: putenv");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    slowness = SLOWNESS_SANITIZER;
#endif
    if (getenv("DPVM_RXE_VM"))
        slowness = SLOWNESS_EMULATOR;
    if (getenv("DPVM_VALGRIND"))
        slowness = SLOWNESS_VALGRIND;
    char number[16];
    snprintf(number, sizeof number, "%d", slowness);
    set("CHECK_SLOWNESS", "%s", number);
}

/* Starts a program, under Valgrind if requested. */
static struct process *start(char *const argv[], int out)
{
    static char log_file[128];
    const char *all[ARGUMENTS_MAX];
    int n = 0;
    if (getenv("DPVM_VALGRIND")) {
        for (size_t i = 0; i < sizeof valgrind / sizeof *valgrind; i++)
            all[n++] = valgrind[i];
        snprintf(log_file, sizeof log_file, "--log-file=%s/reports/valgrind.%%p", folder);
        all[n++] = log_file;
    }
    for (int i = 0; argv[i] && n < ARGUMENTS_MAX - 1; i++)
        all[n++] = argv[i];
    all[n] = NULL;
    return process_start((char *const *)all, out);
}

/* ---- the daemon ---- */

/* Waits for the line with the socket's address that a daemon prints when it is ready. */
static bool wait_for_line(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char c;
    double end = clock_now() + 20 * PATIENCE * slowness;
    while (clock_now() < end)
        if (poll(&p, 1, 100) > 0) {
            if (read(fd, &c, 1) != 1)
                return false;
            if (c == '\n')
                return true;
        }
    return false;
}

static struct process *start_daemon(void)
{
    int line[2];
    if (pipe2(line, O_CLOEXEC) < 0)
        err(2, "run: pipe");
    char *argv[] = {(char *)options.daemon, NULL};
    struct process *daemon = start(argv, line[1]);
    close(line[1]);
    if (!wait_for_line(line[0]))
        fail("the daemon did not come up");
    close(line[0]); /* it writes nothing more to it */
    return daemon;
}

static void end_daemon(struct process *daemon)
{
    processes_reap();
    if (daemon->ended) {
        if (!options.daemon_may_die)
            fail("the daemon ended during the test");
        return;
    }
    char *argv[] = {"/proc/self/exe", "-H", NULL};
    process_wait(process_start(argv, -1), 25 * PATIENCE * slowness);
    if (!process_wait(daemon, 10 * PATIENCE * slowness))
        fail("the daemon did not end after pvm_halt()");
    else if (daemon->status != 0 && !options.daemon_may_die) {
        printf("run: the daemon ended with wait status 0x%x\n", daemon->status);
        failed = true;
    }
}

/* ---- the test ---- */

static bool check_has_failed(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/reports/failed", folder);
    return access(path, F_OK) == 0;
}

/* Waits for the program's end, which a failed check brings near: what others then wait for may never come. */
static bool wait_for_program(struct process *program)
{
    double end = clock_now() + options.limit_s * PATIENCE * slowness;
    while (!process_wait(program, 0.5)) {
        if (check_has_failed()) {
            if (process_wait(program, AFTER_FAILURE_S * slowness))
                return true;
            fail("the program waits although a check has failed, and is ended");
            kill(program->pid, SIGTERM);
            return process_wait(program, AFTER_FAILURE_S * slowness);
        }
        if (clock_now() > end)
            return false;
    }
    return true;
}

static int run_program(char **argv)
{
    struct process *program = start(argv, -1);
    if (!wait_for_program(program)) {
        fail("time limit");
        processes_list("run: running at that time:");
        processes_kill_all();
        return 1;
    }
    if (WIFSIGNALED(program->status)) {
        printf("run: the program died of signal %d (%s)\n", WTERMSIG(program->status),
               strsignal(WTERMSIG(program->status)));
        return 1;
    }
    return WEXITSTATUS(program->status);
}

static void check_nothing_left(struct files_snapshot *tmp, struct files_snapshot *shm)
{
    if (!processes_wait_all(5 * PATIENCE * slowness)) {
        processes_list("run: processes left behind:");
        processes_kill_all();
        failed = true;
    }
    char path[128];
    snprintf(path, sizeof path, "%s/reports", folder);
    int reports = files_show(path, "failed", "run: failed checks:");
    reports += files_show(path, "valgrind.", "run: Valgrind reports:");
    reports += files_show(path, "asan.", "run: sanitizer reports:");
    reports += files_show(path, "ubsan.", "run: sanitizer reports:");
    reports += files_show(path, "tsan.", "run: sanitizer reports:");
    if (reports > 0)
        failed = true;
    files_remove(path);
    if (files_left(folder) + files_snapshot_compare(tmp) + files_snapshot_compare(shm) > 0)
        failed = true;
}

/* When the runner is ended, so is all that it started. */
static void give_up(int signal)
{
    (void)signal;
    processes_kill_all();
    files_remove(folder);
    _exit(1);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], give_up); /* exec resets it to the default in started programs */
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    processes_adopt();
    struct files_snapshot *tmp = files_snapshot_take("/tmp"), *shm = files_snapshot_take("/dev/shm");
    set_up();
    catch_signals();

    struct process *daemon = options.daemon ? start_daemon() : NULL;
    int code = failed ? 1 : run_program(argv + optind);
    if (code != 0 && code != EXIT_NOT_RUN) {
        printf("run: %s exited with %d\n", argv[optind], code);
        failed = true;
    }
    if (daemon)
        end_daemon(daemon);
    check_nothing_left(tmp, shm);
    if (failed)
        files_show(folder, "pvml.", "run: daemons' logs:");
    if (options.keep_folder)
        printf("run: kept %s\n", folder);
    else
        files_remove(folder);
    return failed ? 1 : code;
}
