/* test_error.c - the error table: every code has a text and a public code; other values pass unchanged. */
#include "core/error.h"
#include "tests/unit/unit.h"

START_TEST(internal_codes_map_to_public_ones)
{
    ck_assert_int_eq(pvmc_error_public(PVMC_EAGAIN), PvmSysErr);
    ck_assert_int_eq(pvmc_error_public(PVMC_ENOMEM), PvmNoMem);
    ck_assert_int_eq(pvmc_error_public(PVMC_EPARAM), PvmBadParam);
    ck_assert_int_eq(pvmc_error_public(PVMC_ESHORT), PvmNoData);
    ck_assert_int_eq(pvmc_error_public(PVMC_EOVERFLOW), PvmOverflow);
    ck_assert_int_eq(pvmc_error_public(PVMC_ENOTFOUND), PvmNotFound);
#define X(name, code, text)                                                                                            \
    ck_assert_int_eq(pvmc_error_public(PVMC_E##name), code);                                                           \
    ck_assert_str_eq(pvmc_error_text(PVMC_E##name), text);                                                             \
    ck_assert_int_lt(PVMC_E##name, -PVMC_PUBLIC_ERROR_COUNT);
    PVMC_ERRORS(X)
#undef X
}
END_TEST

START_TEST(other_values_pass_unchanged)
{
    static const int values[] = {
        0, 1, 262145, PvmBadParam, PvmIPLoopback, -999999, PVMC_ERROR_BASE, PVMC_ENOTFOUND + 1};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        ck_assert_int_eq(pvmc_error_public(values[i]), values[i]);
}
END_TEST

START_TEST(public_texts_are_those_of_pvm)
{
    ck_assert_str_eq(pvmc_error_text(0), "Error 0");
    ck_assert_str_eq(pvmc_error_text(-1), "Error 1");
    ck_assert_str_eq(pvmc_error_text(PvmBadParam), "Bad parameter");
    ck_assert_str_eq(pvmc_error_text(-9), "Error 9");
    ck_assert_str_eq(pvmc_error_text(PvmNoMem), "Malloc failed");
    ck_assert_str_eq(pvmc_error_text(-13), "Error 13");
    ck_assert_str_eq(pvmc_error_text(PvmSysErr), "Can't contact local daemon");
    ck_assert_str_eq(pvmc_error_text(PvmNotFound), "Not Found");
    ck_assert_str_eq(pvmc_error_text(PvmIPLoopback), "Master Host IP Address is Loopback! (See pvm3/Readme)");
    for (int code = 0; code > -PVMC_PUBLIC_ERROR_COUNT; code--)
        ck_assert_ptr_nonnull(pvmc_error_text(code));
}
END_TEST

START_TEST(unknown_codes_have_a_text)
{
    static const int values[] = {1, 42, -PVMC_PUBLIC_ERROR_COUNT, PVMC_ERROR_BASE, PVMC_ENOTFOUND + 1, -2147483647 - 1};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        ck_assert_str_eq(pvmc_error_text(values[i]), "Unknown Error");
}
END_TEST

UNIT_MAIN("error", internal_codes_map_to_public_ones, other_values_pass_unchanged, public_texts_are_those_of_pvm,
          unknown_codes_have_a_text)
