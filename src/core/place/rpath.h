/*
 * rpath.h - whether a program loads another PVM's libpvm3 whatever LD_LIBRARY_PATH says. The loader looks into the
 * folders of DT_RPATH first; those of DT_RUNPATH come later. The file is read, not run, and not trusted.
 */
#ifndef PVMC_RPATH_H
#define PVMC_RPATH_H

#include <limits.h>
#include <stdbool.h>

/* Whether DT_RPATH leads the program to a libpvm3 that is not dpvm's, which is then library[]. */
bool pvmc_rpath_is_foreign(const char *program, char library[PATH_MAX]);

#endif
