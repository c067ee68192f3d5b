/*
 * Strings: Fortran's have a length and are filled up with blanks, C's end with NUL.
 */
#include "fortran.h"

#include <limits.h>
#include <string.h>

/* Old compilers pass an int where others pass a size_t; then the upper half is whatever was there. No text is so long.
 */
static size_t true_length(size_t length)
{
    return length & INT_MAX;
}

char *pvmi_fortran_text(const char *text, size_t length)
{
    size_t bytes = strnlen(text, true_length(length));

    if (bytes == true_length(length))
        while (bytes > 0 && text[bytes - 1] == ' ')
            bytes--;
    return strndup(text, bytes);
}

void pvmi_fortran_fill(char *to, size_t length, const char *text)
{
    size_t room = true_length(length), bytes = strnlen(text, room);

    memcpy(to, text, bytes);
    memset(to + bytes, ' ', room - bytes);
}
