/* test_copy.c - large copies, which may go past the caches. */
#include "core/memory/copy.h"
#include <stdlib.h>
#include <string.h>
#include "tests/unit/unit.h"

#define KIB       ((size_t)1 << 10)
#define MIB       ((size_t)1 << 20)
#define EDGE      64
#define UNTOUCHED 0xa5

static uint8_t *from, *to;

static void make_room(void)
{
    size_t bytes = 17 * MIB + 4 * EDGE;
    from = malloc(bytes);
    to = malloc(bytes);
    ck_assert(from && to);
    for (size_t i = 0; i < bytes; i++)
        from[i] = (uint8_t)(i * 7 + i / 251);
}

static void drop_room(void)
{
    free(from);
    free(to);
}

static void expect_copy(void (*copy)(void *, const void *, size_t), size_t to_shift, size_t from_shift, size_t length)
{
    uint8_t *out = to + EDGE + to_shift;
    memset(out - EDGE, UNTOUCHED, length + 2 * EDGE);
    copy(out, from + from_shift, length);
    ck_assert_int_eq(memcmp(out, from + from_shift, length), 0);
    for (int i = 1; i <= EDGE; i++) {
        ck_assert_uint_eq(out[-i], UNTOUCHED);
        ck_assert_uint_eq(out[length + (size_t)i - 1], UNTOUCHED);
    }
}

static const size_t sizes[] = {
    0,         1,         63,        64,       2048,         4095,         4096, 5000, 128 * KIB - 1,
    128 * KIB, 256 * KIB, 300 * KIB, MIB + 17, 16 * MIB - 1, 16 * MIB + 65};
static const size_t shifts[] = {0, 1, 16, 63};

START_TEST(copies_end_where_they_should)
{
    make_room();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof shifts / sizeof *shifts; j++) {
            expect_copy(pvmc_mem_copy, shifts[j], 0, sizes[i]);
            expect_copy(pvmc_mem_fill, shifts[j], 0, sizes[i]);
            expect_copy(pvmc_mem_fill, 16, shifts[j], sizes[i]);
        }
    drop_room();
}
END_TEST

UNIT_MAIN("copy", copies_end_where_they_should)
