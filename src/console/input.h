/* input.h - reads lines from a file or pipe and meanwhile handles messages of the virtual machine. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include "line.h"

struct input {
    int fd;
    bool at_end;
    size_t begin, end; /* of the input not yet returned */
    char buffer[LINE_MAX_BYTES + 2];
};

/*
 * The next line, without its newline, valid until the next call; NULL at the end or when the console is done. A line
 * longer than LINE_MAX_BYTES is truncated after one byte more, which words_split() rejects.
 */
const char *input_line(struct input *in);

#endif
