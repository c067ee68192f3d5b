/*
 * visible.h - makes untrusted text (from a task, another host or another user's file) safe to print on a terminal or in
 * a log: it can neither move the cursor nor fake a further line.
 *
 * Every control character except tab (C0, DEL, C1) and every byte that is not valid UTF-8 becomes \xHH. Output of tasks
 * that the user asked for is not filtered: it belongs to the task and its user.
 */
#ifndef PVMC_VISIBLE_H
#define PVMC_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

#define PVMC_VISIBLE_BYTES  4096
#define PVMC_VISIBLE_GROWTH 4 /* most bytes that one byte becomes */

/* Length in bytes of the character at the start of text[left]; 0 if its first byte must be escaped. left > 0. */
size_t pvmc_visible_length(const char *text, size_t left);

/* Writes as many whole characters of text[length] as fit to out[size], with a NUL. Returns the bytes written without
 * the NUL. */
size_t pvmc_visible_bytes(char *out, size_t size, const char *text, size_t length);

/* The same for a NUL-terminated text and out[PVMC_VISIBLE_BYTES]; returns out. NULL counts as "". */
const char *pvmc_visible_text(char *out, const char *text);

/* Prints text with its newlines kept; each line is truncated to PVMC_VISIBLE_BYTES. */
void pvmc_visible_print(FILE *to, const char *lines);

/* For an argument of printf(); valid until the end of the enclosing block. */
#define PVMC_VISIBLE(text) pvmc_visible_text((char[PVMC_VISIBLE_BYTES]){0}, text)

#endif
