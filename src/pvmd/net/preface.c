/* preface.c - the opening bytes of a connection between daemons. */
#include "preface.h"
#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include "core/error.h"
#include "core/message/proto.h"

#define MAGIC       0x4c565044u /* "DPVL" */
#define PROOF_BYTES 32
#define SAID_BYTES  (PVMD_PREFACE_BYTES - PROOF_BYTES)

struct wire_preface {
    uint32_t magic, version;
    uint8_t machine[PVMD_MACHINE_ID_BYTES];
    uint32_t from_index, from_incarnation, to_index, to_incarnation, epoch;
    uint8_t nonce[PVMD_NONCE_BYTES];
    uint8_t proof[PROOF_BYTES];
};

struct wire_answer {
    uint8_t verdict;
    uint8_t proof[PROOF_BYTES];
};

_Static_assert(sizeof(struct wire_preface) == PVMD_PREFACE_BYTES, "preface has padding");
_Static_assert(sizeof(struct wire_answer) == PVMD_ANSWER_BYTES, "answer has padding");

/* What is authenticated, in the order in which it becomes known. The label separates the uses of a key. */
struct transcript {
    char label[16];
    uint8_t nonce[PVMD_NONCE_BYTES];
    uint8_t said[SAID_BYTES]; /* the preface without its proof */
    uint8_t proof[PROOF_BYTES];
    uint8_t verdict;
};

#define TRANSCRIPT_OF_CALLER offsetof(struct transcript, proof)
#define TRANSCRIPT_OF_ANSWER sizeof(struct transcript)

_Static_assert(TRANSCRIPT_OF_ANSWER == 16 + PVMD_NONCE_BYTES + PVMD_PREFACE_BYTES + 1, "transcript has padding");

static struct transcript transcript_of(const char *label, const uint8_t *nonce, const uint8_t *wire)
{
    struct transcript t = {0};
    memcpy(t.label, label, strlen(label));
    memcpy(t.nonce, nonce, sizeof t.nonce);
    memcpy(t.said, wire, sizeof t.said);
    return t;
}

/* HMAC-SHA256(key, the first `bytes` of t). */
static int mac(const uint8_t key[PVMD_KEY_BYTES], const struct transcript *t, size_t bytes, uint8_t out[PROOF_BYTES])
{
    const void *text = t;
    return HMAC(EVP_sha256(), key, PVMD_KEY_BYTES, text, bytes, out, NULL) ? 0 : PVMC_ESYSTEM;
}

static int prove_caller(const struct pvmd_door *door, const uint8_t *nonce, const uint8_t *wire,
                        uint8_t proof[PROOF_BYTES])
{
    struct transcript t = transcript_of("dpvm caller", nonce, wire);
    return mac(door->key, &t, TRANSCRIPT_OF_CALLER, proof);
}

static int prove_verdict(uint8_t verdict, const struct pvmd_door *door, const uint8_t *nonce, const uint8_t *wire,
                         uint8_t proof[PROOF_BYTES])
{
    struct transcript t = transcript_of("dpvm verdict", nonce, wire);
    memcpy(t.proof, wire + SAID_BYTES, sizeof t.proof);
    t.verdict = verdict;
    return mac(door->key, &t, TRANSCRIPT_OF_ANSWER, proof);
}

int pvmd_preface_key(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_machine *m,
                     const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t key[PVMD_KEY_BYTES])
{
    struct transcript t = transcript_of("dpvm link key", nonce, wire);
    return mac(m->secret, &t, TRANSCRIPT_OF_CALLER, key);
}

const uint8_t *pvmd_preface_key_id(const uint8_t wire[PVMD_PREFACE_BYTES])
{
    return wire + offsetof(struct wire_preface, machine);
}

int pvmd_preface_encode(const struct pvmd_preface *p, const struct pvmd_door *door,
                        const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t wire[PVMD_PREFACE_BYTES])
{
    struct wire_preface w = {
        .magic = htole32(MAGIC),
        .version = htole32(PVMC_DAEMON_PROTOCOL),
        .from_index = htole32(p->from_index),
        .from_incarnation = htole32(p->from_incarnation),
        .to_index = htole32(p->to_index),
        .to_incarnation = htole32(p->to_incarnation),
        .epoch = htole32(p->epoch),
    };
    memcpy(w.machine, door->machine_id, sizeof w.machine);
    memcpy(w.nonce, p->nonce, sizeof w.nonce);
    int rc = prove_caller(door, nonce, (const uint8_t *)&w, w.proof);
    memcpy(wire, &w, sizeof w);
    return rc;
}

int pvmd_preface_decode(const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_door *door,
                        const uint8_t nonce[PVMD_NONCE_BYTES], struct pvmd_preface *p)
{
    struct wire_preface w;
    uint8_t proof[PROOF_BYTES];
    memcpy(&w, wire, sizeof w);
    if (le32toh(w.magic) != MAGIC)
        return PVMC_EFORMAT;
    if (le32toh(w.version) != PVMC_DAEMON_PROTOCOL)
        return PVMC_EVERSION;
    int rc = prove_caller(door, nonce, wire, proof);
    if (rc)
        return rc;
    if (memcmp(w.machine, door->machine_id, sizeof w.machine) || CRYPTO_memcmp(proof, w.proof, sizeof proof))
        return PVMC_EDENIED;
    *p = (struct pvmd_preface){
        .from_index = le32toh(w.from_index),
        .from_incarnation = le32toh(w.from_incarnation),
        .to_index = le32toh(w.to_index),
        .to_incarnation = le32toh(w.to_incarnation),
        .epoch = le32toh(w.epoch),
    };
    memcpy(p->nonce, w.nonce, sizeof p->nonce);
    return 0;
}

int pvmd_preface_answer(enum pvmd_verdict verdict, const uint8_t wire[PVMD_PREFACE_BYTES], const struct pvmd_door *door,
                        const uint8_t nonce[PVMD_NONCE_BYTES], uint8_t answer[PVMD_ANSWER_BYTES])
{
    struct wire_answer a = {.verdict = (uint8_t)verdict};
    int rc = prove_verdict(a.verdict, door, nonce, wire, a.proof);
    memcpy(answer, &a, sizeof a);
    return rc;
}

int pvmd_preface_verdict(const uint8_t answer[PVMD_ANSWER_BYTES], const uint8_t wire[PVMD_PREFACE_BYTES],
                         const struct pvmd_door *door, const uint8_t nonce[PVMD_NONCE_BYTES],
                         enum pvmd_verdict *verdict)
{
    struct wire_answer a;
    uint8_t proof[PROOF_BYTES];
    memcpy(&a, answer, sizeof a);
    int rc = prove_verdict(a.verdict, door, nonce, wire, proof);
    if (rc)
        return rc;
    if (CRYPTO_memcmp(proof, a.proof, sizeof proof))
        return PVMC_EDENIED;
    *verdict = a.verdict;
    return 0;
}
