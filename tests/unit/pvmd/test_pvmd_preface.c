/*
 * test_pvmd_preface.c - the proofs that open a connection: golden bytes; every changed bit is detected; a proof by one
 * side is useless anywhere else.
 */
#include "pvmd/net/preface.h"
#include "core/error.h"
#include "tests/unit/unit.h"

static const struct pvmd_machine machine = {.id = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                            .secret = {0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a,
                                                       0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55,
                                                       0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f}};
static struct pvmd_preface sample = {
    .from_index = 2, .from_incarnation = 3, .to_index = 4, .to_incarnation = 5, .epoch = 6};
static uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES];

static void make(void)
{
    for (size_t i = 0; i < sizeof nonce; i++) {
        nonce[i] = (uint8_t)(0x80 + i);
        sample.nonce[i] = (uint8_t)(0xc0 + i);
    }
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    ck_assert_int_eq(pvmd_preface_encode(&sample, &pvmd_secrets->own.door, nonce, wire), 0);
    ck_assert_int_eq(pvmd_preface_answer(PVMD_VERDICT_CROSSED, wire, &pvmd_secrets->own.door, nonce, answer), 0);
}

/* The listening side's result for `wire`. */
static int decode(void)
{
    struct pvmd_preface p;
    return pvmd_preface_decode(wire, &pvmd_secrets->own.door, nonce, &p);
}

/* The calling side's result for `answer`. */
static int check(void)
{
    enum pvmd_verdict verdict;
    return pvmd_preface_verdict(answer, wire, &pvmd_secrets->own.door, nonce, &verdict);
}

/* Keys and proofs were computed with Python's hmac module from the layout in doc/protocol.md. */
static const uint8_t golden_door[PVMD_KEY_BYTES] = {0x84, 0xba, 0x30, 0xb3, 0x5a, 0xcc, 0x95, 0x89, 0xa1, 0x8c, 0x4e,
                                                    0x63, 0x4e, 0x46, 0x10, 0x4e, 0x29, 0x21, 0x04, 0x22, 0xe8, 0x6e,
                                                    0x59, 0x06, 0x01, 0x6b, 0x5e, 0xe1, 0xbb, 0x56, 0xc0, 0xe4};
static const uint8_t golden[PVMD_PREFACE_BYTES] = {
    0x44, 0x50, 0x56, 0x4c, 0x06, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
    0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
    0x05, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9,
    0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xdb,
    0xdc, 0xdd, 0xde, 0xdf, 0x5d, 0xd8, 0x87, 0xc4, 0x78, 0x79, 0x59, 0xd9, 0xea, 0x2e, 0x81, 0xe2, 0xe3, 0xae,
    0x6c, 0x2c, 0x7e, 0x66, 0x5a, 0x5e, 0x46, 0xe7, 0x61, 0xa1, 0x81, 0xb7, 0x8c, 0xb9, 0x34, 0x26, 0x27, 0x68};
static const uint8_t golden_answer[PVMD_ANSWER_BYTES] = {
    0x02, 0xd5, 0xad, 0x02, 0xb2, 0x15, 0xdc, 0x62, 0x93, 0xa4, 0x81, 0xf4, 0x3f, 0x94, 0x40, 0x10, 0x0e,
    0x0f, 0x7a, 0x77, 0x42, 0xea, 0x16, 0x0f, 0xc8, 0x2b, 0x30, 0x5a, 0xc3, 0xdd, 0xc4, 0xb6, 0x2d};
static const uint8_t golden_key[PVMD_KEY_BYTES] = {0xf4, 0xf3, 0x8a, 0xc8, 0xb1, 0x60, 0x85, 0x23, 0xdf, 0xf8, 0x12,
                                                   0xa6, 0x24, 0xfd, 0x20, 0x50, 0x26, 0xf3, 0x31, 0x15, 0x4e, 0x7e,
                                                   0xce, 0x6a, 0x3a, 0x50, 0x8a, 0x34, 0xe0, 0x41, 0xc6, 0xb3};

START_TEST(bytes_are_golden)
{
    uint8_t key[PVMD_KEY_BYTES];
    make();
    ck_assert_mem_eq(pvmd_secrets->own.door.key, golden_door, sizeof golden_door);
    ck_assert_mem_eq(wire, golden, sizeof golden);
    ck_assert_mem_eq(answer, golden_answer, sizeof golden_answer);
    ck_assert_int_eq(pvmd_preface_key(wire, &machine, nonce, key), 0);
    ck_assert_mem_eq(key, golden_key, sizeof golden_key);
}
END_TEST

START_TEST(what_is_written_is_read)
{
    struct pvmd_preface p;
    enum pvmd_verdict verdict;
    make();
    ck_assert_int_eq(pvmd_preface_decode(wire, &pvmd_secrets->own.door, nonce, &p), 0);
    ck_assert_mem_eq(&p, &sample, sizeof p);
    ck_assert_int_eq(pvmd_preface_verdict(answer, wire, &pvmd_secrets->own.door, nonce, &verdict), 0);
    ck_assert_int_eq(verdict, PVMD_VERDICT_CROSSED);
}
END_TEST

