/*
 * visible.h - texts that a task, another host or a file of somebody else chose, on their way to a terminal or a log.
 * There they are shown, and drive nothing: neither the cursor, nor what the next line says.
 *
 * Every control character but the tab (C0, DEL, C1) and every byte that is no UTF-8 becomes \xHH; all else stays as it
 * is. What tasks print is not passed through here where the user asked for it: it belongs to the task and its user.
 */
#ifndef PVMI_VISIBLE_H
#define PVMI_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

#define PVMI_VISIBLE_BYTES  4096
#define PVMI_VISIBLE_GROWTH 4 /* bytes that one may become */

/* Bytes of the character that text[left] begins with; 0: its first byte is not to be shown as it is. left > 0. */
size_t pvmi_visible_length(const char *text, size_t left);

/* Writes text[length] to out[size] as far as it fits, with a NUL; no character is cut. The bytes written, without it.
 */
size_t pvmi_visible_bytes(char *out, size_t size, const char *text, size_t length);

/* The same with a text to out[PVMI_VISIBLE_BYTES]; returns out. NULL is "". */
const char *pvmi_visible_text(char *out, const char *text);

/* Prints a text of several lines, which stay lines; of each at most PVMI_VISIBLE_BYTES. */
void pvmi_visible_print(FILE *to, const char *lines);

/* For an argument of printf(): valid until the end of the block. */
#define PVMI_VISIBLE(text) pvmi_visible_text((char[PVMI_VISIBLE_BYTES]){0}, text)

#endif
