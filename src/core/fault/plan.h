/*
 * plan.h - the grammar of PVM_FAULT: which faults it asks for.
 *
 *   PVM_FAULT = ITEM,...
 *     seed=N                             of the random numbers
 *     drop=P% cut=P% refuse=P% nojoin=P% delay=TIME
 *                                        of direct links: see transports/fault/fault.h
 *     STEP[.done][@HOST]=ACTION[/WHEN]   a failpoint: see failpoint.h
 *       .done   after the step, else before it
 *       HOST    only in this host's daemon
 *       ACTION  crash, error or delay:TIME
 *       WHEN    3 (the third time), 3+ (the third time and later), 5% (at random); default: each time
 */
#ifndef PVMC_FAULT_PLAN_H
#define PVMC_FAULT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "failpoint.h"

#define PVMC_FAULT_CERTAIN    1000000u /* a probability of 100 % */
#define PVMC_FAULT_POINTS_MAX 16
#define PVMC_FAULT_HOST_MAX   63 /* characters of a host's name */
#define PVMC_FAULT_WHY        512

enum pvmc_fault_action { PVMC_FAULT_CRASH, PVMC_FAULT_ERROR, PVMC_FAULT_DELAY };

struct pvmc_fault_point {
    enum pvmc_failpoint which;
    bool done;
    enum pvmc_fault_action action;
    int64_t delay_us;
    uint64_t first, last; /* passes at which it acts, from 1; last is 0: all from first */
    uint32_t millionths;  /* its probability, or 0 if it acts by number */
    char host[PVMC_FAULT_HOST_MAX + 1];
};

/* Probabilities are in millionths. */
struct pvmc_fault_plan {
    uint64_t seed;
    uint32_t drop, cut, refuse, nojoin;
    int64_t delay_us; /* mean */
    unsigned point_count;
    struct pvmc_fault_point points[PVMC_FAULT_POINTS_MAX];
};

/* Reads a text; "" is a plan without faults. 0, or PVMC_EPARAM and what is wrong in why[size] (PVMC_FAULT_WHY). */
int pvmc_fault_plan_read(struct pvmc_fault_plan *plan, const char *text, char *why, size_t size);

/* Whether direct links are to fail. */
bool pvmc_fault_plan_has_links(const struct pvmc_fault_plan *plan);

/* The state of random numbers for a seed, and the next number. */
uint64_t pvmc_fault_random_start(uint64_t seed);
uint32_t pvmc_fault_random(uint64_t *state);

#endif
