/*
 * orphans - nothing of a machine is left 5 s after its daemon has ended, whatever its tasks do and however it ended.
 *
 *   orphans killed | alone | halted | terminated | deleted | masterless | restarted | swept    with PVM_DEBUGGER=under
 *   orphans launching              with PVM_RSH=limits/never: the daemon is killed while it adds a host
 *   orphans launched               with a pause of a second at the second launch: the master is killed when it has
 * added a host whose launch command has not ended yet; the new daemon goes on orphans freed | founded     what a task
 * has started that is no part of the machine stays orphans storm ROUNDS SEED      daemons are killed at random points
 * of spawn storms
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "pvmproto.h"
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"

enum { GONE_S = 5, NOTES = 14, STORM_MS = 400, STORM_TASKS = 16 };

extern char **environ;

static char list[4096]; /* each process writes a line to it when it is as it shall be; names them in /proc, too */

/* ---- the tasks: each ignores SIGTERM, unless it says otherwise ---- */

static void note(void)
{
    int fd = open(list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, "ready\n", 6), 6);
    close(fd);
}

static void __attribute__((noreturn)) stay(void)
{
    note();
    for (;;)
        pause();
}

static void begin(char **argv)
{
    snprintf(list, sizeof list, "%s", argv[1]);
    signal(SIGTERM, SIG_IGN);
}

/* Is no task yet, and takes SIGTERM as all do. */
static void computing(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    signal(SIGTERM, SIG_DFL);
    note();
    for (volatile unsigned long i = 0;;)
        i++;
}

static void deaf(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    pvm_mytid();
    stay();
}

static void stopped(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    note();
    raise(SIGSTOP);
    for (;;)
        pause();
}

static void left(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    pvm_mytid();
    pvm_exit();
    stay();
}

/* Its environment cannot be read, as that of a setuid program. */
static void masked(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    for (char **e = environ; *e; e++)
        memset(*e, '-', strlen(*e));
    stay();
}

static void leave_behind(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0) {
        waitpid(child, NULL, 0);
        return;
    }
    setsid();
    if (fork())
        _exit(0);
    stay();
}

static void family(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    leave_behind();
    if (!fork())
        stay();
    stay();
}

static void parting(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    leave_behind();
}

static void write_pid(pid_t pid)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.pid", list);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    fprintf(f, "%d\n", (int)pid);
    CHECK_EQ(fclose(f), 0);
    note();
}

/* Leaves a process that nothing connects to the machine: its parent ends, and its environment is empty. It stays. */
static void freeing(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    if (fork())
        _exit(0);
    signal(SIGTERM, SIG_DFL);
    write_pid(getpid());
    execle("/bin/sleep", "sleep", "1000", NULL, (char *[]){NULL});
    _exit(127);
}

/* Starts another machine, in another folder. It stays. */
static void founding(int argc, char **argv)
{
    char path[4096] = "", file[4200];
    (void)argc;
    begin(argv);
    signal(SIGTERM, SIG_DFL);
    setenv("PVM_TMP", getenv("HOME"), 1);
    unsetenv("PVMSOCK");
    CHECK_EQ(pvm_start_pvmd(0, NULL, 1), 0);
    snprintf(file, sizeof file, "%s/pvmd.%d", getenv("HOME"), (int)getuid());
    FILE *f = fopen(file, "r");
    CHECK(f != NULL && fgets(path, sizeof path, f) && strstr(path, "/pvmtmp"));
    fclose(f);
    write_pid((pid_t)atoi(strstr(path, "/pvmtmp") + 7));
    for (;;)
        pause();
}

/* Starts a process for each order, with the variables that the daemon sent. */
static void obey(void)
{
    char path[4096], text[8192], *args[16] = {0};
    int numbers[2], argc, variables;
    CHECK_EQ(pvm_upkint(numbers, 2, 1), 0);
    CHECK_EQ(pvm_upkstr(path), 0);
    CHECK_EQ(pvm_upkint(&argc, 1, 1), 0);
    for (int i = 0; i < argc && i < 15; i++) {
        CHECK_EQ(pvm_upkstr(text), 0);
        args[i] = strdup(text);
    }
    CHECK_EQ(pvm_upkint(&variables, 1, 1), 0);
    if (fork())
        return;
    for (int i = 0; i < variables; i++) {
        CHECK_EQ(pvm_upkstr(text), 0);
        putenv(strdup(text));
    }
    execv(path, args);
    _exit(127);
}

