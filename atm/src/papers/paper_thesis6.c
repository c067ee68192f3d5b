/*
 * paper_thesis6.c - printed results of chapter 6 of J. Vila i Sallent's thesis (UPC, 1997). Its figures are images, so
 * only what tables and text say of them can be compared.
 */
#include "reproduce/experiment.h"
#include "reproduce/tables.h"

static const char doubled[] =
    "what is doubled, and for how long, follows from the background, which the thesis does not describe. For PDE1 at "
    "0.7 the thesis itself has 69.1 beside 253.9 Kbit/s, or 27 %, and 30 % in its text";

static const char control[] =
    "a STAT each 0.1 s is 4.24 Kbit/s; what is above follows from the number of times that latency crosses the "
    "thresholds, and from losses. Both depend on the background, which the thesis does not describe";

static const char fitted_by_four[] =
    "the background was fitted by four traces, which have 91.8 Kbit/s here; sixteen have 99.1 +- 6";

static const char foreign[] =
    "the background is fitted to PDE1. PDE2's 280 Kbit/s do not fit Table A.1 either, by which a task sends some 4 "
    "Kbit/s";

#define ROW(table, load, service, column, paper, use, why)                                                             \
    {                                                                                                                  \
        table, load ", " service, column, "Kbit/s", paper, use, why                                                    \
    }

/* What one service carries follows from the interval of the messages, which is fitted. */
#define ALONE(table, load, ubr, abr)                                                                                   \
    ROW(table, load, "UBR only", "UBR", ubr, REPORT_FIXES, NULL),                                                      \
        ROW(table, load, "ABR only", "ABR", abr, REPORT_FIXES, NULL)

#define ECE(table, load, name, ubr, abr, vbr, use, why)                                                                \
    ROW(table, load, name, "UBR", ubr, use, why), ROW(table, load, name, "ABR", abr, use, why),                        \
        ROW(table, load, name, "VBR", vbr, REPORT_PREDICTS, control)

#define SHARE(row, paper, use, why)                                                                                    \
    {                                                                                                                  \
        THESIS_SHARES, row, "share", "%", paper, use, why                                                              \
    }

static const struct report_value values[] = {
    ALONE(THESIS_TABLE6_5, "0.7", 266.4, 275.0),
    ECE(THESIS_TABLE6_5, "0.7", "switching", 154.0, 122.0, 5.0, REPORT_FIXES, NULL),
    ECE(THESIS_TABLE6_5, "0.7", "duplicating", 253.9, 69.1, 7.1, REPORT_PREDICTS, doubled),
    ALONE(THESIS_TABLE6_5, "1.05", 266.4, 275.0),
    ECE(THESIS_TABLE6_5, "1.05", "switching", 88.9, 190.2, 5.1, REPORT_FIXES, fitted_by_four),
    ECE(THESIS_TABLE6_5, "1.05", "duplicating", 215.4, 140.1, 5.5, REPORT_PREDICTS, doubled),
    ALONE(THESIS_TABLE6_6, "0.65", 280.0, 289.0),
    ECE(THESIS_TABLE6_6, "0.65", "switching", 216.0, 107.6, 7.1, REPORT_PREDICTS, foreign),
    ECE(THESIS_TABLE6_6, "0.65", "duplicating", 310.9, 105.1, 11.2, REPORT_PREDICTS, foreign),
    ALONE(THESIS_TABLE6_6, "1.05", 279.0, 289.0),
    ECE(THESIS_TABLE6_6, "1.05", "switching", 103.6, 224.5, 6.0, REPORT_PREDICTS, foreign),
    ECE(THESIS_TABLE6_6, "1.05", "duplicating", 248.9, 222.0, 7.9, REPORT_PREDICTS, foreign),
    SHARE("PDE1, 0.7, switching", 40, REPORT_FIXES, NULL),
    SHARE("PDE1, 0.7, duplicating", 30, REPORT_PREDICTS, doubled),
    SHARE("PDE1, 1, switching", 70, REPORT_PREDICTS, NULL),
    SHARE("PDE1, 1, duplicating", 60, REPORT_PREDICTS, doubled),
    SHARE("PDE2, 0.65, switching", 40, REPORT_PREDICTS, foreign),
    SHARE("PDE2, 0.65, duplicating", 40, REPORT_PREDICTS, foreign),
    SHARE("PDE2, 1, switching", 70, REPORT_PREDICTS, foreign),
    SHARE("PDE2, 1, duplicating", 70, REPORT_PREDICTS, foreign),
};

