/* address.h - where the daemon of this user listens, and whether that can be trusted. */
#ifndef PVMC_ADDRESS_H
#define PVMC_ADDRESS_H

#include <stddef.h>
#include <sys/types.h>

#define PVMC_ADDRESS_PATH_BYTES 4096

/*
 * The path of the daemon's socket: PVMSOCK, or what the daemon's file says. 0; PVMC_EUNREACHABLE: no daemon;
 * PVMC_EDENIED: file or socket is not private to us. On errors why[size] says what is wrong and what to do.
 */
int pvmc_address_find(char path[PVMC_ADDRESS_PATH_BYTES], char *why, size_t size);

/* Explains why a path refuses connections, and what to do. */
void pvmc_address_explain_stale(const char *path, char *why, size_t size);

/*
 * The process that listens on a socket; 0 if none does; -1 if that cannot be found out: callers wait already, or the
 * path is too long.
 */
pid_t pvmc_address_listener(const char *path);

#endif
