/*
 * point.h - what travels between pvm-perf and the tasks it spawns: the members of a team.
 *
 * pvm-perf itself never measures. For each transport it spawns a team, whose member 0 measures and whose other members
 * are its partners; so each team has a PVM_TRANSPORT of its own, and pvm-perf can watch and end them. One point of a
 * measurement is one struct point to all members, and one struct outcome back from each.
 */
#ifndef PERF_POINT_H
#define PERF_POINT_H

#define MEMBER_OPTION "--member" /* first argument of a spawned copy */

enum tag {
    TAG_READY = 1,    /* member -> parent: process id; it has enrolled */
    TAG_TEAM,         /* parent -> member: count, then their tids (a member finds its rank there); names of hosts */
    TAG_POINT,        /* parent -> member: struct point */
    TAG_OUTCOME,      /* member -> parent: struct outcome, and a text: what went wrong, or "" */
    TAG_END,          /* parent -> member: leave */
    TAG_GONE,         /* pvm_notify: the parent, or a member, has ended */
    TAG_LEFT,         /* pvm_notify: a task of test spawn has ended */
    TAG_JOB,          /* member 0 -> members: struct job */
    TAG_GO,           /* member -> member: go on */
    TAG_ACK,          /* member -> member: all has come */
    TAG_DATA,         /* what is measured */
    TAG_QUEUED = 100, /* and the TAG_QUEUED_COUNT - 1 after it: what waits while a receive is measured */
    TAG_QUEUED_COUNT = 100,
};

enum encoding { ENCODING_DEFAULT, ENCODING_RAW, ENCODING_INPLACE, ENCODING_PSEND, ENCODING_COUNT };

enum verify { VERIFY_NONE, VERIFY_SAMPLE, VERIFY_ALL };

extern const char *const encoding_names[ENCODING_COUNT];

/* All members are ints: it is packed as an array. */
struct point {
    int test;     /* index into tests[] */
    int encoding; /* enum encoding */
    int bytes;    /* of each message */
    int tasks;    /* test spawn: how many */
    int queued;   /* test match: how many messages wait */
    int samples;  /* how many; 0: as many as time_us allows */
    int time_us;
    int warmup; /* rounds before */
    int verify; /* enum verify */
    int bind;   /* each member to a processor of its own */
};

/* All members are doubles: it is packed as an array. Times are those of one round. */
struct outcome {
    double first_us; /* the first round, with the opening of links and first touch of memory */
    double min_us, median_us, p99_us;
    double samples, rounds; /* samples taken, rounds in each */
    double verified;        /* messages whose contents this member has compared */
};

#define INTS_OF(structure)    ((int)(sizeof(structure) / sizeof(int)))
#define DOUBLES_OF(structure) ((int)(sizeof(structure) / sizeof(double)))

#endif
