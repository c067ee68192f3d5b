/* line.c - writes and reads messages as lines. */
#include "line.h"
#include <ctype.h>
#include <string.h>

void line_print(FILE *to, const char *channel, const char *message, size_t bytes)
{
    fprintf(to, "%s ", channel);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)message[i];
        if (c == '\n')
            fputs("\\n", to);
        else if (c == '\t')
            fputs("\\t", to);
        else if (c == '\\')
            fputs("\\\\", to);
        else if (c < ' ' || c == 0x7f)
            fprintf(to, "\\x%02x", c);
        else
            fputc(c, to);
    }
    fputc('\n', to);
}

static int digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* What follows a backslash; returns the characters used, 0: not understood. */
static size_t unescape(const char *text, char *out)
{
    switch (text[0]) {
    case 'n':
        *out = '\n';
        return 1;
    case 't':
        *out = '\t';
        return 1;
    case '\\':
        *out = '\\';
        return 1;
    case 'x':
        if (digit(text[1]) < 0 || digit(text[2]) < 0)
            return 0;
        *out = (char)(digit(text[1]) * 16 + digit(text[2]));
        return 3;
    default:
        return 0;
    }
}

bool line_parse(char *line, char **channel, char **message, size_t *bytes)
{
    size_t name = strcspn(line, " ");
    char *from = line + name + (line[name] == ' '), *to = from;
    *channel = line;
    *message = from;
    line[name] = '\0';
    while (*from) {
        size_t used = 0;
        if (*from != '\\')
            *to++ = *from++;
        else if ((used = unescape(from + 1, to++)) == 0)
            return false;
        else
            from += 1 + used;
    }
    *bytes = (size_t)(to - *message);
    return name > 0;
}
