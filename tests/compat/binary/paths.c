/*
 * paths.c - spawns copies of itself by the given names and prints for each: the name that pvm_tasks() lists, argv[0],
 * the working folder, and the file that runs. Compiled for both PVMs.
 *
 *   paths group            also prints the name of the group server
 *   paths FILE WHERE...    pairs, for pvm_spawn()
 *   renamed                first changes its own name
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <pvm3.h>

int pvmsettaskname(char *name); /* in no header */

enum { TAG_REPORT = 1, TAG_GO };

/* Reports to the parent how it was started, and stays until its name has been looked up. */
static int child(int parent, char *name)
{
    char folder[PATH_MAX] = "", file[PATH_MAX] = "";
    if (!getcwd(folder, sizeof folder) || readlink("/proc/self/exe", file, sizeof file - 1) < 0)
        return 1;
    pvm_initsend(PvmDataDefault);
    pvm_pkstr(name);
    pvm_pkstr(folder);
    pvm_pkstr(file);
    pvm_send(parent, TAG_REPORT);
    pvm_recv(parent, TAG_GO);
    return pvm_exit() < 0;
}

static const char *listed_name(int tid)
{
    struct pvmtaskinfo *tasks;
    int count;
    return pvm_tasks(tid, &count, &tasks) < 0 ? "(gone)" : tasks[0].ti_a_out;
}

static void show_child(int tid)
{
    char name[PATH_MAX], folder[PATH_MAX], file[PATH_MAX];
    pvm_recv(tid, TAG_REPORT);
    pvm_upkstr(name);
    pvm_upkstr(folder);
    pvm_upkstr(file);
    printf("listed as %s, argv[0] %s, in %s, runs %s\n", listed_name(tid), name, folder, file);
    pvm_initsend(PvmDataDefault);
    pvm_send(tid, TAG_GO);
}

static void start(char *file, char *where)
{
    int tid = 0, flags = *where && *where != ':' ? PvmTaskHost : PvmTaskDefault;
    int count = pvm_spawn(file, NULL, flags, where, 1, &tid);
    printf("%s [%s]: ", file, where);
    if (count == 1)
        show_child(tid);
    else
        printf("%d, %d\n", count, tid);
}

static void show_group_server(void)
{
    struct pvmtaskinfo *tasks;
    int count;
    printf("instance %d\n", pvm_joingroup("paths"));
    pvm_tasks(0, &count, &tasks);
    for (int i = 0; i < count; i++)
        if (tasks[i].ti_tid != pvm_mytid())
            printf("the other task is %s\n", tasks[i].ti_a_out);
}

int main(int argc, char **argv)
{
    if (strstr(argv[0], "/renamed"))
        pvmsettaskname("another");
    int parent = pvm_mytid() < 0 ? 0 : pvm_parent();
    if (parent > 0)
        return child(parent, argv[0]);
    pvm_setopt(PvmAutoErr, 0);
    if (argc == 2 && !strcmp(argv[1], "group"))
        show_group_server();
    for (int i = 1; i + 1 < argc; i += 2)
        start(argv[i], argv[i + 1]);
    return pvm_exit() < 0;
}
