/*
 * version.h - dpvm's own version, which CMakeLists.txt sets. The interface's, PVM_VER, stays 3.4.6.
 */
#ifndef PVMC_VERSION_H
#define PVMC_VERSION_H

#include <stdio.h>

/* "0.9.0": major, minor, patch. */
extern const char pvmc_version[];

/* Prints what --version shows of `program`. */
void pvmc_version_print(FILE *to, const char *program);

#endif
