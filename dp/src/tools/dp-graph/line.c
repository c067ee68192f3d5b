/* line.c - formats and parses messages as lines. */
#include "line.h"
#include <ctype.h>
#include <string.h>
#include "core/visible.h"

static const char *short_escape(char c)
{
    return c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\\' ? "\\\\" : NULL;
}

void line_print(FILE *to, const char *channel, const char *message, size_t bytes)
{
    fprintf(to, "%s ", channel);
    for (size_t i = 0, n = 1; i < bytes; i += n ? n : 1) {
        const char *escape = short_escape(message[i]);
        n = escape ? 1 : pvmc_visible_length(message + i, bytes - i);
        if (escape)
            fputs(escape, to);
        else if (n)
            fwrite(message + i, 1, n, to);
        else
            fprintf(to, "\\x%02x", (unsigned char)message[i]);
    }
    fputc('\n', to);
}

static int digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* Decodes the characters after a backslash; returns how many were used, 0: invalid. */
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
