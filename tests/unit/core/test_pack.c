/* test_pack.c - packs and unpacks values on one kind of machine; test_convert.c covers foreign formats. */
#include "core/error.h"
#include "flipper.h"
#include "core/message/message.h"
#include "tests/unit/unit.h"
#include "pvm3.h"

static const int all_types[] = {PVM_BYTE,  PVM_SHORT, PVM_INT,    PVM_FLOAT, PVM_CPLX, PVM_DOUBLE,
                                PVM_DCPLX, PVM_LONG,  PVM_USHORT, PVM_UINT,  PVM_ULONG};
#define TYPE_COUNT (sizeof all_types / sizeof all_types[0])

static struct pvmc_message *m;

static void setup(uint32_t enc)
{
    m = pvmc_message_new(enc);
}

static void teardown(void)
{
    size_t used, cached;
    pvmc_message_unref(m);
    pvmc_mem_usage(&used, &cached);
    ck_assert_uint_eq(used, 0);
}

START_TEST(items_have_their_c_sizes)
{
    static const size_t sizes[] = {1,  sizeof(short), sizeof(int),   4,           8,           8,
                                   16, sizeof(long),  sizeof(short), sizeof(int), sizeof(long)};
    for (size_t t = 0; t < TYPE_COUNT; t++)
        ck_assert_uint_eq(pvmc_type_bytes(all_types[t], pvmc_dsig_own()), sizes[t]);
    ck_assert_uint_eq(pvmc_type_bytes(PVM_STR, pvmc_dsig_own()), 0);
    ck_assert_uint_eq(pvmc_type_bytes(12, pvmc_dsig_own()), 0);
    ck_assert_uint_eq(pvmc_type_bytes(-1, pvmc_dsig_own()), 0);
}
END_TEST

/* Packs n items with one stride and unpacks them with another: the bytes between items must not change. */
static void round_trip(int type, int n, int pack_stride, int unpack_stride)
{
    enum { ROOM = 16 * 64 };
    uint8_t in[2 * ROOM], out[2 * ROOM], expected[2 * ROOM];
    size_t item = pvmc_type_bytes(type, pvmc_dsig_own());
    for (int i = 0; i < 2 * ROOM; i++)
        in[i] = (uint8_t)(i * 31 + i / 200);
    memset(out, 0xee, sizeof out);
    memset(expected, 0xee, sizeof expected);
    for (int i = 0; i < n; i++)
        memcpy(expected + ROOM + (ptrdiff_t)i * unpack_stride * (ptrdiff_t)item,
               in + ROOM + (ptrdiff_t)i * pack_stride * (ptrdiff_t)item, item);
    setup(PVMC_ENC_DEFAULT);
    ck_assert_int_eq(pvmc_message_pack(m, type, in + ROOM, n, pack_stride), 0);
    ck_assert_uint_eq(m->length, n * item);
    ck_assert_int_eq(pvmc_message_unpack(m, type, out + ROOM, n, unpack_stride), 0);
    ck_assert_uint_eq(m->position, m->length);
    ck_assert_mem_eq(out, expected, sizeof out);
    teardown();
}

START_TEST(all_types_go_round_with_all_strides)
{
    static const int strides[] = {1, 2, 3, 0, -1, -3};
    for (size_t t = 0; t < TYPE_COUNT; t++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                for (int n = 0; n < 20; n += 1 + n)
                    round_trip(all_types[t], n, strides[i], strides[j]);
}
END_TEST

START_TEST(mixed_values_lie_without_padding)
{
    char c = 'c', c2;
    long l = -5, l2;
    short s = -3, s2;
    double d[2] = {1.25, -2.5}, d2[2];
    setup(PVMC_ENC_DEFAULT);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_BYTE, &c, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_LONG, &l, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_pack_string(m, "text"), 0);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_SHORT, &s, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_DCPLX, d, 1, 1), 0);
    ck_assert_uint_eq(m->length, 1 + sizeof(long) + sizeof(int) + 5 + 2 + 16);
    char text[5];
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, &c2, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_LONG, &l2, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_unpack_string(m, text, sizeof text), 0);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_SHORT, &s2, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_DCPLX, d2, 1, 1), 0);
    ck_assert(c2 == c && l2 == l && s2 == s && d2[0] == d[0] && d2[1] == d[1]);
    ck_assert_str_eq(text, "text");
    teardown();
}
END_TEST

START_TEST(bad_parameters_are_refused)
{
    int v = 1;
    setup(PVMC_ENC_DEFAULT);
    static const int bad_types[] = {PVM_STR, 12, -1, 1000, -2147483647 - 1};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(pvmc_message_pack(m, bad_types[i], &v, 1, 1), PVMC_EPARAM);
        ck_assert_int_eq(pvmc_message_unpack(m, bad_types[i], &v, 1, 1), PVMC_EPARAM);
    }
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, &v, -1, 1), PVMC_EPARAM);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, &v, -1, 1), PVMC_EPARAM);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, NULL, 1, 1), PVMC_EPARAM);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, NULL, 1, 1), PVMC_EPARAM);
    ck_assert_int_eq(pvmc_message_pack_string(m, NULL), PVMC_EPARAM);
    ck_assert_uint_eq(m->length, 0);
    teardown();
}
END_TEST

