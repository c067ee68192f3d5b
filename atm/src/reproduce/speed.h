/* speed.h - the cost of a simulated PVM message on the machine that simulates it. */
#ifndef PVMA_SPEED_H
#define PVMA_SPEED_H

#include <stdio.h>

/* Prints two lines for each route and size: "message.ROUTE.BYTES MICROSECONDS us", and the number of events per
 * message. */
void speed_print(FILE *out);

#endif
