/* table.h - prints rows of text in aligned columns and wraps the last one to the width of the terminal. */
#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 6, TABLE_GAP = 2 };

/*
 * Prints `rows` rows of `columns` texts each (cell[row * columns + column], never NULL). The last column is wrapped at
 * blanks so that lines fit into `width` columns; width 0: no wrapping.
 */
void table_print(FILE *out, const char *const *cell, int rows, int columns, int width);

/* Width of the terminal `out`, or 0 if it is not a terminal. */
int table_width(FILE *out);

#endif
