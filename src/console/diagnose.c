/* diagnose.c - finds out why a host could not be added, and says what to do. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "console.h"
#include "diagnose.h"
#include "line.h"

enum {
    HOSTS_TRIED_MAX = 4,    /* a trial may take its whole time limit */
    TRIAL_LIMIT_MS = 10000, /* for one command on another host */
    LOG_LINES_MAX = 3,      /* shown for a host: the last ones */
    LOG_READ_MAX = 65536,
    TRIAL_ARGUMENTS_MAX = 32,
};

extern char **environ;

struct log_mark {
    char path[PATH_MAX];
    off_t end;
};

/* A name as given to `add`, taken apart. */
struct target {
    struct words words;
    const char *host, *login, *daemon;
    bool manual; /* so=ms: started by hand */
};

/* ---- the daemon's log ---- */

struct log_mark *diagnose_begin(void)
{
    struct log_mark *mark = calloc(1, sizeof(*mark));
    const char *vmid = getenv("PVM_VMID");
    struct stat status;

    if (mark == NULL)
        return NULL;
    bool named = vmid != NULL && *vmid != '\0';
    snprintf(mark->path, sizeof(mark->path), "%s/pvml.%u%s%s", pvmgettmp(), (unsigned)getuid(), named ? "." : "",
             named ? vmid : "");
    mark->end = stat(mark->path, &status) == 0 ? status.st_size : 0;
    return mark;
}

void diagnose_end(struct log_mark *mark)
{
    free(mark);
}

/* What was logged since the mark, or NULL. The caller frees it. */
static char *log_news(const struct log_mark *mark)
{
    int fd = mark != NULL ? open(mark->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    char *text = fd >= 0 ? malloc(LOG_READ_MAX + 1) : NULL;
    ssize_t got = text != NULL ? pread(fd, text, LOG_READ_MAX, mark->end) : -1;

    if (fd >= 0)
        close(fd);
    if (got <= 0) {
        free(text);
        return NULL;
    }
    text[got] = '\0';
    return text;
}

/* Behind "[t80040000] 11/21 05:36:13 ". */
static const char *log_message(const char *line)
{
    int skipped = 0;
    unsigned tid, month, day, hour, minute, second;

    if (sscanf(line, "[t%x] %u/%u %u:%u:%u %n", &tid, &month, &day, &hour, &minute, &second, &skipped) == 6)
        return line + skipped;
    return line;
}

/* Prints the last lines of text that speak of the host. */
static void print_log(char *text, const char *host)
{
    const char *found[LOG_LINES_MAX];
    int n = 0;
    char *rest = text;

    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (strstr(line, host) == NULL)
            continue;
        if (n == LOG_LINES_MAX)
            memmove(found, found + 1, sizeof(found) - sizeof(found[0]));
        else
            n++;
        found[n - 1] = log_message(line);
    }
    for (int i = 0; i < n; i++)
        advise("  pvmd says: %s", found[i]);
}

/* ---- a command on the host ---- */

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Starts argv with its stdout and stderr in a pipe. Returns its pid and the pipe's end, or -1 with errno. */
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
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* so that all of it can be ended */
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

/* Runs argv and takes what it prints. 0: it ended; PvmSysErr: it could not be started (errno); PvmHostFail: too slow.
 */
