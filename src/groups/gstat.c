/*
 * gstat.c - pvm_gstat and pvmgroups: print groups, members, and the tasks that wait at a barrier.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/version.h"
#include "core/visible.h"
#include "gserver.h"
#include "name.h"
#include "proto.h"
#include "pvm3.h"
#include "session.h"

static const struct argp argp = {
    .args_doc = "[GROUP...]",
    .doc = "Print the groups of the virtual machine: their size, the members' instance numbers and task ids, and the "
           "tasks that wait at a barrier.",
};

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "pvm_gstat");
}

static int unpack(void)
{
    int value = 0;

    pvm_upkint(&value, 1, 1);
    return value;
}

static int is_wanted(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return n == 0;
}

/* Unpacks one group from the answer and prints it if it is wanted; false when the answer is malformed. */
static int show(char **names, int n)
{
    char name[PVMG_GROUP_NAME_MAX + 1];
    int size, count, reached, wanted;

    if (pvmg_name_unpack(name, sizeof(name)) < 0)
        return 0;
    size = unpack();
    count = unpack();
    reached = unpack();
    wanted = is_wanted(name, names, n);
    if (wanted)
        printf("group: %s, size: %d,  barrier_count %d, barrier_reached %d\ntids:\n", PVMC_VISIBLE(name), size, count,
               reached);
    for (int i = 0; i < size; i++) {
        int instance = unpack(), tid = unpack();

        if (wanted)
            printf("%d 0x%x\t", instance, (unsigned)tid);
    }
    if (wanted)
        printf("\n%s", reached > 0 ? "tids waiting on barrier:\n" : "");
    for (int i = 0; i < reached; i++) {
        int tid = unpack();

        if (wanted)
            printf("0x%x\t", (unsigned)tid);
    }
    if (wanted && reached > 0)
        printf("\n");
    return 1;
}

/* Prints all groups; 0 or a PvmXxx code. Does not start a server. */
static int show_all(char **names, int n)
{
    int groups = pvmg_gserver_find();
    if (groups > 0)
        groups = pvmg_gserver_ask(PVMG_GROUP_DUMP, "*", NULL, 0);
    if (groups < 0)
        return groups;
    if (groups == 0)
        printf("no groups exist\n");
    for (int i = 0; i < groups; i++)
        if (!show(names, n))
            return PvmBadMsg;
    return PvmOk;
}

int main(int argc, char **argv)
{
    struct pvmg_guard guard;
    int first = argc, code;

    argp_program_version_hook = print_version;
    argp_parse(&argp, argc, argv, 0, &first, NULL);
    unsetenv("PVM_TRACE"); /* do not trace this tool */
    code = pvmg_session_begin(&guard, "*", 1);
    if (code >= 0)
        code = show_all(argv + first, argc - first);
    pvmg_session_end(&guard, code);
    if (code == PvmSysErr) {
        fprintf(stderr, "%s: no PVM daemon answers; start one with pvm\n", argv[0]);
        return 1;
    }
    if (code < 0)
        fprintf(stderr, "%s: cannot ask the group server: %s\n", argv[0], pvm_errlist[-code]);
    pvm_exit();
    return code < 0;
}
