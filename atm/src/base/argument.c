/* argument.c - see argument.h. */
#include "argument.h"
#include <argp.h>
#include <errno.h>
#include <stdlib.h>

long pvma_argument_number(const char *text, long min, long max, const char *what, struct argp_state *state)
{
    char *rest;
    errno = 0;
    long value = strtol(text, &rest, 10);
    if (errno || *rest || rest == text || value < min || value > max)
        argp_error(state, "%s: %s: give a number from %ld to %ld", what, text, min, max);
    return value;
}