static void tasker(int argc, char **argv)
{
    (void)argc;
    begin(argv);
    CHECK_EQ(pvm_reg_tasker(), 0);
    pvm_setopt(PvmResvTids, 1);
    note();
    pvm_setopt(PvmAutoErr, 0);
    while (pvm_recv(-1, SM_STTASK) > 0)
        obey();
    for (;;)
        pause();
}

/* Started by a user, not by the machine, to which it belongs as well: it stays after kill -9. */
static void outsider(int argc, char **argv)
{
    (void)argc;
    pvm_mytid();
    CHECK_EQ(write(atoi(argv[1]), "!", 1), 1);
    for (;;)
        pause();
}

static void halter(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_mytid();
    pvm_halt();
}

static void idle(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_recv(-1, -1);
}

/* Adds a host whose launcher never ends. */
static void adding(int argc, char **argv)
{
    char *name = "192.0.2.7";
    int status;
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    pvm_addhosts(&name, 1, &status);
    _exit(0);
}

/* Spawns until its daemon is gone. */
static void stormer(int argc, char **argv)
{
    (void)argc;
    char *args[] = {"deaf", argv[1], NULL};
    int tids[STORM_TASKS];
    pvm_setopt(PvmAutoErr, 0);
    while (pvm_spawn((char *)check_program(), args, PvmTaskDefault, NULL, STORM_TASKS, tids) > 0)
        ;
    _exit(0);
}

/* ---- what is left ---- */

static int file_has(pid_t pid, const char *name, const char *text)
{
    static char data[1 << 20];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t length = 0;
    for (ssize_t n; length < sizeof data && (n = read(fd, data + length, sizeof data - length)) > 0;)
        length += (size_t)n;
    close(fd);
    return memmem(data, length, text, strlen(text)) != NULL;
}

/* Processes of the machine, but us and the outsider. Without `daemons`, only those that tasks have started. */
static int count_processes(int daemons, pid_t spared)
{
    char variable[4200];
    int count = 0;
    DIR *proc = opendir("/proc");
    CHECK(proc != NULL);
    snprintf(variable, sizeof variable, "PVM_TMP=%s", getenv("PVM_TMP"));
    for (struct dirent *e; (e = readdir(proc));) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && pid != getpid() && pid != spared && check_alive(pid))
            count += file_has(pid, "cmdline", list) || (daemons && file_has(pid, "environ", variable));
    }
    closedir(proc);
    return count;
}

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(getenv("PVM_TMP"));
    CHECK(folder != NULL);
    for (struct dirent *e; (e = readdir(folder));)
        if (*e->d_name != '.' && strncmp(e->d_name, "pvml.", 5) != 0)
            count++;
    closedir(folder);
    return count;
}

/* Waits until nothing is left, within the limit. Returns the seconds that it took. */
static double wait_until_gone(int daemons, pid_t spared)
{
    double start = check_now(), limit = GONE_S * check_slowness(), took;
    int processes, files;
    do {
        check_sleep_ms(20);
        remove(list); /* some are still starting */
        processes = count_processes(daemons, spared);
        files = daemons ? count_files() : 0;
        took = check_now() - start;
    } while ((processes || files) && took < limit);
    if (processes || files)
        check_failed(__FILE__, __LINE__, "%d processes and %d files are left after %.1f s", processes, files, took);
    return took;
}

/* ---- the machine ---- */

static int lines(void)
{
    struct stat st;
    return stat(list, &st) ? 0 : (int)(st.st_size / 6);
}

static void wait_for_notes(int n)
{
    double end = check_now() + check_limit_s();
    while (lines() < n && check_now() < end)
        check_sleep_ms(10);
    CHECK_EQ(lines(), n);
}

