/* preface.c - the opening bytes of a connection between daemons. */
#include "preface.h"
#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"

#define MAGIC       0x4c565044u /* "DPVL" */
#define PROOF_BYTES 32
#define LABEL_BYTES 16

struct wire_preface {
    uint32_t magic, version;
    uint8_t machine[PVMD_MACHINE_ID_BYTES];
    uint32_t from_index, from_incarnation, to_index, to_incarnation, epoch;
    uint8_t proof[PROOF_BYTES];
};

_Static_assert(sizeof(struct wire_preface) == PVMD_PREFACE_BYTES, "preface has padding");

/* HMAC-SHA256(secret, label, nonce, the preface without its proof): the label keeps the two uses apart. */
static void derive(const char label[LABEL_BYTES], const struct pvmd_machine *m, const uint8_t *nonce,
                   const uint8_t *wire, uint8_t out[32])
{
    uint8_t text[LABEL_BYTES + PVMD_NONCE_BYTES + PVMD_PREFACE_BYTES - PROOF_BYTES];
    memcpy(text, label, LABEL_BYTES);
    memcpy(text + LABEL_BYTES, nonce, PVMD_NONCE_BYTES);
    memcpy(text + LABEL_BYTES + PVMD_NONCE_BYTES, wire, PVMD_PREFACE_BYTES - PROOF_BYTES);
    if (!HMAC(EVP_sha256(), m->secret, sizeof m->secret, text, sizeof text, out, NULL)) {
        pvmi_log(PVMI_LOG_ERROR, "HMAC-SHA256 failed: OpenSSL is unusable");
        abort(); /* going on would mean a known key */
    }
}

static void prove(const struct pvmd_machine *m, const uint8_t *nonce, const uint8_t *wire, uint8_t proof[PROOF_BYTES])
{
    derive("dpvm preface   \0", m, nonce, wire, proof);
}

void pvmd_preface_key(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_machine *m,
                      const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t key[PVMD_KEY_BYTES])
{
    derive("dpvm link key  \0", m, nonce, wire, key);
}

void pvmd_preface_encode(const struct pvmd_preface *p, const struct pvmd_machine *m,
                         const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t wire[PVMD_PREFACE_BYTES])
{
    struct wire_preface w = {
        .magic = htole32(MAGIC),
        .version = htole32(PVMI_DAEMON_PROTOCOL),
        .from_index = htole32(p->from_index),
        .from_incarnation = htole32(p->from_incarnation),
        .to_index = htole32(p->to_index),
        .to_incarnation = htole32(p->to_incarnation),
        .epoch = htole32(p->epoch),
    };
    memcpy(w.machine, m->id, sizeof w.machine);
    prove(m, nonce, (const uint8_t *)&w, w.proof);
    memcpy(wire, &w, sizeof w);
}

int pvmd_preface_decode(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_machine *m,
                        const uint8_t nonce[PVMD_NONCE_BYTES], struct pvmd_preface *p)
{
    struct wire_preface w;
    uint8_t proof[PROOF_BYTES];
    memcpy(&w, wire, sizeof w);
    if (le32toh(w.magic) != MAGIC)
        return PVMI_EFORMAT;
    if (le32toh(w.version) != PVMI_DAEMON_PROTOCOL)
        return PVMI_EVERSION;
    prove(m, nonce, wire, proof);
    if (memcmp(w.machine, m->id, sizeof w.machine) || CRYPTO_memcmp(proof, w.proof, sizeof proof))
        return PVMI_EDENIED;
    *p = (struct pvmd_preface){
        .from_index = le32toh(w.from_index),
        .from_incarnation = le32toh(w.from_incarnation),
        .to_index = le32toh(w.to_index),
        .to_incarnation = le32toh(w.to_incarnation),
        .epoch = le32toh(w.epoch),
    };
    return 0;
}
