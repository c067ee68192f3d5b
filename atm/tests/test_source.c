/* test_source.c - rates of background traffic. */
#include "lab.h"

static double load_of(const char *line, const char *from, const char *to, uint64_t seed, pvma_ps time)
{
    struct lab lab;
    char text[512];
    snprintf(text, sizeof text, "host a\nhost b\nswitch s\nlink a s rate=oc12\nlink b s rate=oc12\n%s\n", line);
    lab_open(&lab, text, seed);
    pvma_sim_run_until(lab.sim, time);
    double cells = (double)pvma_net_link(lab.net, from, to)->counters.cells;
    lab_close(&lab);
    return cells * PVMA_CELL_BITS / ((double)time / PVMA_S);
}

START_TEST(rates)
{
    double cbr = load_of("source x from=a to=b type=cbr rate=50M", "s", "b", 1, PVMA_S);
    ck_assert_double_eq_tol(cbr, 50e6, 1000);
    double poisson = load_of("source x from=a to=b type=poisson rate=50M", "s", "b", 1, 4 * PVMA_S);
    ck_assert_double_eq_tol(poisson, 50e6, 0.01 * 50e6);
    double stopped = load_of("source x from=a to=b type=cbr rate=50M start=250ms stop=750ms", "s", "b", 1, PVMA_S);
    ck_assert_double_eq_tol(stopped, 25e6, 1000);
}
END_TEST

/* Thesis, Table 5.4: ON 300 Mbit/s, OFF 10, 40 % of the time ON; half of the cells to each output; within 2 %. */
START_TEST(onoff_in_a_switch)
{
    const char *line = "source x at=s type=onoff rate=300M off-rate=10M on=200us off=300us copy=0.5";
    struct pvma_source_options o = {.type = PVMA_ONOFF,
                                    .rate_bps = 300000000,
                                    .off_rate_bps = 10000000,
                                    .on_mean = 200 * PVMA_US,
                                    .off_mean = 300 * PVMA_US};
    ck_assert_int_eq(pvma_source_mean_bps(&o), 126000000);
    ck_assert_double_eq_tol(load_of(line, "s", "a", 1, 5 * PVMA_S), 63e6, 0.02 * 63e6);
    ck_assert_double_eq_tol(load_of(line, "s", "b", 2, 5 * PVMA_S), 63e6, 0.02 * 63e6);
}
END_TEST

/* Adding a source does not change the random numbers of another. */
START_TEST(streams_are_independent)
{
    struct lab one, two;
    const char *text = "host a\nhost b\nlink a b\nsource x from=a to=b type=poisson rate=10M\n";
    char more[256];
    snprintf(more, sizeof more, "%ssource y from=b to=a type=poisson rate=10M\n", text);
    lab_open(&one, text, 1);
    lab_open(&two, more, 1);
    pvma_sim_run_until(one.sim, PVMA_S);
    pvma_sim_run_until(two.sim, PVMA_S);
    ck_assert_uint_eq(pvma_source_cells(pvma_net_source(one.net, 0)), pvma_source_cells(pvma_net_source(two.net, 0)));
    lab_close(&one);
    lab_close(&two);
}
END_TEST

/* Bernoulli: a quarter of the slots have a cell, and cells come in slots only. */
static void note_slot(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct lab_inbox *inbox = arg;
    (void)vc, (void)data, (void)length;
    ck_assert_int_eq(pvma_sim_now(inbox->sim) % PVMA_US, 0);
    inbox->pdus++;
}

START_TEST(slots)
{
    static const struct pvma_vc_handler handler = {.received = note_slot};
    struct lab lab;
    lab_open(&lab, "host a\nhost b\nlink a b rate=424M\npvc a b aal=raw\n", 1);
    const struct pvma_source_options options = {
        .type = PVMA_BERNOULLI, .rate_bps = 106000000, .slot_bps = 424000000, .stop = PVMA_S / 10};
    struct pvma_vc *from = pvma_net_pvc_end(lab.net, 0, false);
    struct lab_inbox inbox = {.sim = lab.sim};
    pvma_vc_handle(pvma_net_pvc_end(lab.net, 0, true), &handler, &inbox);
    struct pvma_source *source = pvma_source_on_vcs(lab.sim, &from, 1, &options, "x");
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(inbox.pdus, pvma_source_cells(source));
    ck_assert_double_eq_tol(inbox.pdus, 25000, 4 * 137); /* four standard deviations */
    pvma_source_free(source);
    lab_close(&lab);
}
END_TEST

/* Each cell goes to one of the hosts, equally often to each and never to its own. */
START_TEST(random_targets)
{
    struct lab lab;
    lab_open(
        &lab,
        "host h[1-4]\nswitch s\nlink h[1-4] s\nsource x[1-2] from=h[1-2] to=h[1-4] type=cbr rate=42.4M stop=60ms\n", 1);
    pvma_sim_run(lab.sim);
    uint64_t to[4];
    for (unsigned i = 0; i < 4; i++)
        to[i] = pvma_host_counters(pvma_net_host_at(lab.net, i))->cells_received;
    ck_assert_uint_eq(to[0] + to[1] + to[2] + to[3], 12000);
    for (unsigned i = 0; i < 4; i++) /* from one sender 2000 each; four standard deviations are 146 */
        ck_assert_double_eq_tol((double)to[i], i < 2 ? 2000 : 4000, i < 2 ? 146 : 207);
    lab_close(&lab);
}
END_TEST

/* ON-OFF with constant intervals: the mean rate, and never two cells closer than the interval. */
START_TEST(constant_spacing)
{
    const char *line = "source x from=a to=b type=onoff spacing=constant rate=100M on=200us off=300us";
    ck_assert_double_eq_tol(load_of(line, "s", "b", 1, 5 * PVMA_S), 40e6, 0.02 * 40e6);
}
END_TEST

/* Nine of ten milliseconds are left out, also of silence; the other ones have a tenth of all cells. */
START_TEST(left_out)
{
    enum { STEPS = 8000 };
    struct lab lab;
    lab_open(&lab, "host a\nhost b\nlink a b\nsource x from=a to=b type=onoff rate=50M on=5ms off=15ms\n", 1);
    struct pvma_source *source = pvma_net_source(lab.net, 0);
    double cells = 12.5e6 / PVMA_CELL_BITS * 0.01 * STEPS;
    for (unsigned i = 1; i <= STEPS; i++) {
        pvma_sim_run_until(lab.sim, i * 10 * PVMA_MS - 9 * PVMA_MS);
        pvma_source_skip(source, i * 10 * PVMA_MS);
    }
    ck_assert_double_eq_tol((double)pvma_net_link(lab.net, "a", "b")->counters.cells, cells / 10, cells / 10 / 10);
    ck_assert_double_eq_tol((double)pvma_source_cells(source), cells, cells / 20);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_source", rates, onoff_in_a_switch, streams_are_independent, slots, random_targets, constant_spacing,
          left_out)
