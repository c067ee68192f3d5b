/*
 * traffic.c - a program with known messages. Started by hand as `traffic FILE [HOSTS [SECONDS]]`, it spawns workers
 * that send to each other, to a group and back, and writes a line for each pair: from, to, messages, bytes. One message
 * is never received. HOSTS is the number of hosts that the machine gets; the first worker waits SECONDS before it
 * sends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"

enum { WORKERS = 4, TAG_TIDS = 1, TAG_WORK, TAG_ALL, TAG_RESULT, TAG_FORGOTTEN, RESULT_INTS = 10, ALL_DOUBLES = 100 };

static int tids[WORKERS];
static char group[32]; /* other programs of this machine may be running */

/* Worker i sends i + 1 messages of this many doubles to each other worker. */
static int doubles_to(int receiver)
{
    return 1000 * (receiver + 1);
}

static void need(int code)
{
    if (code >= 0)
        return;
    fprintf(stderr, "traffic: a call failed: %d\n", code);
    pvm_exit();
    exit(1);
}

static void meet(void)
{
    need(pvm_barrier(group, WORKERS + 1));
}

static void add_hosts(int hosts)
{
    for (int i = 1; i < hosts; i++) {
        char name[32], *names[] = {name};
        int status;
        snprintf(name, sizeof name, "127.0.0.%d", i + 1);
        need(pvm_addhosts(names, 1, &status));
        need(status == PvmDupHost ? PvmOk : status);
    }
}

static void exchange(int self)
{
    double *data = calloc(doubles_to(WORKERS), sizeof *data);
    for (int to = 0; to < WORKERS; to++)
        for (int k = 0; to != self && k <= self; k++) {
            need(pvm_initsend(PvmDataDefault));
            need(pvm_pkdouble(data, doubles_to(to), 1));
            need(pvm_send(tids[to], TAG_WORK));
        }
    for (int from = 0; from < WORKERS; from++)
        for (int k = 0; from != self && k <= from; k++) {
            need(pvm_recv(tids[from], TAG_WORK));
            need(pvm_upkdouble(data, doubles_to(self), 1));
        }
    free(data);
}

static void work(int master, int pause_s)
{
    int self = 0, result[RESULT_INTS] = {0};
    double all[ALL_DOUBLES];
    need(pvm_recv(master, TAG_TIDS));
    need(pvm_upkint(tids, WORKERS, 1));
    while (tids[self] != pvm_mytid())
        self++;
    need(pvm_joingroup(group));
    meet();
    if (self == 0)
        sleep(pause_s);
    exchange(self);
    meet();
    need(pvm_recv(master, TAG_ALL));
    need(pvm_upkdouble(all, ALL_DOUBLES, 1));
    need(pvm_psend(master, TAG_RESULT, result, RESULT_INTS, PVM_INT));
    if (self == 0) {
        need(pvm_initsend(PvmDataDefault));
        need(pvm_pkint(result, 1, 1));
        need(pvm_send(master, TAG_FORGOTTEN));
    }
    meet();
}

static void write_matrix(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        need(-1);
    for (int i = 0; i < WORKERS; i++) {
        int last = i == 0;
        fprintf(f, "%d %d %d %d\n", pvm_mytid(), tids[i], 2, WORKERS * 4 + ALL_DOUBLES * 8);
        fprintf(f, "%d %d %d %d\n", tids[i], pvm_mytid(), 1 + last, RESULT_INTS * 4 + 4 * last);
        for (int to = 0; to < WORKERS; to++)
            if (to != i)
                fprintf(f, "%d %d %d %d\n", tids[i], tids[to], i + 1, (i + 1) * doubles_to(to) * 8);
    }
    fclose(f);
}

static void lead(char *program, const char *path, char *pause_s)
{
    int result[RESULT_INTS];
    char *argv[] = {pause_s, NULL};
    double all[ALL_DOUBLES] = {0};
    if (pvm_spawn(program, argv, PvmTaskDefault, "", WORKERS, tids) != WORKERS)
        need(-1);
    need(pvm_initsend(PvmDataDefault));
    need(pvm_pkint(tids, WORKERS, 1));
    need(pvm_mcast(tids, WORKERS, TAG_TIDS));
    need(pvm_joingroup(group));
    meet();
    meet();
    need(pvm_initsend(PvmDataDefault));
    need(pvm_pkdouble(all, ALL_DOUBLES, 1));
    need(pvm_bcast(group, TAG_ALL));
    for (int i = 0; i < WORKERS; i++)
        need(pvm_precv(-1, TAG_RESULT, result, RESULT_INTS, PVM_INT, NULL, NULL, NULL));
    meet();
    write_matrix(path);
}

int main(int argc, char **argv)
{
    need(pvm_mytid());
    int parent = pvm_parent();
    snprintf(group, sizeof group, "traffic.%x", parent > 0 ? parent : pvm_mytid());
    if (parent > 0) {
        work(parent, atoi(argv[1]));
    } else {
        add_hosts(argc > 2 ? atoi(argv[2]) : 1);
        lead(argv[0], argv[1], argc > 3 ? argv[3] : "0");
    }
    need(pvm_exit());
    return 0;
}