START_TEST(nothing_is_nothing)
{
    setup(PVMC_ENC_DEFAULT);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, NULL, 0, 1), 0);
    ck_assert_int_eq(pvmc_message_pack_bytes(m, NULL, 0), 0);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, NULL, 0, 1), 0);
    ck_assert_uint_eq(m->length, 0);
    teardown();
}
END_TEST

START_TEST(the_end_is_the_end)
{
    int in[3] = {1, 2, 3}, out[4] = {9, 9, 9, 9};
    setup(PVMC_ENC_DEFAULT);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, out, 1, 1), PVMC_ESHORT);
    pvmc_message_pack(m, PVM_INT, in, 3, 1);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, out, 1, 1), 0);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, out + 1, 3, 1), PVMC_ESHORT);
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(out[1], 9);
    ck_assert_uint_eq(m->position, m->length);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, out, 1, 1), PVMC_ESHORT);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_DCPLX, out, 2147483647, 1), PVMC_ESHORT);
    teardown();
}
END_TEST

START_TEST(many_small_packs)
{
    enum { COUNT = 100000 };
    int failures = 0;
    setup(PVMC_ENC_DEFAULT);
    for (int i = 0; i < COUNT; i++) {
        char c = (char)i;
        failures += !!pvmc_message_pack(m, PVM_INT, &i, 1, 1) + !!pvmc_message_pack(m, PVM_BYTE, &c, 1, 1);
    }
    ck_assert_uint_eq(m->length, COUNT * 5);
    for (int i = 0; i < COUNT; i++) {
        int v = -1;
        char c = 0;
        failures += !!pvmc_message_unpack(m, PVM_INT, &v, 1, 1) + !!pvmc_message_unpack(m, PVM_BYTE, &c, 1, 1);
        failures += v != i || c != (char)i;
    }
    ck_assert_int_eq(failures, 0);
    teardown();
}
END_TEST

START_TEST(reserved_room_counts_as_packed)
{
    char text[7];
    setup(PVMC_ENC_DEFAULT);
    pvmc_message_pack_bytes(m, "abc", 3);
    uint8_t *room = pvmc_message_room(m, 3);
    memcpy(room, "def", 4 - 1);
    ck_assert_uint_eq(m->length, 6);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, text, 6, 1), 0);
    ck_assert_mem_eq(text, "abcdef", 6);
    teardown();
}
END_TEST

/* ---- strings ---- */

START_TEST(strings_tell_their_size)
{
    char text[16] = "";
    setup(PVMC_ENC_DEFAULT);
    ck_assert_int_eq(pvmc_message_string_bytes(m), PVMC_ESHORT);
    pvmc_message_pack_string(m, "hello");
    pvmc_message_pack_string(m, "");
    ck_assert_int_eq(pvmc_message_string_bytes(m), 6);
    ck_assert_int_eq(pvmc_message_unpack_string(m, text, 5), PVMC_ELIMIT);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(pvmc_message_string_bytes(m), 6); /* still there */
    ck_assert_int_eq(pvmc_message_unpack_string(m, text, 6), 0);
    ck_assert_str_eq(text, "hello");
    ck_assert_int_eq(pvmc_message_unpack_string(m, text, SIZE_MAX), 0);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(pvmc_message_unpack_string(m, text, SIZE_MAX), PVMC_ESHORT);
    teardown();
}
END_TEST

static void expect_bad_string(int told, const char *bytes, size_t length, int error, bool at_end)
{
    char text[64];
    setup(PVMC_ENC_DEFAULT);
    pvmc_message_pack(m, PVM_INT, &told, 1, 1);
    pvmc_message_pack_bytes(m, bytes, length);
    ck_assert_int_eq(pvmc_message_string_bytes(m), error);
    ck_assert_uint_eq(m->position, 0);
    ck_assert_int_eq(pvmc_message_unpack_string(m, text, sizeof text), error);
    ck_assert_uint_eq(m->position, at_end ? m->length : 0);
    teardown();
}

START_TEST(broken_strings_are_refused)
{
    expect_bad_string(0, "abc", 4, PVMC_EFORMAT, false);
    expect_bad_string(-1, "abc", 4, PVMC_EFORMAT, false);
    expect_bad_string(5, "abc", 4, PVMC_ESHORT, true);
    expect_bad_string(2147483647, "abc", 4, PVMC_ESHORT, true);
    expect_bad_string(3, "abc", 4, PVMC_EFORMAT, false); /* no NUL at the end */
}
END_TEST

/* ---- in place ---- */

/* ---- a sender that still writes to what it passed by reference ---- */

