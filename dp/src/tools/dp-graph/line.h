/* line.h - messages as lines: the channel's name, a blank, and the message, with \n, \t, \\ and \xHH for unprintable
 * bytes. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void line_print(FILE *to, const char *channel, const char *message, size_t bytes);

/*
 * Splits a line without its end, in place, so the message is never longer than the line. False: the channel's name is
 * missing, or an escape is invalid.
 */
bool line_parse(char *line, char **channel, char **message, size_t *bytes);

#endif
