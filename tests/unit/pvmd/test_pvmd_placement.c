/* test_pvmd_placement.c - the hosts that pvm_spawn() chooses for its flags and `where`, and their order. */
#include "pvmd/spawn/placement.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "pvm3.h"
#include "tests/unit/unit.h"

struct pvmd_daemon pvmd;

static void add(unsigned index, const char *name, const char *arch, const char *address)
{
    struct pvmd_host *h = pvmd_host_new(index, index, name);
    ck_assert_ptr_nonnull(h);
    pvmd_host_set_text(&h->arch, arch);
    pvmd_host_set_text(&h->address, address);
    pvmd_host_set_state(h, PVMD_HOST_UP);
}

/* Hosts 1 (ours), 2 and 5; host 7 is still joining. */
static void start(void)
{
    pvmd.host_index = pvmd.master_index = 1;
    add(1, "hosta", "LINUX64", "");
    add(2, "hostb", "LINUX64", "10.0.0.2");
    add(5, "fe80::5", "SUN4", "fe80::5");
    add(7, "hostd", "LINUX64", "10.0.0.7");
    pvmd_host_set_state(pvmd_host_any(7), PVMD_HOST_JOINING);
}

/* "index index ...|directory" */
static const char *find(uint32_t flags, const char *where)
{
    static char text[200];
    struct pvmd_placement p;
    ck_assert_int_eq(pvmd_placement_find(flags, where, &p), 0);
    text[0] = '\0';
    for (size_t i = 0; i < p.count; i++)
        sprintf(text + strlen(text), i ? " %u" : "%u", p.hosts[i]);
    sprintf(text + strlen(text), "|%s", p.directory);
    pvmd_placement_free(&p);
    return text;
}

START_TEST(turns_begin_after_our_own_host)
{
    start();
    ck_assert_str_eq(find(PvmTaskDefault, ""), "2 5 1|");
    ck_assert_str_eq(find(PvmTaskDefault, ""), "2 5 1|"); /* a query does not advance the turn */
    pvmd_placement_used(PvmTaskDefault, 2);
    ck_assert_str_eq(find(PvmTaskDefault, ""), "5 1 2|");
    pvmd_placement_used(PvmTaskDefault, 5);
    ck_assert_str_eq(find(PvmTaskDefault, ""), "1 2 5|");
    pvmd_placement_used(PvmTaskHost, 1); /* a named host does not advance the turn */
    ck_assert_str_eq(find(PvmTaskDefault, ""), "1 2 5|");
}
END_TEST

/* Which hosts would get tasks, but for their leaving. */
static unsigned leaving(uint32_t flags, const char *where)
{
    struct pvmd_placement p;
    ck_assert_int_eq(pvmd_placement_find(flags, where, &p), 0);
    unsigned index = p.leaving;
    pvmd_placement_free(&p);
    return index;
}

START_TEST(hosts_that_leave_get_no_tasks)
{
    start();
    pvmd_host_any(2)->draining = true;
    ck_assert_str_eq(find(PvmTaskDefault, ""), "5 1|");
    ck_assert_str_eq(find(PvmTaskArch, "LINUX64"), "1|");
    ck_assert_str_eq(find(PvmTaskHost | PvmHostCompl, "hosta"), "5|");
    ck_assert_str_eq(find(PvmTaskHost, "hostb:/tmp"), "|/tmp");
    ck_assert_str_eq(find(PvmTaskHost, "fe80::5"), "5|");
    ck_assert_uint_eq(leaving(PvmTaskHost, "hostb"), 2);
    ck_assert_uint_eq(leaving(PvmTaskHost, "fe80::5"), 0);
    ck_assert_uint_eq(leaving(PvmTaskHost, "hostc"), 0);
}
END_TEST

START_TEST(a_host_without_slots_is_used_by_name_only)
{
    start();
    pvmd_host_any(1)->slots = 0;
    ck_assert_str_eq(find(PvmTaskDefault, ""), "2 5|");
    ck_assert_str_eq(find(PvmTaskHost, "hosta"), "1|");
    ck_assert_str_eq(find(PvmTaskArch, "LINUX64"), "2 1|");
    pvmd_host_any(2)->slots = pvmd_host_any(5)->slots = 0;
    ck_assert_str_eq(find(PvmTaskDefault, ""), "2 5 1|"); /* nobody has any */
}
END_TEST

