/* test_history.c - the checker detects each kind of fault that it is meant for. */
#include "tests/unit/unit.h"
#include "tests/machine/runner/history.h"

enum { ME = 7, YOU = 9, BYTES = 1003 };

static struct history h = {.me = ME};
static uint8_t data[BYTES];

static const char *give(int from, uint32_t number, size_t bytes)
{
    history_write(data, bytes, from, ME, number);
    return history_read(&h, from, data, bytes);
}

START_TEST(right_histories_pass)
{
    for (uint32_t i = 0; i < 50; i++) {
        ck_assert_ptr_null(give(YOU, i, HISTORY_BYTES_MIN + i * 19));
        ck_assert_ptr_null(give(YOU + 1, i, BYTES));
    }
    ck_assert_uint_eq(history_count(&h, YOU), 50);
    ck_assert_ptr_null(history_end(&h, YOU, 50));
    ck_assert_ptr_null(history_end(&h, YOU + 2, 0));
    ck_assert_uint_eq(h.messages, 100);
}
END_TEST

START_TEST(gaps_doubles_and_swaps_are_found)
{
    ck_assert_ptr_null(give(YOU, 0, 100));
    ck_assert_ptr_nonnull(give(YOU, 2, 100));
    ck_assert_ptr_nonnull(give(YOU, 0, 100));
    ck_assert_ptr_null(give(YOU, 1, 100));
    ck_assert_ptr_nonnull(give(YOU, 1, 100));
}
END_TEST

START_TEST(every_changed_byte_is_found)
{
    history_write(data, BYTES, YOU, ME, 0);
    for (size_t i = 0; i < BYTES; i++) {
        data[i] ^= 1;
        ck_assert_msg(history_read(&h, YOU, data, BYTES) != NULL, "byte %zu", i);
        data[i] ^= 1;
    }
    ck_assert_ptr_nonnull(history_read(&h, YOU, data, BYTES - 1));
    ck_assert_ptr_nonnull(history_read(&h, YOU, data, 5));
    ck_assert_ptr_nonnull(history_read(&h, YOU + 1, data, BYTES));
    ck_assert_ptr_null(history_read(&h, YOU, data, BYTES));
}
END_TEST

START_TEST(messages_to_others_are_found)
{
    history_write(data, BYTES, YOU, ME + 1, 0);
    ck_assert_ptr_nonnull(history_read(&h, YOU, data, BYTES));
}
END_TEST

START_TEST(a_missing_end_needs_a_notify)
{
    ck_assert_ptr_null(give(YOU, 0, 100));
    ck_assert_ptr_nonnull(history_end(&h, YOU, 2));
    ck_assert_ptr_nonnull(history_end(&h, YOU, 0));
    history_death(&h, YOU);
    ck_assert_ptr_null(history_end(&h, YOU, 2));
    ck_assert_ptr_nonnull(give(YOU, 2, 100)); /* a gap is a fault, whether the task is dead or not */
}
END_TEST

UNIT_MAIN("history", right_histories_pass, gaps_doubles_and_swaps_are_found, every_changed_byte_is_found,
          messages_to_others_are_found, a_missing_end_needs_a_notify)
