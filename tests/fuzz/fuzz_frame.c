/* fuzz_frame.c - frame headers: what decodes is sound, and encodes to the same bytes again. */
#include "fuzz.h"
#include <string.h>
#include "frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvmi_frame_header h;
    uint8_t wire[PVMI_FRAME_HEADER_BYTES];
    if (size < sizeof wire || pvmi_frame_decode(data, &h))
        return 0;
    MUST(h.length <= PVMI_FRAME_PAYLOAD_MAX);
    MUST(h.offset <= h.body_length && h.length <= h.body_length - h.offset);
    MUST(h.length || !h.body_length || h.flags & PVMI_FRAME_ABORT);
    pvmi_frame_encode(&h, wire);
    MUST(!memcmp(wire, data, sizeof wire));
    struct pvmi_frame *f = pvmi_frame_alloc(&h), *copy = pvmi_frame_share(f);
    size_t length = copy->piece_count ? copy->pieces[0].iov_len : 0;
    MUST(length == h.length);
    if (length)
        memset(copy->pieces[0].iov_base, 1, length);
    pvmi_frame_unref(f);
    pvmi_frame_unref(copy);
    return 0;
}
