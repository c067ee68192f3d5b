/* sample.h - what all hosts and tasks of the machine were doing at one moment, and since the moment before. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/hash.h"
#include "dpvm.h"

/* A second. */
struct sample_rates {
    double sent, sent_bytes, received, received_bytes;
};

struct sample_task {
    int tid, parent, pid;
    const char *host; /* of the sample's host */
    char *name;       /* "" if unknown */
    int state;        /* of its process, as in ps */
    long long cpu_us; /* since its start */
    double cpu;       /* processors that it uses, such as 0.98 */
    long long memory_bytes;
    enum pvmdoes does; /* with peer, tag and waits_us, as in pvm_usage() */
    int peer, tag;
    long long waits_us;
    long long waiting, waiting_bytes, queue_bytes;
    int route_count;
    struct pvmrouteusage *routes; /* since its start */
    struct sample_rates rates;
    const char *route; /* that most of its bytes took lately, or else ever; NULL: none */
    UT_hash_handle hh;
};

struct sample_host {
    int tid, processors, tasks;
    char *name;
    double busy; /* processors */
    double load;
    long long busy_us;
    long long memory_bytes, available_bytes;
    long long relayed, relayed_bytes;
    double relayed_rate, relayed_bytes_rate;
};

struct sample {
    int64_t at_us;
    double seconds; /* since the sample before; 0: there was none, and rates are 0 */
    int host_count, task_count;
    struct sample_host *hosts;
    struct sample_task *tasks;
    struct sample_task *by_tid; /* the same, as a hash */
    bool lacks_memory;
};

/* Asks the machine. `before` (NULL: none) gives the rates. NULL: *code is the PvmXxx code. */
struct sample *sample_take(const struct sample *before, int *code);

void sample_free(struct sample *s);

/* "receive", "work" ...; "-" when unknown. */
const char *sample_does(enum pvmdoes does);

/* All of it as JSON. */
json_t *sample_json(const struct sample *s);

#endif
