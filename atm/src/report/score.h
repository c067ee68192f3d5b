/* score.h - how well a report's experiment reproduces its paper. */
#ifndef PVMA_SCORE_H
#define PVMA_SCORE_H

#include "report.h"

/* Each number beside how many of those are good. */
struct score {
    unsigned fitted, fitted_good;
    unsigned predicted, predicted_good; /* by models */
    unsigned telling, telling_good;     /* of these, what the null model misses or was not asked for */
    unsigned programs, programs_good;   /* predicted by real programs */
    unsigned programs_telling, programs_telling_good;
    unsigned computed, computed_good;
    unsigned claims, claims_good, claims_apart;   /* apart: fitted, chosen or computed */
    unsigned program_claims, program_claims_good; /* of the claims, those that programs have judged, too */
    unsigned unknown;                             /* printed values that were not run */
};

void score_count(const struct report *report, struct score *score);

/* The error of a row's scored quantity in per cent, and that of its null model. A value printed as 0 is itself one. */
double score_error(const struct report_row *row);
double score_null_error(const struct report_row *row);

/* Whether that error is within the limit of the row's use. */
bool score_is_good(const struct report_row *row);
bool score_null_is_good(const struct report_row *row);

/* "fitted", "predicted" or "computed". */
const char *score_use_name(enum report_use use);

/* "holds", "does not hold", "not run", or "fitted", "chosen", "computed" for one that holds and does not count. */
const char *score_verdict(const struct report_claim *claim, const struct report_verdict *verdict);

/* Whether a claim is counted. */
bool score_counts(const struct report_claim *claim);

#endif
