/*
 * test_atm_reproduce.c - a few rows of each paper's experiments, compared with recorded results to all printed digits,
 * since a simulation gives the same result each time and on every machine.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include "atm/src/reproduce/experiment.h"
#include "atm/src/reproduce/fit.h"
#include "atm/src/reproduce/jobs.h"
#include "atm/src/lab/lab.h"
#include "atm/src/lab/layout.h"
#include "atm/src/report/carry.h"
#include "atm/src/report/print.h"
#include "atm/src/report/score.h"
#include "atm/src/report/stored.h"
#include "atm/src/reproduce/stats.h"
#include "unit.h"

/* Compares a value with its printed form. */
static void expect(const struct report *r, const char *table, const char *row, const char *column, const char *printed)
{
    char text[32];

    snprintf(text, sizeof text, "%.5g", report_get(r, table, row, column));
    ck_assert_msg(strcmp(text, printed) == 0, "%s, %s, %s: %s, not %s", table, row, column, text, printed);
}

START_TEST(four_apis)
{
    static const char table3[] = "Table 3: AAL5 echo, point to point",
                      table4[] = "Table 4: AAL5 echo through the switch";
    struct report *r = &paper_four_apis;

    report_begin(r);
    experiment_four_apis(r, EXPERIMENT_SHORT);
    expect(r, table3, "SPARC 1, SBA-200", "r_max", "2.8048");
    expect(r, table3, "SPARC 2, SBA-200", "t_0", "469.91");
    expect(r, table3, "Sun 4/690, SBA-200", "n_1/2", "4032");
    expect(r, table4, "SPARC 1, SBA-100", "t_0", "738.09");
    expect(r, table4, "SPARC 1, SBA-100", "r_max", "0.93861");
    report_free(r);
}
END_TEST

START_TEST(tum)
{
    static const char table1[] = "Table 5.1: one-way latency, HP 735";
    struct report *r = &paper_tum;

    report_begin(r);
    experiment_tum(r, EXPERIMENT_SHORT);
    expect(r, table1, "API AAL5", "1 KB", "0.35201");
    expect(r, table1, "TCP ATM", "8 KB", "1.2975");
    expect(r, table1, "UDP ATM", "512 B", "0.3962");
    report_free(r);
}
END_TEST

START_TEST(thesis)
{
    static const char table[] = "Validation: one cell, one switch, 140 Mbit/s";
    struct report *r = &paper_thesis;

    report_begin(r);
    experiment_thesis(r, EXPERIMENT_SHORT);
    expect(r, table, "chapter 6, one way", "latency", "35557");
    expect(r, table, "chapter 5, one way", "latency", "37257");
    report_free(r);
}
END_TEST

START_TEST(an2)
{
    static const char table[] = "Figure 11: six TCP sessions on one link, 1 s";
    struct report *r = &paper_an2;

    report_begin(r);
    experiment_an2(r, EXPERIMENT_SHORT);
    expect(r, table, "with credits", "cells", "0");
    expect(r, table, "with credits", "packets", "0");
    ck_assert_double_gt(report_get(r, table, "without credits", "cells"), 3);
    report_free(r);
}
END_TEST

/* ---- the rules of the score ---- */

static const struct report_value rule_values[] = {
    {"t", "fitted", "c", "s", 100, REPORT_FIXES, NULL},       {"t", "predicted", "c", "s", 100, REPORT_PREDICTS, NULL},
    {"t", "beyond", "c", "s", 100, REPORT_PREDICTS, NULL},    {"t", "computed", "c", "s", 100, REPORT_BOUND, NULL},
    {"t", "none", "c", "s", REPORT_NONE, REPORT_FIXES, NULL},
};
static const struct report_claim rule_claims[] = {
    {.id = "A", .text = "a"},
    {.id = "B", .text = "b", .fitted = "set so"},
    {.id = "C", .text = "c", .chosen = "chosen so"},
    {.id = "D", .text = "d", .computed = "computed so"},
    {.id = "E", .text = "e: 35 to 40 and 1.71", .ranges = {{35, 40}, {1.705, 1.715}}, .range_count = 2},
};
static const struct report_parameter rule_parameters[] = {{"p", "n", 1, "s", "chosen"}};
static const struct report_figure rule_figures[] = {{"f", "F", "x, s", "y, s", false, false}};
static const struct report_program rule_programs[] = {{"t", "predicted", "c", REPORT_PREDICTS, NULL}};

