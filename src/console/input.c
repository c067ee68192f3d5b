/* input.c - reads lines from a file or pipe. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "console.h"
#include "input.h"

/* Reads more input. False at the end. */
static bool fill(struct input *in)
{
    memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    while (!console.done) {
        console_progress();
        if (console.done || !console_wait(in->fd, -1))
            continue;
        ssize_t got = read(in->fd, in->buffer + in->end, sizeof(in->buffer) - 1 - in->end);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got > 0)
            in->end += (size_t)got;
        else
            in->at_end = true;
        return got > 0;
    }
    return false;
}

/* Discards the rest of a line that is too long. */
static void skip_line(struct input *in)
{
    char *newline = NULL;

    do
        in->begin = in->end = 0;
    while (fill(in) && (newline = memchr(in->buffer, '\n', in->end)) == NULL);
    if (newline)
        in->begin = (size_t)(newline - in->buffer) + 1;
}

const char *input_line(struct input *in)
{
    static char too_long[sizeof(in->buffer)];

    for (;;) {
        char *line = in->buffer + in->begin;
        char *newline = memchr(line, '\n', in->end - in->begin);
        if (newline != NULL) {
            *newline = '\0';
            in->begin = (size_t)(newline - in->buffer) + 1;
            return line;
        }
        if (in->end - in->begin > LINE_MAX_BYTES) {
            memcpy(too_long, line, LINE_MAX_BYTES + 1);
            skip_line(in);
            return too_long;
        }
        if (!in->at_end && fill(in))
            continue;
        if (console.done || in->begin == in->end)
            return NULL;
        in->buffer[in->end] = '\0';
        line = in->buffer + in->begin;
        in->begin = in->end;
        return line;
    }
}
