/* nodes.h - the hosts of a job and their slots, as batch systems write them. */
#ifndef SCHEDULER_NODES_H
#define SCHEDULER_NODES_H

#include <stddef.h>

struct node {
    char *name;
    int slots;
};

struct nodes {
    struct node *all;
    int count;
};

/* Each function below returns NULL, or what is wrong. Free the nodes in both cases. */

/* Adds slots to the node of this name, or a node. */
const char *nodes_add(struct nodes *nodes, const char *name, size_t length, int slots);

/* A file with a line for each slot, which holds a name. *line is the number of a wrong line, or 0. */
const char *nodes_read_file(struct nodes *nodes, const char *path, int *line);

/* "hosta 4 hostb 2" */
const char *nodes_read_pairs(struct nodes *nodes, const char *text);

/* A line for each node, which holds a name. */
const char *nodes_read_lines(struct nodes *nodes, const char *text);

/* Sets the slots of all nodes, in order, to the numbers of "4(x2),1", divided by `share` and at least 1. */
const char *nodes_set_slots(struct nodes *nodes, const char *text, int share);

/* Whether two names mean the same host: in full, or one of them lacks the domain. */
int node_is(const char *name, const char *other);

void nodes_free(struct nodes *nodes);

#endif
