/*
 * crowd.c - many tasks in virtual time: crowd TASKS. Each is a process; they pass messages round a ring, and each tells
 * the master at the end. The master prints how long that took. Exit code 1 if something is lost, or if it took longer
 * than 10 ms of virtual time for each task, as it does when tasks wait for each other's acknowledgements.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "pvm3.h"

enum { TAG_PLACE = 1, TAG_END, TAG_ROUND, ROUNDS = 5 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void send_int(int to, int tag, int value)
{
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&value, 1, 1);
    pvm_send(to, tag);
}

static int member(int master)
{
    int place[3]; /* its number, the tasks before and after it */
    pvm_recv(master, TAG_PLACE);
    pvm_upkint(place, 3, 1);
    for (int round = 0; round < ROUNDS; round++) {
        send_int(place[2], TAG_ROUND + round, round);
        pvm_recv(place[1], TAG_ROUND + round);
    }
    send_int(master, TAG_END, place[0]);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    int tasks = argc > 1 ? atoi(argv[1]) : 100, *tids = calloc((size_t)tasks, sizeof *tids);
    long sum = 0;
    if (!tids || pvm_mytid() < 0)
        return 1;
    if (pvm_parent() > 0)
        return member(pvm_parent());
    if (pvm_spawn(argv[0], NULL, PvmTaskDefault, NULL, tasks, tids) != tasks)
        return 1;
    double start_s = now_s();
    for (int i = 0; i < tasks; i++) {
        int place[3] = {i, tids[(i + tasks - 1) % tasks], tids[(i + 1) % tasks]};
        pvm_initsend(PvmDataRaw);
        pvm_pkint(place, 3, 1);
        pvm_send(tids[i], TAG_PLACE);
    }
    for (int i = 0; i < tasks; i++) {
        int place = 0;
        pvm_recv(-1, TAG_END);
        pvm_upkint(&place, 1, 1);
        sum += place;
    }
    double took_s = now_s() - start_s;
    int good = sum == (long)tasks * (tasks - 1) / 2 && took_s < tasks * 0.01;
    printf("%d tasks, %d rounds: %.6f s%s\n", tasks, ROUNDS, took_s, good ? "" : ": WRONG");
    pvm_exit();
    free(tids);
    return !good;
}
