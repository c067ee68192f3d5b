/*
 * paper_thesis5.c - printed results of chapter 5 of J. Vila i Sallent's thesis (UPC, 1997). Its figures 5.13 to 5.18
 * are images, so only what the text says of them can be compared.
 */
#include "reproduce/experiment.h"
#include "reproduce/tables.h"

static const char which_load[] =
    "the thesis does not say at which load; this is 0.7. Without loss a message takes 0.0065 s with several items in a "
    "cell (342 cells of 9.1 us, and a neighbour's between them) and 0.019 s with one (1024 cells); a cell that only "
    "the "
    "next POLL reports adds 0.25 s on average, so the mean depends on few messages";

static const char which_buffer[] = "load and buffer were chosen so that the ratio is the thesis's";

static const struct report_value values[] = {
    {THESIS_LATENCY, "one item a cell", "latency", "s", 0.166, REPORT_PREDICTS, which_load},
    {THESIS_LATENCY, "several items a cell", "latency", "s", 0.0112, REPORT_PREDICTS, which_load},
    {THESIS_LATENCY, "one item, 1000 cells, 0.8", "latency", "s", 0.166, REPORT_FIXES, which_buffer},
    {THESIS_LATENCY, "several items, 1000 cells, 0.8", "latency", "s", 0.0112, REPORT_FIXES, which_buffer},
};

static const struct report_claim claims[] = {
    {.id = "S1", .text = "SSCOP does not end by a load of 1.1: three rounds within 180 s (figure 5.13)"},
    {.id = "S2",
     .text = "PC-AAL ends at all nine loads up to 1.5: a round within 60 s, three at 1.1 and 1.5 within 180 s (figure "
             "5.13)"},
    {.id = "S3",
     .text = "several items a cell have a latency 12 to 18 times as low as one (section 5.3.4)",
     .ranges = {{12, 18}},
     .range_count = 1,
     .why = "without loss the ratio is that of the cells, 1024 to 342, or 3. Under loss both wait for POLLs of the "
            "same interval, which draws the latencies together. 100 us of processor for each cell (Table 5.3, if a "
            "PDU is a cell) would explain 0.166 s, since two messages of 1024 cells take 0.205 s one after the other, "
            "0.154 s in the mean, but several items would then take 0.051 s and not 0.0112 s"},
    {.id = "S4", .text = "buffers of 1000 cells lose less than those of 200 (figure 5.15)"},
    {.id = "S5", .text = "a POLL each 1.5 s costs more latency with one item a cell than with several (figure 5.16)"},
    {.id = "S6", .text = "PDE2 and SOLVER end by PC-AAL at a load of 1.5, too: a round within 60 s (figure 5.17)"},
    {.id = "S7",
     .text = "latency by both forms of PC-AAL is below SSCOP's (figure 5.13 (a), as load grows; ours: 0.7)",
     .why = "a message has 171 cells by SSCOP, 342 by PC-AAL with several items and 1024 with one, so that even "
            "without loss one item takes longer. SSCOP's frame costs more only where a cell of it is lost"},
    {.id = "S8", .text = "with buffers of 1000 cells SSCOP breaks at a higher load: a round within 60 s (figure 5.15)"},
    {.id = "S9",
     .text = "with buffers of 1000 cells latency grows with one item, and is the same with several, by 90 % intervals "
             "(figure 5.15; ours: 0.7)",
     .why = "1000 cells lose none at 0.7, so that nothing waits for a POLL, and latency falls to what it is without "
            "loss, 0.0189 and 0.0064 s"},
    {.id = "S10",
     .text = "a POLL each 1.5 s leaves loss as it is, and SSCOP's latency grows, by 90 % intervals (figure 5.16; ours: "
             "0.7)"},
    {.id = "S11",
     .text = "time follows latency clearly in PDE1, less in SOLVER, least in PDE2 (figures 5.17, 5.18; ours: from 0.4 "
             "to 0.8)",
     .why = "at 0.8 a cell of PDE2's few has not been lost yet, so neither its latency nor its time grows: 0.498 and "
            "0.500 s. At 0.9 its time grows 3.6 times and latency 40 times; PDE1's 34 and 93 times"},
    {.id = "S12",
     .text = "with buffers of 1000 cells at a load of 0.8, several items have 12 to 18 times less latency (section "
             "5.3.4)",
     .ranges = {{12, 18}},
     .range_count = 1,
     .why = "the interval of the ratio is wide, as the few messages that wait for a POLL make the smaller latency",
     .fitted = "of the loads and buffers of figures 5.13 and 5.15 it is the pair whose latencies are closest"},
};

static const struct report_parameter parameters[] = {
    {"host", "sending a message", 100, "us", "paper, Table 5.3, per transport PDU; charged for a message, not a cell"},
    {"host", "receiving a message", 175, "us", "paper, Table 5.3: protocol and interrupt"},
    {"host", "a PDU that is sent again", 50, "us", "paper, Table 5.3"},
    {"host", "bus, a cell", 0.85, "us", "paper, Table 5.3"},
    {"host", "controller and data, a cell", 8.25, "us", "paper, Table 5.5"},
    {"network", "cell rate", 155.52, "Mbit/s", "paper, Table 5.3"},
    {"network", "switch", 0.5, "us", "computed: what is left of 37.257 us"},
    {"network", "tasks", 4, "", "chosen: 2 x 2 parts, two on each side; the master's few messages are left out"},
    {"network", "load and buffer of S12", 0.8, "", "fitted on section 5.3.4; ten seeds, as there"},
    {"network", "rounds", 20, "", "chosen: of PDE1's 700, four times; one for all nine loads, three for two of them"},
    {"background", "ON", 84, "%", "computed from Table 5.4; OFF at 10 Mbit/s; half of the cells for each output"},
    {"background", "mean of ON", 0.4, "ms", "chosen"},
};

static const struct report_figure figures[] = {
    {"latency", "Figure 5.13 (a): latency of PDE1's messages, first round", "load", "latency, s", false, true},
    {"loss", "Figure 5.13 (b): lost cells of PDE1, first round", "load", "share of the cells", false, false},
    {"time", "Figure 5.13 (c): time of a round of PDE1", "load", "time, s", false, true},
};

struct report paper_thesis5 = REPORT("thesis5", "thesis of J. Vila i Sallent (UPC), chapter 5");
