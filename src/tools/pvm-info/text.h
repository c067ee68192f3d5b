/* text.h - JSON from texts that users wrote. */
#ifndef TEXT_H
#define TEXT_H

#include <jansson.h>

/* A user's text as JSON; if it is not valid UTF-8, every byte outside ASCII becomes '?'. */
json_t *text_json(const char *text);

/*
 * Prints a value with jansson's flags and a newline, and drops the reference to it. Everything outside printable ASCII
 * is escaped, so that texts cannot control a terminal.
 */
void text_print_json(json_t *value, size_t flags);

#endif
