/* test_multihomed.c - hosts with several links: choice of the link, independence of the adapters, failures. */
#include "caller.h"

/* ---- permanent VCs ---- */

static double rate_of(const struct lab_inbox *inbox, pvma_ps time)
{
    return (double)inbox->bytes * 8 / ((double)time / PVMA_S);
}

/* Two VCs between hosts with two links each take one link each, and both have the full rate at once. */
START_TEST(links_are_shared_out)
{
    struct lab lab;
    static struct lab_inbox inbox[2];
    struct lab_greedy greedy[2];
    lab_open(
        &lab,
        "host a adapters=2\nhost b adapters=2\nswitch s\nlink a s\nlink a s\nlink b s\nlink b s\npvc a b\npvc a b\n",
        1);
    for (size_t i = 0; i < 2; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 9180, 1000000);
    }
    pvma_sim_run_until(lab.sim, 100 * PVMA_MS);
    for (size_t i = 0; i < 2; i++)
        ck_assert_double_eq_tol(rate_of(&inbox[i], 100 * PVMA_MS), 149.76e6 * 9180 / (192 * 53), 0.02 * 149.76e6);
    lab_close(&lab);
}
END_TEST

/* The shortest way first, then the least reserved bandwidth, then the fewest VCs, then the first link. */
START_TEST(choice_of_the_link)
{
    struct lab lab;
    lab_open(&lab,
             "host a adapters=3\nhost b\nhost c\nswitch s[1-3]\nlink a s[1-3]\nlink s1 s2\nlink s1 s3\nlink b s2\nlink "
             "c s1\n"
             "pvc a b\npvc a c mean=10M\npvc a c mean=20M\n",
             1);
    static const int64_t expected[] = {30000000, 0, 0};
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(pvma_net_link_at(lab.net, 2 * i)->reserved_bps, expected[i]);
    ck_assert_uint_eq(pvma_net_link_at(lab.net, 2)->vcs.used, 1); /* to b by s2 */
    lab_close(&lab);
    lab_open(&lab,
             "host a adapters=2\nhost b\nswitch s\nlink a s\nlink a s\nlink b s rate=oc12\n"
             "pvc a b mean=50M\npvc a b mean=20M\npvc a b mean=20M\npvc a b mean=20M\npvc a b\n",
             1);
    ck_assert_int_eq(pvma_net_link_at(lab.net, 0)->reserved_bps, 50000000);
    ck_assert_int_eq(pvma_net_link_at(lab.net, 2)->reserved_bps, 60000000);
    ck_assert_uint_eq(pvma_net_link_at(lab.net, 0)->vcs.used, 2); /* the last went where less was reserved */
    lab_close(&lab);
}
END_TEST

/* An adapter that waits for credits does not hold up the other. */
START_TEST(adapters_do_not_wait_for_each_other)
{
    struct lab lab;
    static struct lab_inbox inbox[2];
    struct lab_greedy greedy[2];
    lab_open(&lab,
             "profile p like=ideal credits=64\nhost a adapters=2 profile=p\nhost b profile=p\nhost c profile=p\n"
             "switch s[1-2] model=an2 credits=64\nlink a s1\nlink a s2\nlink b s1\nlink c s2\npvc a b\npvc a c\n"
             "fail s1 b at=10ms\n",
             1);
    for (size_t i = 0; i < 2; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 9180, 1000000);
    }
    pvma_sim_run_until(lab.sim, 100 * PVMA_MS);
    ck_assert_double_lt(rate_of(&inbox[0], 100 * PVMA_MS), 0.11 * 149.76e6);
    ck_assert_double_gt(rate_of(&inbox[1], 100 * PVMA_MS), 0.88 * 149.76e6);
    lab_close(&lab);
}
END_TEST

