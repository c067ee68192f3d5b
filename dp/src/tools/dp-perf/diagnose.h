/* diagnose.h - prints on stderr why something failed and what to do. Each function returns the exit status. */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

#include <stdint.h>

/* errno of dp_open(). */
int diagnose_open(const char *interface);

/* errno of an exercise over this carrier with that node. */
int diagnose_exercise(const char *carrier, uint16_t nid, int patience_s);

#endif
