/*
 * hoster - starts the daemons of added hosts with ssh, in parallel for all hosts of one pvm_addhosts.
 *
 * A hoster is a task on the master's host that starts daemons for the master. It receives SM_STHOST with a command for
 * each host, runs the commands there, and answers SM_STHOSTACK with the line that each command printed, or the name of
 * an error. man pvm_reg_hoster describes the fields of both.
 *
 * Shows   pvm_reg_hoster, SM_STHOST, SM_STHOSTACK, wait ids (pvm_getminfo, pvm_setminfo), pvm_addhosts with a hoster.
 * Build   cc -o hoster hoster.c $(pkg-config --cflags --libs pvm3)
 * Run     ./hoster                     with ssh, which must work without a prompt: by key or agent
 *         ./hoster ssh -p 2222         with another command that takes a host and a command line
 *         and then, for instance, "add hostname" in the console. It runs until it is killed or the machine halts.
 * Prints  the command for each host and its answer.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <pvm3.h>
#include <pvmproto.h>

enum { HOSTS_MAX = 256, WORDS_MAX = 32, TEXT_BYTES = 8192, LIMIT_S = 20 };

static char *const ssh[] = {"ssh", "-T", "-x", "-oBatchMode=yes", "-oConnectTimeout=10", NULL};
static char *const *launcher = ssh;

/* A host on which a daemon is being started. */
struct host {
    int tid, pipe; /* pipe: from the command's output; -1 when it has ended */
    pid_t pid;
    char login[TEXT_BYTES], result[TEXT_BYTES];
    size_t length; /* of the output so far, in result */
};

static struct host hosts[HOSTS_MAX];

static void run_command(const char *login, const char *command, int out)
{
    char *argv[WORDS_MAX + 3];
    int argc = 0;
    for (; launcher[argc] && argc < WORDS_MAX; argc++)
        argv[argc] = launcher[argc];
    argv[argc++] = (char *)login;
    argv[argc++] = (char *)command;
    argv[argc] = NULL;
    if (!freopen("/dev/null", "r", stdin))
        _exit(127);
    dup2(out, STDOUT_FILENO);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

/* Reads one host's fields of SM_STHOST; those that a hoster on Unix does not need are skipped. */
static void begin(struct host *h)
{
    char options[TEXT_BYTES], command[TEXT_BYTES], other[TEXT_BYTES];
    int ends[2];
    pvm_upkint(&h->tid, 1, 1);
    pvm_upkstr(options); /* so= of the hostfile */
    pvm_upkstr(h->login);
    pvm_upkstr(command);
    pvm_upkstr(other); /* the command for Windows */
    pvm_upkstr(other); /* PVM_VMID */
    strcpy(h->result, "PvmCantStart");
    h->length = 0;
    h->pipe = -1;
    if (pipe(ends))
        return;
    printf("hoster: %s: %s\n", h->login, command);
    fflush(NULL);
    h->pid = fork();
    if (h->pid == 0) {
        close(ends[0]);
        run_command(h->login, command, ends[1]);
    }
    close(ends[1]);
    h->pipe = ends[0];
}

/* Finds the daemon's line; a login shell may print other lines before it. */
static int find_line(struct host *h)
{
    h->result[h->length] = '\0';
    for (char *line = h->result, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (strstr(line, "ddpro<") || strstr(line, "dpvm-error<")) {
            memmove(h->result, line, strlen(line) + 1);
            return 1;
        }
        *end = '\n';
    }
    return 0;
}

/* Reads output of the command, or its end. */
static void listen_to(struct host *h)
{
    ssize_t n = read(h->pipe, h->result + h->length, sizeof h->result - 1 - h->length);
    h->length += n > 0 ? (size_t)n : 0;
    int found = find_line(h);
    if (n > 0 && !found && h->length < sizeof h->result - 1)
        return;
    if (!found)
        strcpy(h->result, "PvmCantStart");
    close(h->pipe);
    h->pipe = -1;
    printf("hoster: %s: %.60s\n", h->login, h->result);
}

/* Waits until all hosts have answered or the time is up. */
static void wait_for_all(int n)
{
    struct pollfd p[HOSTS_MAX];
    time_t end = time(NULL) + LIMIT_S;
    for (int open = n; open && time(NULL) < end;) {
        open = 0;
        for (int i = 0; i < n; i++) {
            p[i] = (struct pollfd){.fd = hosts[i].pipe, .events = POLLIN}; /* -1 is ignored */
            open += hosts[i].pipe >= 0;
        }
        if (open && poll(p, (nfds_t)n, 1000) > 0)
            for (int i = 0; i < n; i++)
                if (p[i].revents)
                    listen_to(&hosts[i]);
    }
    for (int i = 0; i < n; i++) {
        if (hosts[i].pipe < 0)
            continue;
        kill(hosts[i].pid, SIGTERM);
        close(hosts[i].pipe);
        strcpy(hosts[i].result, "PvmCantStart");
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

/* Answers with the wait id of the request, by which the daemon matches them. */
static void answer(int daemon, int wait_id, int n)
{
    struct pvmminfo header;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&n, 1, 1);
    for (int i = 0; i < n; i++) {
        pvm_pkint(&hosts[i].tid, 1, 1);
        pvm_pkstr(hosts[i].result);
    }
    pvm_getminfo(pvm_getsbuf(), &header);
    header.wid = wait_id;
    pvm_setminfo(pvm_getsbuf(), &header);
    pvm_send(daemon, SM_STHOSTACK);
}

static void start_daemons(int message)
{
    struct pvmminfo header;
    int n;
    pvm_getminfo(message, &header);
    pvm_upkint(&n, 1, 1);
    if (n > HOSTS_MAX)
        n = HOSTS_MAX; /* the others fail, because the daemon gets no answer for them */
    for (int i = 0; i < n; i++)
        begin(&hosts[i]);
    wait_for_all(n);
    answer(header.src, header.wid, n);
}

int main(int argc, char **argv)
{
    int message;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1)
        launcher = argv + 1;
    if (pvm_mytid() < 0 || pvm_reg_hoster() < 0)
        return 1;
    pvm_setopt(PvmResvTids, 1); /* required to send SM messages */
    printf("hoster: ready, daemons start by %s\n", launcher[0]);
    while ((message = pvm_recv(-1, SM_STHOST)) > 0)
        start_daemons(message);
    return 1;
}
