/* line.c - splits input into commands and words. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "line.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies the word at *from to *to without quoting. Returns NUL, or the unmatched quote. */
static char take_word(const char **from, char **to)
{
    const char *in = *from;
    char *out = *to;

    while (*in != '\0' && !is_blank(*in)) {
        if (*in == '\'' || *in == '"') {
            const char *end = strchr(in + 1, *in);
            if (end == NULL)
                return *in;
            memcpy(out, in + 1, (size_t)(end - in - 1));
            out += end - in - 1;
            in = end + 1;
            continue;
        }
        if (*in == '\\') {
            in++;
            if (*in == '\0' || *in == '\n')
                return '\\';
        }
        *out++ = *in++;
    }
    *out++ = '\0';
    *from = in;
    *to = out;
    return '\0';
}

int words_split(const char *line, struct words *out, char *why, size_t size)
{
    size_t length = strlen(line);

    if (length > LINE_MAX_BYTES) {
        snprintf(why, size, "command too long");
        return -1;
    }
    out->count = 0;
    out->text = malloc(length + 2); /* the NUL of each word replaces a blank, except for the last */
    out->word = malloc((length / 2 + 2) * sizeof(*out->word));
    if (out->text == NULL || out->word == NULL) {
        snprintf(why, size, "out of memory");
        words_free(out);
        return -1;
    }
    for (char *to = out->text;;) {
        while (is_blank(*line))
            line++;
        if (*line == '\0' || *line == '#')
            break;
        out->word[out->count++] = to;
        char open = take_word(&line, &to);
        if (open != '\0' || out->count > LINE_MAX_WORDS) {
            if (open != '\0')
                snprintf(why, size, "unmatched %c", open);
            else
                snprintf(why, size, "command too long");
            words_free(out);
            return -1;
        }
    }
    out->word[out->count] = NULL;
    return 0;
}

void words_free(struct words *w)
{
    free(w->text);
    free(w->word);
    *w = (struct words){0};
}

char *words_join(int argc, char **argv)
{
    size_t size = 1;
    char *text;

    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    text = malloc(size);
    if (text == NULL)
        return NULL;
    char *end = text;
    *end = '\0';
    for (int i = 0; i < argc; i++)
        end = stpcpy(stpcpy(end, i > 0 ? " " : ""), argv[i]);
    return text;
}

/* The end of the quoted text at p: after its closing quote, or the end of the script. */
static const char *skip_quoted(const char *p)
{
    const char *end = strchr(p + 1, *p);
    return end != NULL ? end + 1 : p + strlen(p);
}

long script_next(const char **script, const char **start)
{
    const char *p = *script;
    bool in_word = false;

    if (*p == '\0')
        return -1;
    *start = p;
    while (*p != '\0' && *p != '\n' && *p != ';') {
        if (*p == '#' && !in_word) {
            p += strcspn(p, "\n");
            break;
        }
        in_word = !is_blank(*p);
        if (*p == '\'' || *p == '"')
            p = skip_quoted(p);
        else
            p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
    }
    *script = *p != '\0' ? p + 1 : p;
    return p - *start;
}
