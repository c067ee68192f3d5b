/* argument.h - numbers on the command lines of atm-sim. */
#ifndef PVMA_ARGUMENT_H
#define PVMA_ARGUMENT_H

struct argp_state;

/* Reads the number of option `what`. Ends the program with a message, by argp_error(), unless it is from min to max. */
long pvma_argument_number(const char *text, long min, long max, const char *what, struct argp_state *state);

#endif
