/* test_host.c - host costs to the nanosecond, send queues, loss in each queue, links with loss and damage. */
#include "lab.h"
#include "core/error.h"

static uint8_t data[PVMA_PDU_MAX];

/* Time of one PDU of `bytes` from a to b. */
static pvma_ps one_way(const char *text, size_t bytes)
{
    struct lab lab;
    static struct lab_inbox inbox;
    lab_open(&lab, text, 1);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 13);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    ck_assert_int_eq(pvma_vc_send(pvma_net_pvc_end(lab.net, 0, false), data, bytes, 0), 0);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(inbox.pdus, 1);
    ck_assert_uint_eq(inbox.last_length, bytes);
    ck_assert_mem_eq(inbox.data, data, bytes);
    ck_assert_uint_eq(pvma_net_cells(lab.net)->in_use, 0);
    lab_close(&lab);
    return inbox.last;
}

#define THESIS(profile)                                                                                                \
    "host a profile=" profile "\nhost b profile=" profile "\nswitch s latency=500ns\nlink a s rate=140M\n"             \
    "link b s rate=140M\npvc a b\n"

/* Thesis, validation of chapters 6 and 5, decomposed as in atm/doc/atm.md. */
START_TEST(one_cell_of_the_thesis)
{
    ck_assert_int_eq(lab_ns(one_way(THESIS("thesis-ch6"), 40)), 35557);
    ck_assert_int_eq(lab_ns(one_way(THESIS("thesis-ch5"), 40)), 37257);
}
END_TEST

/* The wire alone: two cells, two links, the switch's latency. */
START_TEST(wire_time)
{
    pvma_ps cell = pvma_link_cell_time(PVMA_RATE_OC3);
    ck_assert_int_eq(cell, 2831197); /* TUM report: 2.831 us */
    const char *text = "host a\nhost b\nswitch s model=asx200\nlink a s delay=1us\nlink b s delay=1us\npvc a b\n";
    ck_assert_int_eq(one_way(text, 40), 2 * cell + 12 * PVMA_US);
    ck_assert_int_eq(one_way(text, 9188), 193 * cell + 12 * PVMA_US);
}
END_TEST

/* The part of a raw cell's latency that is the hosts' own, which ECE does not take for a sign of load. */
START_TEST(the_hosts_part)
{
    static const char *const names[] = {"ideal", "thesis-ch6", "thesis-host", "hp735", "ibm390", "sparc1-sba100"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[200];
        const struct pvma_profile *profile = pvma_profile_find(names[i]), *ideal = pvma_profile_find("ideal");
        pvma_ps there = pvma_profile_cell_latency(profile, ideal), cell = pvma_link_cell_time(PVMA_RATE_OC3);
        snprintf(text, sizeof text, "host a profile=%s\nhost b\nlink a b\npvc a b aal=raw\n", names[i]);
        ck_assert_int_eq(one_way(text, 48) - cell, there);
        snprintf(text, sizeof text, "host a profile=%s\nhost b profile=%s\nlink a b\npvc a b aal=raw\n", names[i],
                 names[i]);
        ck_assert_int_eq(one_way(text, 48) - cell, pvma_profile_cell_latency(profile, profile));
    }
}
END_TEST

