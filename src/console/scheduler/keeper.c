/* keeper.c - the console's side of keepers: see keeper.h. */
#include "keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "console/commands/host.h"
#include "console/console.h"
#include "console/progress.h"
#include "core/config.h"
#include "core/visible.h"
#include "dpvm.h"
#include "scheduler.h"

enum { LOOK_MS = 100, END_MS = 10000, TOKEN_S = 600, LINE_MAX_BYTES = 4096, KEEPERS_MAX = 64, WORDS_MAX = 128 };

extern char **environ;

/* Our keepers, but for those whose end we have noticed. */
static struct {
    int fd; /* the connection, which ends with the keeper */
    pid_t pid;
} keepers[KEEPERS_MAX];
static int keeper_count;

struct guest {
    char *name;
    int tid;   /* 0: it has not joined */
    bool gone; /* it has left, or failed */
};

static struct wait {
    int fd;
    pid_t keeper;         /* 0: it has not been started */
    int hosts;            /* that shall join */
    struct guest *guests; /* those that have begun to */
    int count;
    char token_id[64]; /* "": there is none yet */
    bool ended;        /* the keeper has */
    double until_s;    /* 0: no limit yet */
    char line[LINE_MAX_BYTES];
    size_t length;
} waiting;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The keeper ends its step, and then itself. */
static void stop_keeper(void)
{
    send(waiting.fd, "stop\n", 5, MSG_NOSIGNAL);
}

/* ---- what the keeper tells ---- */

/* For all tasks of the step. Hosts that are lost may come back with it for PVM_REJOIN_TIMEOUT, even if it is over. */
static void give_token(void)
{
    char *token, *address, *order = NULL;
    int code = pvm_newtoken(waiting.hosts, TOKEN_S, &token, &address);

    if (code < 0) {
        advise("pvm: cannot make a token: %s", error_text(code));
        stop_keeper();
        waiting.ended = true;
        return;
    }
    if (sscanf(token, "%*[^-]-%63[^-]", waiting.token_id) != 1)
        waiting.token_id[0] = '\0';
    int length = asprintf(&order, "token %s %s\n", address, token);
    if (length > 0) {
        send(waiting.fd, order, (size_t)length, MSG_NOSIGNAL);
        explicit_bzero(order, (size_t)length);
        free(order);
    }
}

static void add_guest(const char *name)
{
    struct guest *more = realloc(waiting.guests, ((size_t)waiting.count + 1) * sizeof(*more));
    char *copy = strdup(name);

    if (more != NULL)
        waiting.guests = more;
    if (more == NULL || copy == NULL) {
        free(copy);
        return;
    }
    more[waiting.count++] = (struct guest){.name = copy};
    if (waiting.count == 1)
        give_token();
    waiting.until_s = now_s() + (double)pvmc_config_us(PVMC_SETTING_START_TIMEOUT) / 1e6;
}

static void lose_guest(const char *name)
{
    for (int i = 0; i < waiting.count; i++)
        if (strcmp(waiting.guests[i].name, name) == 0)
            waiting.guests[i].gone = true;
}

static void take_line(const char *line)
{
    if (strncmp(line, "node ", 5) == 0)
        add_guest(line + 5);
    else if (strncmp(line, "left ", 5) == 0)
        lose_guest(line + 5);
    else if (strncmp(line, "say ", 4) == 0)
        advise("%s", PVMC_VISIBLE(line + 4));
    else if (strcmp(line, "end") == 0)
        waiting.ended = true;
}

static void take_lines(void)
{
    char bytes[1024];
    ssize_t got = recv(waiting.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n' && waiting.length < sizeof(waiting.line) - 1) {
            waiting.line[waiting.length++] = bytes[i];
        } else if (bytes[i] == '\n') {
            waiting.line[waiting.length] = '\0';
            waiting.length = 0;
            take_line(waiting.line);
        }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        waiting.ended = true;
}

/* ---- waiting ---- */

/* Marks those that are in the machine. Returns how many still may join. */
static int look_for_guests(void)
{
    int n, formats, open = waiting.hosts - waiting.count;
    struct pvmhostinfo *hosts = host_list(&n, &formats);

    for (int i = 0; i < waiting.count; i++) {
        struct guest *g = &waiting.guests[i];
        for (int k = 0; k < n && g->tid == 0; k++)
            g->tid = strcasecmp(hosts[k].hi_name, g->name) == 0 ? hosts[k].hi_tid : 0;
        open += g->tid == 0 && !g->gone;
    }
    return open;
}

static int joined(void)
{
    int n = 0;

    for (int i = 0; i < waiting.count; i++)
        n += waiting.guests[i].tid != 0;
    return n;
}

static void say_who_is_missing(void)
{
    for (int i = 0; i < waiting.count; i++)
        if (waiting.guests[i].tid == 0)
            advise("pvm: %s has not joined", PVMC_VISIBLE(waiting.guests[i].name));
    advise("pvm: %d of %d host%s joined", joined(), waiting.hosts, waiting.hosts == 1 ? " has" : "s have");
}

