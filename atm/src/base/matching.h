/*
 * matching.h - parallel iterative matching (Anderson et al., as the AN2 does it): each iteration, unmatched inputs ask
 * all outputs that they have cells for; each unmatched output grants one at random; each input accepts one at random.
 */
#ifndef PVMA_MATCHING_H
#define PVMA_MATCHING_H

#include "random.h"

#define PVMA_MATCHING_MAX 64 /* ports */

/*
 * wants[i]: bit j is set when input i has a cell for output j. `served`: NULL, and all choices are random; or for each
 * pair (input * ports + output) when it was matched last, and the pair that waited longest is chosen, at random among
 * equals. On return match[i] is the output of input i, or -1. Returns how many are matched.
 */
unsigned pvma_matching_find(const uint64_t *wants, unsigned ports, unsigned iterations, struct pvma_random *random,
                            const uint64_t *served, int *match);

/* Completes a matching as far as it goes; returns its pairs: what more iterations would at most reach. */
unsigned pvma_matching_complete(const uint64_t *wants, unsigned ports, int *match);

#endif