/* Buffers that a PDU is copied into, at 1 ms each: mbufs of 236 octets; from 936 on, clusters that count twice. */
START_TEST(buffers)
{
    static const char text[] =
        "profile p like=ideal tx_mbuf=1ms\nhost a profile=p\nhost b profile=p\nlink a b\npvc a b\n";
    static const struct {
        size_t bytes;
        int64_t buffers;
    } rows[] = {{0, 1}, {236, 1}, {237, 2}, {935, 4}, {936, 2}, {4096, 2}, {4097, 4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_int_eq(one_way(text, rows[i].bytes) / PVMA_MS, rows[i].buffers);
}
END_TEST

/* TUM report, Tables 5.1 and 5.2: latencies at both ends of the range; the profiles were fitted to 1 B, 256 B and 4 KB.
 */
START_TEST(tum_latencies)
{
#define TUM(profile, aal)                                                                                              \
    "host a profile=" profile "\nhost b profile=" profile                                                              \
    "\nswitch s model=asx200\nlink a s\nlink b s\npvc a b aal=" aal
    static const struct {
        const char *text;
        size_t bytes;
        double us;
    } rows[] = {{TUM("hp735", "5"), 1, 203},       {TUM("hp735", "5"), 1024, 408}, {TUM("hp735", "5"), 9188, 1340},
                {TUM("hp735", "3/4"), 9188, 1880}, {TUM("ibm390", "5"), 1, 343},   {TUM("ibm390", "5"), 4092, 750},
                {TUM("ibm390", "3/4"), 4092, 1282}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double us = (double)one_way(rows[i].text, rows[i].bytes) / PVMA_US;
        ck_assert_msg(us > 0.84 * rows[i].us && us < 1.1 * rows[i].us, "row %zu: %.1f us, paper %.1f", i, us,
                      rows[i].us);
    }
}
END_TEST

#define PAIR(profile)                                                                                                  \
    "profile p like=" profile " tx_queue=4 rx_queue=2\nhost a profile=p\nhost b profile=p\nlink a b rate=oc3\npvc a "  \
    "b\n"

/* send=block: the queue refuses PDUs and reports room later; nothing is lost. */
START_TEST(a_full_queue_blocks)
{
    struct lab lab;
    static struct lab_inbox inbox;
    struct lab_greedy greedy;
    lab_open(&lab, PAIR("ideal"), 1);
    struct pvma_vc *a = pvma_net_pvc_end(lab.net, 0, false);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    lab_flood(a, &greedy, 1000, 50);
    int sent = 0;
    while (!pvma_vc_send(a, data, 1000, 1))
        sent++;
    ck_assert_int_eq(sent, 3);
    ck_assert_int_eq(pvma_vc_send(a, data, 1000, 1), PVMC_EAGAIN);
    ck_assert_int_eq(pvma_vc_send(a, data, 9189, 1),
                     PVMC_ELIMIT * (pvma_vc_mtu(a) < 9189) + PVMC_EAGAIN * (pvma_vc_mtu(a) >= 9189));
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(greedy.left, 0);
    ck_assert_uint_eq(inbox.pdus, 53);
    ck_assert_uint_ge(pvma_host_counters(pvma_net_host(lab.net, "a"))->tx_queue_waits, 2);
    lab_close(&lab);
}
END_TEST

/* send=flood: the sender's processor is faster than the link; excess PDUs are lost at the sender and counted. */
START_TEST(a_full_queue_floods)
{
    struct lab lab;
    static struct lab_inbox inbox;
    struct lab_greedy greedy;
    lab_open(&lab,
             "profile p like=ibm390 tx_pdu=10us tx_mbuf=0 rx_pdu=0 rx_byte=0 tx_queue=4\nhost a profile=p\nhost b "
             "profile=p\n"
             "link a b\npvc a b\n",
             1);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    lab_flood(pvma_net_pvc_end(lab.net, 0, false), &greedy, 4000, 200);
    pvma_sim_run(lab.sim);
    const struct pvma_host_counters *a = pvma_host_counters(pvma_net_host(lab.net, "a"));
    ck_assert_uint_eq(greedy.sent, 200);
    ck_assert_uint_gt(a->tx_queue_drops, 150);
    ck_assert_uint_eq(a->tx_queue_drops + a->pdus_sent, 200);
    ck_assert_uint_eq(inbox.pdus, a->pdus_sent);
    lab_close(&lab);
}
END_TEST

/* A slow receiver loses PDUs or cells in its own queues, and counts them there. */
START_TEST(slow_receivers)
{
    static const struct {
        const char *costs;
        bool cells;
    } rows[] = {{"rx_pdu=1ms rx_queue=2", false}, {"rx_cell=20us rx_fifo=8", true}};
    for (int i = 0; i < 2; i++) {
        struct lab lab;
        static struct lab_inbox inbox;
        struct lab_greedy greedy;
        char text[256];
        snprintf(text, sizeof text, "profile p like=ideal %s\nhost a\nhost b profile=p\nlink a b\npvc a b\n",
                 rows[i].costs);
        lab_open(&lab, text, 1);
        lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
        lab_flood(pvma_net_pvc_end(lab.net, 0, false), &greedy, 1000, 100);
        pvma_sim_run(lab.sim);
        const struct pvma_host_counters *b = pvma_host_counters(pvma_net_host(lab.net, "b"));
        ck_assert_uint_eq(b->rx_queue_drops > 0, !rows[i].cells);
        ck_assert_uint_eq(b->rx_fifo_drops > 0, rows[i].cells);
        ck_assert_uint_lt(inbox.pdus, 100);
        ck_assert_uint_eq(b->cells_received, 2100);
        lab_close(&lab);
    }
}
END_TEST

/* Each lost cell or PDU is counted somewhere. */
START_TEST(lossy_links)
{
    static const char *const options[] = {"loss=0.01", "ber=1e-5"};
    static const char *const aals[] = {"5", "3/4"};
    for (int i = 0; i < 4; i++) {
        struct lab lab;
        static struct lab_inbox inbox;
        struct lab_greedy greedy;
        char text[256];
        snprintf(text, sizeof text, "host a\nhost b\nlink a b %s\npvc a b aal=%s\n", options[i % 2], aals[i / 2]);
        lab_open(&lab, text, 5);
        lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
        lab_flood(pvma_net_pvc_end(lab.net, 0, false), &greedy, 1000, 2000);
        pvma_sim_run(lab.sim);
        const struct pvma_link_counters *link = &pvma_net_link(lab.net, "a", "b")->counters;
        const struct pvma_host_counters *b = pvma_host_counters(pvma_net_host(lab.net, "b"));
        uint64_t errors = 0;
        for (int e = 0; e < PVMA_AAL_ERRORS; e++)
            errors += b->aal[e];
        ck_assert_uint_gt(link->lost + link->damaged, 100);
        ck_assert_uint_gt(errors, 50);
        ck_assert_uint_lt(inbox.pdus, 2000);
        ck_assert_uint_gt(inbox.pdus, 1500);
        ck_assert_uint_eq(link->cells, link->lost + link->hec + b->cells_received);
        if (i % 2 == 0) /* about one cell in a hundred */
            ck_assert_double_eq_tol((double)link->lost / (double)link->cells, 0.01, 0.002);
        lab_close(&lab);
    }
}
END_TEST

/* A paced VC keeps to its peak rate, and does not hinder another VC. */
START_TEST(pacing)
{
    struct lab lab;
    static struct lab_inbox slow, fast;
    struct lab_greedy one, other;
    lab_open(&lab,
             "host a\nhost b\nhost c\nswitch s\nlink a s\nlink b s\nlink c s\n"
             "pvc a b peak=10M paced=yes\npvc a c\n",
             1);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &slow);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 1, true), &fast);
    lab_flood(pvma_net_pvc_end(lab.net, 0, false), &one, 4000, 100000);
    lab_flood(pvma_net_pvc_end(lab.net, 1, false), &other, 4000, 100000);
    pvma_sim_run_until(lab.sim, 100 * PVMA_MS);
    double payload = 4000.0 / (84 * 53);
    ck_assert_double_eq_tol((double)slow.bytes * 8 / 0.1, 10e6 * payload, 0.03 * 10e6);
    ck_assert_double_eq_tol((double)fast.bytes * 8 / 0.1, 139.76e6 * payload, 0.02 * 139.76e6);
    lab_close(&lab);
}
END_TEST

