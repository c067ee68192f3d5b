/* fuzz_preface.c - messages of strangers to either end of a call: nothing passes without proving the secret. */
#include "fuzz.h"
#include <string.h>
#include "pvmd/net/preface.h"

static const struct pvmd_door door = {.machine_id = {1}, .key = {2}};
static const uint8_t nonce[PVMD_NONCE_BYTES] = {3};

static void read_preface(const uint8_t *data)
{
    uint8_t again[PVMD_PREFACE_BYTES];
    struct pvmd_preface p;
    if (pvmd_preface_decode(data, &door, nonce, &p))
        return;
    MUST(!pvmd_preface_encode(&p, &door, nonce, again));
    MUST(!memcmp(data, again, sizeof again));
}

static void read_answer(const uint8_t *data)
{
    static const uint8_t wire[PVMD_PREFACE_BYTES] = {4};
    uint8_t again[PVMD_ANSWER_BYTES];
    enum pvmd_verdict verdict;
    if (pvmd_preface_verdict(data, wire, &door, nonce, &verdict))
        return;
    MUST(!pvmd_preface_answer(verdict, wire, &door, nonce, again));
    MUST(!memcmp(data, again, sizeof again));
}

/* A preface with a valid proof passes unchanged, and not with a changed bit. */
static void prove(const uint8_t *data, unsigned bit)
{
    struct pvmd_preface p, back;
    uint8_t wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES];
    enum pvmd_verdict verdict;
    memcpy(&p, data, sizeof p);
    MUST(!pvmd_preface_encode(&p, &door, nonce, wire));
    MUST(!pvmd_preface_decode(wire, &door, nonce, &back) && !memcmp(&p, &back, sizeof p));
    MUST(!pvmd_preface_answer(PVMD_VERDICT_GO, wire, &door, nonce, answer));
    MUST(!pvmd_preface_verdict(answer, wire, &door, nonce, &verdict) && verdict == PVMD_VERDICT_GO);
    wire[bit / 8 % sizeof wire] ^= (uint8_t)(1 << bit % 8);
    answer[bit / 8 % sizeof answer] ^= (uint8_t)(1 << bit % 8);
    MUST(pvmd_preface_decode(wire, &door, nonce, &back));
    MUST(pvmd_preface_verdict(answer, wire, &door, nonce, &verdict));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= PVMD_PREFACE_BYTES)
        read_preface(data);
    else if (size >= PVMD_ANSWER_BYTES)
        read_answer(data);
    if (size == sizeof(struct pvmd_preface) + 2)
        prove(data + 2, data[0] | (unsigned)data[1] << 8);
    return 0;
}
