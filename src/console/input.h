/* input.h - lines of a file or pipe, while messages of the virtual machine are taken. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include "line.h"

struct input {
    int fd;
    bool at_end;
    size_t begin, end; /* of what was read and not yet given out */
    char buffer[LINE_MAX_BYTES + 2];
};

/*
 * The next line, without its newline, valid until the next call. NULL at the end, or when the console is done. A line
 * over LINE_MAX_BYTES is cut there (and is then too long for words_split()).
 */
const char *input_line(struct input *in);

#endif
