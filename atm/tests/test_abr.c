/* test_abr.c - ABR: resource-management cells, sources, explicit rates, and what a network makes of them. */
#include "lab.h"
#include "atm/src/abr/abr.h"
#include "atm/src/abr/erica.h"

#define MBPS INT64_C(1000000)

/* ---- cells ---- */

START_TEST(cells)
{
    struct pvma_rm rm = {
        .backward = true, .no_increase = true, .er_bps = 50 * MBPS, .current_bps = 424, .minimum_bps = 0};
    struct pvma_rm back;
    struct pvma_cell cell = {0};
    pvma_rm_write(&rm, &cell);
    ck_assert_uint_eq(cell.pti, 6);
    ck_assert_uint_eq(cell.payload[0], 1);    /* ABR */
    ck_assert_uint_eq(cell.payload[1], 0x90); /* DIR, NI */
    ck_assert(pvma_rm_read(&back, &cell));
    ck_assert(back.backward && back.no_increase && !back.congested);
    ck_assert_int_eq(back.current_bps, 424);
    ck_assert_int_eq(back.minimum_bps, 0);
    for (int bit = 0; bit < PVMA_CELL_PAYLOAD * 8; bit++) {
        cell.payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert(!pvma_rm_read(&back, &cell) || bit / 8 == 46); /* six bits before the CRC are reserved */
        cell.payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    cell.pti = 0;
    ck_assert(!pvma_rm_read(&back, &cell));
}
END_TEST

/* Rates are rounded up, by at most 0.2 % and a cell; a rate that was read is written as it is. */
START_TEST(rates)
{
    for (int64_t bps = 1; bps < INT64_C(1000000000000); bps += bps / 7 + 1) {
        struct pvma_rm rm = {.er_bps = bps}, back, again;
        struct pvma_cell cell = {0};
        pvma_rm_write(&rm, &cell);
        ck_assert(pvma_rm_read(&back, &cell));
        ck_assert_int_ge(back.er_bps, bps);
        ck_assert_int_le(back.er_bps, bps + bps / 500 + PVMA_CELL_BITS);
        pvma_rm_write(&back, &cell);
        ck_assert(pvma_rm_read(&again, &cell));
        ck_assert_int_eq(again.er_bps, back.er_bps);
    }
}
END_TEST

/* ---- sources ---- */

START_TEST(a_source_follows_its_rate)
{
    struct pvma_abr abr;
    struct pvma_rm rm;
    pvma_abr_init(&abr, 50 * MBPS, 5 * MBPS, 20 * MBPS);
    ck_assert_int_eq(abr.rate_bps, 20 * MBPS);
    unsigned forward = 0;
    for (int cell = 0; cell < 320; cell++) {
        bool due = pvma_abr_is_due(&abr);
        ck_assert_int_eq(due, cell % 32 == 0); /* the first, and then each 32nd */
        if (due)
            pvma_abr_forward(&abr, 0, &rm);
        else
            pvma_abr_count(&abr);
        forward += due;
    }
    ck_assert_uint_eq(forward, 10);
    ck_assert(!rm.backward && rm.er_bps == 50 * MBPS && rm.current_bps == 20 * MBPS && rm.minimum_bps == 5 * MBPS);
    static const struct {
        struct pvma_rm back;
        int64_t rate_bps;
    } rows[] = {{{.er_bps = 30 * MBPS}, 30 * MBPS},
                {{.er_bps = 90 * MBPS}, 50 * MBPS},
                {{.er_bps = MBPS}, 5 * MBPS},
                {{.er_bps = 32 * MBPS}, 32 * MBPS},
                {{.er_bps = 40 * MBPS, .no_increase = true}, 32 * MBPS},
                {{.er_bps = 40 * MBPS, .congested = true}, 30 * MBPS}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pvma_abr_follow(&abr, &rows[i].back);
        ck_assert_int_eq(abr.rate_bps, rows[i].rate_bps);
    }
    pvma_abr_forward(&abr, PVMA_ABR_ADTF, &rm); /* at its limit */
    ck_assert_int_eq(abr.rate_bps, 30 * MBPS);
    pvma_abr_forward(&abr, 2 * PVMA_ABR_ADTF + 1, &rm);
    ck_assert_int_eq(abr.rate_bps, 20 * MBPS);
    pvma_abr_init(&abr, 50 * MBPS, 0, 0);
    ck_assert_int_eq(abr.rate_bps, 50 * MBPS);
    pvma_abr_follow(&abr, &(struct pvma_rm){0});
    ck_assert_int_eq(abr.rate_bps, 10 * 424);
}
END_TEST

/* ---- explicit rates ---- */

/* Cells at even intervals, from `vcs` VCs in turn, at `bps` together. */
static pvma_ps feed(struct pvma_erica *erica, struct pvma_erica_vc *vc, unsigned vcs, int64_t bps, pvma_ps now)
{
    for (int cell = 0; cell < 300; cell++) {
        now += pvma_link_cell_time(bps);
        pvma_erica_count(erica, &vc[(unsigned)cell % vcs], now);
    }
    return now;
}

static int64_t rate_for(struct pvma_erica *erica, int64_t current_bps)
{
    struct pvma_erica_vc vc = {.current_bps = current_bps};
    return pvma_erica_rate(erica, &vc);
}

START_TEST(shares)
{
    struct pvma_erica erica;
    struct pvma_erica_vc vc[8] = {{0}};
    pvma_erica_init(&erica, 100 * MBPS, 0);
    ck_assert_int_eq(rate_for(&erica, MBPS), 90 * MBPS); /* nothing is known yet */
    pvma_ps now = feed(&erica, vc, 3, 180 * MBPS, 0);
    ck_assert_double_eq_tol(erica.load, 2.0, 0.001);
    ck_assert_int_eq(rate_for(&erica, 20 * MBPS), 30 * MBPS);                       /* its share */
    ck_assert_int_eq(rate_for(&erica, 80 * MBPS) / 100000, 80 * MBPS / 2 / 100000); /* what others leave */
    now = feed(&erica, vc, 3, 45 * MBPS, now);
    ck_assert_double_eq_tol(erica.load, 0.5, 0.001);
    ck_assert_int_eq(rate_for(&erica, 15 * MBPS), 30 * MBPS); /* from below, no more than the share at once */
    ck_assert_int_ge(rate_for(&erica, 30 * MBPS), 59 * MBPS);
    /* guaranteed cells take from the target */
    for (int cell = 0; cell < 60; cell++) {
        now += pvma_link_cell_time(40 * MBPS);
        if (cell % 2)
            pvma_erica_count_guaranteed(&erica);
        else
            pvma_erica_count(&erica, vc, now);
    }
    ck_assert_int_le(llabs(erica.target_bps - 72 * MBPS), MBPS);
}
END_TEST

/* ---- the network ---- */

/* Octets that a greedy sender gets across in a second. */
static uint64_t delivered(const char *service, struct pvma_host_counters *sender)
{
    struct lab lab;
    static struct lab_inbox inbox;
    struct lab_greedy greedy;
    char text[200];
    snprintf(text, sizeof text, "host a\nhost b\nswitch s buffer=1000\nlink a s\nlink b s\npvc a b %s\n", service);
    lab_open(&lab, text, 1);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    lab_flood(pvma_net_pvc_end(lab.net, 0, false), &greedy, 40, UINT32_MAX); /* a cell each */
    pvma_sim_run_until(lab.sim, PVMA_S);
    *sender = *pvma_host_counters(pvma_net_host(lab.net, "a"));
    ck_assert_uint_eq(pvma_switch_counters(pvma_net_switch(lab.net, "s"))->dropped, 0);
    ck_assert_uint_eq(pvma_vc_cells(pvma_net_pvc_end(lab.net, 0, false)), sender->pdus_sent + sender->rm_sent);
    lab_close(&lab);
    return inbox.bytes;
}

/* ABR costs a cell in 32: at one rate its data are 31/32 of best effort's. */
START_TEST(costs_a_cell_in_32)
{
    struct pvma_host_counters ubr, abr;
    double best = (double)delivered("peak=80M paced=yes", &ubr),
           controlled = (double)delivered("peak=80M service=abr", &abr);
    ck_assert_double_eq_tol(controlled / best, 31.0 / 32, 0.001 * 31 / 32);
    ck_assert_uint_eq(ubr.rm_sent, 0);
    ck_assert_uint_eq(abr.rm_sent, (abr.cells_sent + 31) / 32);
    ck_assert_uint_ge(abr.rm_returned + 1, abr.rm_sent);
    ck_assert_uint_eq(abr.rm_bad, 0);
    /* alone on a link: nine tenths of it, the target */
    controlled = (double)delivered("service=abr", &abr);
    ck_assert_double_eq_tol(controlled / (40 * 0.9 * 149.76e6 / 424 * 31 / 32), 1, 0.005);
}
END_TEST

struct shared_link {
    double abr_mbps;
    struct pvma_switch_counters counters;
};

/* A greedy source of 80 Mbit/s, as in figure 6.14, with so many Poisson sources of best effort. */
static struct shared_link share(unsigned sources, const char *rate, const char *service)
{
    struct lab lab;
    char text[500];
    snprintf(text, sizeof text,
             "host a\nhost p[1-%u]\nhost b\nswitch s buffer=1000\nlink a s rate=oc3line\nlink p[1-%u] s rate=oc3line\n"
             "link b s rate=oc3line\nsource g from=a to=b type=cbr rate=80M service=abr %s\n"
             "source q[1-%u] from=p[1-%u] to=b type=poisson rate=%s\n",
             sources, sources, service, sources, sources, rate);
    lab_open(&lab, text, 1);
    pvma_sim_run_until(lab.sim, 50 * PVMA_MS);
    const struct pvma_host_counters *a = pvma_host_counters(pvma_net_host(lab.net, "a"));
    uint64_t before = a->cells_sent;
    pvma_sim_run_until(lab.sim, 350 * PVMA_MS);
    struct shared_link result = {.abr_mbps = (double)(a->cells_sent - before) * PVMA_CELL_BITS / 0.3 / 1e6,
                                 .counters = *pvma_switch_counters(pvma_net_switch(lab.net, "s"))};
    lab_close(&lab);
    return result;
}

/*
 * Its rate tends to its fair share of the target, nine tenths of 155.52 Mbit/s: all it wants while the others leave
 * that much, else the larger one of what they leave and an equal part. No cell of it is lost, also when the link is
 * overloaded.
 */
START_TEST(fair_share_of_a_greedy_source)
{
    static const struct {
        unsigned sources;
        const char *rate;
        double low_mbps, high_mbps;
    } rows[] = {{1, "10M", 79, 81}, {2, "15M", 79, 81}, {2, "50M", 45, 50}, {4, "20M", 55, 66},
                {4, "60M", 27, 30}, {8, "30M", 15, 18}, {14, "20M", 9, 12}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct shared_link r = share(rows[i].sources, rows[i].rate, "peak=80M");
        ck_assert_double_ge(r.abr_mbps, rows[i].low_mbps);
        ck_assert_double_le(r.abr_mbps, rows[i].high_mbps);
        ck_assert_uint_eq(r.counters.abr_dropped, 0);
    }
}
END_TEST

START_TEST(the_minimum_is_kept)
{
    struct shared_link r = share(14, "20M", "peak=50M mcr=35M");
    ck_assert_double_ge(r.abr_mbps, 34.9);
    ck_assert_uint_eq(r.counters.abr_dropped, 0);
    ck_assert_uint_gt(r.counters.pushed_out, 0);
}
END_TEST

/* Controlled sources share a link equally, and lose nothing; one that is limited elsewhere leaves the others more. */
START_TEST(controlled_sources_share)
{
    struct lab lab;
    struct pvma_vc *vc[4];
    struct lab_greedy greedy[4];
    lab_open(
        &lab,
        "host a[1-4]\nhost b\nswitch s[1-2] buffer=500\nlink a[1-3] s1\nlink a4 s1 rate=10M\nlink s1 s2 rate=100M\n"
        "link b s2\npvc a1 b service=abr\npvc a2 b service=abr\npvc a3 b service=abr\npvc a4 b service=abr\n",
        1);
    for (size_t i = 0; i < 4; i++) {
        vc[i] = pvma_net_pvc_end(lab.net, i, false);
        lab_flood(vc[i], &greedy[i], 1000, UINT32_MAX);
    }
    pvma_sim_run_until(lab.sim, 100 * PVMA_MS);
    uint64_t before[4];
    for (size_t i = 0; i < 4; i++)
        before[i] = pvma_vc_cells(vc[i]);
    pvma_sim_run_until(lab.sim, 300 * PVMA_MS);
    double mbps[4];
    for (size_t i = 0; i < 4; i++)
        mbps[i] = (double)(pvma_vc_cells(vc[i]) - before[i]) * PVMA_CELL_BITS / 0.2 / 1e6;
    for (size_t i = 0; i < 3; i++)
        ck_assert_double_eq_tol(mbps[i], 80.0 / 3, 0.02 * 80 / 3);
    ck_assert_double_ge(mbps[3], 9.5);
    ck_assert_uint_eq(pvma_switch_counters(pvma_net_switch(lab.net, "s1"))->dropped, 0);
    ck_assert_uint_eq(pvma_switch_counters(pvma_net_switch(lab.net, "s2"))->dropped, 0);
    lab_close(&lab);
}
END_TEST

/* A full buffer gives the place of a best-effort cell to one of ABR, and both leave in the order of their arrival. */
START_TEST(pushes_out_best_effort)
{
    struct lab lab;
    static struct lab_inbox inbox[2];
    lab_open(&lab,
             "host a[1-2]\nhost b\nswitch s buffer=6\nlink a[1-2] s rate=424M\nlink b s rate=4240k\n"
             "pvc a1 b aal=raw\npvc a2 b aal=raw service=abr\n",
             1);
    struct pvma_vc *ubr = pvma_net_pvc_end(lab.net, 0, false), *abr = pvma_net_pvc_end(lab.net, 1, false);
    for (size_t i = 0; i < 2; i++)
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
    uint8_t data[PVMA_CELL_PAYLOAD] = {0};
    for (uint8_t i = 0; i < 10; i++) {
        data[0] = i;
        ck_assert_int_eq(pvma_vc_send(ubr, data, sizeof data, 0), 0);
    }
    pvma_sim_run_until(lab.sim, 50 * PVMA_US); /* one cell on the link, six in the buffer, three lost */
    for (uint8_t i = 0; i < 4; i++)
        ck_assert_int_eq(pvma_vc_send(abr, data, sizeof data, 0), 0);
    pvma_sim_run_until(lab.sim, 90 * PVMA_US);
    const struct pvma_switch_counters *c = pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    ck_assert_uint_eq(c->dropped, 3);
    ck_assert_uint_eq(c->pushed_out, 5); /* four cells and one of resource management */
    ck_assert_uint_eq(c->abr_cells, 5);
    ck_assert_uint_eq(c->abr_dropped, 0);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(inbox[0].pdus, 2);
    ck_assert_uint_eq(inbox[0].data[0], 6); /* the oldest were pushed out */
    ck_assert_uint_eq(inbox[1].pdus, 4);
    ck_assert(inbox[0].last < inbox[1].last);
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
}
END_TEST

/* ---- calls ---- */

struct answer {
    struct pvma_vc *caller, *called;
};

static void connected(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted)
{
    (void)call, (void)granted;
    ((struct answer *)arg)->caller = vc;
}

static const struct pvma_call_handler handler = {.connected = connected};

static void offered(void *arg, struct pvma_call *call, struct pvma_address caller, const struct pvma_contract *contract)
{
    (void)caller, (void)contract;
    ((struct answer *)arg)->called = pvma_call_accept(call, NULL, &handler, arg);
}

/* A switched VC has a rate at both ends; its minimum is reserved, and refused when it does not fit. */
START_TEST(calls)
{
    struct lab lab;
    struct answer answer = {0};
    static struct lab_inbox inbox;
    struct lab_greedy greedy;
    lab_open(&lab, "host a\nhost b\nswitch s\nlink a s\nlink b s\n", 1);
    struct pvma_host *a = pvma_net_host(lab.net, "a"), *b = pvma_net_host(lab.net, "b");
    struct pvma_bandwidth bandwidth = {50 * MBPS, 10 * MBPS, 0};
    struct pvma_contract contract = {.aal = PVMA_AAL5,
                                     .flow = PVMA_DUPLEX,
                                     .service = PVMA_ABR,
                                     .wanted = bandwidth,
                                     .minimum = bandwidth,
                                     .back_wanted = bandwidth,
                                     .back_minimum = bandwidth};
    ck_assert_int_eq(pvma_host_listen(b, 7, offered, &answer), 0);
    pvma_call_open(a, pvma_host_address(b), 7, &contract, &handler, &answer);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(pvma_vc_abr_rate(answer.caller), 50 * MBPS);
    ck_assert_int_eq(pvma_vc_abr_rate(answer.called), 50 * MBPS);
    ck_assert_int_eq(pvma_net_link(lab.net, "a", "s")->reserved_bps, 10 * MBPS);
    lab_receive(&lab, answer.called, &inbox);
    lab_flood(answer.caller, &greedy, 5000, 20);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(inbox.pdus, 20);
    ck_assert_uint_gt(pvma_host_counters(a)->rm_returned, 60);
    ck_assert_uint_eq(pvma_host_counters(a)->rm_returned, pvma_host_counters(b)->rm_turned);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_abr", cells, rates, a_source_follows_its_rate, shares, costs_a_cell_in_32, fair_share_of_a_greedy_source,
          the_minimum_is_kept, controlled_sources_share, pushes_out_best_effort, calls)
