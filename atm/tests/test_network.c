/* test_network.c - whole networks: digests, memory, routes, PVCs without enough bandwidth, the report. */
#include "lab.h"

static const char lab_text[] =
    "host h[1-6] profile=hp735\nhost i[1-2] profile=ibm390\nswitch s[1-3] model=asx200 buffer=300\n"
    "switch x model=an2 credits=20\nlink s1 s2\nlink s2 s3\nlink s3 x\nlink s1 x delay=5us\n"
    "link h[1-3] s1 loss=0.001\nlink h[4-6] s2 ber=1e-7\nlink i1 s3\nlink i2 x\n"
    "pvc h1 i1\npvc h2 i2 aal=3/4\npvc h3 h4\npvc h5 h6 flow=simplex\n"
    "source n at=s2 type=onoff rate=200M off-rate=5M on=1ms off=1ms copy=0.5\n"
    "source p from=i1 to=i2 type=poisson rate=20M\n";

static uint64_t digest_of(uint64_t seed, struct pvma_net_counters *counters)
{
    struct lab lab;
    static struct lab_inbox inbox[4];
    struct lab_greedy greedy[4];
    lab_open(&lab, lab_text, seed);
    for (size_t i = 0; i < 4; i++) {
        lab_receive(&lab, pvma_net_pvc_end(lab.net, i, true), &inbox[i]);
        lab_flood(pvma_net_pvc_end(lab.net, i, false), &greedy[i], 3000 + i, 100000);
    }
    pvma_sim_run_until(lab.sim, 50 * PVMA_MS);
    uint64_t digest = pvma_sim_digest(lab.sim);
    pvma_net_count(lab.net, counters);
    lab_close(&lab);
    return digest;
}

START_TEST(same_seed_same_run)
{
    struct pvma_net_counters one, two, three;
    uint64_t digest = digest_of(42, &one);
    ck_assert_uint_eq(digest, digest_of(42, &two));
    ck_assert_mem_eq(&one, &two, sizeof one);
    ck_assert_uint_ne(digest, digest_of(43, &three));
    ck_assert_int_ne(memcmp(&one, &three, sizeof one), 0);
}
END_TEST

/* Memory depends on the cells in flight, not on the cells sent. */
START_TEST(memory_is_bounded)
{
    struct lab lab;
    static struct lab_inbox inbox;
    struct lab_greedy greedy;
    lab_open(&lab, "host a\nhost b\nswitch s\nlink a s\nlink b s\npvc a b\n", 1);
    lab_receive(&lab, pvma_net_pvc_end(lab.net, 0, true), &inbox);
    lab_flood(pvma_net_pvc_end(lab.net, 0, false), &greedy, 4000, 1000000);
    pvma_sim_run_until(lab.sim, 500 * PVMA_MS);
    ck_assert_uint_gt(pvma_net_link(lab.net, "s", "b")->counters.cells, 170000);
    ck_assert_uint_le(pvma_net_cells(lab.net)->made, 256);
    lab_close(&lab);
}
END_TEST

START_TEST(routes)
{
    struct lab lab;
    /* a ring of four switches with hosts on opposite corners: of two paths with equal hops, the lower ports win */
    lab_open(&lab,
             "switch s[1-4]\nhost a\nhost b\nhost alone[1-2]\nlink s1 s2\nlink s2 s3\nlink s3 s4\nlink s4 s1\nlink a "
             "s1\nlink b s3\n"
             "link alone1 alone2\n",
             1);
    struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    struct pvma_vc *x, *y;
    struct pvma_host *a = pvma_net_host(lab.net, "a"), *b = pvma_net_host(lab.net, "b");
    ck_assert_int_eq(pvma_net_pvc(lab.net, a, b, &contract, &x, &y), 0);
    ck_assert_uint_eq(pvma_net_link(lab.net, "s1", "s2")->vcs.used, 1);
    ck_assert_uint_eq(pvma_net_link(lab.net, "s1", "s4")->vcs.used, 0);
    uint16_t vpi, vci;
    pvma_vc_identifiers(x, &vpi, &vci);
    ck_assert_uint_eq(vci, PVMA_VCI_FIRST);
    ck_assert_int_eq(pvma_net_pvc(lab.net, a, pvma_net_host(lab.net, "alone1"), &contract, &x, &y),
                     PVMA_CAUSE_NO_ROUTE);
    ck_assert_int_eq(pvma_net_pvc(lab.net, a, a, &contract, &x, &y), PVMA_CAUSE_NO_ROUTE);
    lab_close(&lab);
}
END_TEST

