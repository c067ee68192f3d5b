/*
 * test_pvmd_mailbox.c - the mailbox: the index that a put gets, who may change an entry, and what remains when an owner
 * ends. The expected results are those of PVM 3.4.6 for the same calls.
 */
#include "pvmd/duties/mailbox_store.h"
#include "pvm3.h"
#include "tests/unit/unit.h"

enum { ME = 0x40001, YOU = 0x40002 };

static int put(const char *name, int index, pvmc_tid owner, uint32_t flags, const char *text)
{
    struct pvmd_mail mail = {.owner = owner,
                             .src = owner,
                             .flags = flags,
                             .enc = 1,
                             .dsig = 2,
                             .data = (uint8_t *)text,
                             .length = strlen(text)};
    return pvmd_mailbox_put(name, index, &mail);
}

static int find(const char *name, int index, uint32_t flags, pvmc_tid who)
{
    struct pvmd_mail *found;
    int rc = pvmd_mailbox_find(name, index, flags, who, &found);
    ck_assert(rc < 0 ? !found : found->index == rc);
    return rc;
}

static const char *text_at(const char *name, int index)
{
    static char text[100];
    struct pvmd_mail *m;
    ck_assert_int_eq(pvmd_mailbox_find(name, index, 0, ME, &m), index);
    snprintf(text, sizeof text, "%.*s", (int)m->length, (char *)m->data);
    return text;
}

static int classes_like(const char *pattern)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmd_mailbox_put_names(&b, pattern);
    int n = (int)pvmc_buf_get_u32(&b);
    pvmc_buf_free(&b);
    return n;
}

START_TEST(default_puts_replace_their_owners_entry)
{
    ck_assert_int_eq(put("box", -1, ME, PvmMboxDefault, "a"), 0);
    ck_assert_int_eq(put("box", -1, ME, PvmMboxDefault, "b"), 0);
    ck_assert_str_eq(text_at("box", 0), "b");
    ck_assert_int_eq(put("box", -1, YOU, PvmMboxDefault, "c"), PvmDenied);
    ck_assert_str_eq(text_at("box", 0), "b");
}
END_TEST

START_TEST(overwritable_entries_are_anybodys)
{
    ck_assert_int_eq(put("m4", -1, ME, PvmMboxOverWritable, "a"), 0);
    ck_assert_int_eq(put("m4", -1, YOU, PvmMboxDefault, "b"), 0);
    ck_assert_int_eq(put("m4", -1, ME, PvmMboxDefault, "c"), PvmDenied); /* now it has an owner and is locked */
}
END_TEST

START_TEST(instances_take_the_lowest_free_index)
{
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(put("m2", -1, ME, PvmMboxMultiInstance, ""), i);
    ck_assert_int_eq(pvmd_mailbox_remove("m2", 1, 0, ME), 1);
    ck_assert_int_eq(put("m2", -1, YOU, PvmMboxMultiInstance, ""), 1);
    ck_assert_int_eq(put("m2", -1, ME, PvmMboxMultiInstance, ""), 4);
}
END_TEST

START_TEST(a_direct_index_is_taken)
{
    uint32_t five = PvmMboxDirectIndex(5);
    ck_assert_int_eq(put("m1", 5, ME, five, "a"), 5);
    ck_assert_int_eq(put("m1", 5, ME, five, "b"), 5);
    ck_assert_int_eq(put("m1", 5, YOU, five, "c"), PvmDenied);
    ck_assert_int_eq(put("m1", 5, ME, five | PvmMboxMultiInstance, "d"), 6);
    ck_assert_int_eq(put("m1", -1, ME, 0, "e"), 0);
    int last = (int)PvmMboxMaxDirectIndex - 1;
    ck_assert_int_eq(put("m1", last, ME, (uint32_t)PvmMboxDirectIndex(last), ""), last);
}
END_TEST

START_TEST(an_inserted_index_must_be_free)
{
    ck_assert_int_eq(put("old", -1, ME, PvmMboxMultiInstance, "a"), 0);
    ck_assert_int_eq(put("old", 0, ME, PvmMboxMultiInstance, "b"), PvmDenied);
    ck_assert_int_eq(put("old", 3, ME, PvmMboxMultiInstance, "c"), 3);
    ck_assert_int_eq(find("old", 0, PvmMboxFirstAvail, YOU), 0);
}
END_TEST

