/*
 * experiment.h - the experiments of `atm-sim reproduce`, one for each paper. Each fills in the report declared with its
 * paper's data (paper_*.c).
 */
#ifndef PVMA_EXPERIMENT_H
#define PVMA_EXPERIMENT_H

#include "report/report.h"

/* The extent of a run. */
enum experiment_part {
    EXPERIMENT_ALL,
    EXPERIMENT_SHORT, /* a few rows in seconds: for tests */
};

extern struct report paper_four_apis, paper_an2, paper_tum, paper_thesis, paper_thesis5, paper_thesis6;

void experiment_four_apis(struct report *report, enum experiment_part part);
void experiment_an2(struct report *report, enum experiment_part part);
void experiment_tum(struct report *report, enum experiment_part part);
void experiment_thesis(struct report *report, enum experiment_part part);
void experiment_thesis5(struct report *report, enum experiment_part part);
void experiment_thesis6(struct report *report, enum experiment_part part);

#endif