static int spawn(const char *role, int host)
{
    int tid;
    check_spawn(role, list, check_host_name(host), 1, &tid);
    return tid;
}

static const char *under(void)
{
    return getenv("PVM_DEBUGGER");
}

static void spawn_under(int host)
{
    char *args[] = {(char *)check_program(), "deaf", list, NULL};
    int tid;
    CHECK_EQ(pvm_spawn((char *)under(), args, PvmTaskHost, (char *)check_host_name(host), 1, &tid), 1);
    CHECK_EQ(pvm_spawn(args[0], args + 1, PvmTaskHost | PvmTaskDebug, (char *)check_host_name(host), 1, &tid), 1);
    setenv("PVM_WRAP", under(), 1);
    spawn("deaf", host);
    unsetenv("PVM_WRAP");
}

/* `hiding`: the role of a task that hides, or of one that does not. Returns the pid of the host's daemon. */
static pid_t start_all(int host, const char *hiding)
{
    const char *roles[] = {"computing", "stopped", "left", "family", "parting", hiding};
    signal(SIGTERM, SIG_IGN); /* a machine that ends tells us, too */
    pid_t daemon = check_daemon_of(spawn("deaf", host));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        spawn(roles[i], host);
    spawn_under(host);
    wait_for_notes(NOTES - 2);
    spawn("tasker", host);
    wait_for_notes(NOTES - 1);
    spawn("deaf", host);
    wait_for_notes(NOTES);
    return daemon;
}

static pid_t run_self(const char *role, const char *argument)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid)
        return pid;
    signal(SIGTERM, SIG_DFL);
    execl(check_program(), check_program(), role, argument, NULL);
    _exit(127);
}

static pid_t start_outsider(void)
{
    int fds[2];
    char text[16], c;
    CHECK_EQ(pipe(fds), 0);
    snprintf(text, sizeof text, "%d", fds[1]);
    pid_t pid = run_self("outsider", text);
    CHECK_EQ(read(fds[0], &c, 1), 1);
    close(fds[0]);
    close(fds[1]);
    return pid;
}

/* 0: it has none that pgrep finds with `pattern`. */
static pid_t child_of(pid_t parent, const char *pattern)
{
    char command[64];
    snprintf(command, sizeof command, "pgrep -P %d %s", (int)parent, pattern);
    FILE *f = popen(command, "r");
    int pid = 0;
    CHECK(f != NULL);
    if (fscanf(f, "%d", &pid) != 1)
        pid = 0;
    pclose(f);
    return (pid_t)pid;
}

/* The process that ends what is left when the daemon has gone. */
static pid_t sweeper_of(pid_t daemon)
{
    return child_of(daemon, "-x pvm-sweeper");
}

/* Spawns a task that leaves a process; returns its pid. */
static pid_t spawn_leaving(const char *role)
{
    char path[4200];
    int pid = 0, notes = lines();
    spawn(role, 0);
    wait_for_notes(notes + 1);
    snprintf(path, sizeof path, "%s.pid", list);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    CHECK_EQ(fscanf(f, "%d", &pid), 1);
    fclose(f);
    CHECK_EQ(remove(path), 0);
    return (pid_t)pid;
}

/* The process is no part of the machine and outlives it. */
static void check_spared(pid_t daemon, const char *role)
{
    pid_t pid = spawn_leaving(role);
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    wait_until_gone(1, pid);
    CHECK(check_alive(pid));
    CHECK_EQ(kill(pid, SIGTERM), 0);
    while (check_alive(pid))
        check_sleep_ms(10);
}

static void check_killed(pid_t daemon)
{
    pid_t user = start_outsider();
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    double took = wait_until_gone(1, user);
    CHECK(check_alive(user));
    CHECK_EQ(kill(user, SIGKILL), 0);
    CHECK_EQ(waitpid(user, NULL, 0), user);
    printf("nothing was left after %.2f s\n", took);
}