START_TEST(addresses)
{
    struct lab lab;
    lab_open(&lab, "host a adapters=2\nhost b\nswitch s[1-2]\nlink a s1\nlink a s2\nlink b s1\nlink s1 s2\n", 1);
    struct pvma_host *a = pvma_net_host(lab.net, "a");
    const struct pvma_address first = pvma_host_address(a), second = {first.switch_id + 1, 0};
    ck_assert_uint_eq(first.port, 0);
    ck_assert_ptr_eq(pvma_net_host_with(lab.net, first), a);
    ck_assert_ptr_eq(pvma_net_host_with(lab.net, second), a);
    lab_close(&lab);
}
END_TEST

/* ---- calls ---- */

static void both_ways(struct lab *lab, struct side *caller, struct side *called)
{
    static struct lab_inbox there, back;
    static const uint8_t octets[1000];
    lab_receive(lab, pvma_call_vc(called->call), &there);
    lab_receive(lab, pvma_call_vc(caller->call), &back);
    ck_assert_int_eq(pvma_vc_send(pvma_call_vc(caller->call), octets, 1000, 0), 0);
    ck_assert_int_eq(pvma_vc_send(pvma_call_vc(called->call), octets, 1000, 0), 0);
    pvma_sim_run_until(lab->sim, pvma_sim_now(lab->sim) + PVMA_MS);
    ck_assert_uint_eq(there.pdus, 1);
    ck_assert_uint_eq(back.pdus, 1);
}

/* Both hosts have a link to either switch. A call over a link that fails ends, and the next one takes the other link.
 */
START_TEST(calls_after_a_failure)
{
    static const char *const failing[] = {"a s1", "b s1"};
    for (int i = 0; i < 2; i++) {
        struct lab lab;
        struct side caller, called;
        char text[256];
        snprintf(text, sizeof text,
                 "host a adapters=2\nhost b adapters=2\nswitch s[1-2]\nlink a s1 t309=10ms\nlink a s2\n"
                 "link b s1 t309=10ms\nlink b s2\nfail %s at=100ms for=200ms\n",
                 failing[i]);
        lab_open(&lab, text, 1);
        lab_call(&lab, &caller, &called);
        pvma_sim_run_until(lab.sim, 50 * PVMA_MS);
        both_ways(&lab, &caller, &called);
        ck_assert_int_eq(pvma_net_link(lab.net, "a", "s1")->reserved_bps, 1000000);
        pvma_sim_run_until(lab.sim, 150 * PVMA_MS);
        ck_assert_uint_eq(caller.ended + called.ended, 2);
        ck_assert_int_eq(caller.cause, PVMA_CAUSE_LINK_DOWN);
        ck_assert_int_eq(lab_reserved_bps(&lab), 0);
        lab_call(&lab, &caller, &called);
        pvma_sim_run_until(lab.sim, 200 * PVMA_MS);
        ck_assert_uint_eq(caller.connected, 1);
        ck_assert_int_eq(pvma_net_link(lab.net, "a", "s2")->reserved_bps, 1000000);
        both_ways(&lab, &caller, &called);
        pvma_call_release(i ? caller.call : called.call); /* either side, over its second adapter */
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(caller.ended + called.ended, 1);
        ck_assert_int_eq(lab_reserved_bps(&lab), 0);
        lab_close(&lab);
    }
}
END_TEST

/* Calls in the other direction at the same time share both links out. */
START_TEST(many_calls)
{
    struct lab lab;
    static struct side caller[8], called[8];
    lab_open(&lab, "host a adapters=2\nhost b adapters=2\nswitch s\nlink a s\nlink a s\nlink b s\nlink b s\n", 1);
    for (int i = 0; i < 8; i++) {
        lab_call(&lab, &caller[i], &called[i]);
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(caller[i].connected, 1);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t back = 0; back < 2; back++)
            ck_assert_int_eq(pvma_net_link_at(lab.net, 2 * i + back)->reserved_bps, 4000000);
    for (int i = 0; i < 8; i++)
        both_ways(&lab, &caller[i], &called[i]);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_multihomed", links_are_shared_out, choice_of_the_link, adapters_do_not_wait_for_each_other, addresses,
          calls_after_a_failure, many_calls)