static int run_trial(char *const argv[], char *text, size_t size)
{
    size_t used = 0;
    int out, result = 0;
    long deadline_ms = now_ms() + TRIAL_LIMIT_MS;
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

/* The daemon's path on another host: dx=, PVM_DPATH, or as here, beside this program. */
static void daemon_path(const struct target *t, char *path, size_t size)
{
    const char *given = t->daemon != NULL ? t->daemon : getenv("PVM_DPATH");
    char own[PATH_MAX];

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

/* What ssh and the like print, and what helps. */
static const struct {
    const char *symptom, *cure;
} cures[] = {
    {"Permission denied", "let %s take your key: ssh-copy-id %s. `ssh %s true` must work without a question"},
    {"Host key verification failed", "accept its key once: ssh %s true (or ssh-keyscan %s >> ~/.ssh/known_hosts)"},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", "its key is another one now; if that is right: ssh-keygen -R %s"},
    {"Could not resolve",
     "the name %s is unknown here: look for a slip, or add it to DNS, /etc/hosts or ~/.ssh/config"},
    {"Connection refused", "no ssh server answers on %s: start sshd there, or set its port in ~/.ssh/config"},
    {"No route to host", "%s cannot be reached from here: is it switched on, and is the network right?"},
    {"timed out", "%s does not answer: is it switched on, and does a firewall let ssh through?"},
    {"Connection closed", "%s hung up: its sshd log says why (often a limit, or a missing /run/sshd)"},
    {"not found", "PVM_RSH names a command that does not exist; correct or unset it"},
};

/* The first line of text that tells something, cut off in place. */
static const char *first_line(char *text)
{
    text += strspn(text, "\r\n ");
    text[strcspn(text, "\r\n")] = '\0';
    return *text != '\0' ? text : "(no message)";
}

static void print_cure(const char *host, char *text)
{
    const char *cure = "try it by hand until it works without a question, then `add %s` again";

    for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
        if (strstr(text, cures[i].symptom) != NULL) {
            cure = cures[i].cure;
            break;
        }
    advise("  It says: %s", first_line(text));
    char line[1024];
    size_t used = 0;
    for (const char *p = cure; *p != '\0' && used < sizeof(line) - 1; p++) {
        if (p[0] == '%' && p[1] == 's') {
            used += (size_t)snprintf(line + used, sizeof(line) - used, "%s", host);
            used = used < sizeof(line) ? used : sizeof(line) - 1;
            p++;
        } else {
            line[used++] = *p;
        }
    }
    line[used] = '\0';
    advise("  Cure: %s.", line);
}

/* Fills argv with the launcher's command for `command` on the target. False when it is too long. */
static bool trial_command(const struct target *t, struct words *rsh, char *command, char *argv[TRIAL_ARGUMENTS_MAX])
{
    int n = 0;
    const char *name = strrchr(rsh->word[0], '/');

    if (rsh->count > TRIAL_ARGUMENTS_MAX - 10)
        return false;
    for (int i = 0; i < rsh->count; i++)
        argv[n++] = rsh->word[i];
    if (strcmp(name != NULL ? name + 1 : rsh->word[0], "ssh") == 0) { /* it must not ask: nobody would see it */
        argv[n++] = "-oBatchMode=yes";
        argv[n++] = "-oConnectTimeout=5";
    }
    argv[n++] = (char *)t->host;
    if (t->login != NULL) {
        argv[n++] = "-l";
        argv[n++] = (char *)t->login;
    }
    argv[n++] = command;
    argv[n] = NULL;
    return true;
}

/* Runs a command on the host as the daemon would, and tells what is wrong with it. */
static void try_host(const struct target *t)
{
    char path[PATH_MAX], command[PATH_MAX + 128], text[4096], why[64];
    char *argv[TRIAL_ARGUMENTS_MAX];
    struct words rsh;
    const char *launcher = getenv("PVM_RSH");

    if (launcher == NULL || *launcher == '\0')
        launcher = "ssh";
    if (words_split(launcher, &rsh, why, sizeof(why)) != 0 || rsh.count == 0) {
        advise("  Cure: PVM_RSH (\"%s\") is no command; correct or unset it.", launcher);
        return;
    }
    daemon_path(t, path, sizeof(path));
    snprintf(command, sizeof(command), "echo dpvm-reached; command -v \"%s\" && echo dpvm-found", path);
    if (!trial_command(t, &rsh, command, argv)) {
        words_free(&rsh);
        return;
    }
    advise("  Trying \"%s\" ...", launcher);
    int code = run_trial(argv, text, sizeof(text));
    if (code == PvmSysErr)
        advise("  Cure: %s cannot be run (%s): install it (Debian: openssh-client), or let PVM_RSH name another.",
               argv[0], strerror(errno));
    else if (strstr(text, "dpvm-found") != NULL)
        advise("  \"%s\" works and %s is there.\n  Cure: see the log pvml.UID in PVM_TMP there; a firewall between the "
               "hosts must let pvmd's ports through (PVMNETSOCKPORT fixes them).",
               launcher, path);
    else if (strstr(text, "dpvm-reached") != NULL)
        advise("  \"%s\" works, but there is no program %s there.\n  Cure: install dpvm on %s, or say where it is: "
               "add '%s dx=PATH' or PVM_DPATH.",
               launcher, path, t->host, t->host);
    else if (code == PvmHostFail)
        advise("  No answer in %d s.\n  Cure: `%s %s true` must work without a question.", TRIAL_LIMIT_MS / 1000,
               launcher, t->host);
    else
        print_cure(t->host, text);
    words_free(&rsh);
}

/* ---- what each failure means ---- */

static bool is_loopback(const char *host)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    bool loopback = false;

    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return false;
    if (list->ai_family == AF_INET)
        loopback = ntohl(((struct sockaddr_in *)(void *)list->ai_addr)->sin_addr.s_addr) >> 24 == 127;
    else if (list->ai_family == AF_INET6)
        loopback = IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)(void *)list->ai_addr)->sin6_addr);
    freeaddrinfo(list);
    return loopback;
}

