/* test_dsig.c - data signatures of known machines. */
#include "core/message/dsig.h"
#include "tests/unit/unit.h"

START_TEST(known_machines)
{
    ck_assert_uint_eq(pvmc_dsig_make(false, 2, 4, 8), 0x00408c41); /* x86-64, as PVM prints it */
    ck_assert_uint_eq(pvmc_dsig_make(false, 2, 4, 4), 0x00408841); /* i386 */
    ck_assert_uint_eq(pvmc_dsig_make(true, 2, 4, 8), 0x0658ef59);  /* s390x */
    ck_assert_uint_eq(pvmc_dsig_make(true, 2, 4, 4), 0x0658eb59);  /* big-endian with longs of 4 bytes */
}
END_TEST

START_TEST(own_is_this_machine)
{
    pvmc_dsig own = pvmc_dsig_own();
    ck_assert(pvmc_dsig_valid(own));
    ck_assert_uint_eq(pvmc_dsig_short_bytes(own), sizeof(short));
    ck_assert_uint_eq(pvmc_dsig_int_bytes(own), sizeof(int));
    ck_assert_uint_eq(pvmc_dsig_long_bytes(own), sizeof(long));
    int one = 1;
    ck_assert_int_eq(pvmc_dsig_big_endian(own), *(char *)&one == 0);
#ifdef __x86_64__
    ck_assert_uint_eq(own, 4230209);
    ck_assert_str_eq(pvmc_arch_own(), "LINUX64");
#endif
}
END_TEST

START_TEST(fields_are_read_back)
{
    for (unsigned big = 0; big < 2; big++) {
        for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
            pvmc_dsig sig = pvmc_dsig_make(big, bytes, 4, 8);
            ck_assert(pvmc_dsig_valid(sig));
            ck_assert_uint_eq(pvmc_dsig_short_bytes(sig), bytes);
            ck_assert_uint_eq(pvmc_dsig_int_bytes(sig), 4);
            ck_assert_uint_eq(pvmc_dsig_long_bytes(sig), 8);
            ck_assert_uint_eq(pvmc_dsig_big_endian(sig), big);
        }
    }
}
END_TEST

START_TEST(strange_ones_are_not_valid)
{
    pvmc_dsig own = pvmc_dsig_own();
    ck_assert(!pvmc_dsig_valid(0));
    ck_assert(!pvmc_dsig_valid(UINT32_MAX));
    /* Any single bit set in the byte orders, float formats or unused bits makes the signature not convertible. */
    static const unsigned bits[] = {2, 3, 4, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 21, 22, 23, 24, 26, 27, 31};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        ck_assert_msg(!pvmc_dsig_valid(own ^ 1u << bits[i]), "bit %u", bits[i]);
}
END_TEST

UNIT_MAIN("dsig", known_machines, own_is_this_machine, fields_are_read_back, strange_ones_are_not_valid)
