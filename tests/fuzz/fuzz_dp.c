/* fuzz_dp.c - Directed Messages: what decodes lies within its frame. */
#include "../../src/transports/dp/message.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvmi_dp_message m;
    if (pvmi_dp_message_decode(data, size, &m))
        return 0;
    MUST(size >= PVMI_DP_HEADERS_BYTES && m.length <= size - PVMI_DP_HEADERS_BYTES);
    MUST(m.kind >= PVMI_DP_DATA && m.kind <= PVMI_DP_HELLO);
    return 0;
}
