/* test_switch.c - output queues: full rate for disjoint pairs, finite and counted buffers, priority, copies. */
#include "lab.h"

static uint8_t data[PVMA_PDU_MAX];

/* TUM report's switch: 16 ports, eight pairs, each with the full rate of its link. */
START_TEST(disjoint_pairs_get_full_rate)
{
    struct lab lab;
    static struct lab_inbox inbox[8];
    struct lab_greedy greedy[8];
    lab_open(&lab,
             "host h[1-16]\nswitch s model=asx200\nlink h[1-16] s\n"
             "pvc h1 h2\npvc h3 h4\npvc h5 h6\npvc h7 h8\npvc h9 h10\npvc h11 h12\npvc h13 h14\npvc h15 h16\n",
             1);
    for (size_t i = 0; i < 8; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 9180, 1000000);
    }
    pvma_sim_run_until(lab.sim, 100 * PVMA_MS);
    for (size_t i = 0; i < 8; i++) /* 9180 octets per 192 cells */
        ck_assert_double_eq_tol((double)inbox[i].bytes * 8 / 0.1, 149.76e6 * 9180 / (192 * 53), 0.02 * 149.76e6);
    ck_assert_uint_eq(pvma_switch_counters(pvma_net_switch(lab.net, "s"))->dropped, 0);
    lab_close(&lab);
}
END_TEST

/* Two inputs to one output: half of the cells meet a full buffer. Finite: they are lost. Counted: they are kept. */
static void overload(const char *buffer, struct pvma_switch_counters *counters, unsigned *pdus, unsigned *sent)
{
    struct lab lab;
    static struct lab_inbox inbox[2];
    struct lab_greedy greedy[2];
    char text[256];
    snprintf(text, sizeof text,
             "host a\nhost b\nhost c\nswitch s buffer=%s\nlink a s\nlink b s\nlink c s\npvc a c\npvc b c\n", buffer);
    lab_open(&lab, text, 1);
    for (size_t i = 0; i < 2; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 1000, 500);
    }
    pvma_sim_run(lab.sim);
    *counters = *pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    *pdus = inbox[0].pdus + inbox[1].pdus;
    *sent = greedy[0].sent + greedy[1].sent;
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
}

START_TEST(buffers)
{
    struct pvma_switch_counters c;
    unsigned pdus, sent;
    overload("200", &c, &pdus, &sent);
    ck_assert_uint_gt(c.dropped, 0);
    ck_assert_uint_eq(c.would_drop, 0);
    ck_assert_uint_eq(c.most_queued, 200);
    ck_assert_uint_eq(c.cells_in, 21000);
    ck_assert_uint_eq(c.cells_in, c.cells_out + c.dropped);
    ck_assert_uint_lt(pdus, 700);
    overload("count:200", &c, &pdus, &sent);
    ck_assert_uint_eq(c.dropped, 0);
    ck_assert_uint_gt(c.would_drop, 10000);
    ck_assert_uint_gt(c.most_queued, 10000);
    ck_assert_uint_eq(pdus, sent);
    overload("infinite", &c, &pdus, &sent);
    ck_assert_uint_eq(c.dropped + c.would_drop, 0);
    ck_assert_uint_eq(pdus, 1000);
}
END_TEST

/* A guaranteed VC overtakes best effort and displaces it from a full buffer. */
START_TEST(guaranteed_goes_first)
{
    struct lab lab;
    static struct lab_inbox inbox[3];
    struct lab_greedy greedy[3];
    lab_open(&lab,
             "host a\nhost b\nhost c\nhost d\nswitch s buffer=100\nlink a s\nlink b s\nlink c s\nlink d s\n"
             "pvc a d\npvc b d\npvc c d service=vbr peak=50M paced=yes\n",
             1);
    for (size_t i = 0; i < 3; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 1000, 300);
    }
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(inbox[2].pdus, 300);
    ck_assert_uint_lt(inbox[0].pdus, 300);
    ck_assert_uint_gt(pvma_switch_counters(pvma_net_switch(lab.net, "s"))->pushed_out, 0);
    lab_close(&lab);
}
END_TEST

