/* score.c - see score.h. */
#include <math.h>
#include "score.h"

static const double limit_percent[] = {
    [REPORT_FIXES] = 10,
    [REPORT_PREDICTS] = 20,
    [REPORT_BOUND] = 0.1,
};

const char *score_use_name(enum report_use use)
{
    static const char *const names[] = {
        [REPORT_FIXES] = "fitted",
        [REPORT_PREDICTS] = "predicted",
        [REPORT_BOUND] = "computed",
    };

    return names[use];
}

static double error_percent(const struct report_row *row, double simulated)
{
    double scored = simulated - row->computing;

    return row->printed == 0 ? scored : (scored / row->printed - 1) * 100;
}

double score_error(const struct report_row *row)
{
    return error_percent(row, row->simulated);
}

double score_null_error(const struct report_row *row)
{
    return error_percent(row, row->null);
}

static bool is_within(const struct report_row *row, double percent)
{
    return fabs(percent) <= limit_percent[row->use] + 1e-9;
}

bool score_is_good(const struct report_row *row)
{
    return is_within(row, score_error(row));
}

bool score_null_is_good(const struct report_row *row)
{
    return row->has_null && is_within(row, score_null_error(row));
}

bool score_counts(const struct report_claim *claim)
{
    return !claim->fitted && !claim->chosen && !claim->computed;
}

static void count_predicted(const struct report_row *row, bool good, struct score *score)
{
    bool program = row->by == REPORT_PROGRAM, telling = !score_null_is_good(row);

    score->predicted += !program;
    score->predicted_good += !program && good;
    score->telling += !program && telling;
    score->telling_good += !program && telling && good;
    score->programs += program;
    score->programs_good += program && good;
    score->programs_telling += program && telling;
    score->programs_telling_good += program && telling && good;
}

static void count_row(const struct report_row *row, struct score *score)
{
    bool good = row->known && score_is_good(row);

    if (!row->known) {
        score->unknown += row->by == REPORT_MODEL && row->value->paper != REPORT_NONE;
    } else if (row->use == REPORT_FIXES) {
        score->fitted++;
        score->fitted_good += good;
    } else if (row->use == REPORT_BOUND) {
        score->computed++;
        score->computed_good += good;
    } else {
        count_predicted(row, good, score);
    }
}

void score_count(const struct report *report, struct score *score)
{
    *score = (struct score){0};
    for (size_t i = 0; i < report->row_count; i++)
        count_row(&report->rows[i], score);
    for (size_t i = 0; i < report->claim_count; i++) {
        const struct report_verdict *v = &report->verdicts[i], *program = &report->program_verdicts[i];
        bool counts = score_counts(&report->claims[i]);
        score->claims_apart += !counts;
        score->claims += counts;
        score->claims_good += counts && v->known && v->holds;
        score->program_claims += counts && program->known;
        score->program_claims_good += counts && program->known && program->holds;
    }
}

const char *score_verdict(const struct report_claim *claim, const struct report_verdict *verdict)
{
    if (!verdict->known)
        return "not run";
    if (!verdict->holds)
        return "does not hold";
    if (claim->fitted)
        return "fitted";
    if (claim->chosen)
        return "chosen";
    return claim->computed ? "computed" : "holds";
}
