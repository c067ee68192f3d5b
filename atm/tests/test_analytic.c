/*
 * test_analytic.c - queues and crossbars against formulas (atm/doc/atm-validation.md has the table). Each estimate
 * comes with the half-width of its 95 % interval by batch means, which must be small enough that a wrong model would
 * show: so a pass says something. Seeds are fixed, so a run is always the same. DPVM_ATM_LONG=20 runs twenty times as
 * long.
 */
#include <math.h>
#include "lab.h"

enum { BATCHES = 20 };

/* Student's t, 97.5 %, for BATCHES - 1 degrees of freedom. */
#define T_95 2.093

struct estimate {
    double mean, half; /* half-width of the 95 % interval */
};

static int longer(void)
{
    const char *text = getenv("DPVM_ATM_LONG");
    return text ? atoi(text) : 1;
}

static uint64_t seed(void)
{
    const char *text = getenv("DPVM_ATM_SEED");
    return text ? (uint64_t)atoi(text) : 1;
}

static struct estimate of_batches(const double *batch)
{
    struct estimate e = {0};
    for (int i = 0; i < BATCHES; i++)
        e.mean += batch[i] / BATCHES;
    double squares = 0;
    for (int i = 0; i < BATCHES; i++)
        squares += (batch[i] - e.mean) * (batch[i] - e.mean);
    e.half = T_95 * sqrt(squares / (BATCHES - 1) / BATCHES);
    return e;
}

/* The estimate must be within `tolerance` of the expected value, and so precise that this could have failed. */
static void expect(const char *what, struct estimate e, double expected, double tolerance)
{
    printf("%-40s expected %9.4f simulated %9.4f +- %.4f (%+.2f %%)\n", what, expected, e.mean, e.half,
           100 * (e.mean / expected - 1));
    ck_assert_msg(fabs(e.mean / expected - 1) <= tolerance, "%s: %g instead of %g", what, e.mean, expected);
    ck_assert_msg(e.half / expected <= tolerance, "%s: the interval +-%g proves nothing about %g", what, e.half,
                  expected);
}

/* ---- waits ---- */

/*
 * The mean wait of a cell in an output queue, in us, and optionally the mean number of cells in it (the time average,
 * by Little's law the arrival rate times the wait).
 */
static struct estimate mean_wait(const char *text, unsigned port, pvma_ps batch_time, double *queue)
{
    struct lab lab;
    double batch[BATCHES];
    lab_open(&lab, text, seed());
    const struct pvma_switch_port_counters *c = pvma_switch_port_counters(pvma_net_switch(lab.net, "s"), port);
    pvma_sim_run_until(lab.sim, batch_time); /* warm-up */
    uint64_t first_waited = c->waited;
    for (int i = 0; i < BATCHES; i++) {
        uint64_t sent = c->sent, waited = c->waited;
        pvma_sim_run_until(lab.sim, (i + 2) * batch_time);
        batch[i] = (double)(c->waited - waited) / (double)(c->sent - sent) / (double)PVMA_US;
    }
    if (queue)
        *queue = (double)(c->waited - first_waited) / (double)(BATCHES * batch_time);
    lab_close(&lab);
    return of_batches(batch);
}

/* Pollaczek and Khinchin: a Poisson source in the switch, and an output that takes 1 us for a cell. */
START_TEST(m_d_1)
{
    static const struct {
        int percent;
        pvma_ps batch;
    } rows[] = {{30, 120 * PVMA_MS}, {50, 100 * PVMA_MS}, {70, 140 * PVMA_MS}, {80, 250 * PVMA_MS}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256], what[40];
        double load = rows[i].percent / 100.0, queue;
        snprintf(text, sizeof text,
                 "host a\nswitch s\nlink a s rate=424M\nsource x at=s type=poisson rate=%dk copy=1\n",
                 rows[i].percent * 4240);
        snprintf(what, sizeof what, "M/D/1, load %.1f: wait, services", load);
        struct estimate e = mean_wait(text, 0, rows[i].batch * longer(), &queue);
        expect(what, e, load / (2 * (1 - load)), 0.01);
        ck_assert_double_eq_tol(queue / (load * load / (2 * (1 - load))), 1, 0.01);
    }
}
END_TEST

/* Meisling 1958: a cell in a slot of 1 us with probability p, an output that takes 4 us. */
START_TEST(geo_d_1)
{
    static const struct {
        int percent;
        pvma_ps batch;
    } rows[] = {{30, 500 * PVMA_MS}, {50, 300 * PVMA_MS}, {80, 600 * PVMA_MS}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256], what[40];
        double load = rows[i].percent / 100.0, p = load / 4;
        snprintf(text, sizeof text,
                 "host a\nhost b\nswitch s\nlink a s rate=424M\nlink b s rate=106M\n"
                 "source x from=a to=b type=bernoulli slot=424M rate=%dk\n",
                 rows[i].percent * 1060);
        snprintf(what, sizeof what, "Geo/D/1, load %.1f: wait, slots", load);
        expect(what, mean_wait(text, 1, rows[i].batch * longer(), NULL), p * 4 * 3 / (2 * (1 - load)), 0.01);
    }
}
END_TEST