static const struct report_claim claims[] = {
    {.id = "E1",
     .text = "ABR only has 1.032 times the bandwidth of UBR only, for PDE1 at both loads (Table 6.5)",
     .ranges = {{1.0315, 1.0325}, {1.0315, 1.0325}},
     .range_count = 2,
     .why =
         "runs of UBR only have 265.0 to 267.2 Kbit/s: some cells come twice, and the last message of a run may wait "
         "for a POLL. The range is narrower, 0.1 %",
     .computed = "one cell of resource management goes with 31 cells of data"},
    {.id = "E2",
     .text = "in total, UBR only < ABR only < switching < duplicating, for both programs at both loads (Tables 6.5, "
             "6.6)",
     .why = "switching of PDE2 sends less than 3 % of the cells twice, and RM cells are 1 in 32 of ABR only's"},
    {.id = "E3",
     .text = "switching has less UBR and more ABR than duplicating, for both programs at both loads (Tables 6.5, 6.6)"},
    {.id = "E4", .text = "by both, more load gives more ABR and less UBR, for both programs (Tables 6.5, 6.6)"},
    {.id = "E5",
     .text = "duplicating has more VBR than switching, for both programs at both loads (Tables 6.5, 6.6)",
     .why =
         "duplicating sends POLLs by UBR, which loses some, so that their STATs are missing, and has no USTATs while "
         "latency is high"},
    {.id = "E6",
     .text = "switching has 3 to 7 % as much VBR as ABR (section 6.2.4)",
     .ranges = {{3, 7}, {3, 7}, {3, 7}, {3, 7}},
     .range_count = 4,
     .why = "the thesis's own tables have 2.7 to 6.6 %; and see VBR above"},
    {.id = "E7",
     .text = "the latency of both is nearer to ABR only's than to UBR only's, for both programs at both loads of the "
             "tables (figure 6.15: equivalent to ABR)"},
    {.id = "E8", .text = "switching loses less than UBR only, for both programs at both loads (figure 6.16)"},
    {.id = "E9",
     .text = "ABR loses no cell (section 6.2.1)",
     .why =
         "sources of ABR that turn ON at once still have the rates of an emptier link, and can fill 200 cells before "
         "they learn better: 32 of the switch's 37 million cells of ABR in 48 runs of PDE2 at 1.05"},
    {.id = "E10",
     .text = "a peak rate of 25 or 100 instead of 50 Mbit/s changes ABR only's latency and switching's share of ABR by "
             "less than their 90 % intervals (section 6.2.5: negligible)",
     .why = "342 cells of PDE1 take 2.9 ms at a peak of 50 Mbit/s and 5.8 ms at 25, which is most of the latency"},
    {.id = "E11",
     .text = "35 Mbit/s guaranteed lower ABR only's latency about ten times, PDE1 and PDE2 (section 6.2.6)",
     .ranges = {{8, 12}, {8, 12}},
     .range_count = 2,
     .why = "a message of PDE1 has 342 cells, which take 2.9 ms at ABR's peak of 50 Mbit/s, so that latency without a "
            "guarantee would have to be 29 ms"},
    {.id = "E12",
     .text = "with it switching's latency is nearer to ABR only's than without, and its share of ABR is the same "
             "within 90 % intervals (section 6.2.6)",
     .why =
         "a message of PDE2 that waits for a POLL takes 0.1 s, 400 times as long as others. Few do, so four runs tell "
         "its latency by switching within 46 to 65 % only, and not 10.4 from 9.4"},
};

static const struct report_parameter parameters[] = {
    {"network", "link", 155, "Mbit/s", "paper, chapter 6"},
    {"network", "controller and data, a cell", 8.25, "us", "paper, Table 6.3"},
    {"network", "interrupt", 12.5, "us", "paper, Table 6.3; charged as a delay"},
    {"network", "buffer", 200, "cells", "chosen: the smaller one of chapter 5"},
    {"ABR", "peak rate", 50, "Mbit/s", "paper"},
    {"LME", "interval, T_L", 0.1, "s", "paper, Table 6.2"},
    {"LME", "T_M, T_m", 100, "us", "paper, Table 6.2; T_m is 90 us"},
    {"trace", "interval of messages", 0, "s",
     "fitted on UBR only's 266.4 and 280.0 Kbit/s; PDE1's equal, PDE2's exponential: chosen"},
    {"trace", "messages of PDE1", 100, "", "chosen, at 0.8 50; 8192 octets, two at once: Table A.1"},
    {"trace", "messages of PDE2", 2000, "", "chosen, at 0.8 1000; 40 octets, a fifth 424: Table A.1"},
    {"trace", "runs", 16, "", "chosen, of switching and duplicating from 0.65 on; else, and at 0.8, four"},
    {"background", "sources", 8, "", "chosen, and fitted as a whole on Table 6.5, switching"},
    {"background", "sources of ABR", 3, "", "fitted on Table 6.5; the thesis has \"a mixture of UBR and ABR traffic\""},
    {"background", "ON", 15, "%", "chosen"},
    {"background", "mean of ON", 100, "ms", "fitted on Table 6.5, switching: 20 ms gives a larger share of ABR"},
};

static const struct report_figure figures[] = {
    {"latency-pde1", "Figure 6.15: latency of PDE1's messages", "load", "latency, s", false, true},
    {"latency-pde2", "Figure 6.15: latency of PDE2's messages", "load", "latency, s", false, true},
    {"loss-pde1", "Figure 6.16: lost cells of PDE1", "load", "share of the cells", false, false},
    {"loss-pde2", "Figure 6.16: lost cells of PDE2", "load", "share of the cells", false, false},
    {"share-pde1", "Figure 6.17: use of ABR by PDE1", "load", "share of the cells, %", false, false},
    {"share-pde2", "Figure 6.17: use of ABR by PDE2", "load", "share of the cells, %", false, false},
};

struct report paper_thesis6 = REPORT("thesis6", "thesis of J. Vila i Sallent (UPC), chapter 6");
