/* shell.h - words of commands for the shell of another host. */
#ifndef PVMC_SHELL_H
#define PVMC_SHELL_H

#include <stdio.h>

/* Prints a path in double quotes. $NAME and a leading ~ are expanded there; all else is literal. */
void pvmc_shell_path(FILE *f, const char *path);

/* Prints a script in single quotes, which any login shell passes on to `sh` unchanged. */
void pvmc_shell_quoted(FILE *f, const char *script);

#endif
