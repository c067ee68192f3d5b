#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "processes.h"

enum { PROCESSES_MAX = 8192, TREE_DEPTH_MAX = 64, LISTED_MAX = 12 };

double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void sleep_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

void processes_adopt(void)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        err(2, "run: prctl(PR_SET_CHILD_SUBREAPER)");
}

static struct process *started;

static void run_child(char *const argv[], int out)
{
    setsid();
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || (out >= 0 && dup2(out, 1) < 0))
        err(2, "run: redirecting of %s", argv[0]);
    close(null);
    execvp(argv[0], argv);
    err(127, "run: %s", argv[0]);
}

struct process *process_start(char *const argv[], int out)
{
    struct process *p = calloc(1, sizeof *p);
    fflush(stdout);
    if (!p || (p->pid = fork()) < 0)
        err(2, "run: fork");
    if (p->pid == 0)
        run_child(argv, out);
    p->next = started;
    started = p;
    return p;
}

void processes_reap(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (struct process *p = started; p; p = p->next)
            if (p->pid == pid) {
                p->ended = true;
                p->status = status;
            }
}

bool process_wait(struct process *p, double seconds)
{
    double end = clock_now() + seconds;
    for (;;) {
        processes_reap();
        if (p->ended)
            return true;
        if (clock_now() > end)
            return false;
        sleep_ms(5);
    }
}

/* Parent and state of a process from /proc; 0 when it is gone. */
static pid_t parent_of(pid_t pid, char *state)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    char *at = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    int parent = 0;
    if (!at || sscanf(at + 1, " %c %d", state, &parent) != 2)
        return 0;
    return parent;
}

static bool is_descendant(pid_t pid)
{
    char state;
    for (int depth = 0; depth < TREE_DEPTH_MAX && pid > 1; depth++) {
        pid = parent_of(pid, &state);
        if (pid == getpid())
            return true;
    }
    return false;
}

/* Living descendants; zombies only wait for their parent and do not count. */
static int descendants(pid_t *pids, int max)
{
    int n = 0;
    DIR *proc = opendir("/proc");
    if (!proc)
        err(2, "run: /proc");
    for (struct dirent *entry; n < max && (entry = readdir(proc));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        char state = 0;
        if (pid > 0 && parent_of(pid, &state) > 0 && state != 'Z' && is_descendant(pid))
            pids[n++] = pid;
    }
    closedir(proc);
    return n;
}

static pid_t found[PROCESSES_MAX];

bool processes_wait_all(double seconds)
{
    double end = clock_now() + seconds;
    for (;;) {
        processes_reap();
        if (descendants(found, 1) == 0)
            return true;
        if (clock_now() > end)
            return false;
        sleep_ms(20);
    }
}

static void print_process(pid_t pid)
{
    char path[64], command[512], state = '?';
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(command, 1, sizeof command - 1, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < length; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    command[length] = '\0';
    pid_t parent = parent_of(pid, &state);
    printf("    pid %d, parent %d, state %c: %s\n", (int)pid, (int)parent, state, command);
}

int processes_list(const char *heading)
{
    int n = descendants(found, PROCESSES_MAX);
    if (n > 0)
        printf("%s\n", heading);
    for (int i = 0; i < n && i < LISTED_MAX; i++)
        print_process(found[i]);
    if (n > LISTED_MAX)
        printf("    and %d more\n", n - LISTED_MAX);
    return n;
}

void processes_kill_all(void)
{
    int n;
    while ((n = descendants(found, PROCESSES_MAX)) > 0) {
        for (int i = 0; i < n; i++)
            kill(found[i], SIGKILL);
        sleep_ms(20);
        processes_reap();
    }
    processes_reap();
}
