/*
 * Hosts and tasks. C returns whole arrays, Fortran one row per call. The rows are copies, because any call of
 * pvm_config() or pvm_tasks() replaces the library's array.
 */
#include "fortran.h"

#include <string.h>

static struct {
    struct pvmhostinfo *rows;
    int count, formats, next; /* next == count: fetch a new list */
} hosts;

static struct {
    struct pvmtaskinfo *rows;
    int count, next;
} tasks;

static void forget_hosts(void)
{
    for (int i = 0; i < hosts.count; i++) {
        free(hosts.rows[i].hi_name);
        free(hosts.rows[i].hi_arch);
    }
    free(hosts.rows);
    memset(&hosts, 0, sizeof hosts);
}

static int fetch_hosts(void)
{
    struct pvmhostinfo *from;
    int count, formats, code = pvm_config(&count, &formats, &from);

    if (code < 0)
        return code;
    hosts.rows = calloc(count, sizeof *hosts.rows);
    if (!hosts.rows)
        return PvmNoMem;
    hosts.formats = formats;
    for (; hosts.count < count; hosts.count++) {
        struct pvmhostinfo *to = &hosts.rows[hosts.count];
        *to = from[hosts.count];
        to->hi_name = strdup(to->hi_name);
        to->hi_arch = strdup(to->hi_arch);
        if (!to->hi_name || !to->hi_arch) {
            hosts.count++;
            return PvmNoMem;
        }
    }
    return code;
}

int fpvm_config(int *nhost, int *narch, int *dtid, char *name, size_t name_length, char *arch, size_t arch_length,
                int *speed)
{
    if (hosts.next == hosts.count || *nhost == -1) {
        forget_hosts();
        int code = fetch_hosts();
        if (code < 0) {
            forget_hosts();
            return code;
        }
    }
    const struct pvmhostinfo *host = &hosts.rows[hosts.next++];
    *nhost = hosts.count;
    *narch = hosts.formats;
    *dtid = host->hi_tid;
    fpvm_fill(name, name_length, host->hi_name);
    fpvm_fill(arch, arch_length, host->hi_arch);
    *speed = host->hi_speed;
    return 1;
}

static void forget_tasks(void)
{
    for (int i = 0; i < tasks.count; i++)
        free(tasks.rows[i].ti_a_out);
    free(tasks.rows);
    memset(&tasks, 0, sizeof tasks);
}

static int fetch_tasks(int where)
{
    struct pvmtaskinfo *from;
    int count, code = pvm_tasks(where, &count, &from);

    if (code < 0)
        return code;
    if (count == 0)
        return PvmNoTask;
    tasks.rows = calloc(count, sizeof *tasks.rows);
    if (!tasks.rows)
        return PvmNoMem;
    for (; tasks.count < count; tasks.count++) {
        struct pvmtaskinfo *to = &tasks.rows[tasks.count];
        *to = from[tasks.count];
        to->ti_a_out = strdup(to->ti_a_out ? to->ti_a_out : "");
        if (!to->ti_a_out)
            return PvmNoMem;
    }
    return code;
}

int fpvm_tasks(int where, int *ntask, int *tid, int *ptid, int *dtid, int *flag, char *aout, size_t aout_length)
{
    if (tasks.next == tasks.count || *ntask == -1) {
        forget_tasks();
        int code = fetch_tasks(where);
        if (code < 0) {
            forget_tasks();
            return code;
        }
    }
    const struct pvmtaskinfo *task = &tasks.rows[tasks.next++];
    *ntask = tasks.count;
    *tid = task->ti_tid;
    *ptid = task->ti_ptid;
    *dtid = task->ti_host;
    *flag = task->ti_flag;
    fpvm_fill(aout, aout_length, task->ti_a_out);
    return 1;
}

int fpvm_addhost(char *host)
{
    int status, code = pvm_addhosts(&host, 1, &status);

    return code < 0 ? code : status;
}

int fpvm_delhost(char *host)
{
    int status, code = pvm_delhosts(&host, 1, &status);

    return code < 0 ? code : status;
}

int fpvm_hostsync(int host, int *clock_s, int *clock_us, int *delta_s, int *delta_us)
{
    struct timeval clock = {0}, delta = {0};
    int code = pvm_hostsync(host, &clock, &delta);

    if (code < 0)
        return code;
    *clock_s = (int)clock.tv_sec;
    *clock_us = (int)clock.tv_usec;
    *delta_s = (int)delta.tv_sec;
    *delta_us = (int)delta.tv_usec;
    return code;
}

int fpvm_startpvmd(char *arguments, int block)
{
    char **list = calloc(strlen(arguments) / 2 + 2, sizeof *list), *rest;
    int count = 0;

    if (!list)
        return PvmNoMem;
    for (char *word = strtok_r(arguments, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        list[count++] = word;
    int code = pvm_start_pvmd(count, list, block);
    free(list);
    return code;
}
