/*
 * courier.h - the channel between master and slave when a hoster has started the slave: nothing of the master's comes
 * to the slave's stdin then, and the secret of the machine must not stand in a command that others can list.
 *
 * The command has a public key of the master, the slave's first line one of its own, and the port where it waits. Both
 * keys serve one launch. The master calls there, and what a launcher's command would carry goes over TLS with a key out
 * of both. Layouts: doc/protocol.md. Both ends are processes of their own, between the daemon and a pair of pipes.
 */
#ifndef PVMD_COURIER_H
#define PVMD_COURIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../wire/tls.h"
#include "address.h"

#define PVMD_COURIER_KEY_BYTES 32
#define PVMD_COURIER_KEY_TEXT  (2 * PVMD_COURIER_KEY_BYTES + 1)

struct pvmd_courier_key {
    uint8_t private_key[PVMD_COURIER_KEY_BYTES], public_key[PVMD_COURIER_KEY_BYTES];
};

/* A new pair. 0 or PVMI_ESYSTEM, logged. */
int pvmd_courier_key_new(struct pvmd_courier_key *key);

/* The public half as hexadecimal digits. */
void pvmd_courier_key_text(const struct pvmd_courier_key *key, char text[PVMD_COURIER_KEY_TEXT]);

/* The public half that such digits give; false if they do not. */
bool pvmd_courier_key_read(const char *text, uint8_t public_key[PVMD_COURIER_KEY_BYTES]);

/* The key of the channel: SHA-256 of a label, the agreed secret, the master's public key and the slave's. */
bool pvmd_courier_agree(const struct pvmd_courier_key *own, const uint8_t peer[PVMD_COURIER_KEY_BYTES], bool is_master,
                        struct pvmw_tls_key *key);

/*
 * What the master's end (pvmd3 -K) reads first: its key, the slave's and where it is. What follows goes to the slave.
 * NULL when out of memory; else to be wiped and freed.
 */
char *pvmd_courier_text(const struct pvmd_courier_key *own, const char *slave_key, const struct pvmd_addresses *slave,
                        const char *what_follows);

/* The master's end: from stdin to the slave and from there to stdout. Returns the exit code. */
int pvmd_courier_run(void);

/*
 * The slave's end: prints the first line, with what waits for the master in the background. Returns in the slave only,
 * whose stdin and stdout are the channel; NULL, or what is wrong.
 */
const char *pvmd_courier_wait(const char *master_key);

#endif
