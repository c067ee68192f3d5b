/*
 * fuzz_buf.c - the checked buffer: any sequence of reads over any bytes. The values read must encode to the same bytes
 * again. Input: number of reads, the reads, the bytes.
 */
#include "fuzz.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

static void copy_string(struct pvmc_buf *in, struct pvmc_buf *out)
{
    char *text = pvmc_buf_get_string(in);
    MUST(!text == !!pvmc_buf_error(in));
    pvmc_buf_put_string(out, text);
    free(text);
}

static void copy_string_to(struct pvmc_buf *in, struct pvmc_buf *out, size_t size)
{
    char text[256];
    memset(text, 'x', sizeof text);
    pvmc_buf_get_string_to(in, text, size);
    MUST(memchr(text, 0, size));
    pvmc_buf_put_string(out, text);
}

static void copy_blob(struct pvmc_buf *in, struct pvmc_buf *out)
{
    size_t length;
    const uint8_t *blob = pvmc_buf_get_blob(in, &length);
    MUST(blob || !length);
    pvmc_buf_put_blob(out, blob, length);
}

static void copy_bytes(struct pvmc_buf *in, struct pvmc_buf *out, size_t length)
{
    const uint8_t *bytes = pvmc_buf_get_bytes(in, length);
    if (bytes)
        pvmc_buf_put_bytes(out, bytes, length);
}

static void copy_one(struct pvmc_buf *in, struct pvmc_buf *out, uint8_t what)
{
    switch (what % 9) {
    case 0:
        pvmc_buf_put_u8(out, pvmc_buf_get_u8(in));
        return;
    case 1:
        pvmc_buf_put_u16(out, pvmc_buf_get_u16(in));
        return;
    case 2:
        pvmc_buf_put_u32(out, pvmc_buf_get_u32(in));
        return;
    case 3:
        pvmc_buf_put_i32(out, pvmc_buf_get_i32(in));
        return;
    case 4:
        pvmc_buf_put_u64(out, pvmc_buf_get_u64(in));
        return;
    case 5:
        copy_bytes(in, out, what / 9);
        return;
    case 6:
        copy_blob(in, out);
        return;
    case 7:
        copy_string(in, out);
        return;
    case 8:
        copy_string_to(in, out, 1 + what);
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct pvmc_buf in, out;
    size_t count = fuzz_byte(&input);
    const uint8_t *reads = input.data;
    if (count > input.left)
        return 0;
    const uint8_t *bytes = reads + count;
    pvmc_buf_view(&in, bytes, input.left - count);
    pvmc_buf_init(&out);
    for (size_t i = 0; i < count && !pvmc_buf_error(&in); i++) {
        size_t before = in.position, written = out.length;
        copy_one(&in, &out, reads[i]);
        MUST(in.position >= before && in.position <= in.length);
        if (pvmc_buf_error(&in))
            out.length = written;
        else
            MUST(out.length == in.position && !pvmc_buf_error(&out));
    }
    MUST(!out.length || !memcmp(out.data, bytes, out.length));
    MUST(pvmc_buf_left(&in) == (pvmc_buf_error(&in) ? 0 : in.length - in.position));
    if (pvmc_buf_error(&in))
        MUST(!pvmc_buf_get_u64(&in) && pvmc_buf_end(&in) == in.error);
    pvmc_buf_free(&out);
    return 0;
}
