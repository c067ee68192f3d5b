/* pbs.c - jobs of PBS, Torque and others with $PBS_NODEFILE: a line for each slot. Daemons start as with `add`. */
#include <stdlib.h>
#include "kinds.h"

static bool read_nodes(struct nodes *nodes, struct fault *fault)
{
    int line;
    const char *path = getenv("PBS_NODEFILE");
    const char *wrong = nodes_read_file(nodes, path, &line);

    if (wrong != NULL && line > 0)
        fault_set(fault, "PBS_NODEFILE=%s, line %d: %s", path, line, wrong);
    else if (wrong != NULL)
        fault_set(fault, "PBS_NODEFILE=%s: %s", path, wrong);
    return wrong == NULL;
}

static bool take(const struct nodes *nodes, int own)
{
    return scheduler_add_hosts(nodes, own, "");
}

const struct scheduler scheduler_pbs = {read_nodes, scheduler_own_by_name, take};