/* Karol, Hluchyj and Morgan 1987, eq. 13: an output queue fed by N inputs, each with a cell in a slot with p / N. */
START_TEST(output_queueing)
{
    enum { N = 8 };
    static const int percents[] = {50, 80};
    for (size_t i = 0; i < 2; i++) {
        char text[256], what[40];
        double load = percents[i] / 100.0;
        snprintf(text, sizeof text,
                 "host a[1-8]\nhost b\nswitch s\nlink a[1-8] s rate=424M\nlink b s rate=424M\n"
                 "source x[1-8] from=a[1-8] to=b type=bernoulli slot=424M rate=%dk\n",
                 percents[i] * 530);
        snprintf(what, sizeof what, "8 inputs, load %.1f: wait, slots", load);
        struct estimate e = mean_wait(text, N, (i ? 80 : 40) * PVMA_MS * longer(), NULL);
        expect(what, e, (double)(N - 1) / N * load / (2 * (1 - load)), 0.015);
    }
}
END_TEST

/* ---- ON-OFF fluid: Anick, Mitra and Sondhi 1982 ---- */

/* N sources of peak rate 1 and mean ON time 1, OFF times of rate `on`, into a server of rate c that is not a whole
 * number. */
struct fluid {
    int n;
    double on, c;
};

enum fluid_of { FLUID_MEAN, FLUID_ABOVE };

static double root(const struct fluid *f, int k)
{
    double half = f->n / 2.0, d = (half - k) * (half - k), m = half - f->c, l = f->on;
    double a = d - m * m, b = 2 * (1 - l) * d - f->n * (1 + l) * m, c = -(1 + l) * (1 + l) * (half * half - d);
    double s = sqrt(b * b - 4 * a * c), one = (-b + s) / (2 * a), two = (-b - s) / (2 * a);
    return k == 0 ? -b / a : one < 0 ? one : two;
}

/* The mean content, or the part of the arriving fluid that finds more than x. */
static double fluid(const struct fluid *f, enum fluid_of of, double x)
{
    int roots = f->n - (int)f->c;
    double z[16], sum = 0, on = f->on / (1 + f->on);
    for (int k = 0; k < roots; k++)
        z[k] = root(f, k);
    for (int k = 0; k < roots; k++) {
        double a = pow(on, f->n), b = z[k] + 1 - f->on, s = sqrt(b * b + 4 * f->on);
        for (int i = 0; i < roots; i++)
            a *= i == k ? 1 : z[i] / (z[i] - z[k]);
        double r = 1 - (-b + s) / (2 * f->on), q = 1 - (-b - s) / (2 * f->on); /* 1 - r1, 1 - r2 */
        double all = pow(r, k) * pow(q, f->n - k);
        double active = (k ? k * pow(r, k - 1) * pow(q, f->n - k) : 0) + (f->n - k) * pow(r, k) * pow(q, f->n - k - 1);
        sum += of == FLUID_MEAN ? a * all / -z[k] : a * active * exp(z[k] * x) / (f->n * on);
    }
    return sum;
}

/* For one source the solution is simple: the tail falls at the rate 1 / (1 - c) - on / c. */
START_TEST(fluid_formula)
{
    const struct fluid f = {1, 0.5, 0.6};
    double z = 1 / (1 - f.c) - f.on / f.c;
    ck_assert_double_eq_tol(fluid(&f, FLUID_ABOVE, 0), 1, 1e-12);
    ck_assert_double_eq_tol(fluid(&f, FLUID_ABOVE, 2), exp(-2 * z), 1e-12);
    ck_assert_double_eq_tol(fluid(&f, FLUID_MEAN, 0), f.on / (1 + f.on) / f.c / z, 1e-12);
    const struct fluid four = {4, 0.5, 1.6};
    ck_assert_double_lt(fluid(&four, FLUID_ABOVE, 0), 1);
    ck_assert_double_gt(fluid(&four, FLUID_ABOVE, 0), fluid(&four, FLUID_ABOVE, 1));
}
END_TEST

/*
 * Sources send a cell each us while ON, 40 us in the mean. A fluid comes and goes continuously, a cell as a whole, and
 * the cell on the output's link has left the queue. So the queue of cells may differ from the fluid by half a cell,
 * which is 5 % of these mean queues.
 */
