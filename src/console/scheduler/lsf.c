/*
 * lsf.c - jobs of LSF: $LSB_DJOB_HOSTFILE has a line for each slot; older versions have only $LSB_MCPU_HOSTS. blaunch,
 * LSF's rsh, starts processes that belong to the job.
 */
#include <stdlib.h>
#include "kinds.h"

static bool read_nodes(struct nodes *nodes, struct fault *fault)
{
    int line = 0;
    const char *path = getenv("LSB_DJOB_HOSTFILE"), *pairs = getenv("LSB_MCPU_HOSTS");
    bool has_file = path != NULL && *path != '\0';
    const char *wrong = has_file ? nodes_read_file(nodes, path, &line) : nodes_read_pairs(nodes, pairs);

    if (wrong != NULL && line > 0)
        fault_set(fault, "LSB_DJOB_HOSTFILE=%s, line %d: %s", path, line, wrong);
    else if (wrong != NULL)
        fault_set(fault, "%s=%s: %s", has_file ? "LSB_DJOB_HOSTFILE" : "LSB_MCPU_HOSTS", has_file ? path : pairs,
                  wrong);
    if (wrong == NULL)
        setenv("PVM_RSH", "blaunch", 0); /* of the daemon that is about to be started */
    return wrong == NULL;
}

static bool take(const struct nodes *nodes, int own)
{
    return scheduler_add_hosts(nodes, own, "so=rsh");
}

const struct scheduler scheduler_lsf = {read_nodes, scheduler_own_by_name, take};
