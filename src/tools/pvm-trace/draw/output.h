/*
 * output.h - output files, and formatting of texts and values.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

/* Opens the file, or standard output for NULL and "-". NULL after a message. */
FILE *output_open(const char *path);

/* 0 when everything has been written; else -1 after a message, and the file is removed if it is a regular one. */
int output_close(FILE *f, const char *path);

/* Writes a text for XML, also in attributes. Everything outside printable ASCII becomes '?'. */
void output_xml(FILE *f, const char *text);

/* Write 12345678 as "12.3 MB", 1500 us as "1.50 ms" to text; return text. */
const char *output_bytes(double bytes, char *text, size_t size);
const char *output_time(double us, char *text, size_t size);

#endif
