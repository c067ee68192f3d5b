/* test_pvmd_preface.c - the proof that opens a connection: golden bytes, and that every changed bit is noticed. */
#include "../../src/pvmd/preface.h"
#include "../../src/core/error.h"
#include "unit.h"

static const struct pvmd_preface sample = {
    .from_index = 2, .from_incarnation = 3, .to_index = 4, .to_incarnation = 5, .epoch = 6};
static struct pvmd_machine machine;
static uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES];

static void make(void)
{
    for (size_t i = 0; i < sizeof machine.id; i++)
        machine.id[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof machine.secret; i++)
        machine.secret[i] = (uint8_t)(0x40 + i);
    for (size_t i = 0; i < sizeof nonce; i++)
        nonce[i] = (uint8_t)(0x80 + i);
    pvmd_preface_encode(&sample, &machine, nonce, wire);
}

/* The proof and key were computed with Python's hmac module from the layout in doc/protocol.md. */
static const uint8_t golden[PVMD_PREFACE_BYTES] = {
    0x44, 0x50, 0x56, 0x4c, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
    0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x05, 0x00,
    0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0xc5, 0xc5, 0x6c, 0x0e, 0x84, 0x28, 0xc3, 0x50, 0xd9, 0xad, 0x3c, 0xe2, 0x8f,
    0x0e, 0x4b, 0xb9, 0x69, 0xcb, 0x5b, 0x83, 0x37, 0xcf, 0x4a, 0xb9, 0xde, 0xa5, 0x7f, 0xdb, 0x20, 0xea, 0xf5, 0xab};
static const uint8_t golden_key[PVMD_KEY_BYTES] = {0xb9, 0xe5, 0xd9, 0x8f, 0x59, 0x4f, 0xf4, 0xf2, 0x55, 0x73, 0x9a,
                                                   0xe4, 0xb2, 0x63, 0xfd, 0x3c, 0x38, 0x22, 0x8e, 0xcd, 0x2a, 0xe4,
                                                   0x13, 0x6a, 0xd7, 0xa0, 0xd8, 0x1b, 0x55, 0x35, 0x52, 0x14};

START_TEST(bytes_are_golden)
{
    uint8_t key[PVMD_KEY_BYTES];
    make();
    ck_assert_mem_eq(wire, golden, sizeof golden);
    pvmd_preface_key(wire, &machine, nonce, key);
    ck_assert_mem_eq(key, golden_key, sizeof golden_key);
}
END_TEST

START_TEST(what_is_written_is_read)
{
    struct pvmd_preface p;
    make();
    ck_assert_int_eq(pvmd_preface_decode(wire, &machine, nonce, &p), 0);
    ck_assert_mem_eq(&p, &sample, sizeof p);
}
END_TEST

START_TEST(every_changed_bit_is_noticed)
{
    struct pvmd_preface p;
    make();
    for (size_t bit = 0; bit < sizeof wire * 8; bit++) {
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int rc = pvmd_preface_decode(wire, &machine, nonce, &p);
        ck_assert_int_eq(rc, bit < 32 ? PVMI_EFORMAT : bit < 64 ? PVMI_EVERSION : PVMI_EDENIED);
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_int_eq(pvmd_preface_decode(wire, &machine, nonce, &p), 0);
}
END_TEST

START_TEST(nonce_secret_and_machine_count)
{
    struct pvmd_preface p;
    struct pvmd_machine other;
    make();
    nonce[31] ^= 1;
    ck_assert_int_eq(pvmd_preface_decode(wire, &machine, nonce, &p), PVMI_EDENIED);
    nonce[31] ^= 1;
    other = machine;
    other.secret[0] ^= 1;
    ck_assert_int_eq(pvmd_preface_decode(wire, &other, nonce, &p), PVMI_EDENIED);
    other = machine;
    other.id[0] ^= 1;
    ck_assert_int_eq(pvmd_preface_decode(wire, &other, nonce, &p), PVMI_EDENIED);
}
END_TEST

START_TEST(the_key_is_of_this_connection)
{
    uint8_t key[PVMD_KEY_BYTES], other[PVMD_KEY_BYTES];
    struct pvmd_preface p = sample;
    make();
    pvmd_preface_key(wire, &machine, nonce, key);
    ck_assert(memcmp(key, wire + PVMD_PREFACE_BYTES - 32, sizeof key) != 0);
    nonce[0] ^= 1;
    pvmd_preface_key(wire, &machine, nonce, other);
    ck_assert(memcmp(key, other, sizeof key) != 0);
    nonce[0] ^= 1;
    p.from_index++;
    pvmd_preface_encode(&p, &machine, nonce, wire);
    pvmd_preface_key(wire, &machine, nonce, other);
    ck_assert(memcmp(key, other, sizeof key) != 0);
}
END_TEST

UNIT_MAIN("pvmd_preface", bytes_are_golden, what_is_written_is_read, every_changed_bit_is_noticed,
          nonce_secret_and_machine_count, the_key_is_of_this_connection)