/* Lets the keeper end its step, and waits for that. */
static void call_off(void)
{
    double until_s = now_s() + END_MS / 1e3;

    stop_keeper();
    while (!waiting.ended && !console.lost && now_s() < until_s) {
        if (console_wait(waiting.fd, LOOK_MS))
            take_lines();
        console_progress();
    }
    advise("pvm: the request is called off");
}

static void report(void)
{
    char **names = calloc((size_t)waiting.count + 1, sizeof(*names));
    int *tids = calloc((size_t)waiting.count + 1, sizeof(*tids));

    for (int i = 0; i < waiting.count && names != NULL && tids != NULL; i++) {
        names[i] = waiting.guests[i].name;
        tids[i] = waiting.guests[i].tid != 0 ? waiting.guests[i].tid : PvmCantStart;
    }
    if (names != NULL && tids != NULL)
        host_report_added(joined(), names, tids, waiting.count);
    free(names);
    free(tids);
}

/* Whether all have joined. */
static bool wait_for_guests(void)
{
    int open = look_for_guests();

    while (open > 0 && !waiting.ended && !console.lost && console_interrupts == 0) {
        if (waiting.until_s > 0 && now_s() >= waiting.until_s)
            break;
        if (console_wait(waiting.fd, LOOK_MS))
            take_lines();
        console_progress();
        if (!console.lost)
            open = look_for_guests();
    }
    if (console.lost || joined() == waiting.hosts)
        return !console.lost;
    if (console_interrupts > 0)
        call_off();
    say_who_is_missing();
    if (joined() == 0 && waiting.token_id[0] != '\0') /* those that have joined may have to come back */
        pvm_revoke(waiting.token_id);
    return false;
}

/* ---- start ---- */

/* The command that becomes the keeper. */
static bool start(enum keeper_kind kind, char **words, int socket)
{
    char kind_text[16], daemon[16], hosts[16], *all[WORDS_MAX] = {KEEPER_WORD, kind_text, daemon, hosts};
    char path[PATH_MAX] = "";
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid = 0;
    int n = 4;

    snprintf(kind_text, sizeof(kind_text), "%d", kind);
    snprintf(daemon, sizeof(daemon), "%d", (int)console_daemon());
    snprintf(hosts, sizeof(hosts), "%d", waiting.hosts);
    while (*words != NULL && n < WORDS_MAX - 1)
        all[n++] = *words++;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    int error = readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 ? errno : 0;
    error = error != 0 ? error : posix_spawn(&pid, path, &actions, &attributes, all, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    waiting.keeper = error == 0 ? pid : 0;
    if (error != 0)
        advise("pvm: cannot start a process that keeps the step: %s", strerror(error));
    return error == 0;
}

static void free_wait(void)
{
    for (int i = 0; i < waiting.count; i++)
        free(waiting.guests[i].name);
    free(waiting.guests);
    if (waiting.keeper == 0) {
        close(waiting.fd);
    } else {
        keepers[keeper_count].fd = waiting.fd;
        keepers[keeper_count++].pid = waiting.keeper;
    }
    waiting = (struct wait){0};
}

static void reap_keepers(void)
{
    for (int i = keeper_count; i-- > 0;)
        if (waitpid(keepers[i].pid, NULL, WNOHANG) != 0) {
            close(keepers[i].fd);
            keepers[i] = keepers[--keeper_count];
        }
}

bool keeper_start(enum keeper_kind kind, int hosts, char **words)
{
    int ends[2];

    reap_keepers();
    if (keeper_count == KEEPERS_MAX || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        advise("pvm: no descriptor for a further step");
        return false;
    }
    waiting = (struct wait){.fd = ends[0], .hosts = hosts};
    if (kind == KEEPER_OF_JOB) /* its nodes are there already; others may have to be waited for */
        waiting.until_s = now_s() + (double)pvmc_config_us(PVMC_SETTING_START_TIMEOUT) / 1e6;
    waiting.ended = !start(kind, words, ends[1]);
    close(ends[1]);
    bool good = false;
    if (!waiting.ended) {
        console_catch_interrupts(true);
        progress_begin("waiting for %d host%s of Slurm", hosts, hosts == 1 ? "" : "s");
        good = wait_for_guests();
        progress_end();
        console_catch_interrupts(false);
        if (kind == KEEPER_OF_ITSELF && waiting.count > 0)
            report();
    }
    free_wait();
    return good;
}

void scheduler_await_end(void)
{
    double until_s = now_s() + END_MS / 1e3;

    for (int i = 0; i < keeper_count; i++) {
        char bytes[256];
        struct pollfd p = {keepers[i].fd, POLLIN, 0};
        for (double left_s; (left_s = until_s - now_s()) > 0 && poll(&p, 1, (int)(left_s * 1e3) + 1) > 0;)
            if (recv(p.fd, bytes, sizeof(bytes), 0) <= 0)
                break;
        close(keepers[i].fd);
    }
    keeper_count = 0;
}
