/* trouble.h - failures in words that name cause and cure. They go to stderr; each returns the status to exit with. */
#ifndef TROUBLE_H
#define TROUBLE_H

#include <stdint.h>

/* errno of dp_open(). */
int trouble_open(const char *interface);

/* errno of an exercise over this carrier with that node. */
int trouble_exercise(const char *carrier, uint16_t nid, int patience_s);

#endif
