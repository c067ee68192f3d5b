/* test_choice.c - PVM_TRANSPORT: the chosen transports, their order, and the messages for unusable names. */
#include "tests/unit/unit.h"
#include "core/error.h"
#include "transports/choice.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct pvmt_choice choice;
static char why[2048];

static void check_has(const char *part)
{
    ck_assert_msg(strstr(why, part), "\"%s\" does not say \"%s\"", why, part);
}

/* The names chosen for a text, separated by blanks. */
static const char *names(const char *text)
{
    static char list[256];
    setenv("PVM_RDMA_DEVICE", "none", 1); /* so that rdma is not usable, wherever the test runs */
    list[0] = '\0';
    ck_assert_int_eq(pvmt_choice_check(text, why, sizeof why), 0);
    ck_assert_int_eq(pvmt_choice_parse(text, &choice, why, sizeof why), 0);
    for (unsigned i = 0; i < choice.count; i++) {
        strcat(list, i ? " " : "");
        strcat(list, choice.ops[i]->name);
    }
    return list;
}

static void check_refused(const char *text, const char *reason)
{
    ck_assert_int_eq(pvmt_choice_check(text, why, sizeof why), PVMC_EPARAM);
    ck_assert_int_eq(pvmt_choice_parse(text, &choice, why, sizeof why), PVMC_EPARAM);
    check_has(text);
    check_has(reason);
    check_has("usable here: auto");
    check_has("rdma (");
}

static uint64_t cost(const struct pvmt_transport_ops *ops)
{
    struct pvmt_attributes a;
    ops->query(NULL, &a);
    return a.latency_ns;
}

static bool wants_to_be_named(const struct pvmt_transport_row *row)
{
    struct pvmt_attributes a = {.by_name_only = false};
    if (row->ops)
        row->ops->query(NULL, &a);
    return a.by_name_only;
}

static unsigned memfds; /* created by this process */

int memfd_create(const char *name, unsigned flags)
{
    memfds++;
    return (int)syscall(SYS_memfd_create, name, flags);
}

/* Asking takes time at the start of each task. shm creates a memfd to find out. */
START_TEST(each_is_asked_once)
{
    memfds = 0;
    ck_assert_str_ne(names("auto"), "");
    ck_assert_uint_eq(memfds, 1);
    memfds = 0;
    ck_assert_str_ne(names("shm,auto"), "");
    ck_assert_uint_eq(memfds, 1);
}
END_TEST

START_TEST(auto_takes_all_usable_ones_the_fastest_first)
{
    char reason[256];
    unsigned usable = 0;
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++)
        usable += !wants_to_be_named(row) && !pvmt_choice_usable(row, reason, sizeof reason);
    names("auto");
    ck_assert_str_eq(why, "");
    ck_assert_uint_eq(choice.count, usable);
    for (unsigned i = 1; i < choice.count; i++)
        ck_assert_uint_le(cost(choice.ops[i - 1]), cost(choice.ops[i]));
    names("");
    ck_assert_uint_eq(choice.count, usable);
}
END_TEST

START_TEST(a_list_is_taken_in_its_order)
{
    ck_assert_str_eq(names("tcp,shm"), "tcp shm");
    ck_assert_str_eq(names(" shm , tcp "), "shm tcp");
    ck_assert_str_eq(names("shm,shm"), "shm");
    ck_assert_str_eq(names("tcp,auto"), "tcp shm");
    ck_assert_str_eq(names("shm,daemon"), "shm");
    ck_assert_str_eq(names("daemon"), "");
}
END_TEST

START_TEST(names_are_excluded)
{
    ck_assert_ptr_null(strstr(names("^tcp"), "tcp"));
    ck_assert_str_eq(names("shm,tcp,^shm"), "tcp");
    ck_assert_str_eq(names("^shm,^tcp"), "");
    ck_assert_ptr_nonnull(strstr(names("auto,^rdma"), "shm"));
    ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(unknown_names_are_errors_that_list_the_known_ones)
{
    check_refused("shm,infiniband", "\"infiniband\" is no transport");
    check_refused("^myrinet", "\"myrinet\" is no transport");
    check_refused("SHM", "\"SHM\" is no transport");
    check_refused("^daemon", "cannot be excluded");
    check_refused("daemon,shm", "follows daemon");
    check_refused("unix", "named daemon");
    check_refused("loop", "does not leave the process");
}
END_TEST

START_TEST(what_is_not_usable_is_left_out_and_said)
{
    ck_assert_str_eq(names("rdma,tcp"), "tcp");
    check_has("PVM_TRANSPORT=rdma,tcp");
    check_has("goes on without rdma (");
    setenv("PVM_DP_IF", "nowhere", 1);
    ck_assert_str_eq(names("dp"), "");
    check_has("goes on without dp"); /* because the right or the interface is missing */
}
END_TEST

START_TEST(long_texts_are_cut)
{
    char text[5000], small[64];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(pvmt_choice_parse(text, &choice, small, sizeof small), PVMC_EPARAM);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
    memset(text, ',', sizeof text - 1);
    ck_assert_int_eq(pvmt_choice_parse(text, &choice, small, sizeof small), 0);
}
END_TEST

UNIT_MAIN("choice", each_is_asked_once, auto_takes_all_usable_ones_the_fastest_first, a_list_is_taken_in_its_order,
          names_are_excluded, unknown_names_are_errors_that_list_the_known_ones,
          what_is_not_usable_is_left_out_and_said, long_texts_are_cut)
