/*
 * test_atm_reproduce.c - the papers' experiments, a few rows of each: the numbers that came out when they were written,
 * to all digits that are printed, since a simulation gives the same each time and on every machine.
 */
#include "../../src/atm/reproduce/experiment.h"
#include "../../src/atm/reproduce/fit.h"
#include "../../src/atm/reproduce/stats.h"
#include "unit.h"

/* A value as the report prints it. */
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
    expect(r, table4, "SPARC 1, SBA-100", "t_0", "738.09");
    expect(r, table4, "SPARC 1, SBA-100", "r_max", "0.93516");
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

UNIT_MAIN("atm_reproduce", four_apis, tum, thesis, an2, intervals_are_student_s, fits_find_the_parameter)
