/* kinds.h - what the batch systems provide; called by scheduler.c. */
#ifndef SCHEDULER_KINDS_H
#define SCHEDULER_KINDS_H

#include <stdbool.h>
#include "nodes.h"

/* Space for what is wrong with the hosts of a job. */
struct fault {
    char text[1024];
};

void fault_set(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct scheduler {
    /* Reads the hosts of this job. False: *fault says what is wrong, beginning with the variable or file. */
    bool (*read)(struct nodes *nodes, struct fault *fault);
    /* Which of the nodes this host is; -1: none, as on the login node of a cluster. */
    int (*own)(const struct nodes *nodes);
    /* Brings all nodes but `own` into the machine. False after a message if one is missing. */
    bool (*take)(const struct nodes *nodes, int own);
};

extern const struct scheduler scheduler_slurm, scheduler_pbs, scheduler_lsf;

/* The node with the name of this host, or -1. */
int scheduler_own_by_name(const struct nodes *nodes);

/* Adds the nodes as the command add does. `options` are of hostfile(5), such as "so=rsh", or "". */
bool scheduler_add_hosts(const struct nodes *nodes, int own, const char *options);

#endif
