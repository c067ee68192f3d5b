/* cure.h - remedies for error messages of ssh and similar programs. */
#ifndef CURE_H
#define CURE_H

#include <stddef.h>

/* The remedy for the error in `text`, or NULL. Each %s in it stands for the host. */
const char *cure_find(const char *text);

/* Writes a remedy for this host to line[size]. */
void cure_fill(const char *cure, const char *host, char *line, size_t size);

/* Prints a remedy for this host. */
void cure_print(const char *cure, const char *host);

#endif
