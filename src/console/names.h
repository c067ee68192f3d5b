/* names.h - names of files and programs on this host, for completion. */
#ifndef NAMES_H
#define NAMES_H

/* Takes one name; valid during the call. */
typedef void names_take(void *arg, const char *name);

/*
 * The files whose path begins with `prefix`, hidden ones only if it says so; names of folders end with '/'. Names with
 * characters that a command line would have to quote are left out.
 */
void names_files(const char *prefix, names_take *take, void *arg);

/* The programs in the folders where daemons search for them (PVM_PATH, or its default), as far as they are here. */
void names_programs(const char *prefix, names_take *take, void *arg);

#endif