/* Without the process that ends what is left, until there is another. */
static void check_alone(pid_t daemon)
{
    pid_t old = sweeper_of(daemon), new;
    CHECK(old > 0);
    CHECK_EQ(kill(old, SIGKILL), 0);
    double end = check_now() + check_limit_s();
    while (((new = sweeper_of(daemon)) == 0 || new == old) && check_now() < end)
        check_sleep_ms(20);
    CHECK(new > 0);
    check_killed(daemon);
}

static void start_daemon(const char *program, pid_t *pid)
{
    int fds[2];
    char c = 0;
    CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
    *pid = fork();
    CHECK(*pid >= 0);
    if (!*pid) {
        signal(SIGTERM, SIG_DFL);
        dup2(fds[1], 1);
        execl(program, program, NULL);
        _exit(127);
    }
    close(fds[1]);
    while (c != '\n')
        CHECK_EQ(read(fds[0], &c, 1), 1);
    close(fds[0]);
}

static char *program_of(pid_t pid)
{
    static char program[4096];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, program, sizeof program - 1);
    CHECK(n > 0);
    program[n] = '\0';
    return program;
}

/*
 * A daemon that starts where one was killed finds nothing of the old one, and works. Without the sweeper, which knew
 * the pids, it cannot know the process that hides its environment.
 */
static void check_restarted(pid_t daemon, int without_sweeper)
{
    const char *program = program_of(daemon);
    pid_t sweeper = sweeper_of(daemon), new;
    if (without_sweeper) {
        CHECK(sweeper > 0);
        CHECK_EQ(kill(daemon, SIGSTOP), 0); /* it must not start another one */
        CHECK_EQ(kill(sweeper, SIGKILL), 0);
    }
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    while (check_alive(daemon))
        check_sleep_ms(1);
    start_daemon(program, &new);
    CHECK_EQ(count_processes(0, 0), 0);
    pid_t halting = run_self("halter", NULL);
    waitpid(halting, NULL, 0);
    CHECK_EQ(waitpid(new, NULL, 0), new);
    wait_until_gone(1, 0);
}

static void check_halted(void)
{
    int status;
    pid_t user = start_outsider(), halting = run_self("halter", NULL);
    waitpid(halting, NULL, 0);
    wait_until_gone(1, 0);
    CHECK_EQ(waitpid(user, &status, 0), user);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* ---- storms ---- */

static double storm(const char *program, unsigned ms)
{
    pid_t daemon;
    start_daemon(program, &daemon);
    pid_t spawner = run_self("stormer", list);
    check_sleep_ms((int)ms);
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    CHECK_EQ(waitpid(daemon, NULL, 0), daemon);
    CHECK_EQ(waitpid(spawner, NULL, 0), spawner);
    return wait_until_gone(1, 0);
}

static void check_storms(pid_t daemon, int rounds, unsigned seed)
{
    const char *program = program_of(daemon);
    double longest = 0;
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    wait_until_gone(1, 0);
    for (int i = 0; i < rounds; i++) {
        unsigned ms = check_random(&seed) % STORM_MS;
        double took = storm(program, ms);
        printf("%d: killed after %u ms, nothing was left %.2f s later\n", i + 1, ms, took);
        longest = took > longest ? took : longest;
    }
    printf("%d daemons killed, nothing was left after %.2f s at most\n", rounds, longest);
}

/* ---- the cases ---- */

static void delete_far(void)
{
    char *name = (char *)check_host_name(1);
    int status;
    CHECK_EQ(pvm_delhosts(&name, 1, &status), 1);
    wait_until_gone(0, 0);
}

static void signal_daemon(pid_t daemon, int signal)
{
    CHECK_EQ(kill(daemon, signal), 0);
    wait_until_gone(1, 0);
}

static void check_launching(pid_t daemon)
{
    pid_t adder = run_self("adding", NULL);
    double end = check_now() + check_limit_s();
    while (!child_of(daemon, "-x sleep") && check_now() < end) /* which limits/never becomes */
        check_sleep_ms(10);
    CHECK(child_of(daemon, "-x sleep") > 0);
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    CHECK_EQ(waitpid(adder, NULL, 0), adder);
    wait_until_gone(1, 0);
}

/* Stops the command with which the daemon starts another one, as soon as that exists. */
static pid_t stop_launcher(pid_t daemon)
{
    pid_t launcher, child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    while (!(launcher = child_of(daemon, "-f 'pvmd3 -s'")) || !child_of(launcher, ""))
        check_sleep_ms(10);
    _exit(kill(launcher, SIGSTOP) != 0);
}

static void check_launched(void)
{
    char *name = (char *)check_host_name(2);
    int tid, status, n;
    check_hosts(2);
    pid_t daemon = daemons_pid(0), stopper = stop_launcher(daemon);
    CHECK_EQ(pvm_addhosts(&name, 1, &tid), 1);
    CHECK_EQ(waitpid(stopper, &status, 0), stopper);
    CHECK_EQ(status, 0);
    pid_t launcher = child_of(daemon, "-f 'pvmd3 -s'"), launched = daemons_pid(2);
    CHECK(launcher > 0);
    daemons_enrol_at(1);
    pvm_setopt(PvmAutoErr, 0);
    tid = daemons_host(0);
    CHECK_EQ(pvm_notify(PvmHostDelete, 1, 1, &tid), 0);
    CHECK_EQ(kill(daemon, SIGKILL), 0);
    CHECK(daemons_wait_end(launcher));
    check_receive(-1, 1);
    CHECK_EQ(pvm_delinfo("none", 0, PvmMboxDefault), PvmNotFound); /* there is a master */
    CHECK(check_alive(launched));
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, 2);
    daemons_halt();
    CHECK(daemons_wait_end(launched));
    CHECK(daemons_remove_journal(0));
    wait_until_gone(1, 0);
}

