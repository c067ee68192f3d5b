/*
 * Options and errors.
 */
#include "fortran.h"

#include <limits.h>
#include <string.h>

int fpvm_advise(int route)
{
    return pvm_setopt(PvmRoute, route);
}

int fpvm_serror(int on)
{
    return pvm_setopt(PvmAutoErr, on);
}

/* Like PVM, prints trailing blanks: programs use them to align columns. */
int fpvm_perror(const char *text, size_t length)
{
    char *copy = strndup(text, length & INT_MAX);
    int code = copy ? pvm_perror(copy) : PvmNoMem;

    free(copy);
    return code;
}
