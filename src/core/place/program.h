/*
 * program.h - finds programs of dpvm itself, such as the daemon.
 */
#ifndef PVMC_PROGRAM_H
#define PVMC_PROGRAM_H

#include <stddef.h>

/*
 * Finds program `name`: in the installation or build that PVM_ROOT belongs to, else beside the running program, else in
 * PATH. 0, or PVMC_ENOTFOUND; nothing is logged.
 */
int pvmc_program_find(const char *name, char *path, size_t size);

#endif