/* A tree over two switches: each leaf gets each PDU, and each link carries each cell once. */
START_TEST(point_to_multipoint)
{
    static const char *const models[] = {"output", "an2", "an2 credits=20"};
    for (int m = 0; m < 3; m++) {
        struct lab lab;
        static struct lab_inbox inbox[5];
        struct lab_greedy greedy;
        struct pvma_host *leaves[5];
        struct pvma_vc *root, *ends[5];
        char text[256];
        snprintf(text, sizeof text,
                 "host a\nhost l[0-4]\nswitch s[1-2] model=%s\nlink a s1\nlink s1 s2\nlink l[0-1] s1\nlink l[2-4] s2\n",
                 models[m]);
        lab_open(&lab, text, 1);
        for (int i = 0; i < 5; i++) {
            char name[] = {'l', (char)('0' + i), 0};
            leaves[i] = pvma_net_host(lab.net, name);
        }
        struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_MULTICAST};
        ck_assert_int_eq(pvma_net_pvc_tree(lab.net, pvma_net_host(lab.net, "a"), leaves, 5, &contract, &root, ends), 0);
        for (int i = 0; i < 5; i++)
            lab_receive(&lab, ends[i], &inbox[i]);
        lab_flood(root, &greedy, 5000, 40);
        pvma_sim_run(lab.sim);
        for (int i = 0; i < 5; i++)
            ck_assert_uint_eq(inbox[i].pdus, 40);
        ck_assert_uint_eq(pvma_net_link(lab.net, "a", "s1")->counters.cells, 40 * 105);
        ck_assert_uint_eq(pvma_net_link(lab.net, "s1", "s2")->counters.cells, 40 * 105);
        ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
        lab_close(&lab);
    }
}
END_TEST

/* Cells of a VC that never existed, and of one that was closed. */
START_TEST(unknown_cells)
{
    struct lab lab;
    lab_open(&lab, "host a\nhost b\nswitch s\nlink a s\nlink b s\npvc a b\n", 1);
    struct pvma_cells *cells = pvma_host_node(pvma_net_host(lab.net, "a"))->cells;
    struct pvma_cell *cell = pvma_cell_new(cells);
    cell->vci = 99;
    pvma_link_send(pvma_net_link(lab.net, "a", "s"), cell);
    cell = pvma_cell_new(cells);
    cell->vci = 99;
    pvma_link_send(pvma_net_link(lab.net, "s", "b"), cell);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(pvma_switch_counters(pvma_net_switch(lab.net, "s"))->unknown, 1);
    ck_assert_uint_eq(pvma_host_counters(pvma_net_host(lab.net, "b"))->rx_unknown, 1);
    (void)data;
    lab_close(&lab);
}
END_TEST

/* ---- discarding before the buffer is full ---- */

/* Ten senders of 21-cell frames overload one link tenfold, for 20 ms. */
static void crowd(const char *options, struct pvma_switch_counters *counters, unsigned *pdus, uint64_t *broken)
{
    struct lab lab;
    static struct lab_inbox inbox[10];
    struct lab_greedy greedy[10];
    char text[1024];
    int length = snprintf(text, sizeof text, "host h[1-10]\nhost x\nswitch s buffer=1000 %s\nlink x s\n", options);
    for (int i = 1; i <= 10; i++) /* different rates, or the same senders would always find a place */
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "link h%d s rate=%dM\npvc h%d x\n", i, 97 + 5 * i, i);
    lab_open(&lab, text, 1);
    *pdus = 0;
    for (size_t i = 0; i < 10; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 1000, 336);
    }
    pvma_sim_run(lab.sim);
    for (size_t i = 0; i < 10; i++)
        *pdus += inbox[i].pdus;
    *counters = *pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    const struct pvma_host_counters *x = pvma_host_counters(pvma_net_host(lab.net, "x"));
    *broken = x->aal[PVMA_AAL_CRC32] + x->aal[PVMA_AAL_LENGTH] + x->aal[PVMA_AAL_OVERSIZE];
    ck_assert_uint_eq(counters->cells_in,
                      counters->cells_out + counters->dropped + counters->epd_cells + counters->ppd_cells);
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
}

