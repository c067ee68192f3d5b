/* tasker.c - starts the tasks of this host, in the style of 1995. See examples/tasker.c. */
/* clang-format off */
#include "old.h"

#define WORDS 64

struct task {
    int tid, pid, daemon;
    struct task *next;
};

static struct task *tasks = 0;
static int ended; /* children have */

static void child_ends()
{
    ended = 1;
#ifdef SYSVSIGNAL
    (void)signal(CHILD_SIGNAL, child_ends);
#endif
}

static char *unpack_text()
{
    char text[16384];
    char *copy;

    if (pvm_upkstr(text) < 0 || !(copy = malloc((unsigned)strlen(text) + 1)))
        exit(1);
    return strcpy(copy, text);
}

static void run_program()
{
    char name[PVMTMPNAMLEN];
    char *words[WORDS + 1];
    char *file = unpack_text();
    int i, n;

    pvm_upkint(&n, 1, 1);
    for (i = 0; i < n && i < WORDS; i++)
        words[i] = unpack_text();
    words[i] = 0;
    pvm_upkint(&n, 1, 1);
    while (n-- > 0)
        putenv(unpack_text());
    if (PVMTMPNAMFUN(name)) /* its input is an empty file, which is already unlinked */
        dup2(open(name, O_RDWR | O_CREAT | O_EXCL, 0600), 0);
    unlink(name);
    execv(file, words);
    pvmlogperror(file);
    _exit(1);
}

static void report(t, status)
struct task *t;
int status;
{
    int times[4];

    times[0] = times[1] = times[2] = times[3] = 0;
    pvm_initsend(PvmDataFoo);
    pvm_pkint(&t->tid, 1, 1);
    pvm_pkint(&status, 1, 1);
    pvm_pkint(times, 4, 1);
    pvm_send(t->daemon, SM_TASKX);
}

static void start(mid)
int mid;
{
    struct task *t = (struct task *)malloc(sizeof(struct task));
    int flags;

    pvm_bufinfo(mid, (int *)0, (int *)0, &t->daemon);
    pvm_upkint(&t->tid, 1, 1);
    pvm_upkint(&flags, 1, 1);
    fflush(stdout);
    if ((t->pid = fork()) == 0)
        run_program();
    if (t->pid == -1) {
        pvmlogperror("tasker: fork()");
        report(t, 1 << 8);
        free((char *)t);
        return;
    }
    printf("tasker: t%x starts\n", t->tid);
    t->next = tasks;
    tasks = t;
}

static int next_end(status)
int *status;
{
#ifdef NOWAIT3
    return waitpid(-1, status, WNOHANG);
#else
    return wait3((union wait *)status, WNOHANG, (struct rusage *)0);
#endif
}

static void reap()
{
    struct task *t;
    int pid, status;

    ended = 0;
    while ((pid = next_end(&status)) > 0)
        for (t = tasks; t; t = t->next)
            if (t->pid == pid) {
                printf("tasker: t%x has ended, %d\n", t->tid, status);
                report(t, status);
                t->pid = 0;
            }
}

int main(argc, argv)
int argc;
char **argv;
{
    struct timeval pause;
    int mid;

    pvmchkuid(getuid());
    (void)signal(CHILD_SIGNAL, child_ends);
    if (pvm_mytid() < 0 || pvm_reg_tasker() < 0)
        exit(1);
    pvm_setopt(PvmResvTids, 1);
    printf("tasker: ready\n");
    fflush(stdout);
    do {
        pause.tv_sec = 0;
        pause.tv_usec = 50000;
        if ((mid = pvm_trecv(-1, SM_STTASK, &pause)) > 0)
            start(mid);
        if (ended)
            reap();
        fflush(stdout);
    } while (mid >= 0);
    pvmbailout(0);
    return 0;
}
