/*
 * test_convert.c - "receiver makes right" with golden bytes: the same C values as four kinds of machine store them. The
 * bytes of each machine must convert to those of each other one, so any test machine covers both directions.
 */
#include "core/error.h"
#include "core/message/message.h"
#include "tests/unit/unit.h"
#include "pvm3.h"

enum machine { X86_64, S390X, BIG_32, I386, MACHINES };

static const char *const machine_names[] = {"x86-64", "s390x", "big-endian ILP32", "i386"};

static pvmc_dsig sig_of(enum machine machine)
{
    switch (machine) {
    case X86_64:
        return pvmc_dsig_make(false, 2, 4, 8);
    case S390X:
        return pvmc_dsig_make(true, 2, 4, 8);
    case BIG_32:
        return pvmc_dsig_make(true, 2, 4, 4);
    default:
        return pvmc_dsig_make(false, 2, 4, 4);
    }
}

struct golden {
    const char *what;
    int type;
    int n;
    const char *bytes[MACHINES]; /* hexadecimal */
};

static const struct golden goldens[] = {
    {"bytes \"PVM\\0\\xff\"", PVM_BYTE, 5, {"50564d00ff", "50564d00ff", "50564d00ff", "50564d00ff"}},
    {"shorts 1 -2 32767 -32768",
     PVM_SHORT,
     4,
     {"0100 feff ff7f 0080", "0001 fffe 7fff 8000", "0001 fffe 7fff 8000", "0100 feff ff7f 0080"}},
    {"unsigned shorts 1 65535", PVM_USHORT, 2, {"0100 ffff", "0001 ffff", "0001 ffff", "0100 ffff"}},
    {"ints 1 -2 0x12345678 INT_MIN",
     PVM_INT,
     4,
     {"01000000 feffffff 78563412 00000080", "00000001 fffffffe 12345678 80000000",
      "00000001 fffffffe 12345678 80000000", "01000000 feffffff 78563412 00000080"}},
    {"unsigned ints 0xdeadbeef UINT_MAX",
     PVM_UINT,
     2,
     {"efbeadde ffffffff", "deadbeef ffffffff", "deadbeef ffffffff", "efbeadde ffffffff"}},
    {"longs 1 -5 0x12345678 -0x80000000 0x7fffffff",
     PVM_LONG,
     5,
     {"0100000000000000 fbffffffffffffff 7856341200000000 00000080ffffffff ffffff7f00000000",
      "0000000000000001 fffffffffffffffb 0000000012345678 ffffffff80000000 000000007fffffff",
      "00000001 fffffffb 12345678 80000000 7fffffff", "01000000 fbffffff 78563412 00000080 ffffff7f"}},
    {"unsigned longs 1 0xffffffff 0x80000000",
     PVM_ULONG,
     3,
     {"0100000000000000 ffffffff00000000 0000008000000000", "0000000000000001 00000000ffffffff 0000000080000000",
      "00000001 ffffffff 80000000", "01000000 ffffffff 00000080"}},
    {"floats 1.5 -0.1f",
     PVM_FLOAT,
     2,
     {"0000c03f cdccccbd", "3fc00000 bdcccccd", "3fc00000 bdcccccd", "0000c03f cdccccbd"}},
    {"complex 1.5 -0.1f",
     PVM_CPLX,
     1,
     {"0000c03f cdccccbd", "3fc00000 bdcccccd", "3fc00000 bdcccccd", "0000c03f cdccccbd"}},
    {"doubles 3.14159 -0.1",
     PVM_DOUBLE,
     2,
     {"6e861bf0f9210940 9a9999999999b9bf", "400921f9f01b866e bfb999999999999a", "400921f9f01b866e bfb999999999999a",
      "6e861bf0f9210940 9a9999999999b9bf"}},
    {"double complex 3.14159 -0.1",
     PVM_DCPLX,
     1,
     {"6e861bf0f9210940 9a9999999999b9bf", "400921f9f01b866e bfb999999999999a", "400921f9f01b866e bfb999999999999a",
      "6e861bf0f9210940 9a9999999999b9bf"}},
};

