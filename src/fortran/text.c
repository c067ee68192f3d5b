/*
 * Strings: Fortran's have a length and are padded with blanks, C's end with a NUL.
 */
#include "fortran.h"

#include <limits.h>
#include <string.h>

/* Old compilers pass an int instead of a size_t, with an undefined upper half. No text is longer than INT_MAX. */
static size_t true_length(size_t length)
{
    return length & INT_MAX;
}

char *fpvm_text(const char *text, size_t length)
{
    size_t bytes = strnlen(text, true_length(length));

    if (bytes == true_length(length))
        while (bytes > 0 && text[bytes - 1] == ' ')
            bytes--;
    return strndup(text, bytes);
}

void fpvm_fill(char *to, size_t length, const char *text)
{
    size_t room = true_length(length), bytes = strnlen(text, room);

    memcpy(to, text, bytes);
    memset(to + bytes, ' ', room - bytes);
}
