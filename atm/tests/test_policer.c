/* test_policer.c - the Generic Cell Rate Algorithm, cell by cell, and policing in a switch. */
#include "lab.h"
#include "atm/src/nodes/policer.h"

/* GCRA(10, 4), in the style of I.371's examples: which of the arrivals conform. */
START_TEST(gcra_by_hand)
{
    static const struct {
        pvma_ps at;
        bool conforms;
    } cells[] = {
        {0, true},   /* expected then: 10 */
        {5, false},  /* more than 4 early */
        {6, true},   /* just within: 20 */
        {15, false}, /* the earliest now is 16 */
        {16, true},  /* 30 */
        {50, true},  /* late: 60, no credit for the pause */
        {56, true},  /* 70 */
        {65, false}, /* the earliest is 66 */
    };
    struct pvma_gcra gcra = {0};
    pvma_gcra_init(&gcra, 10, 4);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        ck_assert_msg(pvma_gcra_conforms(&gcra, cells[i].at) == cells[i].conforms, "cell %zu", i);
        if (cells[i].conforms)
            pvma_gcra_count(&gcra, cells[i].at);
    }
}
END_TEST

/* A burst at the peak rate: as many cells as the contract's burst conform, and then one each T of the mean. */
START_TEST(burst_at_the_peak)
{
    const struct pvma_bandwidth contract = {.peak_bps = 42400000, .mean_bps = 4240000, .burst_cells = 20};
    struct pvma_policer policer = {0};
    unsigned passed = 0, later = 0;
    pvma_policer_set(&policer, PVMA_POLICE_DROP, &contract, 0);
    for (int i = 0; i < 2000; i++) {
        bool passes = pvma_policer_judge(&policer, i * 10 * PVMA_US, false) == PVMA_POLICE_NO;
        passed += passes && i < 20;
        later += passes && i >= 1000;
    }
    ck_assert_uint_eq(passed, 20);
    ck_assert_uint_eq(later, 100); /* a tenth of 1000 */
    ck_assert_int_eq(pvma_policer_judge(&policer, 20 * PVMA_MS - PVMA_US, false), PVMA_POLICE_DROP); /* the peak */
}
END_TEST

/* TM 4.0's VBR.3: cells above the mean are tagged, cells above the peak are discarded, tagged ones do not count. */
START_TEST(tagging)
{
    const struct pvma_bandwidth contract = {.peak_bps = 42400000, .mean_bps = 4240000, .burst_cells = 1};
    struct pvma_policer policer = {0};
    pvma_policer_set(&policer, PVMA_POLICE_TAG, &contract, 0);
    ck_assert_int_eq(pvma_policer_judge(&policer, 0, false), PVMA_POLICE_NO);
    ck_assert_int_eq(pvma_policer_judge(&policer, 5 * PVMA_US, false), PVMA_POLICE_DROP);
    ck_assert_int_eq(pvma_policer_judge(&policer, 10 * PVMA_US, false), PVMA_POLICE_TAG);
    ck_assert_int_eq(pvma_policer_judge(&policer, 20 * PVMA_US, true), PVMA_POLICE_NO);
    ck_assert_int_eq(pvma_policer_judge(&policer, 100 * PVMA_US, false), PVMA_POLICE_NO);
    const struct pvma_bandwidth peak = {.peak_bps = 42400000};
    struct pvma_policer alone = {0};
    pvma_policer_set(&alone, PVMA_POLICE_TAG, &peak, 0);
    ck_assert_int_eq(pvma_policer_judge(&alone, 0, false), PVMA_POLICE_NO);
    ck_assert_int_eq(pvma_policer_judge(&alone, 5 * PVMA_US, false), PVMA_POLICE_TAG);
}
END_TEST

/* A sender of `rate` bit/s in constant intervals, with a contract of 10 Mbit/s, for a second. */
static struct pvma_switch_counters police(const char *options, const char *rate, uint64_t *sent)
{
    struct lab lab;
    char text[512];
    snprintf(text, sizeof text,
             "host a\nhost b\nswitch s %s\nlink a s\nlink b s rate=taxi100\npvc a b aal=raw flow=simplex peak=10M\n",
             options);
    lab_open(&lab, text, 1);
    const struct pvma_source_options source = {.type = PVMA_CBR, .rate_bps = atoll(rate), .stop = PVMA_S};
    struct pvma_vc *from = pvma_net_pvc_end(lab.net, 0, false);
    struct pvma_source *cells = pvma_source_on_vcs(lab.sim, &from, 1, &source, "x");
    pvma_sim_run(lab.sim);
    struct pvma_switch_counters counters = *pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    *sent = pvma_source_cells(cells);
    pvma_source_free(cells);
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
    return counters;
}

