/*
 * fuzz_convert.c - conversion between any two formats: values that can be converted convert back to the same bytes.
 * Input: 2 bytes of formats, type, stride, the values.
 */
#include "fuzz.h"
#include <string.h>
#include "core/error.h"
#include "message.h"

#define VALUES_MAX 64
#define STRIDE_MAX 3
#define ROOM_BYTES (VALUES_MAX * STRIDE_MAX * 16)

/* Bits of a byte as byte order and sizes; some do not form a convertible signature. */
static pvmc_dsig sig_of(uint8_t bits)
{
    pvmc_dsig sig = pvmc_dsig_make(bits & 1, 1u << (bits >> 1 & 3), 1u << (bits >> 3 & 3), 1u << (bits >> 5 & 3));
    return bits >> 7 ? sig ^ 1u << (bits & 31) : sig;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t there[2 * ROOM_BYTES], run[ROOM_BYTES], back[ROOM_BYTES];
    struct fuzz_input input = {data, size};
    pvmc_dsig from = sig_of(fuzz_byte(&input)), to = sig_of(fuzz_byte(&input));
    int type = fuzz_byte(&input) % 14 - 1, stride = fuzz_byte(&input) % (2 * STRIDE_MAX + 1) - STRIDE_MAX;
    if (stride == 0)
        stride = 1; /* it would overwrite its own values */
    size_t from_bytes = pvmc_type_bytes(type, from), to_bytes = pvmc_type_bytes(type, to);
    MUST(from_bytes <= 16 && !from_bytes == !to_bytes);
    size_t n = from_bytes ? input.left / from_bytes : 0;
    if (n > VALUES_MAX)
        n = VALUES_MAX;
    int status = pvmc_convert_to(type, from, input.data, to, there + ROOM_BYTES, n, stride);
    MUST(!status || status == PVMC_EPARAM || status == PVMC_EFORMAT || status == PVMC_EOVERFLOW);
    MUST((status == PVMC_EPARAM) == !from_bytes);
    if (status)
        return 0;
    for (size_t i = 0; i < n; i++)
        memcpy(run + i * to_bytes, there + ROOM_BYTES + (ptrdiff_t)i * stride * (ptrdiff_t)to_bytes, to_bytes);
    MUST(!pvmc_convert_to(type, to, run, from, back, n, 1));
    MUST(!n || !memcmp(back, input.data, n * from_bytes));
    return 0;
}
