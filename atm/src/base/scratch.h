/* scratch.h - a folder for the files of one run, removed with all of them. */
#ifndef PVMA_SCRATCH_H
#define PVMA_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes a folder in TMPDIR, or in /tmp if that is not set or leaves less than 64 of the `size` octets of `path`. Its
 * name is the prefix and six random characters. False, with errno: it was not made.
 */
bool pvma_scratch_make(const char *prefix, char *path, size_t size);

/* Removes the folder and what is in it, as far as that is possible. */
void pvma_scratch_remove(const char *path);

#endif
