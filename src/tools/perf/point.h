/*
 * point.h - messages between pvm-perf and the tasks that it spawns, the members of a team.
 *
 * pvm-perf itself never measures. For each transport it spawns a team with its own PVM_TRANSPORT: member 0 measures,
 * the others are its partners, and pvm-perf watches and ends them. For each point of a measurement it sends a struct
 * point to all members and receives a struct outcome from each.
 */
#ifndef PERF_POINT_H
#define PERF_POINT_H

#define MEMBER_OPTION "--member" /* first argument of a spawned copy */

enum tag {
    TAG_READY = 1,    /* member -> parent: process id; the member has enrolled */
    TAG_TEAM,         /* parent -> member: count, then the members' tids by rank; count and names of hosts */
    TAG_POINT,        /* parent -> member: struct point */
    TAG_OUTCOME,      /* member -> parent: struct outcome and an error text, or "" */
    TAG_END,          /* parent -> member: end */
    TAG_GONE,         /* pvm_notify: the parent, or a member, has ended */
    TAG_LEFT,         /* pvm_notify: a task of test spawn has ended */
    TAG_JOB,          /* member 0 -> members: struct job */
    TAG_GO,           /* member -> member: continue */
    TAG_ACK,          /* member -> member: all messages have arrived */
    TAG_DATA,         /* measured messages */
    TAG_QUEUED = 100, /* first of TAG_QUEUED_COUNT tags of messages that wait while a receive is measured */
    TAG_QUEUED_COUNT = 100,
};

enum encoding { ENCODING_DEFAULT, ENCODING_RAW, ENCODING_INPLACE, ENCODING_PSEND, ENCODING_COUNT };

enum verify { VERIFY_NONE, VERIFY_SAMPLE, VERIFY_ALL };

extern const char *const encoding_names[ENCODING_COUNT];

/* All fields are ints: it is packed as an array. */
struct point {
    int test;     /* index into tests[] */
    int encoding; /* enum encoding */
    int bytes;    /* of each message */
    int tasks;    /* test spawn: number of tasks */
    int queued;   /* test match: number of waiting messages */
    int samples;  /* number of samples; 0: as many as time_us allows */
    int time_us;
    int warmup; /* number of rounds */
    int verify; /* enum verify */
    int bind;   /* whether to bind members to processors */
};

/* All fields are doubles: it is packed as an array. Times are per round. */
struct outcome {
    double first_us;  /* the first round, which opens links and faults in memory */
    double warmup_us; /* mean of the warm-up rounds after it, while links still open; 0: there were none */
    double min_us, median_us, p99_us;
    double samples, rounds; /* number of samples, and rounds in each */
    double switches;        /* context switches of member 0 per round, while samples were taken */
    double verified;        /* number of messages that this member has verified */
    double clock;           /* an enum clock_kind */
};

#define INTS_OF(structure)    ((int)(sizeof(structure) / sizeof(int)))
#define DOUBLES_OF(structure) ((int)(sizeof(structure) / sizeof(double)))

#endif
