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

UNIT_MAIN("atm_source", rates, onoff_in_a_switch, streams_are_independent)
