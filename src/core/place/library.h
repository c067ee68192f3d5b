/*
 * library.h - whose libpvm3.so.3 a folder has. The name is that of PVM 3.4's library, too, with which no program
 * understands our daemon.
 */
#ifndef PVMC_LIBRARY_H
#define PVMC_LIBRARY_H

#include <stdbool.h>

#define PVMC_LIBRARY      "libpvm3.so.3"
#define PVMC_LIBRARY_MARK "libdpvm_tls.so" /* a file beside every libpvm3 of dpvm and no other */

/* Whether the folder has a readable file of this name. */
bool pvmc_library_is_file(const char *folder, const char *name);

/* Whether the libpvm3 there, possibly a symbolic link, is dpvm's. */
bool pvmc_library_is_ours(const char *folder);

enum pvmc_library_owner {
    PVMC_LIBRARY_NONE,
    PVMC_LIBRARY_OURS,
    PVMC_LIBRARY_UNKNOWN, /* another PVM's; or a relative folder, or one that the loader expands: it may lead anywhere
                           */
};

/* Whose libpvm3 a program finds first in a list such as LD_LIBRARY_PATH. */
enum pvmc_library_owner pvmc_library_first(const char *list);

#endif
