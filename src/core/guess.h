/* guess.h - the known name that a misspelt one may stand for. */
#ifndef PVMC_GUESS_H
#define PVMC_GUESS_H

#include <stddef.h>

#define PVMC_GUESS_DISTANCE 3  /* most edits between an unknown name and the one suggested */
#define PVMC_GUESS_BYTES    40 /* longer names are not compared */

/* Levenshtein distance between a and b, or SIZE_MAX if one of them has PVMC_GUESS_BYTES or more. */
size_t pvmc_guess_distance(const char *a, const char *b);

#endif
