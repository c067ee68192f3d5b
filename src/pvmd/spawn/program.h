/* program.h - finds what pvm_spawn() names: the program on the exec path, its working directory, the debugger. */
#ifndef PVMD_PROGRAM_H
#define PVMD_PROGRAM_H

#include <stdbool.h>
#include "why.h"

/*
 * What to execute in `directory`, the task's working directory: a path with a slash stays as it is if it leads to a
 * program from there; a name becomes the full path of the program on the exec path. The caller frees it. NULL: there is
 * none, and why tells the places that were searched.
 */
char *pvmd_program_find(const char *file, const char *directory, struct pvmd_why *why);

/* Whether it is the group server, of any installation and with any path. */
bool pvmd_program_is_group_server(const char *file);

/*
 * The working directory: the one asked for, else, unless the task must have it, the host's (wd=), PVM_WD, or $HOME. A
 * directory that cannot be entered is logged, and the next one is tried. The caller frees it; NULL if there is none.
 */
char *pvmd_program_directory(const char *asked, bool must, struct pvmd_why *why);

/* The command's full path as a shell would find it, or NULL. The caller frees it. */
char *pvmd_program_command(const char *name);

/* The script that runs a task under a debugger, or NULL and why. The caller frees it. */
char *pvmd_program_debugger(struct pvmd_why *why);

#endif
