/*
 * bottleneck.h - the experiment of the thesis's chapter 5: four tasks of a parallel program on both sides of a link
 * between two loaded switches exchange their messages by SSCOP or PC-AAL.
 */
#ifndef PVMA_BOTTLENECK_H
#define PVMA_BOTTLENECK_H

#include "base/sim.h"

/*
 * What the tasks of examples/genesis exchange, on 2 x 2 parts. In each round a task sends to both of its neighbours:
 * PDE1, 8,192 octets; PDE2, 40, or 424 in each fifth round; SOLVER, twice 6,144 to one and twice 12,288 to the other.
 */
enum bottleneck_program { BOTTLENECK_PDE1, BOTTLENECK_PDE2, BOTTLENECK_SOLVER };

enum bottleneck_protocol { BOTTLENECK_SSCOP, BOTTLENECK_PCAAL_1, BOTTLENECK_PCAAL_N };

/* Rounds of the whole program, and the time that a task computes before each of them (Table 2.2). */
unsigned bottleneck_rounds(enum bottleneck_program program);
pvma_ps bottleneck_computing(enum bottleneck_program program);

struct bottleneck_setup {
    enum bottleneck_program program;
    enum bottleneck_protocol protocol;
    unsigned rounds;
    double on_mbps; /* of the source in each switch, in the state ON; 0: no sources */
    double on_share;
    pvma_ps on_mean;
    uint32_t buffer_cells;
    pvma_ps poll_interval, computing;
    pvma_ps send_cost, receive_cost; /* of a processor, for each message */
    pvma_ps limit;                   /* a run that has not ended by then does not */
    int64_t rate_bps;                /* of all links */
    uint64_t seed;
};

/* Tables 5.3 and 5.4, and what the thesis leaves open: our choice. */
struct bottleneck_setup bottleneck_defaults(enum bottleneck_program program, enum bottleneck_protocol protocol);

struct bottleneck_result {
    bool ended;
    double seconds;       /* until the last task ended, or the limit */
    double latency_us;    /* mean, of the messages that came: from the call that sends one until its reader has it */
    double loss;          /* of the tasks' cells */
    double load;          /* of the background at an output, relative to its link */
    unsigned messages;    /* that came */
    uint64_t again, sent; /* PDUs with data: sent again, and all */
    uint64_t useless;     /* cells of frames that came in part */
    uint64_t events;
};

struct bottleneck_result bottleneck_run(const struct bottleneck_setup *setup);

#endif
