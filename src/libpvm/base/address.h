/* address.h - where our daemon listens, and whether that can be trusted. */
#ifndef PVMI_ADDRESS_H
#define PVMI_ADDRESS_H

#include <stddef.h>

#define PVMI_ADDRESS_PATH_BYTES 4096

/*
 * The path of the daemon's socket: PVMSOCK, or what the daemon's file says. 0; PVMC_EUNREACHABLE: no daemon;
 * PVMC_EDENIED: file or socket is not private to us. On errors why[size] says what is wrong and what to do.
 */
int pvmi_address_find(char path[PVMI_ADDRESS_PATH_BYTES], char *why, size_t size);

/* Explains why a path refuses connections, and what to do. */
void pvmi_address_explain_stale(const char *path, char *why, size_t size);

#endif
