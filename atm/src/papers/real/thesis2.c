/*
 * thesis2.c - Tables 2.3 and 2.4 of the thesis by real PVM programs: load, four switches, and a delay in the hosts.
 * Each task sleeps before it communicates, so that a program without load takes the thesis's time. Its network is that
 * of the experiment file thesis-program-table2-3.
 */
#include <stdio.h>
#include <string.h>
#include "reproduce/experiment.h"
#include "reproduce/real.h"
#include "reproduce/tables.h"

enum { KERNELS = 4, COLUMNS = 4, TOPOLOGY_MAX = 2048 };

static const char each_cell[] = "the thesis does not say what the 500 us are for. For each cell they are 120 s for "
                                "what a task of PDE1 sends, 242,000 "
                                "cells, and it receives as many meanwhile; one after the other it would be 240 s. "
                                "PDE2's 6,900 cells of a task take "
                                "3.5 s, so 81.1 s would be 12 ms for each";
static const char total_fits[] = "the total is the printed 144.5 s within 0.4 %, of which Table 2.4 calls only 104.9 s "
                                 "communication: 39.6 s of computing, which takes 3.0 s in the other columns";
static const char short_queues[] = "three switches more cost the thesis 4.75 s, 0.6 ms a message of three cells. At a "
                                   "load of 0.7 an output's queue is "
                                   "some cells long, 3 us each";

#define ROWS(name, why_chain, why_delayed)                                                                             \
    {THESIS_TOTALS, name, "ideal", REPORT_FIXES, NULL}, {THESIS_TOTALS, name, "loaded", REPORT_PREDICTS, NULL},        \
        {THESIS_TOTALS, name, "4 switches", REPORT_PREDICTS, why_chain},                                               \
    {                                                                                                                  \
        THESIS_TOTALS, name, "500 us", REPORT_PREDICTS, why_delayed                                                    \
    }

static const struct report_program programs[] = {ROWS("PDE1", NULL, each_cell), ROWS("PDE2", short_queues, each_cell),
                                                 ROWS("CG", NULL, total_fits), ROWS("FT", NULL, NULL)};

/* Seconds of communication of the thesis, in the order of the columns. */
static const struct kernel {
    const char *row, *program;
    double comms_s[COLUMNS];
} kernels[KERNELS] = {{"PDE1", "pde1", {12.0, 12.0, 12.8, 187.0}},
                      {"PDE2", "pde2", {8.25, 9.75, 14.5, 81.1}},
                      {"CG", "cg", {2.8, 3.03, 2.94, 104.9}},
                      {"FT", "ft", {11.3, 13.0, 13.3, 147.2}}};

static const struct column {
    const char *name;
    bool is_loaded;
    unsigned switches, delay_us;
} columns[COLUMNS] = {
    {"ideal", false, 1, 0}, {"loaded", true, 1, 0}, {"4 switches", true, 4, 0}, {"500 us", true, 1, 500}};

/* The first task and the first worker share a switch. Without a network nothing takes time but the hosts. */
static void write_topology(const struct column *c, char text[TOPOLOGY_MAX])
{
    const char *rate = real_is_null() ? "155520M" : "155.52M";
    int n = snprintf(text, TOPOLOGY_MAX,
                     "profile own like=ideal tx_cell=%uus rx_cell=%uus rx_fifo=1000000\nhost m profile=own\n"
                     "host w[1-4] profile=own\nswitch s[1-%u] latency=%s\nlink m s1 rate=%s\n",
                     c->delay_us, c->delay_us, c->switches, real_is_null() ? "1ns" : "1us", rate);
    for (unsigned i = 0; i < 4; i++)
        n += snprintf(text + n, TOPOLOGY_MAX - (size_t)n, "link w%u s%u rate=%s\n", i + 1, i * c->switches / 4 + 1,
                      rate);
    for (unsigned i = 1; i < c->switches; i++)
        n += snprintf(text + n, TOPOLOGY_MAX - (size_t)n, "link s%u s%u rate=%s\n", i, i + 1, rate);
    if (c->is_loaded && !real_is_null())
        snprintf(text + n, TOPOLOGY_MAX - (size_t)n,
                 "source x[1-%u] at=s[1-%u] type=onoff rate=257.3M off-rate=10M on=400us off=76190ns copy=0.5\n",
                 c->switches, c->switches);
}

static double total_s(const struct report *report, const struct kernel *k, const struct column *c)
{
    char command[64], topology[TOPOLOGY_MAX], text[1024], parameter[64];
    double seconds = 0;
    const char *at;

    snprintf(parameter, sizeof parameter, "before a communication, %s", k->row);
    snprintf(command, sizeof command, "%s --class=T --stats --pace=%.0f", k->program,
             report_parameter(report, "programs", parameter));
    write_topology(c, topology);
    real_run_on(topology, "PVM_ATM_PROTOCOL=sscop", command, text, sizeof text);
    at = strstr(text, " time_s=");
    if (!at || sscanf(at, " time_s=%lf", &seconds) != 1)
        real_fail(command);
    return seconds;
}

static void run(struct report *report)
{
    for (unsigned i = 0; i < KERNELS; i++) {
        const struct kernel *k = &kernels[i];
        double ideal_s = report_printed(report, THESIS_TOTALS, k->row, "ideal");
        for (unsigned c = 0; c < COLUMNS; c++) {
            report_set_program(report, THESIS_TOTALS, k->row, columns[c].name, total_s(report, k, &columns[c]), 0);
            report_beyond(report, THESIS_TOTALS, k->row, columns[c].name, k->comms_s[c], ideal_s - k->comms_s[0]);
        }
    }
}

const struct real_experiment real_thesis2 = {programs, sizeof programs / sizeof programs[0], run};