static void begin_rules(struct report *r)
{
    *r = (struct report){.name = "test",
                         .title = "of a test",
                         .values = rule_values,
                         .value_count = sizeof rule_values / sizeof rule_values[0],
                         .claims = rule_claims,
                         .claim_count = sizeof rule_claims / sizeof rule_claims[0],
                         .parameters = rule_parameters,
                         .parameter_count = 1,
                         .figures = rule_figures,
                         .figure_count = 1,
                         .programs = rule_programs,
                         .program_count = 1};
    report_begin(r);
}

static struct score score_of(const struct report *r)
{
    struct score s;

    score_count(r, &s);
    return s;
}

START_TEST(fitted_within_10_predicted_within_20)
{
    struct report r;

    begin_rules(&r);
    report_set(&r, "t", "fitted", "c", 110, 0);
    report_set(&r, "t", "predicted", "c", 80, 0);
    report_set(&r, "t", "computed", "c", 100.1, 0);
    ck_assert_uint_eq(score_of(&r).fitted_good, 1);
    ck_assert_uint_eq(score_of(&r).predicted_good, 1);
    ck_assert_uint_eq(score_of(&r).computed_good, 1);
    report_set(&r, "t", "fitted", "c", 110.1, 0);
    report_set(&r, "t", "predicted", "c", 79.9, 0);
    report_set(&r, "t", "computed", "c", 100.2, 0);
    ck_assert_uint_eq(score_of(&r).fitted_good, 0);
    ck_assert_uint_eq(score_of(&r).predicted_good, 0);
    ck_assert_uint_eq(score_of(&r).computed_good, 0);
    ck_assert_uint_eq(score_of(&r).predicted, 1); /* a computed one is none of these */
    ck_assert_uint_eq(score_of(&r).computed, 1);
    ck_assert_uint_eq(score_of(&r).unknown, 1); /* "beyond"; "-" is no value */
    report_free(&r);
}
END_TEST

/* 99 of 100 s are off by 1 %, but the network adds only 4 s, of which 3 is 25 % off. */
START_TEST(what_the_network_adds_is_scored)
{
    struct report r;

    begin_rules(&r);
    report_set(&r, "t", "beyond", "c", 99, 0);
    ck_assert_uint_eq(score_of(&r).predicted_good, 1);
    report_beyond(&r, "t", "beyond", "c", 4, 96);
    ck_assert_uint_eq(score_of(&r).predicted_good, 0);
    report_set(&r, "t", "beyond", "c", 100.5, 0);
    ck_assert_uint_eq(score_of(&r).predicted_good, 1);
    report_free(&r);
}
END_TEST

/* Only a value that the null model misses tells something about the network. */
START_TEST(null_models_take_the_information)
{
    struct report r;

    begin_rules(&r);
    report_set(&r, "t", "predicted", "c", 100, 0);
    ck_assert_uint_eq(score_of(&r).telling_good, 1);
    report_null(&r, "t", "predicted", "c", 81);
    ck_assert_uint_eq(score_of(&r).telling, 0);
    ck_assert_uint_eq(score_of(&r).predicted_good, 1);
    report_null(&r, "t", "predicted", "c", 79);
    ck_assert_uint_eq(score_of(&r).telling_good, 1);
    report_free(&r);
}
END_TEST

static void run_with_a_network(struct report *r, enum experiment_part part)
{
    (void)part;
    if (layout_speed() != 1)
        return;
    report_set(r, "t", "predicted", "c", 100, 0);
    report_claim(r, "A", true, "1");
}

/* What a null model does not give is unknown, also if the model has been run before it. */
START_TEST(null_models_have_nothing_from_models)
{
    struct report r;
    struct job jobs[] = {{.report = &r, .run = run_with_a_network},
                         {.report = &r, .run = run_with_a_network, .null = true}};

    begin_rules(&r);
    ck_assert_int_eq(jobs_run(jobs, 2, 1), 0);
    ck_assert(r.rows[1].known && r.verdicts[0].known);
    ck_assert(!r.rows[1].has_null && !r.verdicts[0].null_known);
    report_free(&r);
}
END_TEST