START_TEST(in_a_switch)
{
    uint64_t sent;
    struct pvma_switch_counters c = police("police=drop cdvt=0", "10000000", &sent);
    ck_assert_uint_eq(c.policed + c.tagged, 0); /* the sender keeps to its contract */
    ck_assert_uint_eq(c.cells_out, sent);
    c = police("police=drop cdvt=0", "20000000", &sent); /* every second cell is too early */
    ck_assert_uint_eq(c.cells_out + c.policed, sent);
    ck_assert_double_eq_tol((double)c.policed, (double)sent / 2, 1);
    c = police("police=tag cdvt=0", "20000000", &sent);
    ck_assert_uint_eq(c.cells_out, sent);
    ck_assert_double_eq_tol((double)c.tagged, (double)sent / 2, 1);
    c = police("police=no", "20000000", &sent);
    ck_assert_uint_eq(c.policed + c.tagged, 0);
}
END_TEST

/* Two senders above their contracts overload a link: only what they send above the contracts is lost. */
START_TEST(tagged_cells_go_first)
{
    struct lab lab;
    lab_open(&lab,
             "host a\nhost b\nhost c\nswitch s buffer=500 police=tag clp=200\nlink a s\nlink b s\nlink c s\n"
             "pvc a c aal=raw flow=simplex mean=70M burst=10\npvc b c aal=raw flow=simplex mean=70M burst=10\n",
             1);
    struct pvma_source *sources[2];
    const struct pvma_source_options options = {.type = PVMA_POISSON, .rate_bps = 120000000, .stop = PVMA_S / 10};
    for (size_t i = 0; i < 2; i++) {
        struct pvma_vc *from = pvma_net_pvc_end(lab.net, i, false);
        sources[i] = pvma_source_on_vcs(lab.sim, &from, 1, &options, i ? "y" : "x");
    }
    pvma_sim_run(lab.sim);
    const struct pvma_switch_counters *c = pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    ck_assert_uint_eq(c->dropped, 0);
    ck_assert_uint_gt(c->clp_dropped, 10000);
    ck_assert_uint_eq(c->policed, 0);
    ck_assert_uint_eq(c->cells_in, c->cells_out + c->clp_dropped);
    ck_assert_uint_lt(c->clp_dropped, c->tagged);
    for (size_t i = 0; i < 2; i++)
        pvma_source_free(sources[i]);
    lab_close(&lab);
}
END_TEST

/* A switched VC is policed to what the called side has granted, not to what the caller asked for. */
static void accept_less(void *arg, struct pvma_call *call, struct pvma_address caller,
                        const struct pvma_contract *contract)
{
    static const struct pvma_bandwidth granted = {.peak_bps = 10000000};
    (void)arg, (void)caller, (void)contract;
    pvma_call_accept(call, &granted, NULL, NULL);
}

START_TEST(switched_vcs)
{
    struct lab lab;
    static struct lab_greedy greedy;
    lab_open(&lab, "host a\nhost b\nswitch s police=drop\nlink a s\nlink b s\n", 1);
    struct pvma_host *a = pvma_net_host(lab.net, "a"), *b = pvma_net_host(lab.net, "b");
    const struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_SIMPLEX, .wanted.peak_bps = 50000000};
    ck_assert_int_eq(pvma_host_listen(b, 7, accept_less, NULL), 0);
    struct pvma_call *call = pvma_call_open(a, pvma_host_address(b), 7, &contract, NULL, NULL);
    pvma_sim_run(lab.sim);
    lab_flood(pvma_call_vc(call), &greedy, 48 * 1000 - 8, 1);
    pvma_sim_run(lab.sim);
    const struct pvma_switch_counters *c = pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    double passed = 1000.0 * 10 / 149.76; /* and those that the tolerance lets pass */
    ck_assert_double_eq_tol((double)c->cells_out - (double)c->policed, 2 * (passed + 250 / 42.4) - 1000, 8);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_policer", gcra_by_hand, burst_at_the_peak, tagging, in_a_switch, tagged_cells_go_first, switched_vcs)
