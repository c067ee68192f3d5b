/* program.h - finding what pvm_spawn() names: the program on the exec path, its working directory, the debugger. */
#ifndef PVMD_PROGRAM_H
#define PVMD_PROGRAM_H

#include <stdbool.h>

#define PVMD_GROUP_SERVER "pvmgs"

/*
 * What to execute in `directory`, the task's working folder: a path with a slash as it is, if it leads to a program
 * from there; else the full path of the one on the exec path. To be freed by the caller; NULL if there is none (logged
 * with where it was searched).
 */
char *pvmd_program_find(const char *file, const char *directory);

/* Whether that is the group server: of whichever installation, and whatever its path. */
bool pvmd_program_is_group_server(const char *file);

/*
 * The working directory: the one asked for, else that of the host, PVM_WD, or $HOME. One that cannot be entered is
 * logged, and the next in this row is taken. To be freed by the caller; NULL when out of memory.
 */
char *pvmd_program_directory(const char *asked);

/* The command's full path as a shell would find it, to be freed by the caller; NULL if it is not there. */
char *pvmd_program_command(const char *name);

/* The script that runs a task under a debugger, to be freed by the caller; NULL if there is none (logged). */
char *pvmd_program_debugger(void);

#endif
