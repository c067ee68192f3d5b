/*
 * courier.h - the channel between master and slave when a hoster has started the slave. The master cannot write to the
 * slave's stdin then, and the machine's secret must not appear in a command that others can list.
 *
 * The command contains a public key of the master; the slave's first line contains one of its own and the port where it
 * waits. Both keys serve one launch. The master calls that port, and everything that a launcher's command would carry
 * is sent over TLS, with a key derived from both. Each end is a separate process between the daemon and a pair of
 * pipes. Layouts: doc/protocol.md.
 */
#ifndef PVMD_COURIER_H
#define PVMD_COURIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/tls.h"
#include "wire/address.h"

#define PVMD_COURIER_KEY_BYTES 32
#define PVMD_COURIER_KEY_TEXT  (2 * PVMD_COURIER_KEY_BYTES + 1)

struct pvmd_courier_key {
    uint8_t private_key[PVMD_COURIER_KEY_BYTES], public_key[PVMD_COURIER_KEY_BYTES];
};

/* Makes a new pair. Returns 0 or PVMC_ESYSTEM, logged. */
int pvmd_courier_key_new(struct pvmd_courier_key *key);

/* The public half as hexadecimal digits. */
void pvmd_courier_key_text(const struct pvmd_courier_key *key, char text[PVMD_COURIER_KEY_TEXT]);

/* Reads such digits. False: they are not a public key. */
bool pvmd_courier_key_read(const char *text, uint8_t public_key[PVMD_COURIER_KEY_BYTES]);

/* The key of the channel: SHA-256 of a label, the agreed secret, the master's public key and the slave's. */
bool pvmd_courier_agree(const struct pvmd_courier_key *own, const uint8_t peer[PVMD_COURIER_KEY_BYTES], bool is_master,
                        struct pvmw_tls_key *key);

/*
 * Makes the text that the master's end (pvmd3 -K) reads first: its key, the slave's key and addresses. All that follows
 * goes to the slave. The caller wipes and frees it. NULL: out of memory.
 */
char *pvmd_courier_text(const struct pvmd_courier_key *own, const char *slave_key, const struct pvmw_addresses *slave,
                        const char *what_follows);

/* The master's end: carries stdin to the slave and its answers to stdout. Returns the exit code. */
int pvmd_courier_run(void);

/*
 * The slave's end: prints the first line, and waits for the master in a background process. Returns in the slave only,
 * whose stdin and stdout are then the channel: NULL, or what is wrong.
 */
const char *pvmd_courier_wait(const char *master_key);

#endif