#define GOLDEN_COUNT (sizeof goldens / sizeof goldens[0])

static unsigned nibble(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

static size_t from_hex(const char *hex, uint8_t *bytes)
{
    size_t count = 0;
    for (; *hex; hex += 2) {
        if (*hex == ' ')
            hex++;
        bytes[count++] = (uint8_t)(nibble(hex[0]) << 4 | nibble(hex[1]));
    }
    return count;
}

static void convert_golden(const struct golden *g, enum machine from, enum machine to)
{
    uint8_t in[64], expected[64], out[64];
    size_t in_length = from_hex(g->bytes[from], in), length = from_hex(g->bytes[to], expected);
    ck_assert_uint_eq(in_length, g->n * pvmc_type_bytes(g->type, sig_of(from)));
    ck_assert_uint_eq(length, g->n * pvmc_type_bytes(g->type, sig_of(to)));
    memset(out, 0xee, sizeof out);
    ck_assert_int_eq(pvmc_convert_to(g->type, sig_of(from), in, sig_of(to), out, g->n, 1), 0);
    ck_assert_msg(!memcmp(out, expected, length), "%s from %s to %s", g->what, machine_names[from], machine_names[to]);
    ck_assert_uint_eq(out[length], 0xee);
}

START_TEST(golden_bytes_convert_both_ways)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++)
        for (int from = 0; from < MACHINES; from++)
            for (int to = 0; to < MACHINES; to++)
                convert_golden(&goldens[i], from, to);
}
END_TEST

START_TEST(strides_leave_gaps)
{
    static const int strides[] = {2, 3, -1, -2};
    for (size_t g = 0; g < GOLDEN_COUNT; g++) {
        for (int s = 0; s < 4; s++) {
            uint8_t in[64], plain[64], out[512], expected[512];
            const struct golden *golden = &goldens[g];
            ptrdiff_t item = (ptrdiff_t)pvmc_type_bytes(golden->type, sig_of(X86_64));
            from_hex(golden->bytes[BIG_32], in);
            from_hex(golden->bytes[X86_64], plain);
            memset(out, 0xee, sizeof out);
            memset(expected, 0xee, sizeof expected);
            for (int i = 0; i < golden->n; i++)
                memcpy(expected + 256 + i * strides[s] * item, plain + i * item, item);
            ck_assert_int_eq(
                pvmc_convert_to(golden->type, sig_of(BIG_32), in, sig_of(X86_64), out + 256, golden->n, strides[s]), 0);
            ck_assert_mem_eq(out, expected, sizeof out);
        }
    }
}
END_TEST

/* The second of three longs does not fit 4 bytes: the first is stored, the third is not. */
static void expect_overflow(int type, const char *hex, enum machine from, enum machine to, const char *first)
{
    uint8_t in[64], expected[8], out[12];
    from_hex(hex, in);
    from_hex(first, expected);
    memset(out, 0xee, sizeof out);
    ck_assert_int_eq(pvmc_convert_to(type, sig_of(from), in, sig_of(to), out, 3, 1), PVMC_EOVERFLOW);
    ck_assert_mem_eq(out, expected, 4);
    for (int i = 4; i < 12; i++)
        ck_assert_uint_eq(out[i], 0xee);
}

START_TEST(what_does_not_fit_is_told)
{
    expect_overflow(PVM_LONG, "ffffffffffffffff 0000000080000000 0000000000000001", S390X, I386, "ffffffff");
    expect_overflow(PVM_LONG, "ffffffffffffffff ffffffff7fffffff 0000000000000001", S390X, BIG_32, "ffffffff");
    expect_overflow(PVM_LONG, "0700000000000000 0000000001000000 0100000000000000", X86_64, BIG_32, "00000007");
    expect_overflow(PVM_ULONG, "0000000000000007 0000000100000000 0000000000000001", S390X, I386, "07000000");
    expect_overflow(PVM_ULONG, "0700000000000000 ffffffffffffffff 0100000000000000", X86_64, I386, "07000000");
}
END_TEST

