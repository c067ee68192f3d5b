/* four_apis.c - the four-APIs paper's programs as real PVM programs: echo, matmul and pde of dpvm's examples. */
#include <stdio.h>
#include <string.h>
#include "reproduce/real.h"
#include "reproduce/tables.h"

/* Reasons for misses. */
static const char copies[] = "the paper's PVM copied each byte through TCP's sockets. This one sends by the Fore API, "
                             "without those copies; only its cost per packet is fitted, so long messages are faster";
static const char start[] =
    "the cost of a 32 x 32 run besides computing and messages is unknown; the model's is fitted to this value";
#define PDE(column, use)                                                                                               \
    {                                                                                                                  \
        FOUR_APIS_TABLE6, "Fore API", column, use, NULL                                                                \
    }

static const struct report_program programs[] = {
    {FOUR_APIS_TABLE1, "PVM advise", "r_max", REPORT_PREDICTS, copies},
    {FOUR_APIS_TABLE1, "PVM advise", "t_0", REPORT_FIXES, copies},
    {FOUR_APIS_TABLE1, "PVM advise", "n_1/2", REPORT_PREDICTS, copies},
    {FOUR_APIS_TABLE5, "PVM, ATM", "32 x 32", REPORT_PREDICTS, start},
    {FOUR_APIS_TABLE5, "PVM, ATM", "128 x 128", REPORT_PREDICTS, copies},
    {FOUR_APIS_TABLE5, "PVM, ATM", "256 x 256", REPORT_PREDICTS, copies},
    PDE("16, N", REPORT_PREDICTS),
    PDE("16, 2N", REPORT_PREDICTS),
    PDE("64, N", REPORT_PREDICTS),
    PDE("64, 2N", REPORT_PREDICTS),
    PDE("256, N", REPORT_FIXES),
    PDE("256, 2N", REPORT_PREDICTS),
};

enum { TASKS = 4 };

/* The library's cost of a packet on a Sun 4/690, from the latency of 4 B. */
static double run_echo(struct report *report)
{
    struct real_setup setup = {.profile = "sun4690-sba200", .model = "asx100", .rate = "taxi100", .hosts = 2};
    struct real_echo echo;

    real_fit_call(&setup, 4, report_printed(report, FOUR_APIS_TABLE1, "PVM advise", "t_0"));
    real_echo(&setup, &echo);
    report_set_program(report, FOUR_APIS_TABLE1, "PVM advise", "r_max", real_echo_r_max(&echo), 0);
    report_set_program(report, FOUR_APIS_TABLE1, "PVM advise", "t_0", real_echo_us(&echo, 4), 0);
    report_set_program(report, FOUR_APIS_TABLE1, "PVM advise", "n_1/2", real_echo_n_half(&echo), 0);
    return setup.call_us;
}

/*
 * What the program takes besides computing, for which nothing is charged: the seconds that it prints. The null model
 * has no messages.
 */
static double network_s(const struct real_setup *setup, const char *command)
{
    char text[1024];
    double seconds = 0;
    const char *at;

    if (real_is_null())
        return 0;
    real_run(setup, command, text, sizeof text);
    at = strstr(text, " tasks: ");
    if (!at ||
        (sscanf(at, " tasks: %*d iterations, %lf s", &seconds) != 1 && sscanf(at, " tasks: %lf s", &seconds) != 1))
        real_fail(command);
    return seconds;
}

/* Tasks compute between messages, all at the same time: a quarter each of what one computes, as in the models. */
static void run_matmul(struct report *report, const struct real_setup *setup)
{
    static const struct {
        unsigned n;
        const char *column;
        double sequential_s; /* Table 5, first row */
    } sizes[] = {{32, "32 x 32", .0988}, {128, "128 x 128", 6.6205}, {256, "256 x 256", 64.0001}};

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char command[128];
        snprintf(command, sizeof command, "matmul --local -n %u -r 10", sizes[i].n);
        report_set_program(report, FOUR_APIS_TABLE5, "PVM, ATM", sizes[i].column,
                           network_s(setup, command) + sizes[i].sequential_s / TASKS, 0);
    }
}

/*
 * The cost of a point is the model's, fitted to the largest grid. The program exchanges borders twice in each
 * iteration, before the points of either colour. With the cost of a packet from Table 1 this gives the Fore API's rows,
 * for which the model needs six exchanges.
 */
static void run_pde(struct report *report, const struct real_setup *setup)
{
    static const struct {
        unsigned n, iterations;
        const char *column;
    } sizes[] = {{16, 16, "16, N"},   {16, 32, "16, 2N"},   {64, 64, "64, N"},
                 {64, 128, "64, 2N"}, {256, 256, "256, N"}, {256, 512, "256, 2N"}};
    double point_s = report_parameter(report, "applications", "PDE, point") / 1e6;

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned points = sizes[i].n * sizes[i].n * sizes[i].iterations;
        char command[128];
        snprintf(command, sizeof command, "pde -n %u -i %u", sizes[i].n, sizes[i].iterations);
        report_set_program(report, FOUR_APIS_TABLE6, "Fore API", sizes[i].column,
                           network_s(setup, command) + points * point_s / TASKS, 0);
    }
}

static void run(struct report *report)
{
    struct real_setup sparc2 = {.profile = "sparc2-sba200", .model = "asx100", .rate = "taxi100", .hosts = TASKS};

    sparc2.call_us = run_echo(report) * report_parameter(report, "SPARC 2", "CPU, as to 4/690");
    run_matmul(report, &sparc2);
    run_pde(report, &sparc2);
}

const struct real_experiment real_four_apis = {programs, sizeof programs / sizeof programs[0], run};
