/* complete.h - completion of the word at the cursor: commands, hosts, tasks, options, events, files, programs. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stddef.h>

struct completion {
    char *insert; /* text to insert at the cursor; may be "" */
    int count;    /* number of choices, which are sorted */
    char **choices;
};

/*
 * Completes the last word in the first `length` bytes of a line. 0, and the caller frees *out with complete_free(); -1
 * when there is no completion.
 */
int complete_line(const char *line, size_t length, struct completion *out);

void complete_free(struct completion *c);

#endif
