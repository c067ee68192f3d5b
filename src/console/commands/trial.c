/* trial.c - runs a command on another host in the way the daemon does. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/visible.h"
#include "console/console.h"
#include "cure.h"
#include "console/line.h"
#include "trial.h"

enum { LIMIT_MS = 10000, ARGUMENTS_MAX = 32 };

extern char **environ;

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Starts argv with stdout and stderr to a pipe. Returns its pid and the pipe's read end, or -1 with errno. */
static pid_t start_trial(char *const argv[], int *out)
{
    int ends[2];
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* to kill it with its children */
    int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        errno = error;
        return -1;
    }
    *out = ends[0];
    return pid;
}

/* Runs argv and reads its output. 0: it ended; PvmSysErr: it could not be started (errno); PvmHostFail: timed out. */
static int run_trial(char *const argv[], char *text, size_t size)
{
    size_t used = 0;
    int out, result = 0;
    long deadline_ms = now_ms() + LIMIT_MS;
    pid_t pid = start_trial(argv, &out);

    text[0] = '\0';
    if (pid < 0)
        return PvmSysErr;
    for (;;) {
        struct pollfd poll_fd = {.fd = out, .events = POLLIN};
        long left_ms = deadline_ms - now_ms();
        if (left_ms <= 0 || poll(&poll_fd, 1, (int)left_ms) <= 0) {
            result = PvmHostFail;
            break;
        }
        char scrap[256];
        size_t room = size - 1 - used;
        ssize_t got = read(out, room > 0 ? text + used : scrap, room > 0 ? room : sizeof(scrap));
        if (got <= 0)
            break;
        used += room > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    if (result < 0)
        kill(-pid, SIGKILL);
    close(out);
    waitpid(pid, NULL, 0);
    return result;
}

/* The daemon's path on another host: the given one, or that of pvmd3 beside this program. */
static void daemon_path(const char *given, char *path, size_t size)
{
    char own[PATH_MAX - sizeof "/pvmd3"];

    if (given != NULL && *given != '\0') {
        snprintf(path, size, "%s", given);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash != NULL)
        *slash = '\0';
    snprintf(path, size, "%s%spvmd3", own, slash != NULL ? "/" : "");
}

/* Fills argv with the daemon's command line to run a command on the host; `text` is storage for one word of it. */
static void trial_command(char *argv[ARGUMENTS_MAX], const char *launcher, const char *host, const char *login,
                          const char *command, char text[PATH_MAX])
{
    const char *words[ARGUMENTS_MAX] = {NULL};
    int n = 0;
    bool ssh = strcmp(launcher, "ssh") == 0;

    if (!ssh && access(launcher, X_OK) != 0) { /* a command with arguments, for a shell */
        snprintf(text, PATH_MAX, "exec %s \"$@\"", launcher);
        words[n++] = "/bin/sh";
        words[n++] = "-c";
        words[n++] = text;
    }
    words[n++] = launcher;
    if (ssh) { /* it must not prompt: the user would not see the question */
        words[n++] = "-oBatchMode=yes";
        words[n++] = "-oConnectTimeout=5";
    }
    words[n++] = host;
    if (login != NULL) {
        words[n++] = "-l";
        words[n++] = login;
    }
    words[n++] = command;
    memcpy(argv, words, sizeof(words));
}

/* The first line of text that is not empty, terminated in place. */
static const char *first_line(char *text)
{
    text += strspn(text, "\r\n ");
    text[strcspn(text, "\r\n")] = '\0';
    return *text != '\0' ? text : "(no message)";
}

/* The remedy for the result of a trial. */
static const char *find_cure(int code, const char *text, const char *launcher)
{
    static char line[PATH_MAX + 64];
    const char *known = cure_find(text);

    if (code == PvmSysErr)
        return "install ssh (Debian: openssh-client), or set PVM_RSH to another command";
    if (strstr(text, "dpvm-found") != NULL)
        return "see the log pvml.UID in PVM_TMP on %s; a firewall must let pvmd's ports through (PVMNETSOCKPORT sets "
               "them)";
    if (strstr(text, "dpvm-reached") != NULL)
        return "install dpvm on %s, or give the path of its pvmd3: add '%s dx=PATH', or set PVM_DPATH";
    if (code != PvmHostFail && known != NULL)
        return known;
    snprintf(line, sizeof(line), "`%s %%s true` must work without a prompt", launcher);
    return line;
}

void trial_host(const char *launcher, const char *host, const char *login, const char *daemon)
{
    char path[PATH_MAX], command[PATH_MAX + 128], text[4096], word[PATH_MAX];
    char *argv[ARGUMENTS_MAX];

    daemon_path(daemon, path, sizeof(path));
    snprintf(command, sizeof(command), "echo dpvm-reached; command -v \"%s\" && echo dpvm-found", path);
    trial_command(argv, launcher, host, login, command, word);
    advise("%s: trying \"%s\" ...", host, launcher);
    int code = run_trial(argv, text, sizeof(text));
    if (code == PvmSysErr)
        advise("%s: %s cannot be run: %s", host, argv[0], strerror(errno));
    else if (code != PvmHostFail && strstr(text, "dpvm-reached") == NULL)
        advise("%s: answer: %s", host, PVMC_VISIBLE(first_line(text)));
    cure_print(find_cure(code, text, launcher), host);
}
