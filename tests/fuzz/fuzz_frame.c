/* fuzz_frame.c - frame headers: an accepted header is valid and encodes to the same bytes again. */
#include "fuzz.h"
#include <stdbool.h>
#include <string.h>
#include "core/message/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvmc_frame_header h;
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    if (size < sizeof wire || pvmc_frame_decode(data, &h))
        return 0;
    MUST(h.length <= PVMC_FRAME_PAYLOAD_MAX);
    MUST(h.offset <= h.body_length && h.length <= h.body_length - h.offset);
    bool ends_stream = h.flags & PVMC_FRAME_STREAM && h.offset && pvmc_frame_is_last(&h);
    MUST(h.length || !h.body_length || h.flags & PVMC_FRAME_ABORT || ends_stream);
    pvmc_frame_encode(&h, wire);
    MUST(!memcmp(wire, data, sizeof wire));
    struct pvmc_frame *f = pvmc_frame_alloc(&h), *copy = pvmc_frame_share(f);
    size_t length = copy->piece_count ? copy->pieces[0].iov_len : 0;
    MUST(length == h.length);
    if (length)
        memset(copy->pieces[0].iov_base, 1, length);
    pvmc_frame_unref(f);
    pvmc_frame_unref(copy);
    return 0;
}
