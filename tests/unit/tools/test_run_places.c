/* test_run_places.c - hosts and slots of pvm run: lists, files, shares. */
#include <stdlib.h>
#include <unistd.h>
#include "run/places.h"
#include "tests/unit/unit.h"

static struct run_places p;

static const char *list(const char *text)
{
    run_places_free(&p);
    return run_places_add_list(&p, text);
}

/* Reads a hostfile with this content; *line as for run_places_add_file(). */
static const char *file(const char *content, int *line)
{
    char path[] = "/tmp/places.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    run_places_free(&p);
    const char *wrong = run_places_add_file(&p, path, line);
    unlink(path);
    return wrong;
}

static void is(int i, const char *host, int slots)
{
    ck_assert_int_lt(i, p.count);
    ck_assert_str_eq(p.all[i].host, host);
    ck_assert_int_eq(p.all[i].slots, slots);
}

START_TEST(a_list_has_hosts_with_slots)
{
    ck_assert_ptr_null(list("a,b:4,[::1]:2,[fe80::1],::1"));
    ck_assert_int_eq(p.count, 5);
    is(0, "a", 1);
    is(1, "b", 4);
    is(2, "[::1]", 2);
    is(3, "[fe80::1]", 1);
    is(4, "::1", 1);
    ck_assert_int_eq(p.slots, 9);
    run_places_free(&p);
}
END_TEST

START_TEST(wrong_lists_are_refused)
{
    static const char *const wrong[] = {"", "a,", ",a", "a:", "a:0", "a:x", "a:-1", "a:4x", "a: 4", "a:99999999", ":4"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(list(wrong[i]) != NULL, "%s", wrong[i]);
    run_places_free(&p);
}
END_TEST

START_TEST(a_file_has_slots_and_options)
{
    int line;
    ck_assert_ptr_null(file("# hosts\n"
                            "a\n"
                            "\n"
                            "  b slots=4 max_slots=8 # many\n"
                            "c:2 dx=/opt/pvmd3\r\n"
                            "d wd=/tmp slots=3 ep=/bin",
                            &line));
    ck_assert_int_eq(p.count, 4);
    is(0, "a", 1);
    is(1, "b", 4);
    is(2, "c dx=/opt/pvmd3", 2);
    is(3, "d wd=/tmp ep=/bin", 3);
    ck_assert_int_eq(run_place_name_length(&p.all[2]), 1);
    run_places_free(&p);
}
END_TEST

START_TEST(wrong_files_are_refused_by_line)
{
    int line;
    ck_assert_ptr_nonnull(file("a\nb slots=x\nc\n", &line));
    ck_assert_int_eq(line, 2);
    ck_assert_ptr_nonnull(file("a:0\n", &line));
    ck_assert_int_eq(line, 1);
    ck_assert_ptr_nonnull(file("# nothing\n\n", &line));
    ck_assert_int_eq(line, 0);
    run_places_free(&p);
    ck_assert_ptr_nonnull(run_places_add_file(&p, "/nonexistent/hosts", &line));
    ck_assert_int_eq(line, 0);
    run_places_free(&p);
}
END_TEST

START_TEST(slots_are_filled_in_order_and_then_again)
{
    static const int expected[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {1, 2, 1}, {2, 2, 1}, {2, 3, 1}};
    ck_assert_ptr_null(list("a,b:2,c"));
    for (int copies = 1; copies < 7; copies++)
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(run_places_share(&p, copies, i), expected[copies][i]);
    ck_assert_int_eq(run_places_share(&p, 4000, 1), 2000);
    run_places_free(&p);
}
END_TEST

UNIT_MAIN("run_places", a_list_has_hosts_with_slots, wrong_lists_are_refused, a_file_has_slots_and_options,
          wrong_files_are_refused_by_line, slots_are_filled_in_order_and_then_again)
