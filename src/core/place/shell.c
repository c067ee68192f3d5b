/* shell.c - see shell.h. */
#include "shell.h"
#include <stdbool.h>
#include <string.h>

void pvmc_shell_path(FILE *f, const char *path)
{
    fputc('"', f);
    if (path[0] == '~' && (path[1] == '/' || !path[1])) {
        fputs("$HOME", f);
        path++;
    }
    for (; *path; path++) {
        bool variable = path[0] == '$' && (path[1] == '{' || path[1] == '_' || (path[1] | 32) >= 'a');
        if (strchr("\"\\`", *path) || (*path == '$' && !variable))
            fputc('\\', f);
        fputc(*path, f);
    }
    fputc('"', f);
}

void pvmc_shell_quoted(FILE *f, const char *script)
{
    fputc('\'', f);
    for (; *script; script++) {
        if (*script == '\'')
            fputs("'\\''", f);
        else
            fputc(*script, f);
    }
    fputc('\'', f);
}