/* What leaves the switch: mostly fragments; fewer of them with PPD; with EPD only whole frames. */
START_TEST(frames_are_discarded_whole)
{
    struct pvma_switch_counters plain, partial, early, both;
    unsigned plain_pdus, partial_pdus, early_pdus, both_pdus;
    uint64_t broken;
    crowd("", &plain, &plain_pdus, &broken);
    ck_assert_uint_eq(plain.epd_cells + plain.ppd_cells, 0);
    crowd("ppd=yes", &partial, &partial_pdus, &broken);
    ck_assert_uint_gt(partial.ppd_frames, 100);
    ck_assert_uint_gt(2 * partial_pdus, 3 * plain_pdus);
    ck_assert_uint_gt(broken, 0);
    crowd("epd=500", &early, &early_pdus, &broken);
    ck_assert_uint_eq(broken + early.dropped, 0);
    ck_assert_uint_eq(early.epd_cells, 21 * early.epd_frames);
    ck_assert_uint_eq(early.cells_out, 21 * early_pdus);
    ck_assert_uint_gt(early_pdus, partial_pdus);
    crowd("epd=990 ppd=yes", &both, &both_pdus, &broken); /* too late for EPD alone */
    ck_assert_uint_gt(both.dropped, 0);
    ck_assert_uint_gt(both_pdus, partial_pdus);
}
END_TEST

static void send_frame(void *arg)
{
    static const uint8_t octets[10 * 48 - 8];
    ck_assert_int_eq(pvma_vc_send(arg, octets, sizeof octets, 0), 0);
}

/*
 * Cell by cell, with four places and a slow link. Of ten cells the first is on the link and four wait; the sixth and,
 * since the buffer is still full, the last are lost, the three between are given up. Without its last cell the
 * frame would join the next one, so nine cells of that are given up too. The third frame is good.
 */
START_TEST(partial_packet_discard_by_hand)
{
    struct lab lab;
    static struct lab_inbox inbox;
    lab_open(&lab, "host a\nhost b\nswitch s buffer=4 ppd=yes\nlink a s\nlink b s rate=1M\npvc a b\n", 1);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    struct pvma_vc *from = pvma_net_pvc_end(lab.net, 0, false);
    static const pvma_ps gaps[] = {0, 100 * PVMA_MS};
    for (int i = 0; i < 2; i++)
        pvma_sim_call(lab.sim, gaps[i], send_frame, from);
    pvma_sim_run(lab.sim);
    const struct pvma_switch_counters *c = pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    ck_assert_uint_eq(c->dropped, 2);
    ck_assert_uint_eq(c->ppd_frames, 2);
    ck_assert_uint_eq(c->ppd_cells, 3 + 9);
    ck_assert_uint_eq(c->cells_out, 5 + 1);
    ck_assert_uint_eq(inbox.pdus, 0);
    const uint64_t errors = pvma_host_counters(pvma_net_host(lab.net, "b"))->aal[PVMA_AAL_LENGTH];
    ck_assert_uint_eq(errors, 1);
    lab_close(&lab);
}
END_TEST

/* Mean waits: two senders in step at half the output's rate each, so every second cell waits for one cell's time. */
START_TEST(waits_are_counted)
{
    struct lab lab;
    lab_open(&lab,
             "host a[1-2]\nhost b\nswitch s latency=3us\nlink a[1-2] s rate=424M\nlink b s rate=424M\n"
             "source x[1-2] from=a[1-2] to=b type=cbr rate=106M stop=10ms\n",
             1);
    pvma_sim_run(lab.sim);
    const struct pvma_switch_port_counters *c = pvma_switch_port_counters(pvma_net_switch(lab.net, "s"), 2);
    ck_assert_uint_eq(c->sent, 2 * 2500);
    ck_assert_uint_eq(c->waited, 2500 * PVMA_US);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_switch", disjoint_pairs_get_full_rate, buffers, guaranteed_goes_first, point_to_multipoint,
          unknown_cells, frames_are_discarded_whole, partial_packet_discard_by_hand, waits_are_counted)
