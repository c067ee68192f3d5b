/* complete.h - what the word at the cursor may become: commands, hosts, tasks, options, events. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stddef.h>

struct completion {
    char *insert; /* to put in at the cursor; may be "" */
    int count;    /* what is possible, sorted */
    char **choices;
};

/*
 * Completes the last word of the first `length` bytes of a line. 0, and the caller frees *out with complete_free(); -1
 * when nothing fits.
 */
int complete_line(const char *line, size_t length, struct completion *out);

void complete_free(struct completion *c);

#endif
