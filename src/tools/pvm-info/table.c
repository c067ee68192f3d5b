/* table.c - prints rows of text in aligned columns. */
#include "table.h"
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 20 }; /* least width of the last column */

int table_width(FILE *out)
{
    struct winsize size;

    if (!isatty(fileno(out)))
        return 0;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Prints text in lines of at most `room` bytes, all but the first indented by `indent` blanks. */
static void print_wrapped(FILE *out, const char *text, int indent, int room)
{
    while (room > 0 && strlen(text) > (size_t)room) {
        int end = room;
        while (end > 0 && text[end] != ' ')
            end--;
        if (end == 0)
            end = (int)strcspn(text, " "); /* a word that is too long */
        fprintf(out, "%.*s\n%*s", end, text, indent, "");
        text += end + strspn(text + end, " ");
    }
    fprintf(out, "%s\n", text);
}

void table_print(FILE *out, const char *const *cell, int rows, int columns, int width)
{
    int widths[TABLE_COLUMNS_MAX] = {0}, indent = 0;

    for (int column = 0; column < columns - 1; column++) {
        for (int row = 0; row < rows; row++) {
            int length = (int)strlen(cell[row * columns + column]);
            widths[column] = length > widths[column] ? length : widths[column];
        }
        indent += widths[column] + TABLE_GAP;
    }
    int room = width > indent ? width - indent : 0;
    if (width > 0 && room < NARROWEST)
        room = NARROWEST;
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns - 1; column++)
            fprintf(out, "%-*s", widths[column] + TABLE_GAP, cell[row * columns + column]);
        print_wrapped(out, cell[row * columns + columns - 1], indent, room);
    }
}
