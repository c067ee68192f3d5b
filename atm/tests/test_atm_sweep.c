/* test_atm_sweep.c - experiments: their language, their points, warm-up and confidence. */
#include <math.h>
#include <stdlib.h>
#include "core/error.h"
#include "core/log.h"
#include "atm/src/base/random.h"
#include "atm/src/sweep/point.h"
#include "atm/src/sweep/statistics.h"
#include "atm/src/sweep/workload.h"
#include "unit.h"

static char said[4096];

static void listen(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", line);
}

static int parse(const char *text, struct sweep_experiment *e)
{
    said[0] = 0;
    pvmc_log_to(listen, NULL, PVMC_LOG_WARNING);
    return sweep_experiment_parse("x.exp", text, strlen(text), e);
}

/* ---- statistics ---- */

/* Quantiles from the usual tables, two-sided. */
START_TEST(student)
{
    static const struct {
        double confidence;
        size_t freedom;
        double t;
    } rows[] = {{0.90, 1, 6.3138},  {0.95, 1, 12.7062},  {0.90, 2, 2.9200},  {0.95, 4, 2.7764},  {0.99, 4, 4.6041},
                {0.90, 9, 1.8331},  {0.95, 9, 2.2622},   {0.95, 10, 2.2281}, {0.95, 29, 2.0452}, {0.99, 30, 2.7500},
                {0.90, 60, 1.6706}, {0.95, 120, 1.9799}, {0.95, 999, 1.9623}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_double_eq_tol(sweep_student(rows[i].confidence, rows[i].freedom), rows[i].t, 6e-5);
}
END_TEST

START_TEST(estimates)
{
    static const double values[] = {4, 6, 8, 10, 12};
    struct sweep_estimate e = sweep_estimate(values, 5, 0.95);
    ck_assert_double_eq_tol(e.mean, 8, 1e-12);
    ck_assert_double_eq_tol(e.half_width, 2.7764 * sqrt(10.0 / 5), 1e-3);
    ck_assert_double_eq_tol(e.low, e.mean - e.half_width, 1e-12);
    ck_assert_double_eq_tol(e.high, e.mean + e.half_width, 1e-12);
    e = sweep_estimate(values, 1, 0.95);
    ck_assert_double_eq(e.mean, 4);
    ck_assert_double_eq(e.half_width, 0);
}
END_TEST

/* The ends of the intervals are those of the usual tables of the sign test: the second value of 8 and 10 at 90 %. */
START_TEST(medians)
{
    static const double values[] = {100, 6, 8, 10, 12, 1, 20, 30, 15, 40}; /* 1 6 8 10 12 15 20 30 40 100 */
    struct sweep_estimate e = sweep_estimate_median(values, 10, 0.90);
    ck_assert_double_eq(e.mean, 13.5);
    ck_assert_double_eq(e.half_width, 40 - 13.5);
    ck_assert_double_eq(e.low, 6);
    ck_assert_double_eq(e.high, 40);
    e = sweep_estimate_median(values, 10, 0.99);
    ck_assert_double_eq(e.half_width, 100 - 13.5);
    e = sweep_estimate_median(values, 5, 0.90); /* 6 8 10 12 100 */
    ck_assert_double_eq(e.mean, 10);
    ck_assert_double_eq(e.half_width, 90);
    e = sweep_estimate_median(values, 1, 0.95);
    ck_assert_double_eq(e.mean, 100);
    ck_assert_double_eq(e.half_width, 0);
    ck_assert_uint_eq(sweep_median_least(0.90), 5);
    ck_assert_uint_eq(sweep_median_least(0.95), 6);
    ck_assert_uint_eq(sweep_median_least(0.99), 8);
}
END_TEST

/* 1000 observations, of which the first `raised` are higher by `by`, with a little alternation. */
static size_t mser(size_t raised, double by)
{
    static double values[1000];
    for (size_t i = 0; i < 1000; i++)
        values[i] = (i < raised ? by : 0) + (i / 5 % 2 ? 1 : -1);
    return sweep_mser5(values, 1000);
}

START_TEST(mser5)
{
    static double values[1000];
    ck_assert_uint_eq(mser(0, 0), 0);
    ck_assert_uint_eq(mser(100, 50), 100);
    ck_assert_uint_eq(mser(400, 5), 400);
    ck_assert_uint_eq(mser(103, 50), 105); /* whole batches */
    ck_assert_uint_eq(mser(700, 50), SWEEP_SHORT);
    ck_assert_uint_eq(sweep_mser5(values, 49), SWEEP_SHORT);
    ck_assert_uint_eq(sweep_mser5(values, 1000), 0); /* all the same */
    for (size_t i = 0; i < 1000; i++)
        values[i] = (double)i; /* a trend without end */
    ck_assert_uint_eq(sweep_mser5(values, 1000), SWEEP_SHORT);
}
END_TEST

/* A transient that decays over a thousand observations of noise: nearly all of it is left out, and not much more. */
START_TEST(mser5_of_a_transient)
{
    static double values[5000];
    struct pvma_random random;
    pvma_random_init(&random, 7, "noise");
    for (size_t i = 0; i < 5000; i++)
        values[i] = 20 * exp(-(double)i / 150) + (double)pvma_random_below(&random, 1000) / 1000;
    size_t out = sweep_mser5(values, 5000);
    ck_assert_uint_ge(out, 400);
    ck_assert_uint_le(out, 1500);
}
END_TEST

/* ---- the language ---- */

static const char whole[] = "title  A title, with # in it\n"
                            "vary size 64..256*2 # a comment\n"
                            "vary rate 10M..30M+10M 155M\n"
                            "set twice $size$size\n"
                            "skip size=128 rate=155M\n"
                            "topology {\n"
                            "  host h[1-2]\n"
                            "  link h1 h2 rate=$rate\n"
                            "  pvc h1 h2\n"
                            "}\n"
                            "load poisson size=$size interval=1ms\n"
                            "time 50ms\nwarmup 5ms\nreplications 3\nseed 9\nconfidence 90\n"
                            "measure latency throughput@h1>h2 queue@h1>h2\n"
                            "plot p x=size y=latency series=rate log=xy title=Latency, by size\n";

START_TEST(reads_all)
{
    struct sweep_experiment e;
    char where[256];
    ck_assert_int_eq(parse(whole, &e), 0);
    ck_assert_str_eq(said, "");
    ck_assert_str_eq(e.name, "x");
    ck_assert_str_eq(e.title.text, "A title, with # in it");
    ck_assert_uint_eq(e.replications, 3);
    ck_assert_uint_eq(e.seed, 9);
    ck_assert_uint_eq(e.confidence, 90);
    ck_assert_int_eq(e.warmup, SWEEP_WARMUP_TIME);
    ck_assert_uint_eq(e.column_count, 3);
    ck_assert_str_eq(e.plots[0].title, "Latency, by size");
    ck_assert(e.plots[0].log_x && e.plots[0].log_y);
    ck_assert_uint_eq(sweep_point_count(&e), 12);
    sweep_point_format(&e, 0, where, sizeof where);
    ck_assert_str_eq(where, "size=64 rate=10M");
    sweep_point_format(&e, 7, where, sizeof where);
    ck_assert_str_eq(where, "size=128 rate=155M");
    ck_assert(sweep_point_is_skipped(&e, 7) && !sweep_point_is_skipped(&e, 6));
    struct sweep_run run = {.experiment = &e, .point = 6, .replication = 2, .seed = 10};
    char *text = sweep_substitute(&run, "$size ${rate}x $$size $ $9 $seed/$replication $twice ${size");
    ck_assert_str_eq(text, "128 30Mx $size $ $9 10/2 128128 ${size");
    free(text);
    ck_assert_int_eq(sweep_workload_check(&e), 0);
    sweep_experiment_free(&e);
}
END_TEST

/* Variables of one line, and points with other numbers of replications. */
START_TEST(varies_together)
{
    static const struct {
        const char *where, *filled;
        uint32_t replications;
        bool skipped;
    } points[] = {{"n=32 t=1s who=a load=0", "1s", 2, true},
                  {"n=32 t=1s who=b load=0.3", "1s", 10, false},
                  {"n=32 t=1s who=c load=0.3", "1s", 4, false},
                  {"n=128 t=$base-2 who=a load=0", "9-2", 2, false},
                  {"n=128 t=$base-2 who=b load=0.3", "9-2", 10, false},
                  {"n=128 t=$base-2 who=c load=0.3", "9-2", 4, false}};
    struct sweep_experiment e;
    ck_assert_int_eq(parse("set base 9\nvary n,t 32,1s 128,$base-2\nvary who,load a,0 b,0.3 c,0.3\n"
                           "replications 2\nreplications 10 load=0.3\nreplications 4 load=0.3 who=c\n"
                           "skip n=32 who=a\nprogram true\nvalue x (1)\n",
                           &e),
                     0);
    ck_assert_uint_eq(sweep_point_count(&e), 6);
    ck_assert_uint_eq(sweep_replications_most(&e), 10);
    for (size_t i = 0; i < 6; i++) {
        struct sweep_run run = {.experiment = &e, .point = i};
        char where[256], *filled = sweep_substitute(&run, "$t");
        sweep_point_format(&e, i, where, sizeof where);
        ck_assert_str_eq(where, points[i].where);
        ck_assert_str_eq(filled, points[i].filled);
        ck_assert_uint_eq(sweep_point_replications(&e, i), points[i].replications);
        ck_assert(sweep_point_is_skipped(&e, i) == points[i].skipped);
        free(filled);
    }
    sweep_experiment_free(&e);
}
END_TEST

START_TEST(skips_other_values)
{
    struct sweep_experiment e;
    ck_assert_msg(!parse("vary a x y z\nvary n 1 2\nskip a!=x n!=1\nprogram true\nvalue x (1)\n", &e), "%s", said);
    for (size_t i = 0; i < 6; i++)
        ck_assert_msg(sweep_point_is_skipped(&e, i) == (i == 3 || i == 5), "point %zu", i);
    sweep_experiment_free(&e);
}
END_TEST

/* Points by numbers: a value that is no number is neither below nor above. */
START_TEST(skips_by_numbers)
{
    struct sweep_experiment e;
    ck_assert_int_eq(
        parse("vary a x y\nvary n 2 9 10 10k\nskip a=x n>9\nskip n<9 a=x\nskip a<1\nprogram true\nvalue x (1)\n", &e),
        0);
    for (size_t i = 0; i < 8; i++)
        ck_assert_msg(sweep_point_is_skipped(&e, i) == (i == 0 || i == 2), "point %zu", i);
    sweep_experiment_free(&e);
}
END_TEST

static void refuses(const char *text, const char *message)
{
    struct sweep_experiment e;
    int error = parse(text, &e);
    if (!error) {
        error = sweep_workload_check(&e);
        sweep_experiment_free(&e);
    }
    ck_assert_msg(error != 0 && strstr(said, message), "no \"%s\" in: %s", message, said);
}

#define PAIR "topology {\nhost h[1-2]\nlink h1 h2\npvc h1 h2\n}\n"

START_TEST(refuses_mistakes)
{
    refuses("hots a\n", "x.exp:1: \"hots\" cannot begin a line; lines begin with title");
    refuses("vary size\n", "x.exp:1: the line is too short; write: vary NAME VALUE...");
    refuses("vary size 64..32*2\n", "x.exp:1: \"64..32*2\" is not a range; write FROM..TO+STEP");
    refuses("vary size 1..100000+1\n", "x.exp:1: size has more than 1024 values; give fewer");
    refuses("vary size 1\nvary size 2\n", "x.exp:2: size is already declared on line 1");
    refuses("vary seed 1\n", "x.exp:1: $seed has a meaning of its own");
    refuses("vary 9 1\n", "x.exp:1: \"9\" is not a name");
    refuses("vary a 1..1000+1\nvary b 1..1000+1\n", "x.exp:2: more than 100000 points; vary less");
    refuses("skip size=1\n", "x.exp:1: \"size=1\" does not begin with a variable");
    refuses("vary size 1 2\nskip size=3\n", "x.exp:2: size=3: the variable of line 1 has no such value");
    refuses("vary size 1 2\nskip size!=3\n", "x.exp:2: size!=3: the variable of line 1 has no such value");
    refuses("vary size 1 2\nskip size!1\n", "x.exp:2: size!1: write != for another value");
    refuses("vary size 1 2\nskip size>1k\n", "x.exp:2: size>1k: give a number after >");
    refuses("vary size 1 2\nskip size<\n", "x.exp:2: size<: give a number after <");
    refuses("vary size 1 2\nskip length>1\n", "x.exp:2: \"length>1\" does not begin with a variable");
    refuses("estimate mode\n", "x.exp:1: estimate mode: give mean or median");
    refuses("vary a 1 2\nestimate median\nreplications 5 a=2\nprogram true\nvalue x (1)\n",
            "x.exp:5: the median of 5 runs has no confidence interval of 95 %; give 6 replications or more");
    refuses("vary n 1 2 1\n", "x.exp:1: n has the value 1 twice; give it once");
    refuses("vary n 512..2048*2 1024\n", "x.exp:1: n has the value 1024 twice; give it once");
    refuses("time 1s 2s\n", "x.exp:1: \"2s\" is too much; write: time TIME");
    refuses("topology {host a\n", "x.exp:1: \"a\" is too much; write: topology FILE, or topology {");
    refuses("confidence 95 %\n", "x.exp:1: \"%\" is too much; write: confidence PERCENT");
    refuses("link a b\n", "x.exp:1: \"link\" belongs to a topology; write it between topology { and }");
    refuses("vary a 1\nmeasure latency\nplot p x=a y=latency log=z\n", "x.exp:3: log=z: give x, y or xy");
    refuses("vary a 1\nmeasure latency\nplot p x=a y=latency log=\n", "x.exp:3: log=: give x, y or xy");
    refuses("vary a 1\nmeasure latency\nplot p x=a y=latency only=b=1\n", "x.exp:3: \"b=1\" does not begin with a");
    refuses("vary a 1\nmeasure latency\nplot p x=a y=latency only=a=2\n",
            "x.exp:3: a=2: the variable of line 1 has no");
    refuses("vary a 1 2\nreplications 5 b=1\n", "x.exp:2: \"b=1\" does not begin with a variable");
    refuses("vary a 1 2\nreplications 5 a=3\n", "x.exp:2: a=3: the variable of line 1 has no such value");
    refuses("vary a 1 2\nreplications many a=1\n", "x.exp:2: replications many: give a number from 1 to 1000");
    refuses("vary a,b 1,2 3\n", "x.exp:1: \"3\": give 2 values with commas between them, one for each variable");
    refuses("vary a,b 1,2,3\n", "x.exp:1: \"1,2,3\": give 2 values with commas");
    refuses("vary a,b 1, 2,3\n", "x.exp:1: \"1,\": give 2 values with commas");
    refuses("vary a,b 1..3+1,2\n", "x.exp:1: \"1..3+1,2\": give 2 values with commas between them, one for each "
                                   "variable, and no ranges");
    refuses("vary a, 1,2\n", "x.exp:1: \"\" is not a name");
    refuses("vary a,a 1,2\n", "x.exp:1: a is already declared on line 1");
    refuses("vary a,b 1,$a\n", "x.exp:1: there is no variable \"a\"; declare it on an earlier line");
    refuses("set a $a\n", "x.exp:1: there is no variable \"a\"; declare it on an earlier line");
    refuses("vary a 1..1000+1\nvary b 1..100+1\nreplications 1000\nprogram true\nvalue x (1)\n",
            "x.exp:5: 100000000 runs, more than 1000000; vary less, or give fewer replications");
    refuses("title a\ntitle b\n", "x.exp:2: title is already on line 1; give it once");
    refuses("title $a\n", "x.exp:1: there is no variable \"a\"; add above: vary a VALUE..., or write $$");
    refuses("topology {\nhost a\n", "x.exp:1: the topology has no end; add a line with } after it");
    refuses("topology {\nhost $a\n}\n", "x.exp:2: there is no variable \"a\"; declare it above the topology");
    refuses("load none\nprogram true\n", "x.exp:2: the workload is already on line 1");
    refuses("title x\n", "nothing runs; add: load KIND, program COMMAND or model NAME");
    refuses("load greedy\nmeasure latency\n", "x.exp:1: the load has no network; add: topology FILE");
    refuses("program true\n", "nothing is measured; add: value NAME REGULAR-EXPRESSION");
    refuses("program true\nmeasure x\n", "x.exp:2: x: a program's results are values");
    refuses("program true\nvalue x no group\n", "x.exp:2: \"no group\" is not a regular expression with a group");
    refuses("program true\nvalue x (1{9}{9})\n", "is not a regular expression with a group and no braces");
    refuses("program true\ntime 1s\nvalue x (1)\n", "x.exp:2: time and warmup are for a load");
    refuses("replications 0\n", "x.exp:1: replications 0: give a number from 1 to 1000");
    refuses("limit soon\n", "x.exp:1: limit soon: give a time of 1ms or more");
    refuses("vary a 1\nplot p x=a y=b\n", "x.exp:2: plot p: x= must name a variable, y= a result");
    refuses("vary a 1\nmeasure latency\nplot p x=a y=latency z=1\n", "x.exp:3: \"z=1\": give x=VARIABLE y=RESULT");
    refuses("title \001\n", "x.exp:1: not a text; an experiment consists of printable ASCII");
}
END_TEST

START_TEST(refuses_workloads)
{
    refuses(PAIR "load fast\nmeasure latency\n", "x.exp:6: load fast: give greedy, echo, cbr, poisson or none");
    refuses(PAIR "load cbr\nmeasure latency\n", "x.exp:6: this load needs the mean time between PDUs: interval=TIME");
    refuses(PAIR "load echo size=70000\nmeasure latency\n", "x.exp:6: size=70000: give a number from 0 to 65535");
    refuses(PAIR "load echo\nmeasure lateness\n", "x.exp:7: lateness cannot be measured here; there are throughput");
    refuses(PAIR "load echo\nmeasure queue\n", "x.exp:7: queue cannot be measured here");
    refuses(PAIR "load echo\nmeasure queue@h1>h9\n",
            "x.exp:7: queue@h1>h9: there is no such queue at a link; write queue@FROM>TO");
    refuses(PAIR "load echo\nmeasure latency@h2>h1\n",
            "x.exp:7: latency@h2>h1: there is no such PVC; write latency@FROM>TO");
    refuses("topology {\nhost h[1-2]\nlink h1 h2\n}\nload echo\nmeasure latency\n",
            "x.exp:6: latency: the topology has no PVC; add to it: pvc FROM TO");
    refuses("vary b h2 h3\ntopology {\nhost h1\nhost $b\nlink h1 $b\npvc h1 $b\n}\nload echo\nmeasure latency@h1>h2\n",
            "x.exp:9: latency@h1>h2: there is no such PVC; write latency@FROM>TO\nx.exp: this is at b=h3");
    refuses("topology nofile\nprogram true\nvalue x (1)\n", "x.exp:1: cannot read the topology nofile");
    refuses(PAIR "load echo\ntime 1ns\nmeasure latency\n",
            "x.exp:7: \"1ns\" is not a time of 1us or more; write 100ms");
    refuses(PAIR "load echo\nwarmup MSER5\nmeasure latency\n",
            "x.exp:7: \"MSER5\" is not a time of 0 or more; write MSER-5, 100ms or 2s");
    refuses(PAIR "load echo\ntime 1s\nwarmup 2s\nmeasure latency\n", "x.exp:8: the warm-up is as long as the run");
    refuses("topology nofile\nload echo\nmeasure latency\n", "x.exp:1: cannot read the topology nofile");
    refuses("vary n 1 0\ntopology {\nhost h[1-2]\nlink h1 h2 loss=$n.5\n}\nload echo\nmeasure latency\n",
            "x.exp:4: loss=1.5: give a probability from 0 to 1");
    refuses("model nothing\nmeasure trip\n", "x.exp:1: there is no model \"nothing\"; there are suns-echo");
    refuses("model an2-echo size=0\nmeasure trip\n", "x.exp:1: size=0: give a number from 1 to 8192");
    refuses("model an2-echo\nmeasure speed\n", "x.exp:2: speed cannot be measured here; there are trip");
    refuses("model suns-pde background=0.3\nmeasure seconds\n", "background= is the load of an Ethernet");
    refuses("model suns-pde sequential=64s\nmeasure seconds\n",
            "x.exp:1: sequential=64s: there is no such option here");
    refuses("model suns-pde iterations=0\nmeasure seconds\n", "x.exp:1: iterations=0: give a number from 1 to 16");
    refuses("model suns-matmul sequential=64\nmeasure seconds\n", "x.exp:1: sequential=64: give a time");
    refuses("model tum-stream paced=yes\nmeasure receiver\n", "paced=yes is for udp, fore34 and fore5");
    refuses("model tum-stream stack=fore5 host=ibm size=4096\nmeasure receiver\n", "9188 octets on HP, 4092 on IBM");
    refuses("model tum-stream stack=fore5 network=ethernet\nmeasure receiver\n", "the Fore API needs network=atm");
    refuses("model tum-stream\nmeasure throughput\n",
            "x.exp:2: throughput cannot be measured here; there are sender, receiver, arrived");
    refuses("model tum-echo daemons=fore\nmeasure trip\n", "daemons=fore is for stack=pvm-daemon");
    refuses("model suns-echo stack=fore5 network=fddi\nmeasure trip\n", "suns-echo: the Fore API needs network=atm");
}
END_TEST

UNIT_MAIN("atm_sweep", student, estimates, medians, mser5, mser5_of_a_transient, reads_all, varies_together,
          skips_other_values, skips_by_numbers, refuses_mistakes, refuses_workloads)
