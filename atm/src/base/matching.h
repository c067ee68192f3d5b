/*
 * matching.h - parallel iterative matching (Anderson et al., for the AN2). In each iteration, unmatched inputs request
 * all outputs that they have cells for, each unmatched output grants one at random, each input accepts one at random.
 */
#ifndef PVMA_MATCHING_H
#define PVMA_MATCHING_H

#include "random.h"

#define PVMA_MATCHING_MAX 64 /* ports */

/*
 * wants[i]: bit j is set when input i has a cell for output j. If `served` is NULL, all choices are random. Otherwise
 * it holds the time of the last match of each pair (input * ports + output), and the pair that waited longest is
 * chosen, at random among equals. On return match[i] is the output of input i, or -1. Returns the number of matches.
 */
unsigned pvma_matching_find(const uint64_t *wants, unsigned ports, unsigned iterations, struct pvma_random *random,
                            const uint64_t *served, int *match);

/* Completes a matching greedily; returns its number of pairs, the most that further iterations could reach. */
unsigned pvma_matching_complete(const uint64_t *wants, unsigned ports, int *match);

#endif
