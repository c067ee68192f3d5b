/*
 * peer.h - the tasks of a mixed machine: two on each architecture, a sender and a receiver. They execute the master's
 * orders in turn, and report.
 */
#ifndef PEER_H
#define PEER_H

enum { ARCHES_MAX = 8, NAME_MAX_BYTES = 64, PATH_MAX_BYTES = 1024 };

enum peer_tag {
    TAG_HELLO = 1,
    TAG_MACHINE,
    TAG_ORDER,
    TAG_REPORT,
    TAG_CHILD,
    TAG_GO,
    TAG_EXIT,
    TAG_DELETED,
    TAG_GROUP
};

enum peer_order {
    ORDER_SEND,   /* argument: the architecture whose sender sends all rows by all ways; receivers report each */
    ORDER_ROUTE,  /* argument: PvmDontRoute or PvmRouteDirect */
    ORDER_CONFIG, /* from here on: each task checks for itself, and reports faults */
    ORDER_SPAWN,
    ORDER_GROUP,
    ORDER_WATCH, /* argument: a host; request a notice of its end */
    ORDER_TOLD,  /* wait for that */
    ORDER_END
};

/* The first message to a peer. */
struct machine {
    int count;    /* architectures */
    int one_host; /* all tasks are on one host */
    struct {
        char name[NAME_MAX_BYTES]; /* LINUX64, ... */
        char program[PATH_MAX_BYTES];
        int sender, receiver; /* tids */
        int long_bytes, big_endian;
    } arch[ARCHES_MAX];
};

/* The architecture whose sender forwards; if possible a third one. */
int machine_via(const struct machine *m, int from, int to);

void peer(int argc, char **argv);  /* roles of the program */
void child(int argc, char **argv); /* spawned by peers */

/* checks.c: NULL, or the fault. */
const char *check_config(const struct machine *m);
const char *check_children(const struct machine *m);
const char *check_group(const struct machine *m);

int is_big_endian(void);

#endif
