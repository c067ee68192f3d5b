/* plan.h - which faults PVM_FAULT asks for, and when they are due. */
#ifndef PVMT_FAULT_PLAN_H
#define PVMT_FAULT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMT_FAULT_CERTAIN 1000000u /* a probability of 100 % */

/* Probabilities are in millionths. */
struct pvmt_fault_plan {
    uint64_t seed;
    uint32_t drop, cut, refuse, nojoin;
    int64_t delay_us; /* mean */
};

/* Reads a text as described in fault.h; "" is a plan without faults. 0, or PVMC_EPARAM and what is wrong in why[size].
 */
int pvmt_fault_plan_read(struct pvmt_fault_plan *plan, const char *text, char *why, size_t size);

/* Whether there is any fault in it. */
bool pvmt_fault_plan_any(const struct pvmt_fault_plan *plan);

/* The next random number; *state must not be 0. */
uint32_t pvmt_fault_random(uint64_t *state);

#endif