/* Whether the daemon starts others by a command that we can try, too. */
static bool starts_by_command(const struct target *t)
{
    const char *launcher = getenv("PVM_LAUNCHER");

    if (t->manual)
        return false;
    if (launcher != NULL && (strcmp(launcher, "ssh") == 0 || strcmp(launcher, "rsh") == 0))
        return true;
    return (launcher == NULL || *launcher == '\0' || strcmp(launcher, "auto") == 0) && !is_loopback(t->host);
}

static const struct {
    int code;
    const char *cure;
} meanings[] = {
    {PvmNoHost, "the name is unknown here: look for a slip, or add it to DNS or /etc/hosts"},
    {PvmBadVersion, "another version of pvmd runs there: install the same on both (pvm --version shows this one)"},
    {PvmIPLoopback,
     "other hosts cannot reach this machine's loopback address: start pvm with -nNAME, a name whose address "
     "they can reach, or set PVM_IP"},
    {PvmAlready, "another add or delete is still going on: repeat it when that is through"},
    {PvmOutOfRes, "a limit is reached; pvmd's log says which"},
    {PvmDenied, "pvmd there refuses us; its log says why"},
};

static void split_target(char *name, struct target *t)
{
    char why[64];

    *t = (struct target){0};
    if (words_split(name, &t->words, why, sizeof(why)) != 0 || t->words.count == 0)
        return;
    t->host = t->words.word[0];
    for (int i = 1; i < t->words.count; i++) {
        char *option = t->words.word[i];
        if (strncmp(option, "lo=", 3) == 0)
            t->login = option + 3;
        else if (strncmp(option, "dx=", 3) == 0)
            t->daemon = option + 3;
        else if (strcmp(option, "so=ms") == 0)
            t->manual = true;
        else if (strncmp(option, "ip=", 3) == 0)
            t->host = option + 3;
    }
}

/* Explains one failure; returns whether a trial was made. */
static bool explain(char *name, int code, const struct log_mark *mark, bool may_try)
{
    struct target t;
    bool tried = false;

    split_target(name, &t);
    if (t.host == NULL) {
        words_free(&t.words);
        return false;
    }
    advise("%s:", t.words.word[0]);
    char *news = log_news(mark);
    if (news != NULL)
        print_log(news, t.words.word[0]);
    free(news);
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].code == code)
            advise("  Cure: %s.", meanings[i].cure);
    if (code == PvmCantStart || code == PvmDSysErr || code == PvmHostFail) {
        tried = may_try && starts_by_command(&t);
        if (tried)
            try_host(&t);
    }
    words_free(&t.words);
    return tried;
}

void diagnose_failed(char **names, const int *status, int count, struct log_mark *mark)
{
    int tried = 0;

    for (int i = 0; i < count; i++) {
        if (status[i] >= 0 || status[i] == PvmDupHost || status[i] == PvmSysErr || status[i] == PvmBadParam)
            continue; /* those speak for themselves */
        fflush(stdout);
        tried += explain(names[i], status[i], mark, tried < HOSTS_TRIED_MAX);
    }
}
