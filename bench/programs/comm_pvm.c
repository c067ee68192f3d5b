/*
 * comm_pvm.c - PVM: psend and precv for arrays, packed messages where many receive one, a group for sums. It is frozen,
 * unless PROGRAM_CHANGING is set.
 */
#include "comm.h"
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"

enum {
    TAG_TIDS = 1,
    TAG_SHARE,
    TAG_BCAST,
    TAG_REDUCE,
    TAG_GATHER_TO,
    TAG_SCATTER,
    TAG_GATHER,
    TAG_ALLTOALL,
    TAG_WORDS,
    TAG_SIDE
};

int comm_rank, comm_size;
static int tids[COMM_TASKS_MAX];
static int others[COMM_TASKS_MAX]; /* the same without this task */
static char group[32];             /* of this run: tasks of the last one may still be leaving theirs */

static int must(int code, const char *what)
{
    if (code < 0)
        errx(1, "%s: %d (%s)", what, code, pvm_strerror());
    return code;
}

/* ---- starting ---- */

static void spawn(char **argv, int first, int end, char *host)
{
    static char path[4096];
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        err(1, "/proc/self/exe");
    int wanted = end - first;
    if (wanted > 0 && must(pvm_spawn(path, argv + 1, host ? PvmTaskHost : PvmTaskDefault, host, wanted, tids + first),
                           "pvm_spawn") < wanted)
        errx(1, "pvm_spawn: only some of %d tasks started", wanted);
}

static void spawn_others(char **argv)
{
    char *host = getenv("PROGRAM_HOST");
    int here = host ? comm_size / 2 : comm_size;
    tids[0] = pvm_mytid();
    spawn(argv, 1, here, host ? "." : NULL);
    spawn(argv, here, comm_size, host);
    pvm_initsend(PvmDataRaw);
    pvm_pkint(tids, comm_size, 1);
    must(pvm_mcast(tids + 1, comm_size - 1, TAG_TIDS), "pvm_mcast");
}

static void take_ranks(void)
{
    int count = 0;
    for (int i = 0; i < comm_size; i++)
        if (tids[i] == pvm_mytid())
            comm_rank = i;
        else
            others[count++] = tids[i];
}

void comm_open(int tasks, int *argc, char ***argv)
{
    const char *route = getenv("PVMBENCH_ROUTE");
    (void)argc;
    comm_size = tasks;
    must(pvm_mytid(), "no PVM daemon answers");
    pvm_setopt(PvmRoute, route && strcmp(route, "direct") == 0 ? PvmRouteDirect : PvmDontRoute);
    snprintf(group, sizeof group, "programs.%x", (unsigned)(pvm_parent() < 0 ? pvm_mytid() : pvm_parent()));
    if (pvm_parent() < 0) {
        must(pvm_joingroup(group), "pvm_joingroup"); /* first, so that its instance number is 0 */
        spawn_others(*argv);
    } else {
        must(pvm_precv(pvm_parent(), TAG_TIDS, tids, tasks, PVM_INT, NULL, NULL, NULL), "pvm_precv");
        must(pvm_joingroup(group), "pvm_joingroup");
    }
    take_ranks();
    if (getenv("PROGRAM_CHANGING"))
        comm_barrier();
    else
        must(pvm_freezegroup(group, tasks), "pvm_freezegroup");
}

void comm_close(void)
{
    comm_barrier();
    pvm_lvgroup(group);
    pvm_exit();
}

/* ---- all ranks ---- */

void comm_barrier(void)
{
    must(pvm_barrier(group, comm_size), "pvm_barrier");
}

void comm_share(int *value)
{
    if (comm_rank == 0) {
        pvm_initsend(PvmDataRaw);
        pvm_pkint(value, 1, 1);
        must(pvm_bcast(group, TAG_SHARE), "pvm_bcast");
    } else {
        must(pvm_recv(tids[0], TAG_SHARE), "pvm_recv");
        pvm_upkint(value, 1, 1);
    }
}

void comm_exchange(const struct comm_side *sides, int count)
{
    for (int i = 0; i < count; i++)
        if (sides[i].peer >= 0 && sides[i].out)
            must(pvm_psend(tids[sides[i].peer], TAG_SIDE + i, (void *)sides[i].out, sides[i].count, PVM_DOUBLE),
                 "pvm_psend");
    for (int i = 0; i < count; i++)
        if (sides[i].peer >= 0 && sides[i].in)
            must(pvm_precv(tids[sides[i].peer], TAG_SIDE + (i ^ 1), sides[i].in, sides[i].count, PVM_DOUBLE, NULL, NULL,
                           NULL),
                 "pvm_precv");
}

void comm_bcast(double *values, int count)
{
    if (comm_rank == 0) {
        pvm_initsend(PvmDataInPlace);
        pvm_pkdouble(values, count, 1);
        must(pvm_bcast(group, TAG_BCAST), "pvm_bcast");
    } else {
        must(pvm_precv(tids[0], TAG_BCAST, values, count, PVM_DOUBLE, NULL, NULL, NULL), "pvm_precv");
    }
}

void comm_reduce(double *values, int count)
{
    must(pvm_reduce(PvmSum, values, count, PVM_DOUBLE, TAG_REDUCE, group, 0), "pvm_reduce");
}

void comm_sum(double *values, int count)
{
    comm_reduce(values, count);
    comm_bcast(values, count);
}

void comm_gather(const double *mine, double *all, int count)
{
    must(pvm_gather(all, (void *)mine, count, PVM_DOUBLE, TAG_GATHER_TO, group, 0), "pvm_gather");
}

void comm_scatter(const double *all, double *mine, int count)
{
    must(pvm_scatter(mine, (void *)all, count, PVM_DOUBLE, TAG_SCATTER, group, 0), "pvm_scatter");
}

void comm_allgather(double *all, int count)
{
    pvm_initsend(PvmDataInPlace);
    pvm_pkdouble(all + (long)comm_rank * count, count, 1);
    must(pvm_mcast(others, comm_size - 1, TAG_GATHER), "pvm_mcast");
    for (int i = 1; i < comm_size; i++) {
        int from = (comm_rank + i) % comm_size;
        must(pvm_precv(tids[from], TAG_GATHER, all + (long)from * count, count, PVM_DOUBLE, NULL, NULL, NULL),
             "pvm_precv");
    }
}

void comm_alltoall(const double *out, double *in, int count)
{
    for (int i = 1; i < comm_size; i++) {
        int to = (comm_rank + i) % comm_size;
        must(pvm_psend(tids[to], TAG_ALLTOALL, (void *)(out + (long)to * count), count, PVM_DOUBLE), "pvm_psend");
    }
    memcpy(in + (long)comm_rank * count, out + (long)comm_rank * count, (size_t)count * sizeof *in);
    for (int i = 1; i < comm_size; i++) {
        int from = (comm_rank + comm_size - i) % comm_size;
        must(pvm_precv(tids[from], TAG_ALLTOALL, in + (long)from * count, count, PVM_DOUBLE, NULL, NULL, NULL),
             "pvm_precv");
    }
}

/* ---- two ranks ---- */

void comm_send(int to, const long *words, int count)
{
    must(pvm_psend(tids[to], TAG_WORDS, (void *)words, count, PVM_LONG), "pvm_psend");
}

int comm_receive(int from, long *words, int count)
{
    int tid, rank = 0;
    must(pvm_precv(from == COMM_ANY ? -1 : tids[from], TAG_WORDS, words, count, PVM_LONG, &tid, NULL, NULL),
         "pvm_precv");
    while (tids[rank] != tid)
        rank++;
    return rank;
}
