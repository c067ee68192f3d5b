/* thesis.h - single runs of the thesis's emulator (chapter 2). The report gives its parameters and counts events. */
#ifndef PVMA_THESIS_H
#define PVMA_THESIS_H

#include <stdint.h>
#include "report/report.h"

enum thesis_kernel { THESIS_PDE1, THESIS_PDE2, THESIS_CG, THESIS_FT, THESIS_SOLVER, THESIS_IS, THESIS_MG };

/* Conditions of a kernel's run. */
struct thesis_run {
    enum thesis_kernel kernel;
    unsigned switches;      /* 1 to 4, in a chain */
    double load, delay_us;  /* background on each output; of a host for each cell sent and received */
    unsigned counted_cells; /* buffer of which the excess is counted; 0: the report's */
    double computing_s;     /* between the messages; < 0: what gives the thesis's ideal total without load and delay */
    uint64_t seed;
};

/* The whole time in s; what of it the thesis counts as communication; and the share of the kernel's cells that would
 * not fit into the counted buffer. */
struct thesis_result {
    double seconds, communication_s, excess;
};
struct thesis_result thesis_kernel(struct report *report, const struct thesis_run *run);

/* Figure 2.3: the mean latency in us of bursts of that many cells through a switch with four sources. */
double thesis_burst_us(struct report *report, double load, unsigned cells, uint64_t seed);

#endif