/* A PVC without enough bandwidth leaves nothing behind; a topology with one is refused, with the line. */
START_TEST(pvcs_that_do_not_fit)
{
    struct lab lab;
    lab_open(&lab, "host a\nhost b\nhost c\nswitch s[1-2]\nlink a s1\nlink b s2\nlink c s1\nlink s1 s2 rate=50M\n", 1);
    struct pvma_contract contract = {.aal = PVMA_AAL5,
                                     .flow = PVMA_DUPLEX,
                                     .wanted = {0, 1000000, 0},
                                     .minimum = {0, 1000000, 0},
                                     .back_wanted = {0, 60000000, 0},
                                     .back_minimum = {0, 60000000, 0}};
    struct pvma_vc *x, *y;
    struct pvma_host *a = pvma_net_host(lab.net, "a"), *b = pvma_net_host(lab.net, "b");
    ck_assert_int_eq(pvma_net_pvc(lab.net, a, b, &contract, &x, &y), PVMA_CAUSE_NO_BANDWIDTH);
    for (size_t i = 0; i < pvma_net_link_count(lab.net); i++) {
        ck_assert_int_eq(pvma_net_link_at(lab.net, i)->reserved_bps, 0);
        ck_assert_uint_eq(pvma_net_link_at(lab.net, i)->vcs.used, 0);
    }
    struct pvma_host *leaves[2] = {pvma_net_host(lab.net, "c"), b};
    struct pvma_vc *ends[2];
    contract.flow = PVMA_MULTICAST;
    contract.wanted.mean_bps = contract.minimum.mean_bps = 60000000;
    ck_assert_int_eq(pvma_net_pvc_tree(lab.net, a, leaves, 2, &contract, &x, ends), PVMA_CAUSE_NO_BANDWIDTH);
    ck_assert_int_eq(pvma_net_link(lab.net, "a", "s1")->reserved_bps, 0);
    lab_close(&lab);

    struct pvma_topology t;
    const char *text = "host a\nhost b\nlink a b rate=10M\npvc a b mean=6M\npvc b a mean=6M\n";
    ck_assert_int_eq(pvma_topology_parse("t", text, strlen(text), &t), 0);
    unit_log_start();
    ck_assert_ptr_null(pvma_net_new(&t, 1));
    ck_assert_str_eq(unit_log.line, "t:5: the PVC from b to a is refused: the requested bandwidth is not available; "
                                    "ask for less, or give the links of the path a higher rate=");
    pvma_topology_free(&t);
}
END_TEST

START_TEST(report)
{
    struct lab lab;
    char *text;
    size_t length;
    lab_open(&lab, "host a\nhost b\nlink a b\npvc a b\n", 1);
    pvma_vc_send(pvma_net_pvc_end(lab.net, 0, false), "x", 1, 0);
    pvma_sim_run(lab.sim);
    FILE *out = open_memstream(&text, &length);
    pvma_net_report(lab.net, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "pdus_sent"));
    ck_assert_ptr_nonnull(strstr(text, "reader_drops")); /* b has no handler */
    ck_assert_ptr_nonnull(strstr(text, "a>b"));
    free(text);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_network", same_seed_same_run, memory_is_bounded, routes, pvcs_that_do_not_fit, report)