START_TEST(entries_are_found)
{
    put("f", 2, ME, 0, "x");
    put("f", 7, ME, 0, "y");
    ck_assert_int_eq(find("f", 2, 0, YOU), 2);
    ck_assert_int_eq(find("f", 3, 0, YOU), PvmNotFound);
    ck_assert_int_eq(find("f", 3, PvmMboxFirstAvail, YOU), 7);
    ck_assert_int_eq(find("f", 8, PvmMboxFirstAvail, YOU), PvmNotFound);
    ck_assert_int_eq(find("g", 0, 0, YOU), PvmNotFound);
    ck_assert_int_eq(find("", 0, 0, YOU), PvmBadParam);
    ck_assert_int_eq(find("f", -1, PvmMboxFirstAvail, YOU), PvmBadParam);
    ck_assert_int_eq(find("f", 2, PvmMboxReadAndDelete, YOU), PvmDenied);
    ck_assert_int_eq(find("f", 2, PvmMboxReadAndDelete, ME), 2);
}
END_TEST

START_TEST(owners_remove)
{
    put("r", 0, ME, 0, "");
    put("r", 1, ME, PvmMboxOverWritable, "");
    ck_assert_int_eq(pvmd_mailbox_remove("r", 0, 0, YOU), PvmDenied);
    ck_assert_int_eq(pvmd_mailbox_remove("r", 1, 0, YOU), 1);
    ck_assert_int_eq(pvmd_mailbox_remove("r", 1, 0, YOU), PvmNotFound);
    ck_assert_int_eq(pvmd_mailbox_remove("r", 0, PvmMboxFirstAvail, ME), 0);
    ck_assert_int_eq(classes_like("*"), 0); /* an empty class counts as none */
}
END_TEST

START_TEST(the_end_of_an_owner)
{
    put("e", 0, ME, 0, "");
    put("e", 1, ME, PvmMboxPersistent, "");
    put("e", 2, YOU, 0, "");
    put("only mine", 0, ME, 0, "");
    pvmd_mailbox_owner_ended(ME);
    ck_assert_int_eq(find("e", 0, 0, YOU), PvmNotFound);
    struct pvmd_mail *m;
    ck_assert_int_eq(pvmd_mailbox_find("e", 1, 0, YOU, &m), 1);
    ck_assert_uint_eq(m->owner, 0);
    ck_assert_uint_eq(m->src, ME);
    ck_assert_int_eq(find("e", 2, 0, YOU), 2);
    ck_assert_int_eq(classes_like("*"), 1);
    ck_assert_int_eq(pvmd_mailbox_remove("e", 1, 0, YOU), PvmDenied); /* without owner, and not OverWritable */
}
END_TEST

START_TEST(resets_spare_owners)
{
    pvmc_tid spared[] = {YOU, 0x7ffff, 1}; /* in any order */
    put("a", 0, ME, PvmMboxPersistent, "");
    put("a", 1, YOU, 0, "");
    put("a", 2, ME, 0, "");
    put("b", 0, ME, 0, "");
    pvmd_mailbox_reset("a", 2, spared, 3);
    ck_assert_int_eq(find("a", 2, 0, ME), PvmNotFound);
    ck_assert_int_eq(find("a", 0, 0, ME), 0);
    pvmd_mailbox_reset("", -1, spared, 3);
    ck_assert_int_eq(find("a", 0, 0, ME), PvmNotFound);
    ck_assert_int_eq(find("a", 1, 0, ME), 1);
    ck_assert_int_eq(classes_like("*"), 1);
}
END_TEST

