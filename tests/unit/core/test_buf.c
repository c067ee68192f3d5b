/* test_buf.c - the checked buffer: golden bytes, sticky errors, limits. */
#include "core/buf.h"
#include "core/error.h"
#include "flipper.h"
#include "tests/unit/unit.h"

static struct pvmc_buf b;

static void view(const void *data, size_t length)
{
    pvmc_buf_view(&b, data, length);
}

START_TEST(integers_are_little_endian)
{
    static const uint8_t golden[] = {0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0xfe, 0xff, 0xff,
                                     0xff, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0x08, 0x02,
                                     0x00, 0x00, 0x00, 'h',  'i',  0x00, 0x00, 0x00, 0x00, 'x'};
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, 0x01);
    pvmc_buf_put_u16(&b, 0x0203);
    pvmc_buf_put_u32(&b, 0x04050607);
    pvmc_buf_put_i32(&b, -2);
    pvmc_buf_put_u64(&b, 0x08090a0b0c0d0e0full);
    pvmc_buf_put_string(&b, "hi");
    pvmc_buf_put_string(&b, NULL);
    pvmc_buf_put_bytes(&b, "x", 1);
    ck_assert_int_eq(pvmc_buf_error(&b), 0);
    ck_assert_uint_eq(b.length, sizeof golden);
    ck_assert_mem_eq(b.data, golden, sizeof golden);
    pvmc_buf_free(&b);
}
END_TEST

START_TEST(what_is_written_is_read)
{
    char text[3];
    size_t length;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, 255);
    pvmc_buf_put_u16(&b, 65535);
    pvmc_buf_put_u32(&b, 0xdeadbeef);
    pvmc_buf_put_i32(&b, INT32_MIN);
    pvmc_buf_put_u64(&b, UINT64_MAX - 1);
    pvmc_buf_put_blob(&b, "a\0b", 3);
    pvmc_buf_put_string(&b, "text");
    pvmc_buf_put_string(&b, "ab");
    ck_assert_uint_eq(pvmc_buf_left(&b), b.length);
    ck_assert_uint_eq(pvmc_buf_get_u8(&b), 255);
    ck_assert_uint_eq(pvmc_buf_get_u16(&b), 65535);
    ck_assert_uint_eq(pvmc_buf_get_u32(&b), 0xdeadbeef);
    ck_assert_int_eq(pvmc_buf_get_i32(&b), INT32_MIN);
    ck_assert_uint_eq(pvmc_buf_get_u64(&b), UINT64_MAX - 1);
    const uint8_t *blob = pvmc_buf_get_blob(&b, &length);
    ck_assert_uint_eq(length, 3);
    ck_assert_mem_eq(blob, "a\0b", 3);
    char *copy = pvmc_buf_get_string(&b);
    ck_assert_str_eq(copy, "text");
    free(copy);
    pvmc_buf_get_string_to(&b, text, sizeof text);
    ck_assert_str_eq(text, "ab");
    ck_assert_int_eq(pvmc_buf_end(&b), 0);
    ck_assert_uint_eq(pvmc_buf_left(&b), 0);
    pvmc_buf_free(&b);
}
END_TEST

START_TEST(reading_past_the_end_sticks)
{
    view("\1\2\3", 3);
    ck_assert_uint_eq(pvmc_buf_get_u16(&b), 0x0201);
    ck_assert_uint_eq(pvmc_buf_get_u32(&b), 0);
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ESHORT);
    ck_assert_uint_eq(pvmc_buf_get_u16(&b), 0);
    ck_assert_uint_eq(pvmc_buf_get_u64(&b), 0);
    ck_assert_uint_eq(pvmc_buf_get_u8(&b), 0); /* a byte is left, but the error is sticky */
    ck_assert_uint_eq(pvmc_buf_left(&b), 0);
    ck_assert_int_eq(pvmc_buf_end(&b), PVMC_ESHORT);
    ck_assert_ptr_null(pvmc_buf_get_bytes(&b, 0));
}
END_TEST

START_TEST(left_over_bytes_are_told)
{
    view("\1\2", 2);
    pvmc_buf_get_u8(&b);
    ck_assert_int_eq(pvmc_buf_error(&b), 0);
    ck_assert_int_eq(pvmc_buf_end(&b), PVMC_EFORMAT);
}
END_TEST

START_TEST(lying_lengths_are_caught)
{
    size_t length = 99;
    view("\xff\xff\xff\xff"
         "abc",
         7);
    ck_assert_ptr_null(pvmc_buf_get_blob(&b, &length));
    ck_assert_uint_eq(length, 0);
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ESHORT);
    view("\4\0\0\0"
         "abc",
         7);
    ck_assert_ptr_null(pvmc_buf_get_string(&b));
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ESHORT);
    view("abc", 3);
    ck_assert_ptr_null(pvmc_buf_get_bytes(&b, SIZE_MAX));
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ESHORT);
}
END_TEST