START_TEST(other_word_sizes)
{
    pvmc_dsig dos = pvmc_dsig_make(false, 2, 2, 4), cray = pvmc_dsig_make(true, 8, 8, 8);
    static const uint8_t wide[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x85};
    uint8_t narrow[2], back[8];
    ck_assert_int_eq(pvmc_convert_to(PVM_INT, cray, wide, dos, narrow, 1, 1), 0);
    ck_assert_mem_eq(narrow, "\x85\xff", 2);
    ck_assert_int_eq(pvmc_convert_to(PVM_INT, dos, narrow, cray, back, 1, 1), 0);
    ck_assert_mem_eq(back, wide, 8);
    ck_assert_int_eq(pvmc_convert_to(PVM_UINT, dos, narrow, cray, back, 1, 1), 0);
    ck_assert_mem_eq(back, "\0\0\0\0\0\0\xff\x85", 8); /* no sign to extend */
    ck_assert_int_eq(pvmc_convert_to(PVM_USHORT, cray, wide, dos, narrow, 1, 1), PVMC_EOVERFLOW);
}
END_TEST

START_TEST(unknown_formats_are_refused)
{
    uint8_t in[16] = {1, 2, 3, 4}, out[16];
    pvmc_dsig own = pvmc_dsig_own(), strange = own ^ 1u << 16; /* another float format */
    ck_assert_int_eq(pvmc_convert(PVM_INT, strange, in, out, 1, 1), PVMC_EFORMAT);
    ck_assert_int_eq(pvmc_convert_to(PVM_INT, own, in, strange, out, 1, 1), PVMC_EFORMAT);
    ck_assert_int_eq(pvmc_convert(PVM_BYTE, strange, in, out, 4, 1), 0);
    ck_assert_mem_eq(in, out, 4);
    ck_assert_int_eq(pvmc_convert(PVM_STR, own, in, out, 1, 1), PVMC_EPARAM);
    ck_assert_int_eq(pvmc_convert(12, own, in, out, 1, 1), PVMC_EPARAM);
}
END_TEST

/* ---- whole messages from another machine ---- */

static struct pvmc_message *message_from(pvmc_dsig sig, const char *hex)
{
    uint8_t bytes[256];
    size_t length = from_hex(hex, bytes);
    struct pvmc_frame_header h = {.enc = sig, .dsig = sig, .body_length = length, .length = (uint32_t)length};
    struct pvmc_message *m = pvmc_message_from_header(&h);
    memcpy(m->mem->data, bytes, length);
    return m;
}

/* An int, a string, two longs and a double in a row, as each machine packs them. */
static const char *const letters[] = {
    "07000000 06000000 68656c6c6f00 fbffffffffffffff 0100000000000000 6e861bf0f9210940",
    "00000007 00000006 68656c6c6f00 fffffffffffffffb 0000000000000001 400921f9f01b866e",
    "00000007 00000006 68656c6c6f00 fffffffb 00000001 400921f9f01b866e",
    "07000000 06000000 68656c6c6f00 fbffffff 01000000 6e861bf0f9210940",
};

