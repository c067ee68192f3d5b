/* show.h - prints the results for people. */
#ifndef SHOW_H
#define SHOW_H

#include <jansson.h>
#include <stdbool.h>

/* Prints a line for each result of this computer and of the hosts, and a summary. Quiet: only troubles. */
void show_report(const json_t *report, bool quiet);

#endif
