/*
 * machine.h - the secret that all daemons of one virtual machine share. The master draws it, and it travels only over
 * the launchers' channels.
 */
#ifndef PVMD_MACHINE_H
#define PVMD_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/token.h"

#define PVMD_MACHINE_ID_BYTES 16
#define PVMD_SECRET_BYTES     32
#define PVMD_KEY_BYTES        32

struct pvmd_machine {
    uint8_t id[PVMD_MACHINE_ID_BYTES]; /* not secret: distinguishes daemons of another machine from strangers */
    uint8_t secret[PVMD_SECRET_BYTES];
};

/*
 * What members need to pass a daemon's TCP port. The key is derived from the secret, which cannot be computed from it,
 * nor can the keys of links.
 */
struct pvmd_door {
    uint8_t machine_id[PVMD_MACHINE_ID_BYTES];
    uint8_t key[PVMD_KEY_BYTES];
};

/* A secret, and the door that it opens. */
struct pvmd_key {
    struct pvmd_machine machine;
    struct pvmd_door door;
};

/*
 * Other keys that open the door of this daemon, each in a place of its own: the machine's second secret while the first
 * one is replaced (rotation.c), and tokens, with which daemons join by themselves (tokens.c).
 */
#define PVMD_PLACE_SECOND 0
#define PVMD_PLACE_TOKENS 1
#define PVMD_TOKENS_MAX   64
#define PVMD_PLACES       (PVMD_PLACE_TOKENS + PVMD_TOKENS_MAX)

/*
 * This daemon's keys, in pages of their own: the kernel neither swaps them nor writes them to a core dump, and a child
 * process finds zeros there. NULL before one of the functions below has been called.
 */
struct pvmd_secrets {
    struct pvmd_key own;
    struct pvmd_key others[PVMD_PLACES]; /* those that are in use have an id other than zeros */
};

extern struct pvmd_secrets *pvmd_secrets;

/* Draws a new machine's id and secret, in the master's daemon: 0, or PVMC_ENOMEM or PVMC_ESYSTEM, logged. */
int pvmd_machine_new(void);

/* Adopts the machine of the start text, in a slave's daemon: 0, or PVMC_ENOMEM or PVMC_ESYSTEM, logged. */
int pvmd_machine_join(const struct pvmd_machine *m);

/* A token is the secret of a small machine of its own. */
struct pvmd_machine pvmd_machine_of_token(const struct pvmc_token *token);

bool pvmd_machine_is_token(const uint8_t id[PVMD_MACHINE_ID_BYTES]);

/* Draws an id and a secret: 0, or PVMC_ESYSTEM, logged. */
int pvmd_machine_draw(struct pvmd_machine *m);

/*
 * Sets the key in a place; NULL clears it. The caller tells the doorman (pvmd_listen_keys_changed()). 0 or
 * PVMC_ESYSTEM, logged.
 */
int pvmd_machine_set_other(unsigned place, const struct pvmd_machine *m);

/*
 * The key in PVMD_PLACE_SECOND becomes this daemon's own one, and its own one takes that place. The caller tells the
 * doorman.
 */
void pvmd_machine_swap(void);

/*
 * Another key's secret as ciphertext of our own one (AES key wrap, RFC 3394, with a key derived from our secret), so
 * that no message or file in memory has it in the clear. 0 or PVMC_ESYSTEM, logged.
 */
#define PVMD_WRAPPED_BYTES (PVMD_SECRET_BYTES + 8)

int pvmd_machine_wrap(const struct pvmd_machine *m, uint8_t wrapped[PVMD_WRAPPED_BYTES]);

/* The reverse: m->secret from `wrapped`. 0, or PVMC_EDENIED if our own secret does not open it. */
int pvmd_machine_unwrap(const uint8_t wrapped[PVMD_WRAPPED_BYTES], struct pvmd_machine *m);

/* The key with this id, or NULL. It is this daemon's own one if `place` is set to -1. */
const struct pvmd_key *pvmd_machine_key(const uint8_t id[PVMD_MACHINE_ID_BYTES], int *place);

#endif
