/* line.h - messages as lines: the channel's name, a blank, and the message with \n, \t, \\ and \xHH for what is no
 * text. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void line_print(FILE *to, const char *channel, const char *message, size_t bytes);

/*
 * Takes a line without its end apart, in place: the message has no more bytes than the line. False: it has no channel's
 * name, or a backslash before something else.
 */
bool line_parse(char *line, char **channel, char **message, size_t *bytes);

#endif