/* A real program's result is a row of its own below the model's, and is counted apart. */
START_TEST(programs_have_rows_of_their_own)
{
    struct report r;

    begin_rules(&r);
    report_set(&r, "t", "predicted", "c", 100, 0);
    report_set_program(&r, "t", "predicted", "c", 130, 0);
    ck_assert_uint_eq(r.row_count, r.value_count + 1);
    ck_assert_int_eq(r.rows[2].by, REPORT_PROGRAM);
    ck_assert_double_eq(r.rows[2].simulated, 130);
    ck_assert_double_eq(report_get(&r, "t", "predicted", "c"), 100);
    ck_assert_uint_eq(score_of(&r).predicted, 1);
    ck_assert_uint_eq(score_of(&r).programs, 1);
    ck_assert_uint_eq(score_of(&r).programs_good, 0);
    report_free(&r);
}
END_TEST

static int compared(const struct report *r, const char *path, bool models_only, char **text)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    int rc = stored_check(&r, 1, path, models_only, out);

    fclose(out);
    return rc;
}

/* Without a model there is the program's row alone, and what is beyond computing comes with it. */
START_TEST(programs_can_be_all_there_is)
{
    struct report r = {.name = "test",
                       .values = rule_values,
                       .value_count = sizeof rule_values / sizeof rule_values[0],
                       .programs = rule_programs,
                       .program_count = 1,
                       .only_programs = true},
                  from;
    char path[32], *text;
    const struct report *reports[] = {&r};
    FILE *file = tmpfile();

    report_begin(&r);
    from = r;
    report_begin(&from);
    report_set_program(&from, "t", "predicted", "c", 130, 0);
    report_beyond(&from, "t", "predicted", "c", 30, 100);
    ck_assert_int_eq(carry_out(&from, file), 0);
    rewind(file);
    ck_assert_int_eq(carry_in_programs(&r, file), 0);
    ck_assert_uint_eq(r.row_count, 1);
    ck_assert_uint_eq(score_of(&r).programs_good, 1);
    ck_assert_uint_eq(score_of(&r).unknown, 0);
    snprintf(path, sizeof path, "/dev/fd/%d", memfd_create("stored", 0));
    ck_assert_int_eq(stored_write(reports, 1, path), 0);
    ck_assert_int_eq(compared(&r, path, false, &text), 0);
    ck_assert_ptr_nonnull(strstr(text, "all 1 results"));
    free(text);
    fclose(file);
    report_free(&from);
    report_free(&r);
}
END_TEST

/* A program's null model is the same program on a network that takes no time: what it gave before. */
START_TEST(programs_have_null_models_of_their_own)
{
    struct report r;

    begin_rules(&r);
    report_set(&r, "t", "predicted", "c", 100, 0);
    report_set_program(&r, "t", "predicted", "c", 81, 0);
    report_null_programs(&r);
    ck_assert(!r.rows[1].has_null && r.rows[1].known);
    ck_assert(r.rows[2].has_null && !r.rows[2].known);
    report_set_program(&r, "t", "predicted", "c", 90, 0);
    ck_assert_double_eq(r.rows[2].null, 81);
    ck_assert_uint_eq(score_of(&r).programs_good, 1);
    ck_assert_uint_eq(score_of(&r).programs_telling, 0);
    report_set_program(&r, "t", "predicted", "c", 79, 0);
    report_null_programs(&r);
    report_set_program(&r, "t", "predicted", "c", 90, 0);
    ck_assert_uint_eq(score_of(&r).programs_telling_good, 1);
    report_free(&r);
}
END_TEST

/* A program's stored value has no tolerance, that of a model has one of 0.1 %. */
START_TEST(programs_are_stored_exactly)
{
    char path[32], *text;
    struct report r;
    const struct report *reports[] = {&r};

    snprintf(path, sizeof path, "/dev/fd/%d", memfd_create("stored", 0));
    begin_rules(&r);
    report_set(&r, "t", "predicted", "c", 100, 0);
    report_set_program(&r, "t", "predicted", "c", 130, 0);
    report_null_programs(&r);
    report_set_program(&r, "t", "predicted", "c", 100, 0);
    ck_assert_int_eq(stored_write(reports, 1, path), 0);
    report_set(&r, "t", "predicted", "c", 100.05, 0);
    ck_assert_int_eq(compared(&r, path, false, &text), 0);
    free(text);
    report_set_program(&r, "t", "predicted", "c", 100.05, 0);
    ck_assert_int_eq(compared(&r, path, false, &text), -1);
    ck_assert_ptr_nonnull(strstr(text, "\"predicted\",\"c\",program: stored 100 +-0, now 100.05"));
    free(text);
    r.rows[2].known = r.rows[2].has_null = false;
    ck_assert_int_eq(compared(&r, path, true, &text), 0);
    free(text);
    ck_assert_int_eq(compared(&r, path, false, &text), -1);
    ck_assert_ptr_nonnull(strstr(text, ",program: stored 100, now nowhere"));
    ck_assert_ptr_nonnull(strstr(text, ",null program: stored 130, now nowhere"));
    free(text);
    report_free(&r);
}
END_TEST