static unsigned closed;

static void count_closed(void *arg, struct pvma_vc *vc, int cause)
{
    (void)arg, (void)vc, (void)cause;
    closed++;
}

static void count_dropped(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why)
{
    (void)vc, (void)cookie;
    ck_assert_int_eq(why, PVMA_DROP_CLOSED);
    ++*(unsigned *)arg;
}

/* Closes an end that has PDUs in every stage. */
START_TEST(closing_under_traffic)
{
    static const struct pvma_vc_handler handler = {.closed = count_closed, .dropped = count_dropped};
    for (pvma_ps at = 0; at < 300 * PVMA_US; at += 7 * PVMA_US) {
        struct lab lab;
        unsigned dropped = 0;
        lab_open(&lab, "host a profile=sparc1-sba100\nhost b profile=sparc1-sba100\nlink a b\npvc a b\n", 1);
        struct pvma_vc *a = pvma_net_pvc_end(lab.net, 0, false);
        pvma_vc_handle(a, &handler, &dropped);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(pvma_vc_send(a, data, 500, (uint64_t)i), 0);
        pvma_sim_run_until(lab.sim, at);
        closed = 0;
        pvma_vc_remove(a, PVMA_CAUSE_NORMAL);
        ck_assert_uint_eq(closed, 1);
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(pvma_host_queued(pvma_net_host(lab.net, "a")), 0);
        lab_close(&lab);
    }
}
END_TEST

UNIT_MAIN("atm_host", one_cell_of_the_thesis, wire_time, the_hosts_part, buffers, tum_latencies, a_full_queue_blocks,
          a_full_queue_floods, slow_receivers, lossy_links, pacing, closing_under_traffic)
