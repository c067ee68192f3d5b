/* hoster.c - starts the daemons of added hosts with rsh, in the style of 1995. See examples/hoster.c. */
/* clang-format off */
#include "old.h"

#define HOSTS 32
#define LINE  1024
#define LIMIT 30 /* seconds to wait for the host's answer */

#ifndef RSHCOMMAND
#error "RSHCOMMAND is not defined"
#endif

struct host {
    int tid;
    int fd; /* of the command's output, -1 when it has ended */
    int length;
    char login[LINE];
    char result[LINE];
};

static struct host hosts[HOSTS];

static char *remote_shell()
{
    char *name = getenv("PVM_RSH");
    return name && *name ? name : RSHCOMMAND;
}

/* login is HOST or USER@HOST */
static void run_command(login, command)
char *login, *command;
{
    char *words[8];
    char **word = words;
    char *at = INDEX(login, '@');

    *word++ = remote_shell();
    if (at) {
        *at = '\0';
        *word++ = "-l";
        *word++ = login;
        login = at + 1;
    }
    *word++ = login;
    *word++ = "-n";
    *word++ = command;
    *word = 0;
    execvp(words[0], words);
    pvmlogperror(words[0]);
    pvmbailout(1);
    _exit(1);
}

static void begin(h, command)
struct host *h;
char *command;
{
    int ends[2];

    h->fd = -1;
    h->length = 0;
    strcpy(h->result, "PvmCantStart");
    if (pipe(ends) == -1) {
        pvmlogperror("hoster: pipe()");
        return;
    }
    fflush(stdout);
    switch (fork()) {
    case -1:
        pvmlogperror("hoster: fork()");
        close(ends[0]);
        break;
    case 0:
        close(ends[0]);
        dup2(ends[1], 1);
        run_command(h->login, command);
        break;
    default:
        h->fd = ends[0];
        break;
    }
    close(ends[1]);
}

static void finish(h)
struct host *h;
{
    close(h->fd);
    h->fd = -1;
    if (strncmp(h->result, "ddpro<", 6))
        strcpy(h->result, "PvmCantStart");
    printf("hoster: %s: %.6s\n", h->login, h->result);
}

static void listen_to(h)
struct host *h;
{
    int n = read(h->fd, h->result + h->length, sizeof(h->result) - 1 - h->length);
    char *end;

    if (n <= 0) {
        finish(h);
        return;
    }
    h->result[h->length += n] = '\0';
    if ((end = INDEX(h->result, '\n'))) {
        *end = '\0';
        finish(h);
    }
}

static void wait_for_all(n)
int n;
{
    descriptors set;
    struct timeval pause;
    int i, open, top;
    clock_seconds start = time((clock_seconds *)0);

    for (;;) {
        FD_ZERO(&set);
        for (i = open = top = 0; i < n; i++)
            if (hosts[i].fd >= 0) {
                FD_SET(hosts[i].fd, &set);
                open++;
                if (hosts[i].fd >= top)
                    top = hosts[i].fd + 1;
            }
        if (!open || time((clock_seconds *)0) - start > LIMIT)
            return;
        pause.tv_sec = 1;
        pause.tv_usec = 0;
        if (select(top, &set, (descriptors *)0, (descriptors *)0, &pause) < 0 && errno != EINTR) {
            fprintf(stderr, "hoster: select(): %s\n", REASON);
            return;
        }
        for (i = 0; i < n; i++)
            if (hosts[i].fd >= 0 && FD_ISSET(hosts[i].fd, &set))
                listen_to(&hosts[i]);
    }
}

static void start_hosts(mid)
int mid;
{
    struct pvmminfo question, answer;
    char text[4096], command[4096];
    int n, i;

    pvm_getminfo(mid, &question);
    pvm_upkint(&n, 1, 1);
    if (n > HOSTS)
        n = HOSTS;
    for (i = 0; i < n; i++) {
        pvm_upkint(&hosts[i].tid, 1, 1);
        pvm_upkstr(text);
        pvm_upkstr(hosts[i].login);
        pvm_upkstr(command);
        pvm_upkstr(text);
        pvm_upkstr(text);
        begin(&hosts[i], command);
    }
    wait_for_all(n);
    pvm_initsend(PvmDataFoo);
    pvm_pkint(&n, 1, 1);
    for (i = 0; i < n; i++) {
        pvm_pkint(&hosts[i].tid, 1, 1);
        pvm_pkstr(hosts[i].result);
    }
    pvm_getminfo(pvm_getsbuf(), &answer);
    answer.wid = question.wid;
    pvm_setminfo(pvm_getsbuf(), &answer);
    pvm_send(question.src, SM_STHOSTACK);
}

int main(argc, argv)
int argc;
char **argv;
{
    int mid;

    pvmchkuid(getuid());
    if (pvm_mytid() < 0 || pvm_reg_hoster() < 0)
        exit(1);
    pvm_setopt(PvmResvTids, 1);
    printf("hoster: ready\n");
    fflush(stdout);
    while ((mid = pvm_recv(-1, SM_STHOST)) > 0) {
        start_hosts(mid);
        fflush(stdout);
    }
    pvmlogerror("hoster: the daemon has gone\n");
    pvmbailout(0);
    return 0;
}
