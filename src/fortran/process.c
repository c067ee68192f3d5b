/*
 * Tasks: spawning, siblings, and output of children.
 */
#include "fortran.h"

#include <unistd.h>

int fpvm_spawn(char *task, int flags, char *where, int count, int *tids)
{
    return pvm_spawn(task, NULL, flags, where[0] == '*' ? "" : where, count, tids);
}

void fpvm_siblings(int *count, int index, int *sibling)
{
    int *tids;

    *count = pvm_siblings(&tids);
    *sibling = index >= 0 && index < *count ? tids[index] : PvmNoTask;
}

int fpvm_catchout(int on)
{
    return pvm_catchout(on ? stdout : NULL);
}

void fpvm_sleep(int seconds)
{
    if (seconds > 0)
        sleep(seconds);
}