static void on_off(const struct fluid *f, pvma_ps batch_time, double mean_tolerance)
{
    enum { ON = 40, FOUND = 20 };
    struct lab lab;
    char text[512], what[64];
    double above[BATCHES], mean[BATCHES];
    snprintf(text, sizeof text,
             "host a[1-%d]\nhost b\nswitch s buffer=count:%u\nlink a[1-%d] s rate=424M\nlink b s rate=%.0fk\n"
             "source x[1-%d] from=a[1-%d] to=b type=onoff spacing=constant rate=424M on=%dus off=%.0fus\n",
             f->n, FOUND, f->n, f->c * 424000, f->n, f->n, ON, ON / f->on);
    lab_open(&lab, text, seed());
    const struct pvma_switch_port_counters *c =
        pvma_switch_port_counters(pvma_net_switch(lab.net, "s"), (unsigned)f->n);
    pvma_sim_run_until(lab.sim, batch_time); /* warm-up */
    for (int i = 0; i < BATCHES; i++) {
        struct pvma_switch_port_counters before = *c;
        pvma_sim_run_until(lab.sim, (i + 2) * batch_time);
        above[i] = (double)(c->would_drop - before.would_drop) / (double)(c->sent - before.sent);
        mean[i] = (double)(c->waited - before.waited) / (double)batch_time;
    }
    lab_close(&lab);
    snprintf(what, sizeof what, "%d ON-OFF, rate %.1f: mean queue, cells", f->n, f->c);
    expect(what, of_batches(mean), ON * fluid(f, FLUID_MEAN, 0), mean_tolerance);
    snprintf(what, sizeof what, "%d ON-OFF, rate %.1f: cells finding %d", f->n, f->c, FOUND);
    expect(what, of_batches(above), fluid(f, FLUID_ABOVE, (double)FOUND / ON), 0.05);
}

START_TEST(on_off_fluid)
{
    on_off(&(struct fluid){1, 0.25, 0.5}, 400 * PVMA_MS * longer(), 0.05);
    on_off(&(struct fluid){4, 0.25, 1.5}, 100 * PVMA_MS * longer(), 0.08);
}
END_TEST

/* ---- crossbars ---- */

/* Throughput of N x N with all inputs full and random outputs: cells in a slot and output, in the mean. */
static struct estimate throughput(int n, const char *options, int slots)
{
    struct lab lab;
    char text[512];
    double batch[BATCHES];
    snprintf(text, sizeof text,
             "host a[1-%d]\nhost b[1-%d]\nswitch s model=an2 ports=%d latency=0 buffer=infinite matching=random %s\n"
             "link a[1-%d] s rate=424M\nlink b[1-%d] s rate=424M\n"
             "source x[1-%d] from=a[1-%d] to=b[1-%d] type=cbr rate=424M\n",
             n, n, 2 * n, options, n, n, n, n, n);
    lab_open(&lab, text, seed());
    pvma_ps time = slots / BATCHES * PVMA_US * longer();
    const struct pvma_switch_counters *c = pvma_switch_counters(pvma_net_switch(lab.net, "s"));
    pvma_sim_run_until(lab.sim, 4 * time); /* until all inputs have a backlog */
    for (int i = 0; i < BATCHES; i++) {
        uint64_t cells = c->cells_out;
        pvma_sim_run_until(lab.sim, (i + 5) * time);
        batch[i] = (double)(c->cells_out - cells) / n / (double)(time / PVMA_US);
    }
    lab_close(&lab);
    return of_batches(batch);
}

/* Karol, Hluchyj and Morgan 1987, Table I; 16 from the same Markov chain, solved exactly. */
START_TEST(head_of_line_limit)
{
    static const struct {
        int n, slots;
        double expected;
    } rows[] = {{2, 60000, 0.75}, {4, 30000, 0.6553}, {8, 20000, 0.6184}, {16, 10000, 0.6016}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char what[40];
        snprintf(what, sizeof what, "FIFO inputs, %d x %d", rows[i].n, rows[i].n);
        expect(what, throughput(rows[i].n, "inputs=fifo", rows[i].slots), rows[i].expected, 0.005);
    }
    struct estimate e = throughput(32, "inputs=fifo", 4000);
    printf("%-40s above 2 - sqrt 2 = %.4f: simulated %.4f +- %.4f\n", "FIFO inputs, 32 x 32", 2 - sqrt(2), e.mean,
           e.half);
    ck_assert_double_gt(e.mean, 2 - sqrt(2));
    ck_assert_double_lt(e.mean, 0.6016);
}
END_TEST

/* One iteration with full queues matches an input unless no output chooses it: 1 - (1 - 1/N)^N. Four find 98 %. */
START_TEST(parallel_iterative_matching)
{
    struct estimate one = throughput(16, "iterations=1", 10000), four = throughput(16, "iterations=4", 8000);
    expect("PIM, 1 iteration, 16 x 16", one, 1 - pow(15.0 / 16, 16), 0.005);
    printf("%-40s at least 0.98: simulated %.4f +- %.4f\n", "PIM, 4 iterations, 16 x 16", four.mean, four.half);
    ck_assert_double_ge(four.mean, 0.98);
}
END_TEST

/* Twice as many slots as cells: FIFO inputs no longer limit, since 2 * 0.6016 > 1. */
START_TEST(speed_up)
{
    struct estimate e = throughput(16, "inputs=fifo speedup=2", 4000);
    printf("%-40s at least 0.98: simulated %.4f +- %.4f\n", "FIFO inputs, speed-up 2, 16 x 16", e.mean, e.half);
    ck_assert_double_ge(e.mean, 0.98);
}
END_TEST

UNIT_MAIN("atm_analytic", m_d_1, geo_d_1, output_queueing, fluid_formula, on_off_fluid, head_of_line_limit,
          parallel_iterative_matching, speed_up)