/* What follows from fitted, chosen or computed figures does not count, and the text says why. */
START_TEST(some_claims_do_not_count)
{
    struct report r;
    char text[4096] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    begin_rules(&r);
    report_claim(&r, "A", true, "1");
    report_claim(&r, "B", true, "2");
    report_claim(&r, "C", true, "3");
    report_claim(&r, "D", false, "4");
    ck_assert_uint_eq(score_of(&r).claims, 2);
    ck_assert_uint_eq(score_of(&r).claims_good, 1);
    ck_assert_uint_eq(score_of(&r).claims_apart, 3);
    report_print(&r, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "B     fitted        b: 2"));
    ck_assert_ptr_nonnull(strstr(text, "C     chosen        c: 3"));
    ck_assert_ptr_nonnull(strstr(text, "D     does not hold d: 4"));
    ck_assert_ptr_nonnull(strstr(text, "Not counted: claim B: set so"));
    ck_assert_ptr_nonnull(strstr(text, "1 of 2 claims hold, 3 more not counted"));
    report_free(&r);
}
END_TEST

/* Programs judge claims beside the model, which keeps its own verdict. */
START_TEST(programs_judge_claims_too)
{
    struct report r;
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    begin_rules(&r);
    report_claim(&r, "A", true, "1");
    r.by = REPORT_PROGRAM;
    report_claim(&r, "A", true, "2");
    report_null_programs(&r);
    report_claim(&r, "A", true, "3");
    report_claim(&r, "B", false, "4");
    ck_assert_uint_eq(score_of(&r).claims_good, 1);
    ck_assert_uint_eq(score_of(&r).program_claims, 1);
    ck_assert_uint_eq(score_of(&r).program_claims_good, 1);
    report_print(&r, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "A     holds         a: 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "holds             by real PVM programs: 3 (also without a network)\n"));
    ck_assert_ptr_nonnull(strstr(text, "does not hold     by real PVM programs: 4\n"));
    ck_assert_ptr_nonnull(strstr(text, "Missed: claim B (programs): no reason known"));
    ck_assert_ptr_nonnull(strstr(text, "1 of 1 by real programs"));
    free(text);
    report_free(&r);
}
END_TEST

/* A range holds its ends and nothing beyond them; all of them must. */
START_TEST(claims_hold_inside_their_ranges)
{
    static const double inside[] = {35, 1.71}, below[] = {34.9, 1.71}, beyond[] = {40, 1.716};
    struct report r;

    begin_rules(&r);
    report_claim_numbers(&r, "E", true, inside, "x");
    ck_assert_str_eq(score_verdict(&r.claims[4], &r.verdicts[4]), "holds");
    report_claim_numbers(&r, "E", false, inside, "x");
    ck_assert_str_eq(score_verdict(&r.claims[4], &r.verdicts[4]), "does not hold");
    report_claim_numbers(&r, "E", true, below, "x");
    ck_assert_str_eq(score_verdict(&r.claims[4], &r.verdicts[4]), "does not hold");
    report_claim_numbers(&r, "E", true, beyond, "x");
    ck_assert_str_eq(score_verdict(&r.claims[4], &r.verdicts[4]), "does not hold");
    report_free(&r);
}
END_TEST

/* Each name is a separate curve, even if the caller's text changes later. */
START_TEST(curves_have_names_of_their_own)
{
    static const struct report_figure figures[] = {{"f", "F", "x, s", "y, s", false, false}};
    struct report r = {.name = "test", .figures = figures, .figure_count = 1};
    char name[8];

    report_begin(&r);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "c%d", i % 2);
        report_point(&r, "f", name, i, i);
    }
    ck_assert_uint_eq(r.curve_count, 2);
    ck_assert_str_eq(r.curves[0].name, "c0");
    ck_assert_str_eq(r.curves[1].name, "c1");
    report_free(&r);
}
END_TEST

