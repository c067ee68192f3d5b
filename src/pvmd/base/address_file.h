/*
 * address_file.h - how tasks find their daemon, and daemons find each other on one host: the address file
 * $PVM_TMP/pvmd.UID[.VMID] (mode 0600), which holds the path of the daemon's socket.
 *
 * A running daemon holds a lock (flock) on the file. A file without a lock was left by a killed daemon and is replaced.
 * The file appears and changes by link() and rename() only, so a reader always finds a whole path.
 */
#ifndef PVMD_ADDRESS_FILE_H
#define PVMD_ADDRESS_FILE_H

#include <stddef.h>

/*
 * Checks whether a daemon can start here, removes the socket of a killed one and ends what its tasks have left (which
 * takes PVM_END_TIMEOUT if they ignore SIGTERM), and chooses the path of our own (pvmd.socket_path), which is not
 * created yet. Returns 0, PVMC_EEXISTS if a daemon runs already, or another PVMC_E code; why[size] then says what is
 * wrong and what to do.
 */
int pvmd_address_file_check(char *why, size_t size);

/* Creates the address file once the socket listens. Fails as pvmd_address_file_check() if another daemon was faster. */
int pvmd_address_file_publish(char *why, size_t size);

/* Removes the address file and frees pvmd.socket_path. */
void pvmd_address_file_release(void);

/* Where the address file is or will be, after pvmd_address_file_check(). Static storage. */
const char *pvmd_address_file_path(void);

/* Removes the files of a daemon that was killed. Called by its sweeper. */
void pvmd_address_file_remove_dead(const char *address, const char *socket_path);

#endif
