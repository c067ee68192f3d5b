/* speed.h - what a simulated PVM message costs the machine that simulates it. */
#ifndef PVMA_SPEED_H
#define PVMA_SPEED_H

#include <stdio.h>

/* Prints a line for each route and size, "message.ROUTE.BYTES MICROSECONDS us", and the events of a message on another.
 */
void speed_print(FILE *out);

#endif