enum { TEXT_BYTES = 20000 };

static void keep_mapped(struct pvmc_mem *mem)
{
    (void)mem;
}

static struct pvmc_mem shared = {.release = keep_mapped};

/* A message of one string in memory that others can write. */
static void receive_string(void)
{
    setup(PVMC_ENC_DEFAULT);
    char text[TEXT_BYTES];
    memset(text, 'a', TEXT_BYTES - 1);
    text[TEXT_BYTES - 1] = '\0';
    ck_assert_int_eq(pvmc_message_pack_string(m, text), 0);
    shared.capacity = m->length;
    shared.data = flipper_memory(m->length);
    shared.refs = 1;
    memcpy(shared.data, m->mem->data, m->length);
    pvmc_mem_unref(m->mem);
    m->mem = &shared;
}

/* Unpacks it to exactly `room` bytes until the flipper's byte has changed often enough. */
static void unpack_often(size_t room)
{
    int rc;
    char *text = malloc(room);
    do {
        memset(text, 'x', room);
        m->position = 0;
        rc = pvmc_message_unpack_string(m, text, room);
        ck_assert(rc == 0 || rc == PVMC_EFORMAT || rc == PVMC_ESHORT || rc == PVMC_ELIMIT);
        ck_assert_msg(rc || strnlen(text, room) < room, "a copy has no end");
    } while (flipper_goes_on(!rc));
    free(text);
}

START_TEST(strings_end_even_if_the_sender_takes_their_nul_away)
{
    receive_string();
    pid_t sender = flipper_start(shared.data + shared.capacity - 1, 0, 'a');
    unpack_often(TEXT_BYTES);
    flipper_end(sender);
    munmap(shared.data, shared.capacity);
    teardown();
}
END_TEST

/* Flips each byte of the length; any wrong value makes it too long, negative, or leaves no NUL at the end. */
START_TEST(strings_fit_whatever_length_the_sender_writes)
{
    for (size_t at = 0; at < 4; at++) {
        receive_string();
        uint8_t was = shared.data[at];
        pid_t sender = flipper_start(shared.data + at, was, was ^ 0x81);
        unpack_often(TEXT_BYTES);
        flipper_end(sender);
        munmap(shared.data, shared.capacity);
        teardown();
    }
}
END_TEST

START_TEST(own_memory_is_not_the_senders)
{
    receive_string();
    ck_assert_int_eq(pvmc_message_own(m), 0);
    ck_assert_ptr_ne(m->mem, &shared);
    memset(shared.data, 'x', shared.capacity);
    ck_assert_int_eq(pvmc_message_string_bytes(m), TEXT_BYTES);
    struct pvmc_mem *own = m->mem;
    ck_assert_int_eq(pvmc_message_own(m), 0);
    ck_assert_ptr_eq(m->mem, own);
    munmap(shared.data, shared.capacity);
    teardown();
}
END_TEST

START_TEST(in_place_takes_plain_runs_only)
{
    int v[4] = {1, 2, 3, 4};
    setup(PVMC_ENC_INPLACE);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, v, 2, 2), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, v, 2, 0), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, v, -1, 1), PVMC_EPARAM);
    ck_assert_int_eq(pvmc_message_pack_string(m, "text"), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(pvmc_message_pack_bytes(m, v, 4), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, v, 0, 1), 0);
    ck_assert_uint_eq(pvmc_message_bytes(m), 0);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, v, 4, 1), 0);
    ck_assert_uint_eq(pvmc_message_bytes(m), 16);
    teardown();
}
END_TEST

START_TEST(the_sender_may_unpack_in_place_data)
{
    int first[2] = {1, 2}, second[2] = {3, 4}, out[4] = {0};
    setup(PVMC_ENC_INPLACE);
    pvmc_message_pack(m, PVM_INT, first, 2, 1);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, out, 1, 1), 0);
    pvmc_message_pack(m, PVM_INT, second, 2, 1);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, out + 1, 3, 1), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(out[i], i + 1);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, out, 1, 1), PVMC_ESHORT);
    struct pvmc_frame *f = pvmc_message_frame(m, 0, 100, 0); /* still sent from the user's memory */
    ck_assert_uint_eq(f->piece_count, m->inplace_count);
    ck_assert_ptr_eq(f->pieces[0].iov_base, first);
    pvmc_frame_unref(f);
    teardown();
}
END_TEST

UNIT_MAIN("pack", items_have_their_c_sizes, all_types_go_round_with_all_strides, mixed_values_lie_without_padding,
          bad_parameters_are_refused, nothing_is_nothing, the_end_is_the_end, many_small_packs,
          reserved_room_counts_as_packed, strings_tell_their_size, broken_strings_are_refused,
          strings_end_even_if_the_sender_takes_their_nul_away, strings_fit_whatever_length_the_sender_writes,
          own_memory_is_not_the_senders, in_place_takes_plain_runs_only, the_sender_may_unpack_in_place_data)
