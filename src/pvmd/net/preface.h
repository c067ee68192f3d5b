/*
 * preface.h - the few bytes that open a connection between daemons, before it costs either side much.
 *
 * The listening side sends 32 random bytes. The calling side answers with its own identity, the host it means and
 * random bytes of its own, and proves with an HMAC over all of it that it knows the machine's secret. The listening
 * side answers with a verdict of one byte, and proves the same about itself. TLS follows; its key is derived from the
 * same bytes, so a proven preface cannot be combined with another TLS connection. Layout: doc/protocol.md.
 *
 * Functions that return an int return PVMC_ESYSTEM when OpenSSL fails, which happens when memory runs out. The caller
 * must then close the connection.
 */
#ifndef PVMD_PREFACE_H
#define PVMD_PREFACE_H

#include <stddef.h>
#include <stdint.h>
#include "machine.h"

#define PVMD_NONCE_BYTES   32
#define PVMD_PREFACE_BYTES 108
#define PVMD_ANSWER_BYTES  33

struct pvmd_preface {
    uint32_t from_index, from_incarnation; /* index 0: the caller has a token, and would join */
    uint32_t to_index, to_incarnation;
    uint32_t epoch;                  /* number of earlier connections of this pair of daemons */
    uint8_t nonce[PVMD_NONCE_BYTES]; /* the caller's random bytes */
};

enum pvmd_verdict {
    PVMD_VERDICT_GO = 1,      /* begin TLS */
    PVMD_VERDICT_CROSSED = 2, /* our own call to you is under way and counts */
    PVMD_VERDICT_RELAYED = 3, /* we send to you through the master, do likewise */
    PVMD_VERDICT_WRONG = 4,   /* we are not the host you mean, or do not know you */
    PVMD_VERDICT_OUT = 5,     /* we are the master, and you are no host of the machine any more */
    /* to a token */
    PVMD_VERDICT_EXPIRED = 6,
    PVMD_VERDICT_USED_UP = 7,
    PVMD_VERDICT_REVOKED = 8,
    PVMD_VERDICT_BUSY = 9, /* too many are joining: try again later */
};

/* The id of the key that the preface names. */
const uint8_t *pvmd_preface_key_id(const uint8_t wire[PVMD_PREFACE_BYTES]);

/* In all functions `nonce` is the listening side's, and `wire` is the whole preface. */

/* Calling side: writes the preface and its proof. */
int pvmd_preface_encode(const struct pvmd_preface *p, const struct pvmd_door *door,
                        const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t wire[PVMD_PREFACE_BYTES]);

/*
 * Listening side: reads and checks it: PVMC_EFORMAT (not one of ours), PVMC_EVERSION, PVMC_EDENIED (another machine, or
 * wrong proof). The proof is checked in constant time; *p is valid after 0 only.
 */
int pvmd_preface_decode(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_door *door,
                        const uint8_t nonce[PVMD_NONCE_BYTES], struct pvmd_preface *p);

/* Listening side: writes the verdict on a valid preface, with its proof. */
int pvmd_preface_answer(enum pvmd_verdict verdict, const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_door *door,
                        const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t answer[PVMD_ANSWER_BYTES]);

/*
 * Calling side: checks the answer in constant time: PVMC_EDENIED unless a daemon of the machine gave it to this
 * preface. *verdict is valid after 0 only.
 */
int pvmd_preface_verdict(const uint8_t answer[PVMD_ANSWER_BYTES], const uint8_t wire[PVMD_PREFACE_BYTES],
                         const struct pvmd_door *door, const uint8_t nonce[PVMD_NONCE_BYTES],
                         enum pvmd_verdict *verdict);

/* Both sides: the key of this connection's TLS. */
int pvmd_preface_key(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_machine *m,
                     const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t key[PVMD_KEY_BYTES]);

#endif
