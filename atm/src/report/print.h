/* print.h - a report as text, as CSV and as pictures. */
#ifndef PVMA_PRINT_H
#define PVMA_PRINT_H

#include <stdio.h>
#include "report.h"

/* Prints tables, claims, reasons for misses, parameters and the score. */
void report_print(const struct report *report, FILE *out);

/* Writes the rows as lines of CSV; report_print_csv_head() writes the line above those of all reports. */
void report_print_csv_head(FILE *out);
void report_print_csv(const struct report *report, FILE *out);

/* Write NAME.csv and NAME-FIGURE.csv, or NAME-FIGURE.svg with gnuplot. Return 0, or -1 after a message on stderr. */
int report_write_csv(const struct report *report, const char *folder);
int report_write_svg(const struct report *report, const char *folder);

#endif
