/*
 * farm UNITS WORKERS_PER_HOST - hands out units of work while hosts come and go, and accounts for each of them.
 *
 * It spawns tasks of itself, each for a few units; a task sends one message for each unit and ends. When a task has
 * ended without all its messages, the rest of its units is given to another one and the task counts as lost. The last
 * line is "farm: units N, messages N, lost tasks N, hosts N": more messages than units are units that came twice.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"

enum {
    TAG_UNITS = 1,
    TAG_RESULT,
    TAG_END,
    BATCH = 10,
    TASKS_MAX = 256,
    HOSTS_MAX = 1024,
    UNIT_US = 20000,
    UNITS_MAX = 1000000
};
enum { RETRY_US = 50000 }; /* after a spawn that found no host */

struct batch {
    int tid; /* 0: this place is free */
    int units[BATCH];
    int count, done;
};

static struct batch batches[TASKS_MAX];
static bool *is_done;
static int *queue, queued; /* units that nobody has */
static long messages;
static int unit_count, done_count, lost_tasks, running;
static int hosts_used[HOSTS_MAX], host_count;

/* ---- a task ---- */

static void work(void)
{
    int units[BATCH], count;

    pvm_recv(pvm_parent(), TAG_UNITS);
    pvm_upkint(&count, 1, 1);
    pvm_upkint(units, count, 1);
    for (int i = 0; i < count; i++) {
        usleep(UNIT_US);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&units[i], 1, 1);
        pvm_send(pvm_parent(), TAG_RESULT);
    }
    pvm_exit();
}

/* ---- the farm ---- */

static void note_host(int tid)
{
    int host = pvm_tidtohost(tid);

    for (int i = 0; i < host_count; i++)
        if (hosts_used[i] == host)
            return;
    if (host_count < HOSTS_MAX)
        hosts_used[host_count++] = host;
}

static struct batch *find(int tid)
{
    for (int i = 0; i < TASKS_MAX; i++)
        if (batches[i].tid == tid)
            return &batches[i];
    return NULL;
}

static bool start_task(char *program)
{
    static char argument[] = "task", *arguments[] = {argument, NULL};
    struct batch *batch = find(0);
    int tid;

    if (batch == NULL || pvm_spawn(program, arguments, PvmTaskDefault, NULL, 1, &tid) != 1)
        return false;
    *batch = (struct batch){.tid = tid};
    while (queued > 0 && batch->count < BATCH)
        batch->units[batch->count++] = queue[--queued];
    note_host(tid);
    running++;
    pvm_notify(PvmTaskExit, TAG_END, 1, &tid);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&batch->count, 1, 1);
    pvm_pkint(batch->units, batch->count, 1);
    pvm_send(tid, TAG_UNITS);
    return true;
}

static void take_result(int tid)
{
    struct batch *batch = find(tid);
    int unit;

    pvm_upkint(&unit, 1, 1);
    messages++;
    if (batch != NULL)
        batch->done++;
    if (!is_done[unit])
        done_count++;
    is_done[unit] = true;
}

static void take_end(void)
{
    int tid;

    pvm_upkint(&tid, 1, 1);
    struct batch *batch = find(tid);
    if (batch == NULL)
        return;
    if (batch->done < batch->count) {
        lost_tasks++;
        printf("farm: t%x ended after %d of %d units\n", (unsigned)tid, batch->done, batch->count);
        fflush(stdout);
    }
    for (int i = 0; i < batch->count; i++)
        if (!is_done[batch->units[i]])
            queue[queued++] = batch->units[i];
    batch->tid = 0;
    running--;
}

static void take_message(void)
{
    int buffer = pvm_recv(-1, -1), tag, tid;

    pvm_bufinfo(buffer, NULL, &tag, &tid);
    if (tag == TAG_RESULT)
        take_result(tid);
    else if (tag == TAG_END)
        take_end();
}

static int wanted_tasks(int per_host)
{
    int hosts = 1;

    pvm_config(&hosts, NULL, NULL);
    return hosts * per_host < TASKS_MAX ? hosts * per_host : TASKS_MAX;
}

static void run(char *program, int per_host)
{
    while (done_count < unit_count || running > 0) {
        bool refused = false;
        for (int wanted = wanted_tasks(per_host); queued > 0 && running < wanted && !refused;)
            refused = !start_task(program);
        if (running > 0)
            take_message();
        else
            usleep(RETRY_US);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "task") == 0) {
        work();
        return 0;
    }
    unit_count = argc == 3 ? atoi(argv[1]) : 0;
    int per_host = argc == 3 ? atoi(argv[2]) : 0;
    if (unit_count < 1 || unit_count > UNITS_MAX || per_host < 1) {
        fputs("usage: farm UNITS WORKERS_PER_HOST\n", stderr);
        return 2;
    }
    is_done = calloc((size_t)unit_count, sizeof(*is_done));
    queue = calloc((size_t)unit_count, sizeof(*queue));
    if (is_done == NULL || queue == NULL || pvm_mytid() < 0)
        return 1;
    for (int i = 0; i < unit_count; i++)
        queue[queued++] = i;
    run(argv[0], per_host);
    printf("farm: units %d, messages %ld, lost tasks %d, hosts %d\n", done_count, messages, lost_tasks, host_count);
    pvm_exit();
    return 0;
}
