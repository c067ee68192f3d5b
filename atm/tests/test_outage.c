/* test_outage.c - links that go down and come back: cells, credits, signalling, calls and routes. */
#include "caller.h"
#include "atm/src/nodes/link_failure.h"

/* ---- cells ---- */

/* A cell each 10 us over a link that is down from 10.005 to 15.005 ms, twice. */
START_TEST(cells_are_lost_meanwhile)
{
    struct lab lab;
    lab_open(&lab,
             "host a\nhost b\nlink a b rate=42.4M delay=100us\nsource x from=a to=b type=cbr rate=42.4M stop=100ms\n"
             "fail a b at=10005us for=5ms every=50ms\n",
             1);
    pvma_sim_run_until(lab.sim, 200 * PVMA_MS);
    const struct pvma_link_counters *c = &pvma_net_link(lab.net, "a", "b")->counters;
    ck_assert_uint_eq(c->cells, 10000);
    ck_assert_uint_eq(c->failures, 4);            /* at 10, 60, 110 and 160 ms */
    ck_assert_uint_eq(c->failed, 2 * (500 + 11)); /* sent meanwhile, and in flight at the beginning */
    ck_assert_uint_eq(pvma_host_counters(pvma_net_host(lab.net, "b"))->cells_received, 10000 - c->failed);
    ck_assert_uint_eq(pvma_net_link(lab.net, "b", "a")->counters.failures, 4);
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
}
END_TEST

/* Credits of lost cells come back with the link, so a VC has its full rate again, and the switch loses no cell. */
START_TEST(credits_survive)
{
    struct lab lab;
    static struct lab_inbox inbox;
    struct lab_greedy greedy;
    lab_open(&lab,
             "profile p like=ideal credits=64\nhost a profile=p\nhost b profile=p\nswitch s model=an2 credits=64\n"
             "link a s delay=20us\nlink s b delay=20us\npvc a b\nfail a s at=10ms for=3ms\nfail s b at=20ms for=3ms\n",
             1);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    lab_flood(pvma_net_pvc_end(lab.net, 0, false), &greedy, 4792, 1000000);
    pvma_sim_run_until(lab.sim, 50 * PVMA_MS);
    const struct pvma_link_counters *in = &pvma_net_link(lab.net, "a", "s")->counters;
    uint64_t lost = in->failed + pvma_net_link(lab.net, "s", "b")->counters.failed;
    ck_assert_uint_gt(lost, 0);
    ck_assert_uint_le(lost, 2 * 64 + 20); /* a sender without credits waits */
    ck_assert_uint_eq(pvma_switch_counters(pvma_net_switch(lab.net, "s"))->dropped, 0);
    uint64_t cells = in->cells;
    pvma_sim_run_until(lab.sim, 100 * PVMA_MS);
    ck_assert_double_eq_tol((double)(in->cells - cells), 50e-3 * 149.76e6 / 424, 20);
    lab_close(&lab);
}
END_TEST

/* ---- calls ---- */

struct two_sides {
    struct side caller, called;
};

static void call(struct lab *lab, struct two_sides *sides)
{
    lab_call(lab, &sides->caller, &sides->called);
}

/* The direct way is the shorter one; while it is down new calls take the other, and without a way they are refused. */
START_TEST(new_calls_go_around)
{
    struct lab lab;
    static struct two_sides first, second, third, fourth;
    lab_open(&lab,
             "host a\nhost b\nswitch s[1-3]\nlink a s1\nlink b s2\nlink s1 s2\nlink s1 s3\nlink s3 s2\n"
             "fail s1 s2 at=100ms for=200ms\nfail s3 s2 at=200ms for=100ms\n",
             1);
    call(&lab, &first);
    pvma_sim_run_until(lab.sim, 120 * PVMA_MS);
    const struct pvma_link *around = pvma_net_link(lab.net, "s1", "s3");
    ck_assert_uint_eq(around->counters.cells, 0);
    call(&lab, &second);
    pvma_sim_run_until(lab.sim, 150 * PVMA_MS);
    ck_assert_uint_eq(second.caller.connected, 1);
    ck_assert_int_eq(around->reserved_bps, 1000000);
    pvma_sim_run_until(lab.sim, 250 * PVMA_MS);
    call(&lab, &third);
    pvma_sim_run_until(lab.sim, 290 * PVMA_MS);
    ck_assert_uint_eq(third.caller.ended, 1);
    ck_assert_int_eq(third.caller.cause, PVMA_CAUSE_NO_ROUTE);
    pvma_sim_run_until(lab.sim, 350 * PVMA_MS);
    call(&lab, &fourth);
    pvma_sim_run_until(lab.sim, 400 * PVMA_MS);
    ck_assert_uint_eq(fourth.caller.connected, 1);
    ck_assert_int_eq(around->reserved_bps, 1000000);
    ck_assert_uint_eq(first.caller.ended + second.caller.ended, 0); /* shorter than T309 */
    lab_close(&lab);
}
END_TEST

