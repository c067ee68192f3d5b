/*
 * Options and errors.
 */
#include "fortran.h"

#include <limits.h>
#include <string.h>

int pvmi_fortran_advise(int route)
{
    return pvm_setopt(PvmRoute, route);
}

int pvmi_fortran_serror(int on)
{
    return pvm_setopt(PvmAutoErr, on);
}

/* PVM prints the blanks at the end, too: what follows them may stand in columns. */
int pvmi_fortran_perror(const char *text, size_t length)
{
    char *copy = strndup(text, length & INT_MAX);
    int code = copy ? pvm_perror(copy) : PvmNoMem;

    free(copy);
    return code;
}
