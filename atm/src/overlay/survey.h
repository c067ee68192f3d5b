/*
 * survey.h - what an overlay costs: opens calls between its stations one after the other, by the messages that
 * programs' calls need, keeps them all, and then releases them.
 */
#ifndef PVMA_OVERLAY_SURVEY_H
#define PVMA_OVERLAY_SURVEY_H

#include "overlay.h"

/* One call. */
struct pvma_survey_call {
    unsigned from, to; /* numbers of the stations' servers */
    unsigned hops;     /* VCs between servers that the question and its answer have crossed */
    bool relayed;
    int cause;      /* 0: connected; else why not */
    pvma_ps set_up; /* from its opening until it was connected, or had failed */
    pvma_ps packet; /* a packet from the caller to the called station */
};

struct pvma_survey_options {
    unsigned calls; /* between stations drawn at random; no pair is connected a second time */
    uint64_t seed;
    void (*call)(void *arg, const struct pvma_survey_call *call); /* NULL: nobody looks at each */
    void *arg;
};

struct pvma_survey {
    unsigned servers, stations, calls;
    unsigned direct, relayed, failed;
    uint64_t hops, messages; /* sums: of all questions; of signalling between neighbours, with releases */
    unsigned hops_max;
    pvma_ps set_up, set_up_max, packet; /* sums over connected calls, and maximum */
    unsigned vcis_max;                  /* that were in use at one station at the same time */
    size_t left;                        /* of connections and identifiers after all were released: 0 */
};

/* Octets of the survey's packets, which are counted as one of PVM's smallest messages. */
#define PVMA_SURVEY_BYTES 104

/* Surveys an overlay on a network without other calls. */
struct pvma_survey pvma_survey_run(struct pvma_overlay *overlay, const struct pvma_survey_options *options);

#endif
