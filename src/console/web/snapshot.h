/*
 * snapshot.h - the machine as it was last seen: its hosts and tasks, those that have gone within the last minutes, and
 * how many there were. All times are microseconds since the snapshot was made. What else is known of a task can be
 * added to its row by its tid.
 */
#ifndef WEB_SNAPSHOT_H
#define WEB_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/hash.h"
#include "dpvm.h"
#include "pvm3.h"

enum {
    SNAPSHOT_TASKS_MAX = 20000,
    SNAPSHOT_ENDED_MAX = 1000, /* tasks that have ended */
    SNAPSHOT_DEPTH_MAX = 8,    /* calls within calls */
    SNAPSHOT_SAMPLES = 600,    /* seconds of history */
};

struct snapshot_host {
    int tid;
    char *name, *arch;
    int speed;
    int64_t gone_us; /* 0: it is in the machine */
    bool changed, seen;
    bool has_offset;
    int64_t offset_us; /* to be added to the times of its events */
    UT_hash_handle hh;
};

struct snapshot_call {
    int what; /* TEV_... */
    int64_t since_us;
};

/* What the task's process needs, and whom it waits for (pvm_usage(3)). */
struct snapshot_usage {
    int64_t at_us; /* 0: it is not known */
    int64_t cpu_us, memory_bytes, queue_bytes;
    int cpu_percent; /* of a processor, since the last time */
    int does;        /* enum pvmdoes */
    int peer, tag;   /* -1: anybody, anything */
};

struct snapshot_task {
    int tid, parent, host, pid, flags;
    char *name;
    int64_t begun_us, ended_us; /* of its life, as far as seen; ended_us 0: it runs */
    bool traced, changed, seen;
    bool listed;      /* the daemons have told of it */
    int64_t asked_us; /* when it was asked for its traffic; 0: it has answered */
    struct snapshot_call calls[SNAPSHOT_DEPTH_MAX];
    int depth;
    struct snapshot_usage usage;
    UT_hash_handle hh;
};

/* What was counted in a second. */
struct snapshot_sample {
    int64_t time_us;
    int hosts, tasks;
    int64_t messages, bytes, events;
};

struct snapshot {
    int64_t origin_us; /* since 1970 */
    int own_tid;
    struct snapshot_host *hosts; /* by tid */
    struct snapshot_task *tasks;
    int running, ended; /* number of tasks */
    int gone[256], gone_count;
    struct snapshot_sample samples[SNAPSHOT_SAMPLES];
    int64_t sample_count, samples_told;
};

int64_t snapshot_now_us(const struct snapshot *s);

/* What the daemons tell: all hosts, all tasks. */
void snapshot_set_hosts(struct snapshot *s, const struct pvmhostinfo *hosts, int n);
void snapshot_set_tasks(struct snapshot *s, const struct pvmtaskinfo *tasks, int n);

struct snapshot_host *snapshot_host(const struct snapshot *s, int tid);
struct snapshot_task *snapshot_task(const struct snapshot *s, int tid);

/* A task of which something else has told: found or added. NULL: no room for it. */
struct snapshot_task *snapshot_meet(struct snapshot *s, int tid, int64_t time_us);
void snapshot_name(struct snapshot_task *t, const char *name);
void snapshot_use(struct snapshot *s, const struct pvmtaskusage *usage);
void snapshot_end(struct snapshot *s, struct snapshot_task *t, int64_t time_us);

void snapshot_sample(struct snapshot *s, const struct snapshot_sample *sample);
int snapshot_host_count(const struct snapshot *s);

/* Adds hosts, tasks and history to an object: everything, or what has changed since the last time. */
void snapshot_tell(struct snapshot *s, json_t *to, bool all);

void snapshot_free(struct snapshot *s);

#endif