START_TEST(hosts_are_named)
{
    start();
    ck_assert_str_eq(find(PvmTaskHost, "hostb"), "2|");
    ck_assert_str_eq(find(PvmTaskHost, "HOSTB"), "2|");
    ck_assert_str_eq(find(PvmTaskHost, "10.0.0.2"), "2|");
    ck_assert_str_eq(find(PvmTaskHost, "."), "1|");
    ck_assert_str_eq(find(PvmTaskHost, "hostx"), "|");
    ck_assert_str_eq(find(PvmTaskHost, ""), "|");
    ck_assert_str_eq(find(PvmTaskHost, "hostd"), "|");
    ck_assert_str_eq(find(PvmTaskHost, "10.0.0.7"), "|");
    ck_assert_str_eq(find(PvmTaskHost | PvmHostCompl, "hostb"), "5 1|");
    ck_assert_str_eq(find(PvmTaskHost | PvmHostCompl, "hostx"), "2 5 1|");
}
END_TEST

START_TEST(architectures)
{
    start();
    ck_assert_str_eq(find(PvmTaskArch, "LINUX64"), "2 1|");
    ck_assert_str_eq(find(PvmTaskArch, "SUN4"), "5|");
    ck_assert_str_eq(find(PvmTaskArch, ""), "|");
    ck_assert_str_eq(find(PvmTaskArch | PvmHostCompl, "LINUX64"), "5|");
    ck_assert_str_eq(find(PvmTaskHost | PvmTaskArch, "hostb"), "2|"); /* the host counts */
}
END_TEST

START_TEST(working_directories)
{
    start();
    ck_assert_str_eq(find(PvmTaskDefault, ":/tmp"), "2 5 1|/tmp");
    ck_assert_str_eq(find(PvmTaskDefault, "bogus:/tmp"), "2 5 1|/tmp");
    ck_assert_str_eq(find(PvmTaskDefault, "bogus"), "2 5 1|");
    ck_assert_str_eq(find(PvmTaskHost, "hostb:/tmp"), "2|/tmp");
    ck_assert_str_eq(find(PvmTaskHost, ".:/usr"), "1|/usr");
    ck_assert_str_eq(find(PvmTaskHost, ":/usr"), "|/usr");
    ck_assert_str_eq(find(PvmTaskHost, "hostb:/a:b"), "2|/a:b");
    ck_assert_str_eq(find(PvmTaskArch, "LINUX64:/usr"), "2 1|/usr");
}
END_TEST

START_TEST(names_with_colons)
{
    start();
    ck_assert_str_eq(find(PvmTaskHost, "fe80::5"), "5|");
    ck_assert_str_eq(find(PvmTaskHost, "fe80::5:/tmp"), "5|/tmp");
    ck_assert_str_eq(find(PvmTaskHost, "fe80::5:/a:b"), "5|/a:b");
    ck_assert_str_eq(find(PvmTaskHost, "fe80::6:/tmp"), "|:6:/tmp"); /* no host: the text is split at the first colon */
}
END_TEST

START_TEST(shares_are_even)
{
    for (size_t hosts = 1; hosts < 20; hosts++)
        for (size_t n = 0; n < 60; n++) {
            size_t sum = 0;
            for (size_t i = 0; i < hosts; i++) {
                size_t share = pvmd_placement_share(n, hosts, i);
                ck_assert_uint_le(share, n / hosts + 1);
                ck_assert_uint_ge(share, n / hosts);
                ck_assert(!i || share <= pvmd_placement_share(n, hosts, i - 1));
                sum += share;
            }
            ck_assert_uint_eq(sum, n);
        }
}
END_TEST

UNIT_MAIN("pvmd_placement", turns_begin_after_our_own_host, hosts_that_leave_get_no_tasks,
          a_host_without_slots_is_used_by_name_only, hosts_are_named, architectures, working_directories,
          names_with_colons, shares_are_even)
