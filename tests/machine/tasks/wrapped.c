/*
 * wrapped - a master that spawns so many workers, over all hosts, and waits for their answers. The test wrap.sh runs it
 * under a wrapper; with "bad" each task makes a mistake that only Valgrind sees. The test debug.sh has it wait.
 *
 *   wrapped WORKERS [bad]
 *   wrapped wait
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"

enum { WORKERS_MAX = 16, TAG = 7 };

/* A condition that depends on uninitialized memory. */
static void read_unset(void)
{
    char *volatile text = malloc(8); /* volatile: hides the error from the compiler */

    if (text != NULL && text[3] == 'x')
        printf("unlikely\n");
    free(text);
}

static void on_signal(int number)
{
    static const char text[] = "got SIGUSR1\n";

    if (number == SIGUSR1 && write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
        _exit(1);
}

static int wait_for_signals(void)
{
    signal(SIGUSR1, on_signal);
    printf("waiting\n");
    fflush(stdout);
    for (int i = 0; i < 600; i++)
        usleep(100000);
    return 1;
}

static int answer(void)
{
    int pid = (int)getpid();

    printf("worker\n");
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&pid, 1, 1);
    return pvm_send(pvm_parent(), TAG);
}

static int ask(char *program, int workers, char *fault)
{
    int tids[WORKERS_MAX];
    char *argv[] = {"0", fault, NULL};

    printf("master\n");
    if (pvm_spawn(program, argv, PvmTaskDefault, NULL, workers, tids) != workers)
        return 1;
    for (int i = 0; i < workers; i++)
        if (pvm_recv(tids[i], TAG) < 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int workers = argc > 1 ? atoi(argv[1]) : 0;
    char path[4096];

    if (pvm_mytid() < 0 || workers > WORKERS_MAX || realpath(argv[0], path) == NULL)
        return 1;
    if (argc > 2 && strcmp(argv[2], "bad") == 0)
        read_unset();
    if (argc > 1 && strcmp(argv[1], "wait") == 0)
        return wait_for_signals();
    int failed = workers > 0 ? ask(path, workers, argc > 2 ? argv[2] : NULL) : answer() < 0;
    pvm_exit();
    return failed;
}