/* A call outlives a failure shorter than T309, loses PDUs meanwhile, and goes on. */
START_TEST(calls_outlive_short_failures)
{
    struct lab lab;
    static struct lab_inbox inbox;
    static struct two_sides sides;
    static const uint8_t octets[1000];
    lab_open(&lab, "host a\nhost b\nswitch s\nlink a s\nlink b s t309=300ms\nfail b s at=100ms for=200ms\n", 1);
    call(&lab, &sides);
    pvma_sim_run_until(lab.sim, 50 * PVMA_MS);
    lab_receive(&lab, pvma_call_vc(sides.called.call), &inbox);
    for (int i = 1; i <= 8; i++) { /* at 50, 100 ... 400 ms; those at 100 to 300 are lost */
        pvma_sim_run_until(lab.sim, i * 50 * PVMA_MS);
        pvma_vc_send(pvma_call_vc(sides.caller.call), octets, sizeof octets, 0);
    }
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(sides.caller.ended + sides.called.ended, 0);
    ck_assert_uint_eq(inbox.pdus, 4); /* that at 300 ms passes: the link is back when its cells come */
    ck_assert_uint_eq(pvma_net_link(lab.net, "s", "b")->counters.failed, 4 * 21);
    lab_close(&lab);
}
END_TEST

/* After T309 both sides end, with cause 27, and all bandwidth is free again; the next call works. */
START_TEST(t309_ends_calls)
{
    static const char *const links[] = {"a s1", "s1 s2", "b s2"};
    for (int i = 0; i < 3; i++) {
        struct lab lab;
        static struct two_sides sides;
        char text[256];
        snprintf(text, sizeof text,
                 "host a\nhost b\nswitch s[1-2]\nlink a s1 t309=1s\nlink s1 s2 t309=1s\nlink b s2 t309=1s\n"
                 "pvc a b mean=1k\nfail %s at=1s for=3s\n",
                 links[i]);
        lab_open(&lab, text, 1);
        int64_t before = lab_reserved_bps(&lab);
        call(&lab, &sides);
        pvma_sim_run_until(lab.sim, 3 * PVMA_S);
        ck_assert_uint_eq(sides.caller.connected, 1);
        ck_assert_uint_eq(sides.caller.ended, 1);
        ck_assert_uint_eq(sides.called.ended, 1);
        ck_assert_int_eq(sides.caller.cause, PVMA_CAUSE_LINK_DOWN);
        ck_assert_int_eq(sides.called.cause, PVMA_CAUSE_LINK_DOWN);
        ck_assert_int_ge(sides.caller.at, 2 * PVMA_S);
        ck_assert_int_le(sides.caller.at, 2 * PVMA_S + 5 * PVMA_MS);
        ck_assert_int_eq(lab_reserved_bps(&lab), before);
        pvma_sim_run_until(lab.sim, 5 * PVMA_S);
        call(&lab, &sides);
        pvma_sim_run_until(lab.sim, 6 * PVMA_S);
        ck_assert_uint_eq(sides.caller.connected, 1);
        lab_close(&lab);
    }
}
END_TEST

