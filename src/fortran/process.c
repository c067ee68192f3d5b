/*
 * Tasks: what they spawn, with whom they were spawned, and their output.
 */
#include "fortran.h"

#include <unistd.h>

int pvmi_fortran_spawn(char *task, int flags, char *where, int count, int *tids)
{
    return pvm_spawn(task, NULL, flags, where[0] == '*' ? "" : where, count, tids);
}

void pvmi_fortran_siblings(int *count, int index, int *sibling)
{
    int *tids;

    *count = pvm_siblings(&tids);
    *sibling = index >= 0 && index < *count ? tids[index] : PvmNoTask;
}

int pvmi_fortran_catchout(int on)
{
    return pvm_catchout(on ? stdout : NULL);
}

void pvmi_fortran_sleep(int seconds)
{
    if (seconds > 0)
        sleep(seconds);
}
