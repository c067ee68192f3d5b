/* folder.h - whether the folder in PVM_TMP is safe for the files of a daemon: others must not be able to replace them.
 */
#ifndef PVMC_FOLDER_H
#define PVMC_FOLDER_H

#include <stddef.h>

/* 0, or a PVMC_E code; why[size] then says what is wrong and what to do. */
int pvmc_folder_check(const char *folder, char *why, size_t size);

#endif