START_TEST(patterns)
{
    static const struct {
        const char *pattern, *name;
        bool match;
    } cases[] = {{"*", "", true},        {"*", "any", true},         {"", "", true},          {"", "a", true},
                 {"a", "a", true},       {"a", "bab", true},         {"a*", "a", true},       {"a*", "ba", true},
                 {"*a", "ba", true},     {"*a", "ab", true},         {"a", "b", false},       {"ab", "a", false},
                 {"a*b*c", "abc", true}, {"a*b*c", "axbxbxc", true}, {"a*b*c", "acb", false}, {"**a**", "xay", true},
                 {"*ab", "aab", true},   {"*aab", "aaab", true}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(pvmd_mailbox_matches(cases[i].pattern, cases[i].name) == cases[i].match, "%s and %s",
                      cases[i].pattern, cases[i].name);
    put("box1", 0, ME, 0, "");
    put("box2", 0, ME, 0, "");
    put("x", 0, ME, 0, "");
    ck_assert_int_eq(classes_like("box*"), 2);
    ck_assert_int_eq(classes_like("*1"), 1);
    ck_assert_int_eq(classes_like("y"), 0);
}
END_TEST

START_TEST(names_and_bytes_have_limits)
{
    static char name[PVMD_MAILBOX_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    ck_assert_int_eq(put("", -1, ME, 0, ""), PvmBadParam);
    ck_assert_int_eq(put(name, -1, ME, 0, ""), PvmBadParam);
    ck_assert_int_eq(put(name + 1, -1, ME, 0, ""), 0);
    ck_assert_int_eq(put("n", (int)PvmMboxMaxDirectIndex + 1, ME, 0, ""), PvmBadParam);
    struct pvmd_mail huge = {.owner = ME, .length = PVMD_MAILBOX_BYTES_MAX + 1};
    ck_assert_int_eq(pvmd_mailbox_put("n", -1, &huge), PvmOutOfRes);
    pvmd_mailbox_free_all();
    ck_assert_int_eq(classes_like("*"), 0);
}
END_TEST

START_TEST(each_owner_has_limits)
{
    for (int i = 0; i < PVMD_MAILBOX_OWN_ENTRIES; i++)
        ck_assert_int_eq(put("n", i, ME, 0, ""), i);
    ck_assert_int_eq(put("n", PVMD_MAILBOX_OWN_ENTRIES, ME, 0, ""), PvmOutOfRes);
    ck_assert_int_eq(put("n", PVMD_MAILBOX_OWN_ENTRIES, YOU, 0, ""), PVMD_MAILBOX_OWN_ENTRIES);
    ck_assert_int_eq(pvmd_mailbox_remove("n", 0, 0, ME), 0);
    ck_assert_int_eq(put("n", 0, ME, 0, ""), 0);
    struct pvmd_mail large = {
        .owner = YOU, .data = calloc(1, PVMD_MAILBOX_OWN_BYTES), .length = PVMD_MAILBOX_OWN_BYTES};
    ck_assert_int_eq(pvmd_mailbox_put("large", -1, &large), 0);
    large.length = 1;
    ck_assert_int_eq(pvmd_mailbox_put("large", 1, &large), PvmOutOfRes);
    pvmd_mailbox_owner_ended(YOU);
    ck_assert_int_eq(pvmd_mailbox_put("large", 1, &large), 1);
    free(large.data);
    pvmd_mailbox_free_all();
}
END_TEST

START_TEST(all_owners_have_limits_together)
{
    char name[16];
    for (int i = 0; i < PVMD_MAILBOX_ENTRIES_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i % 1024); /* long classes are slow */
        ck_assert_int_ge(put(name, i, ME + i / PVMD_MAILBOX_OWN_ENTRIES, 0, ""), 0);
    }
    ck_assert_int_eq(put("one more", 0, ME - 1, 0, ""), PvmOutOfRes);
    pvmd_mailbox_free_all();
    struct pvmd_mail large = {.data = calloc(1, PVMD_MAILBOX_OWN_BYTES), .length = PVMD_MAILBOX_OWN_BYTES};
    ck_assert_ptr_nonnull(large.data);
    for (large.owner = ME; large.owner < ME + PVMD_MAILBOX_BYTES_MAX / PVMD_MAILBOX_OWN_BYTES; large.owner++)
        ck_assert_int_ge(pvmd_mailbox_put("large", (int)(large.owner - ME), &large), 0);
    large.length = 1;
    ck_assert_int_eq(pvmd_mailbox_put("one more", -1, &large), PvmOutOfRes);
    free(large.data);
    pvmd_mailbox_free_all();
}
END_TEST

START_TEST(names_have_a_limit_together)
{
    char name[PVMD_MAILBOX_NAME_MAX + 1];
    int rc = 0, n = 0;
    for (; rc >= 0; n++) {
        snprintf(name, sizeof name, "%0*d", PVMD_MAILBOX_NAME_MAX, n);
        rc = put(name, 0, ME, 0, "");
    }
    ck_assert_int_eq(rc, PvmOutOfRes);
    ck_assert_int_eq(n - 1, PVMD_MAILBOX_NAMES_MAX / PVMD_MAILBOX_NAME_MAX);
    pvmd_mailbox_free_all();
    ck_assert_int_eq(put(name, 0, ME, 0, ""), 0);
    pvmd_mailbox_free_all();
}
END_TEST

UNIT_MAIN("pvmd_mailbox", each_owner_has_limits, all_owners_have_limits_together, names_have_a_limit_together,
          default_puts_replace_their_owners_entry, overwritable_entries_are_anybodys,
          instances_take_the_lowest_free_index, a_direct_index_is_taken, an_inserted_index_must_be_free,
          entries_are_found, owners_remove, the_end_of_an_owner, resets_spare_owners, patterns,
          names_and_bytes_have_limits)
