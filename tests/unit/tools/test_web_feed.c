/* test_web_feed.c - the stream of changes of pvm web: positions, and readers that have lost their place. */
#include "console/web/feed.h"
#include <stdlib.h>
#include <string.h>
#include "tests/unit/unit.h"

static struct feed f;
static char got[FEED_BYTES + 100];

START_TEST(a_reader_gets_all)
{
    ck_assert_int_eq(feed_read(&f, 0, got, sizeof got), 0);
    feed_append(&f, "hello", 5);
    ck_assert_int_eq(feed_read(&f, 0, got, 3), 3);
    ck_assert_int_eq(feed_read(&f, 3, got + 3, 100), 2);
    ck_assert_mem_eq(got, "hello", 5);
    ck_assert_int_eq(feed_read(&f, 5, got, 100), 0);
    ck_assert_int_eq(feed_read(&f, 6, got, 100), -1); /* has never been */
    free(f.bytes);
}
END_TEST

START_TEST(it_goes_round)
{
    static char block[1000];
    uint64_t read = 0;
    for (int i = 0; i < 3 * FEED_BYTES / (int)sizeof block; i++) {
        memset(block, 'a' + i % 26, sizeof block);
        feed_append(&f, block, sizeof block);
        for (size_t had = 0; had < sizeof block;) {
            long bytes = feed_read(&f, read, got + had, sizeof block - had);
            ck_assert_int_gt(bytes, 0);
            had += (size_t)bytes;
            read += (uint64_t)bytes;
        }
        ck_assert_mem_eq(got, block, sizeof block);
    }
    free(f.bytes);
}
END_TEST

START_TEST(a_slow_reader_is_lost)
{
    static char much[FEED_BYTES];
    feed_append(&f, much, sizeof much);
    ck_assert_int_gt(feed_read(&f, 0, got, 10), 0);
    feed_append(&f, "x", 1);
    ck_assert_int_eq(feed_read(&f, 0, got, 10), -1);
    ck_assert_int_eq(feed_read(&f, 1, got, 10), 10);
    free(f.bytes);
}
END_TEST

UNIT_MAIN("web feed", a_reader_gets_all, it_goes_round, a_slow_reader_is_lost)
