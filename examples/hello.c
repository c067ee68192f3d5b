/*
 * hello - the smallest whole program: one copy of itself on every host; each copy greets its parent.
 *
 * Shows   pvm_config, pvm_spawn on a named host, pvm_parent, pack and unpack, pvm_trecv, pvm_exit.
 * Build   cc -o hello hello.c $(pkg-config --cflags --libs pvm3)
 * Run     ./hello
 *         The virtual machine must run ("pvm" starts it) and find this program at the same path on every host.
 * Prints  a line per host. Exit code 0 if every host has answered, otherwise 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <pvm3.h>

enum { TAG_GREETING = 1, ANSWER_SECONDS = 20 };

static int greet(int parent)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    pvm_initsend(PvmDataDefault);
    pvm_pkstr(host);
    pvm_send(parent, TAG_GREETING);
    pvm_exit();
    return 0;
}

/* Starts a copy on each host and returns the number of copies. */
static int start_copies(int nhost, struct pvmhostinfo *hosts)
{
    char path[4096] = "";
    int started = 0;

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 0;
    for (int i = 0; i < nhost; i++) {
        int tid;
        if (pvm_spawn(path, NULL, PvmTaskHost, hosts[i].hi_name, 1, &tid) == 1)
            started++;
        else
            fprintf(stderr, "hello: no task on host %s: %s\n", hosts[i].hi_name, pvm_errlist[-tid]);
    }
    return started;
}

static int collect(int expected)
{
    int answers = 0;

    while (answers < expected) {
        struct timeval limit = {ANSWER_SECONDS, 0};
        char host[256];
        int tid, mid = pvm_trecv(-1, TAG_GREETING, &limit);
        if (mid <= 0)
            break;
        pvm_bufinfo(mid, NULL, NULL, &tid);
        pvm_upkstr(host);
        printf("hello from t%x on %s\n", tid, host);
        answers++;
    }
    return answers;
}

int main(void)
{
    struct pvmhostinfo *hosts;
    int nhost, started, answers, parent;

    if (pvm_mytid() < 0)
        return 1;
    parent = pvm_parent();
    if (parent > 0)
        return greet(parent);

    pvm_config(&nhost, NULL, &hosts);
    started = start_copies(nhost, hosts);
    answers = collect(started);
    printf("%d of %d hosts answered\n", answers, nhost);
    pvm_exit();
    return answers == nhost ? 0 : 1;
}