START_TEST(every_changed_bit_of_a_preface_is_noticed)
{
    make();
    for (size_t bit = 0; bit < sizeof wire * 8; bit++) {
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(decode(), bit < 32 ? PVMC_EFORMAT : bit < 64 ? PVMC_EVERSION : PVMC_EDENIED);
        ck_assert_int_eq(check(), PVMC_EDENIED); /* the answer was to another preface */
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_int_eq(decode(), 0);
    ck_assert_int_eq(check(), 0);
}
END_TEST

START_TEST(every_changed_bit_of_an_answer_is_noticed)
{
    make();
    for (size_t bit = 0; bit < sizeof answer * 8; bit++) {
        answer[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(check(), PVMC_EDENIED);
        answer[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_int_eq(check(), 0);
}
END_TEST

START_TEST(nonce_secret_and_machine_count)
{
    struct pvmd_machine other = machine;
    make();
    nonce[31] ^= 1;
    ck_assert_int_eq(decode(), PVMC_EDENIED);
    ck_assert_int_eq(check(), PVMC_EDENIED);
    nonce[31] ^= 1;
    other.secret[0] ^= 1;
    pvmd_machine_join(&other);
    ck_assert_int_eq(decode(), PVMC_EDENIED);
    ck_assert_int_eq(check(), PVMC_EDENIED);
    other = machine;
    other.id[0] ^= 1;
    pvmd_machine_join(&other);
    ck_assert_int_eq(decode(), PVMC_EDENIED);
}
END_TEST

/* Reflecting bytes, or replaying one side's bytes to the other, proves nothing: each use has its own label. */
START_TEST(no_proof_serves_as_another)
{
    const uint8_t *proof = wire + PVMD_PREFACE_BYTES - PVMD_KEY_BYTES;
    uint8_t key[PVMD_KEY_BYTES];
    make();
    pvmd_preface_key(wire, &machine, nonce, key);
    ck_assert_mem_ne(key, proof, sizeof key);
    for (int verdict = 0; verdict <= PVMD_VERDICT_OUT; verdict++) {
        answer[0] = (uint8_t)verdict;
        memcpy(answer + 1, proof, sizeof key);
        ck_assert_int_eq(check(), PVMC_EDENIED);
        memcpy(answer + 1, pvmd_secrets->own.door.key, sizeof key);
        ck_assert_int_eq(check(), PVMC_EDENIED);
    }
    make();
    memcpy(wire + PVMD_PREFACE_BYTES - PVMD_KEY_BYTES, answer + 1, PVMD_KEY_BYTES);
    ck_assert_int_eq(decode(), PVMC_EDENIED);
}
END_TEST

/* A doorman that an attacker controls does not know the keys of links. */
START_TEST(the_door_key_does_not_make_link_keys)
{
    uint8_t key[PVMD_KEY_BYTES], guess[PVMD_KEY_BYTES];
    struct pvmd_machine from_door;
    make();
    memcpy(from_door.id, pvmd_secrets->own.door.machine_id, sizeof from_door.id);
    memcpy(from_door.secret, pvmd_secrets->own.door.key, sizeof from_door.secret);
    pvmd_preface_key(wire, &machine, nonce, key);
    pvmd_preface_key(wire, &from_door, nonce, guess);
    ck_assert_mem_ne(key, guess, sizeof key);
}
END_TEST

static void check_key_differs(const uint8_t key[PVMD_KEY_BYTES])
{
    uint8_t other[PVMD_KEY_BYTES];
    ck_assert_int_eq(pvmd_preface_key(wire, &machine, nonce, other), 0);
    ck_assert_mem_ne(key, other, sizeof other);
}

START_TEST(the_key_is_of_this_connection)
{
    uint8_t key[PVMD_KEY_BYTES];
    struct pvmd_preface p;
    make();
    pvmd_preface_key(wire, &machine, nonce, key);
    nonce[0] ^= 1;
    check_key_differs(key);
    nonce[0] ^= 1;
    p = sample;
    p.from_index++;
    pvmd_preface_encode(&p, &pvmd_secrets->own.door, nonce, wire);
    check_key_differs(key);
    p = sample;
    p.nonce[0] ^= 1;
    pvmd_preface_encode(&p, &pvmd_secrets->own.door, nonce, wire);
    check_key_differs(key);
}
END_TEST

UNIT_MAIN("pvmd_preface", bytes_are_golden, what_is_written_is_read, every_changed_bit_of_a_preface_is_noticed,
          every_changed_bit_of_an_answer_is_noticed, nonce_secret_and_machine_count, no_proof_serves_as_another,
          the_door_key_does_not_make_link_keys, the_key_is_of_this_connection)
