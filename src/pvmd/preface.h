/*
 * preface.h - the few bytes that open a connection between daemons, before anything is spent on the other side.
 *
 * The listening side sends 32 random bytes. The calling side answers with who it is and whom it means, and proves with
 * an HMAC over both that it knows the machine's secret. A verdict of one byte follows, then TLS, whose key is drawn
 * from the same bytes: a proven preface cannot be joined to somebody else's TLS. Layout: doc/protocol.md.
 */
#ifndef PVMD_PREFACE_H
#define PVMD_PREFACE_H

#include <stddef.h>
#include <stdint.h>
#include "machine.h"

#define PVMD_NONCE_BYTES   32
#define PVMD_PREFACE_BYTES 76

struct pvmd_preface {
    uint32_t from_index, from_incarnation;
    uint32_t to_index, to_incarnation;
    uint32_t epoch; /* connections that this pair of daemons had so far */
};

enum pvmd_verdict {
    PVMD_VERDICT_GO = 1,      /* begin TLS */
    PVMD_VERDICT_CROSSED = 2, /* our own call to you is under way and counts */
    PVMD_VERDICT_RELAYED = 3, /* we send to you through the master, do likewise */
    PVMD_VERDICT_WRONG = 4,   /* we are not, or do not know, who you mean */
};

/* Writes the calling side's bytes. */
void pvmd_preface_encode(const struct pvmd_preface *p, const struct pvmd_machine *m,
                         const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t wire[PVMD_PREFACE_BYTES]);

/*
 * Reads and checks them: PVMI_EFORMAT (not one of ours), PVMI_EVERSION, PVMI_EDENIED (another machine, or wrong proof).
 * The proof is checked first where there is one, in constant time; *p is valid after 0 only.
 */
int pvmd_preface_decode(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_machine *m,
                        const uint8_t nonce[PVMD_NONCE_BYTES], struct pvmd_preface *p);

/* The key of this connection's TLS. */
void pvmd_preface_key(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_machine *m,
                      const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t key[PVMD_KEY_BYTES]);

#endif