/* A failure at any instant of a call's setup: it is only late, or, beyond T309, it leaves nothing behind. */
static void fail_during_setup(const char *link, int t309_ms, int begin_us)
{
    struct lab lab;
    static struct two_sides sides;
    char text[256];
    snprintf(text, sizeof text,
             "host a\nhost b\nswitch s[1-2]\nlink a s1 t309=%dms\nlink s1 s2 t309=%dms\nlink b s2 t309=%dms\n"
             "fail %s at=%dus for=7ms\n",
             t309_ms, t309_ms, t309_ms, link, begin_us);
    lab_open(&lab, text, 1);
    call(&lab, &sides);
    pvma_sim_run(lab.sim);
    bool refused = !sides.caller.connected;
    if (t309_ms > 7 && sides.caller.cause != PVMA_CAUSE_NO_ROUTE) {
        ck_assert_msg(!refused && !sides.caller.ended && !sides.called.ended, "%s at %d us", link, begin_us);
        ck_assert_int_eq(lab_reserved_bps(&lab), 6000000);
        pvma_call_release(sides.caller.call);
        pvma_sim_run(lab.sim);
    } else if (sides.caller.call) { /* connected after the failure, or before it and not over this link any more */
        ck_assert_ptr_nonnull(sides.called.call);
        pvma_call_release(sides.caller.call);
        pvma_sim_run(lab.sim);
    }
    ck_assert_ptr_null(sides.called.call);
    ck_assert_msg(lab_reserved_bps(&lab) == 0, "%s at %d us leaves %lld bit/s", link, begin_us,
                  (long long)lab_reserved_bps(&lab));
    static struct two_sides next;
    call(&lab, &next);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(next.caller.connected, 1);
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
}

START_TEST(failures_at_any_instant)
{
    static const char *const links[] = {"a s1", "s1 s2", "b s2"};
    for (int i = 0; i < 3; i++)
        for (int begin_us = 0; begin_us < 4000; begin_us += 7) {
            fail_during_setup(links[i], 100, begin_us);
            fail_during_setup(links[i], 1, begin_us);
            fail_during_setup(links[i], 5, begin_us);
        }
}
END_TEST

/* Parties of a tree behind a link leave it, the others stay. */
static void party_left(void *arg, struct pvma_call *call, uint16_t party, int cause)
{
    (void)call;
    ck_assert_int_eq(cause, PVMA_CAUSE_LINK_DOWN);
    *(unsigned *)arg += 1U << party;
}

START_TEST(parties_leave)
{
    struct lab lab;
    static const struct pvma_call_handler handler = {.party_left = party_left};
    static struct side leaf[3];
    unsigned left = 0;
    lab_open(&lab,
             "host a\nhost l[0-2]\nswitch s[1-2]\nlink a s1\nlink l0 s1\nlink l[1-2] s2\nlink s1 s2 t309=10ms\n"
             "fail s1 s2 at=1s\n",
             1);
    const struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_MULTICAST, .wanted.mean_bps = 1000000};
    for (unsigned i = 0; i < 3; i++) {
        leaf[i].sim = lab.sim;
        pvma_host_listen(pvma_net_host_at(lab.net, i + 1), 1, side_accept, &leaf[i]);
    }
    struct pvma_call *tree = pvma_call_open(
        pvma_net_host(lab.net, "a"), pvma_host_address(pvma_net_host(lab.net, "l0")), 1, &contract, &handler, &left);
    for (unsigned i = 1; i < 3; i++) {
        pvma_sim_run_until(lab.sim, i * 100 * PVMA_MS);
        ck_assert_int_gt(pvma_call_add_party(tree, pvma_host_address(pvma_net_host_at(lab.net, i + 1)), 1), 0);
    }
    pvma_sim_run_until(lab.sim, 2 * PVMA_S);
    ck_assert_uint_eq(left, 2 + 4);
    ck_assert_uint_eq(leaf[0].ended, 0);
    ck_assert_uint_eq(leaf[1].ended, 1);
    ck_assert_uint_eq(leaf[2].ended, 1);
    ck_assert_int_eq(lab_reserved_bps(&lab), 2000000); /* a to s1 to l0 */
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_outage", cells_are_lost_meanwhile, credits_survive, new_calls_go_around, calls_outlive_short_failures,
          t309_ends_calls, failures_at_any_instant, parties_leave)