/* The far host's tasks end with their daemon; the pid of the master's is not theirs. */
static void master_of_two(const char *what)
{
    int tid;
    check_hosts(2);
    check_spawn("idle", NULL, check_host_name(0), 1, &tid);
    pid_t daemon = check_daemon_of(tid);
    start_all(1, "masked");
    if (strcmp(what, "deleted") == 0)
        delete_far();
    else
        signal_daemon(daemon, SIGKILL);
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    snprintf(list, sizeof list, "%s/orphans", getenv("PVM_TMP"));
    pvm_setopt(PvmAutoErr, 0);
    if (strcmp(what, "deleted") == 0 || strcmp(what, "masterless") == 0) {
        master_of_two(what);
        return;
    }
    if (strcmp(what, "freed") == 0 || strcmp(what, "founded") == 0) {
        int tid = spawn("idle", 0);
        check_spared(check_daemon_of(tid), strcmp(what, "freed") == 0 ? "freeing" : "founding");
        return;
    }
    if (strcmp(what, "launched") == 0) {
        check_launched();
        return;
    }
    pid_t daemon = start_all(0, strcmp(what, "swept") == 0 ? "deaf" : "masked");
    if (strcmp(what, "killed") == 0)
        check_killed(daemon);
    else if (strcmp(what, "alone") == 0)
        check_alone(daemon);
    else if (strcmp(what, "halted") == 0)
        check_halted();
    else if (strcmp(what, "launching") == 0)
        check_launching(daemon);
    else if (strcmp(what, "terminated") == 0)
        signal_daemon(daemon, SIGTERM);
    else if (strcmp(what, "restarted") == 0 || strcmp(what, "swept") == 0)
        check_restarted(daemon, strcmp(what, "swept") == 0);
    else if (strcmp(what, "storm") == 0 && argc > 3)
        check_storms(daemon, atoi(argv[2]), (unsigned)atoi(argv[3]));
    else
        CHECK(!"usage: see the head of orphans.c");
}

static const struct check_role roles[] = {
    {"computing", computing}, {"deaf", deaf},         {"stopped", stopped}, {"left", left},
    {"masked", masked},       {"family", family},     {"parting", parting}, {"tasker", tasker},
    {"outsider", outsider},   {"halter", halter},     {"idle", idle},       {"adding", adding},
    {"freeing", freeing},     {"founding", founding}, {"stormer", stormer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
