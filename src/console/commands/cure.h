/* cure.h - what helps against what ssh and the like print. */
#ifndef CURE_H
#define CURE_H

/* What helps against what `text` tells, or NULL. %s in it stands for the host. */
const char *cure_find(const char *text);

/* Prints a cure, with the host's name in it. */
void cure_print(const char *cure, const char *host);

#endif
