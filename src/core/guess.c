/* guess.c - see guess.h. */
#include "guess.h"
#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b, size_t c)
{
    size_t d = a < b ? a : b;
    return c < d ? c : d;
}

size_t pvmc_guess_distance(const char *a, const char *b)
{
    size_t row[PVMC_GUESS_BYTES + 1], columns = strlen(b);
    if (columns >= PVMC_GUESS_BYTES || strlen(a) >= PVMC_GUESS_BYTES)
        return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    return row[columns];
}
