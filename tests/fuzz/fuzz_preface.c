/* fuzz_preface.c - what a stranger sends: nothing passes that does not prove the secret. */
#include "fuzz.h"
#include <string.h>
#include "../../src/pvmd/preface.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pvmd_machine machine = {.id = {1}, .secret = {2}};
    static const uint8_t nonce[PVMD_NONCE_BYTES] = {3};
    uint8_t wire[PVMD_PREFACE_BYTES], again[PVMD_PREFACE_BYTES];
    struct pvmd_preface p;
    if (size < sizeof wire)
        return 0;
    memcpy(wire, data, sizeof wire);
    if (pvmd_preface_decode(wire, &machine, nonce, &p))
        return 0;
    pvmd_preface_encode(&p, &machine, nonce, again);
    MUST(!memcmp(wire, again, sizeof wire));
    return 0;
}
