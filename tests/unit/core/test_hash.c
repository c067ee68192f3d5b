/* test_hash.c - fails each allocation of a growing table once: the element is refused, and the table stays intact. */
#include <stdlib.h>

static void *scarce_malloc(size_t bytes);
#define uthash_malloc(bytes) scarce_malloc(bytes)
#include "core/hash.h"
#include "tests/unit/unit.h"

enum { ELEMENTS = 5000 }; /* enough for the table to grow several times */

struct element {
    int key;
    char text[16];
    UT_hash_handle hh, by_text;
};

static struct element elements[ELEMENTS];
static struct element *all, *texts;
static int allocations, failing; /* number of the allocation that fails; 0: none */

static void *scarce_malloc(size_t bytes)
{
    return ++allocations == failing ? NULL : malloc(bytes);
}

static void check_table(int count)
{
    int i = 0;
    ck_assert_int_eq(HASH_COUNT(all), count);
    for (const struct element *e = all; e; e = e->hh.next)
        ck_assert_int_eq(e->key, i++);
    ck_assert_int_eq(i, count);
    for (i = 0; i < count; i++) {
        struct element *found;
        HASH_FIND_INT(all, &i, found);
        ck_assert_ptr_eq(found, &elements[i]);
    }
}

static void add_again(int i)
{
    ck_assert(PVMC_HASH_ADD(hh, all, key, &elements[i]));
    check_table(i + 1);
}

/* Adds all elements. False: an allocation failed and the second attempt succeeded. */
static bool fill(void)
{
    bool refused = false;
    for (int i = 0; i < ELEMENTS; i++) {
        elements[i].key = i;
        if (PVMC_HASH_ADD(hh, all, key, &elements[i]))
            continue;
        check_table(i);
        add_again(i);
        refused = true;
    }
    return !refused;
}

static void empty(void)
{
    for (int i = 0; i < ELEMENTS; i++)
        HASH_DEL(all, &elements[i]);
    ck_assert_ptr_null(all);
}

START_TEST(an_element_is_refused_and_nothing_else_happens)
{
    bool done = false;
    for (failing = 1; !done; failing++) {
        allocations = 0;
        done = fill();
        empty();
    }
    ck_assert_int_gt(failing, 8);
}
END_TEST

START_TEST(a_text_is_found_by_either_handle)
{
    struct element *found;
    for (int i = 0; i < 100; i++) {
        elements[i].key = i;
        snprintf(elements[i].text, sizeof elements[i].text, "element %d", i);
        ck_assert(PVMC_HASH_ADD(hh, all, key, &elements[i]));
        ck_assert(PVMC_HASH_ADD_TEXT(by_text, texts, text, &elements[i]));
    }
    HASH_FIND(by_text, texts, "element 17", strlen("element 17"), found);
    ck_assert_ptr_eq(found, &elements[17]);
    check_table(100);
    HASH_CLEAR(hh, all);
    HASH_CLEAR(by_text, texts);
}
END_TEST

UNIT_MAIN("hash", an_element_is_refused_and_nothing_else_happens, a_text_is_found_by_either_handle)
