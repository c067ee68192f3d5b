/*
 * keys.h - which secrets open the machine's doors, as all members know them: one of the tables that they keep. While
 * the machine's secret is replaced (duties/rotation.h) there are two, in three phases. Whoever is in one phase and
 * whoever is in the next accept each other's calls.
 *
 * The table names the secrets by their ids. It holds the second one as ciphertext of the first one, which every member
 * has; so neither messages nor the heap of a daemon show a secret.
 */
#ifndef PVMD_KEYS_H
#define PVMD_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum pvmd_keys_phase {
    PVMD_KEYS_OFFERED = 1, /* members call with the old secret, and accept the new one, too */
    PVMD_KEYS_ADOPTED,     /* they call with the new one, and accept the old one, too */
    PVMD_KEYS_ALONE,       /* there is one secret */
};

enum pvmd_keys_phase pvmd_keys_phase(void);

/* How many times the secret has been replaced, the present time included. */
uint32_t pvmd_keys_number(void);

/* ---- at the master; the change is sent to all members ---- */

/* Draws a new secret, when there is one. Or goes from one phase to the next. 0 or a PVMC_E code, logged. */
int pvmd_keys_offer(void);
int pvmd_keys_advance(void);

/* How many members have made a change, how many have left meanwhile, and how many may not have been asked. */
struct pvmd_keys_answers {
    unsigned have, left, failed;
};

typedef void pvmd_keys_answered(const struct pvmd_keys_answers *a);

/*
 * Asks all members, this host included, whether they have made the last change, which each says when it has. Calls
 * `answered` from the loop when all have answered or left. One question at a time.
 */
void pvmd_keys_ask_all(pvmd_keys_answered *answered);

/* ---- start and end ---- */

/* The functions above may be called when the machine's secret is known. */
void pvmd_keys_start(void);
void pvmd_keys_stop(void);

#endif
