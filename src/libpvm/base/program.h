/*
 * program.h - finds programs of dpvm itself, such as the daemon, from inside a task.
 */
#ifndef PVMI_PROGRAM_H
#define PVMI_PROGRAM_H

#include <stddef.h>

/*
 * Finds program `name`: in the installation or build that PVM_ROOT belongs to, else beside the running program, else in
 * PATH. 0, or PVMC_ENOTFOUND; nothing is logged.
 */
int pvmi_program_find(const char *name, char *path, size_t size);

#endif