START_TEST(strings_hold_no_nul)
{
    char text[8] = "before";
    view("\3\0\0\0a\0b", 7);
    ck_assert_ptr_null(pvmc_buf_get_string(&b));
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_EFORMAT);
    view("\3\0\0\0a\0b", 7);
    pvmc_buf_get_string_to(&b, text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_EFORMAT);
}
END_TEST

/* The source may still be written by its sender, so only the copy is checked. */
START_TEST(strings_hold_no_nul_whatever_the_sender_writes)
{
    enum { BYTES = 20000 };
    uint8_t *shared = flipper_memory(4 + BYTES);
    struct pvmc_buf b;
    char text[BYTES + 1], *copy;
    memset(shared, 'a', 4 + BYTES);
    memcpy(shared, (uint8_t[]){BYTES & 255, BYTES >> 8, 0, 0}, 4);
    pid_t sender = flipper_start(shared + 4 + BYTES / 2, 0, 'a');
    do {
        pvmc_buf_view(&b, shared, 4 + BYTES);
        pvmc_buf_get_string_to(&b, text, sizeof text);
        ck_assert_uint_eq(strlen(text), pvmc_buf_error(&b) ? 0 : BYTES);
        pvmc_buf_view(&b, shared, 4 + BYTES);
        copy = pvmc_buf_get_string(&b);
        ck_assert_int_eq(pvmc_buf_error(&b), copy ? 0 : PVMC_EFORMAT);
        if (copy)
            ck_assert_uint_eq(strlen(copy), BYTES);
        free(copy);
    } while (flipper_goes_on(copy));
    flipper_end(sender);
    munmap(shared, 4 + BYTES);
}
END_TEST

START_TEST(strings_must_fit)
{
    char text[4] = "zzz";
    view("\3\0\0\0abc\4\0\0\0defg", 15);
    pvmc_buf_get_string_to(&b, text, sizeof text);
    ck_assert_str_eq(text, "abc");
    pvmc_buf_get_string_to(&b, text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ELIMIT);
}
END_TEST

START_TEST(empty_things_are_no_errors)
{
    size_t length = 1;
    view(NULL, 0);
    ck_assert_ptr_nonnull(pvmc_buf_get_bytes(&b, 0));
    ck_assert_int_eq(pvmc_buf_end(&b), 0);
    pvmc_buf_init(&b);
    ck_assert_ptr_nonnull(pvmc_buf_get_bytes(&b, 0));
    pvmc_buf_put_blob(&b, NULL, 0);
    ck_assert_ptr_nonnull(pvmc_buf_get_blob(&b, &length));
    ck_assert_uint_eq(length, 0);
    ck_assert_int_eq(pvmc_buf_end(&b), 0);
    pvmc_buf_free(&b);
    pvmc_buf_free(&b);
}
END_TEST

START_TEST(a_view_is_not_written)
{
    char bytes[] = "abc";
    view(bytes, 3);
    pvmc_buf_put_u8(&b, 'x');
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_EPARAM);
    ck_assert_str_eq(bytes, "abc");
    view(NULL, 0);
    pvmc_buf_put_u8(&b, 'x');
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_EPARAM);
}
END_TEST

START_TEST(the_limit_is_exact)
{
    uint8_t *block = calloc(1, PVMC_BUF_MAX);
    pvmc_buf_init(&b);
    pvmc_buf_put_bytes(&b, block, PVMC_BUF_MAX - 1);
    pvmc_buf_put_u8(&b, 1);
    ck_assert_int_eq(pvmc_buf_error(&b), 0);
    pvmc_buf_put_u8(&b, 2);
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ELIMIT);
    ck_assert_uint_eq(b.length, PVMC_BUF_MAX);
    pvmc_buf_free(&b);
    pvmc_buf_put_blob(&b, block, PVMC_BUF_MAX + 1);
    ck_assert_int_eq(pvmc_buf_error(&b), PVMC_ELIMIT);
    ck_assert_uint_eq(b.length, 0);
    pvmc_buf_put_u8(&b, 1);
    ck_assert_uint_eq(b.length, 0);
    pvmc_buf_free(&b);
    free(block);
}
END_TEST

UNIT_MAIN("buf", integers_are_little_endian, what_is_written_is_read, reading_past_the_end_sticks,
          left_over_bytes_are_told, lying_lengths_are_caught, strings_hold_no_nul,
          strings_hold_no_nul_whatever_the_sender_writes, strings_must_fit, empty_things_are_no_errors,
          a_view_is_not_written, the_limit_is_exact)
