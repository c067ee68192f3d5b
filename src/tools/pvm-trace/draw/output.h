/*
 * output.h - where a result goes, and texts as formats want them.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

/* Standard output for NULL and "-", else the file; NULL after a message. */
FILE *output_open(const char *path);

/* 0 when all has been written; else -1 after a message, and what is in the file is removed with it (not a device). */
int output_close(FILE *f, const char *path);

/* A text inside XML, also in attributes. What XML cannot hold becomes '?'. */
void output_xml(FILE *f, const char *text);

/* 12345678 as "12.3 MB", 1500 us as "1.5 ms": into text, returned. */
const char *output_bytes(double bytes, char *text, size_t size);
const char *output_time(double us, char *text, size_t size);

#endif
