/*
 * rendezvous.h - how tasks find their daemon, and daemons each other on one host: the address file
 * $PVM_TMP/pvmd.UID[.VMID] (mode 0600), which holds the path of the daemon's socket.
 *
 * The living daemon holds a lock (flock) on the file. One that nobody holds is what a killed daemon left, and is
 * replaced. The file appears and changes by link() and rename() only: whoever reads it finds a whole path.
 */
#ifndef PVMD_RENDEZVOUS_H
#define PVMD_RENDEZVOUS_H

#include <stddef.h>

/*
 * Looks whether a daemon could start here, removes the socket of one that was killed, and chooses the path of ours
 * (pvmd.socket_path; not made yet). 0; PVMI_EEXISTS if one runs already; or another PVMI_E code. why[size] then says
 * what is wrong and what to do.
 */
int pvmd_rendezvous_check(char *why, size_t size);

/* The socket listens: makes the address file. As pvmd_rendezvous_check(): another daemon may have been faster. */
int pvmd_rendezvous_publish(char *why, size_t size);

/* Removes the address file and frees pvmd.socket_path. */
void pvmd_rendezvous_release(void);

#endif