/* What a paper prints is beside the simulated curve of that name, and "-" is no point. */
START_TEST(printed_points_are_apart)
{
    static const struct report_figure figures[] = {{"f", "F", "x, s", "y, s", false, false}};
    struct report r = {.name = "test", .figures = figures, .figure_count = 1};

    report_begin(&r);
    report_point(&r, "f", "c", 1, 2);
    report_paper_point(&r, "f", "c", 1, 3);
    report_paper_point(&r, "f", "c", 2, REPORT_NONE);
    ck_assert_uint_eq(r.curve_count, 2);
    ck_assert(!r.curves[0].paper && r.curves[1].paper);
    ck_assert_uint_eq(r.curves[1].count, 1);
    ck_assert_double_eq(r.curves[1].y[0], 3);
    report_free(&r);
}
END_TEST

static struct lab lab;
static struct pvma_end *ends[2];

static void send_8160(void *arg)
{
    static uint8_t data[8160];

    (void)arg;
    ends[0]->send(ends[0], data, sizeof data);
}

static void receive_8160(void *arg)
{
    static uint8_t data[8160];

    (void)arg;
    ends[1]->receive(ends[1], data, sizeof data);
    pvma_sim_stop(lab.sim);
}

/* Number of segments of SunOS's TCP, written 4096 B at a time, for two fragments of PVM with their headers. */
static uint64_t segments_with(uint32_t fragment_bytes)
{
    struct pvma_profile profile = layout_profile("ideal");
    struct pvma_switch_options options = layout_output_queued(4, PVMA_US);
    struct pvma_topology topology;
    struct lab_setup setup = {
        .hosts = 2, .tcp = pvma_tcp_sunos, .topology = &topology, .pvm_fragment_bytes = fragment_bytes, .seed = 1};
    unsigned long long events = 0;
    uint64_t segments;

    layout_star(&topology, "test", 2, &profile, &options, PVMA_RATE_OC3, PVMA_US);
    lab_open(&lab, &setup);
    lab_connect(&lab, LAB_PVM_DIRECT, 0, 1, &ends[0], &ends[1]);
    lab_start(&lab, receive_8160, NULL);
    lab_start(&lab, send_8160, NULL);
    lab_run(&lab, 10);
    segments = pvma_end_socket(ends[0])->counters.segments_sent;
    lab_close(&lab, &events);
    layout_free(&topology);
    return segments;
}

/* A fragment of 4096 B with its header needs two segments, one of 4080 B needs one: the four-APIs paper's result. */
START_TEST(fragments_are_the_setup_s)
{
    ck_assert_uint_eq(segments_with(4080), 2);
    ck_assert_uint_eq(segments_with(4096), 3);
}
END_TEST

/* 1 to 10: mean 5.5, deviation 3.0277, t of 9 degrees 1.833. */
START_TEST(intervals_are_student_s)
{
    struct stats s = {0};

    for (int i = 1; i <= 10; i++)
        stats_add(&s, i);
    ck_assert_double_eq_tol(stats_mean(&s), 5.5, 1e-12);
    ck_assert_double_eq_tol(stats_interval90(&s), 1.7550, 1e-3);
}
END_TEST

static double square(void *arg, double x)
{
    (void)arg;
    return x * x;
}

START_TEST(fits_find_the_parameter)
{
    ck_assert_double_eq_tol(fit_growing(0, 10, 2, square, NULL), 1.41421, 10.0 / 4096);
}
END_TEST

UNIT_MAIN("atm_reproduce", four_apis, tum, thesis, an2, fitted_within_10_predicted_within_20,
          what_the_network_adds_is_scored, null_models_take_the_information, null_models_have_nothing_from_models,
          programs_have_rows_of_their_own, programs_can_be_all_there_is, programs_have_null_models_of_their_own,
          programs_are_stored_exactly, some_claims_do_not_count, programs_judge_claims_too,
          claims_hold_inside_their_ranges, curves_have_names_of_their_own, printed_points_are_apart,
          fragments_are_the_setup_s, intervals_are_student_s, fits_find_the_parameter)
