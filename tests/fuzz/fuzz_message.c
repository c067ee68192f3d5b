/*
 * fuzz_message.c - unpacking: any sequence of calls on any body in any format. Unpacked values, packed again in the
 * same format, must give the same bytes. Input: 4 bytes of signature, number of calls, 3 bytes for each call (type, n,
 * stride), the body.
 */
#include "fuzz.h"
#include <string.h>
#include "core/error.h"
#include "message.h"
#include "pvm3.h"

#define ITEMS_MAX  255
#define STRIDE_MAX 4
#define ROOM_BYTES (ITEMS_MAX * STRIDE_MAX * 16)

static struct pvmc_message *message_of(pvmc_dsig sig, const uint8_t *body, size_t length)
{
    struct pvmc_frame_header h = {.enc = sig, .dsig = sig, .body_length = length, .length = (uint32_t)length};
    struct pvmc_message *m = pvmc_message_from_header(&h);
    MUST(m && m->length == length);
    if (length)
        memcpy(m->mem->data, body, length);
    return m;
}

static int copy_string(struct pvmc_message *in, struct pvmc_message *out)
{
    char text[1024];
    int64_t length = pvmc_message_string_bytes(in);
    int status = pvmc_message_unpack_string(in, text, sizeof text);
    if (length < 0) {
        MUST(status == length);
        return status;
    }
    MUST(status == (length > (int64_t)sizeof text ? PVMC_ELIMIT : 0));
    if (status)
        return status;
    MUST(!text[length - 1]);
    if (strlen(text) == (size_t)length - 1)
        return pvmc_message_pack_string(out, text);
    int told = (int)length;
    MUST(!pvmc_message_pack(out, PVM_INT, &told, 1, 1));
    return pvmc_message_pack_bytes(out, text, (size_t)length);
}

static int copy_items(struct pvmc_message *in, struct pvmc_message *out, int type, int n, int stride)
{
    static uint8_t room[2 * ROOM_BYTES];
    uint8_t *at = room + ROOM_BYTES;
    int status = pvmc_message_unpack(in, type, at, n, stride);
    return status ? status : pvmc_message_pack(out, type, at, n, stride);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    pvmc_dsig sig = 0;
    for (int i = 0; i < 4; i++)
        sig |= (pvmc_dsig)fuzz_byte(&input) << 8 * i;
    unsigned count = fuzz_byte(&input);
    struct fuzz_input calls = input;
    size_t call_bytes = count * 3 < input.left ? count * 3 : input.left;
    const uint8_t *body = input.data + call_bytes;
    struct pvmc_message *in = message_of(sig, body, input.left - call_bytes), *out = message_of(sig, NULL, 0);
    int status = 0;
    for (unsigned i = 0; i < count; i++) {
        int type = fuzz_byte(&calls) % 14 - 1, n = fuzz_byte(&calls), stride = fuzz_byte(&calls) % (2 * STRIDE_MAX) - 3;
        if (stride == 0)
            stride = 1; /* it would overwrite its own items */
        int now = type == PVM_STR ? copy_string(in, out) : copy_items(in, out, type, n, stride);
        MUST(in->position <= in->length && now <= 0);
        status = status ? status : now;
        if (!status)
            MUST(out->length == in->position && (!out->length || !memcmp(out->mem->data, body, out->length)));
    }
    pvmc_message_unref(in);
    pvmc_message_unref(out);
    return 0;
}
