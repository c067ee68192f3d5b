/* text.h - JSON out of texts that users wrote. */
#ifndef TEXT_H
#define TEXT_H

#include <jansson.h>

/* A text of the user's; bytes that are no UTF-8 become '?'. */
json_t *text_json(const char *text);

/*
 * Prints a value on lines of its own, laid out by jansson's flags, and gives it back to jansson. All but ASCII is
 * escaped, so that no text in it drives a terminal.
 */
void text_print_json(json_t *value, size_t flags);

#endif