START_TEST(a_letter_from_each_machine)
{
    for (int machine = 0; machine < MACHINES; machine++) {
        int i = 0;
        char text[6];
        long longs[4] = {0};
        double d = 0;
        struct pvmc_message *m = message_from(sig_of(machine), letters[machine]);
        ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, &i, 1, 1), 0);
        ck_assert_int_eq(pvmc_message_string_bytes(m), 6);
        ck_assert_int_eq(pvmc_message_unpack_string(m, text, sizeof text), 0);
        ck_assert_int_eq(pvmc_message_unpack(m, PVM_LONG, longs, 2, 2), 0);
        ck_assert_int_eq(pvmc_message_unpack(m, PVM_DOUBLE, &d, 1, 1), 0);
        ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, text, 1, 1), PVMC_ESHORT);
        ck_assert_int_eq(i, 7);
        ck_assert_str_eq(text, "hello");
        ck_assert_int_eq(longs[0], -5);
        ck_assert_int_eq(longs[1], 0);
        ck_assert_int_eq(longs[2], 1);
        ck_assert(d == 3.14159);
        pvmc_message_unref(m);
    }
}
END_TEST

/* Packing into a received message keeps its format, so that the message can be forwarded as a whole. */
START_TEST(a_letter_to_each_machine)
{
    for (int machine = 0; machine < MACHINES; machine++) {
        uint8_t expected[256];
        int i = 7;
        long longs[4] = {-5, 99, 1, 99};
        double d = 3.14159;
        size_t length = from_hex(letters[machine], expected);
        struct pvmc_message *m = message_from(sig_of(machine), "2a");
        ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, &i, 1, 1), 0);
        ck_assert_int_eq(pvmc_message_pack_string(m, "hello"), 0);
        ck_assert_int_eq(pvmc_message_pack(m, PVM_LONG, longs, 2, 2), 0);
        ck_assert_int_eq(pvmc_message_pack(m, PVM_DOUBLE, &d, 1, 1), 0);
        ck_assert_uint_eq(m->length, 1 + length);
        ck_assert_mem_eq(m->mem->data + 1, expected, length);
        pvmc_message_unref(m);
    }
}
END_TEST

START_TEST(overflow_in_a_message_keeps_its_place)
{
    unsigned short shorts[3] = {9, 9, 9};
    char c = 0;
    struct pvmc_message *m = message_from(pvmc_dsig_make(true, 4, 4, 8), "00000001 00010000 00000002 5a");
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_USHORT, shorts, 3, 1), PVMC_EOVERFLOW);
    ck_assert_uint_eq(shorts[0], 1);
    ck_assert_uint_eq(shorts[1], 9);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, &c, 1, 1), 0);
    ck_assert_int_eq(c, 'Z');
    pvmc_message_unref(m);
}
END_TEST

START_TEST(overflow_in_packing_packs_nothing)
{
    int ints[2] = {1, 0x10000};
    struct pvmc_message *m = message_from(pvmc_dsig_make(true, 2, 2, 4), "2a");
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, ints, 2, 1), PVMC_EOVERFLOW);
    ck_assert_uint_eq(m->length, 1);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(strange_messages_yield_bytes_only)
{
    int i;
    char c = 0;
    struct pvmc_message *m = message_from(0xffffffff, "2a000000 01000000");
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_INT, &i, 1, 1), PVMC_EFORMAT);
    ck_assert_int_eq(pvmc_message_string_bytes(m), PVMC_EFORMAT);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, &c, 1, 1), 0);
    ck_assert_int_eq(c, 0x2a);
    i = 1;
    ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, &i, 1, 1), PVMC_EFORMAT);
    ck_assert_int_eq(pvmc_message_pack_string(m, "text"), PVMC_EFORMAT);
    ck_assert_uint_eq(m->length, 8);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_BYTE, &c, 1, 1), 0);
    ck_assert_uint_eq(m->length, 9);
    pvmc_message_unref(m);
}
END_TEST

UNIT_MAIN("convert", golden_bytes_convert_both_ways, strides_leave_gaps, what_does_not_fit_is_told, other_word_sizes,
          unknown_formats_are_refused, a_letter_from_each_machine, a_letter_to_each_machine,
          overflow_in_a_message_keeps_its_place, overflow_in_packing_packs_nothing, strange_messages_yield_bytes_only)
