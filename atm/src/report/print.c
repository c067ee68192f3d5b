/* print.c - a report as text, see print.h. */
#include <stdio.h>
#include <string.h>
#include "print.h"
#include "score.h"

static bool is_shown(const struct report_row *row)
{
    return row->known && row->value->paper != REPORT_NONE;
}

static void print_head(const struct report_row *row, FILE *out)
{
    fprintf(out, "\n%s\n%-45s %10s %10s %-6s", row->value->table, "", "paper", "simulated", "");
    if (row->beyond)
        fprintf(out, " %9s %9s", "beyond", "computing");
    fprintf(out, " %9s %-14s %10s\n", "error", "", "null model");
}

static void print_row(const struct report_row *row, FILE *out)
{
    const struct report_value *v = row->value;
    char interval[32] = "";

    if (row->interval > 0)
        snprintf(interval, sizeof interval, " +-%.3g", row->interval);
    fprintf(out, "%-34s %-10s %10.6g %10.5g %-6s", row->by == REPORT_PROGRAM ? "    by a real PVM program" : v->row,
            v->column, v->paper, row->simulated, v->unit);
    if (row->beyond)
        fprintf(out, " %9.4g %9.4g", row->printed, row->simulated - row->computing);
    fprintf(out, " %+8.1f%% %-9s %-4s", score_error(row), score_use_name(row->use), score_is_good(row) ? "ok" : "MISS");
    if (row->has_null)
        fprintf(out, " %10.5g %s", row->null, score_null_is_good(row) ? "ok, too" : "misses");
    fprintf(out, "%s\n", interval);
}

static void print_rows(const struct report *report, FILE *out)
{
    const char *table = "";

    for (size_t i = 0; i < report->row_count; i++) {
        const struct report_row *row = &report->rows[i];
        if (!is_shown(row))
            continue;
        if (strcmp(row->value->table, table) != 0)
            print_head(row, out);
        table = row->value->table;
        print_row(row, out);
    }
}

static const char *also(const struct report_verdict *v)
{
    return v->known && v->holds && v->null_known && v->null_holds ? " (also without a network)" : "";
}

static void print_claims(const struct report *report, FILE *out)
{
    if (report->claim_count > 0)
        fprintf(out, "\nClaims\n");
    for (size_t i = 0; i < report->claim_count; i++) {
        const struct report_claim *c = &report->claims[i];
        const struct report_verdict *v = &report->verdicts[i], *program = &report->program_verdicts[i];
        fprintf(out, "%-5s %-13s %s%s%s%s\n", c->id, score_verdict(c, v), c->text, v->detail[0] ? ": " : "", v->detail,
                also(v));
        if (program->known)
            fprintf(out, "      %-13s     by real PVM programs: %s%s\n", score_verdict(c, program), program->detail,
                    also(program));
    }
}

/* Prints each reason once, followed by all adjacent rows that it explains. */
static void print_missed_rows(const struct report *report, FILE *out)
{
    const char *said = NULL;

    for (size_t i = 0; i < report->row_count; i++) {
        const struct report_row *row = &report->rows[i];
        const struct report_value *v = row->value;
        const char *by = row->by == REPORT_PROGRAM ? " (program)" : "";
        if (!is_shown(row) || score_is_good(row))
            continue;
        if (row->why && row->why == said)
            fprintf(out, "        and %s, %s%s\n", v->row, v->column, by);
        else
            fprintf(out, "Missed: %s, %s, %s%s: %s\n", v->table, v->row, v->column, by,
                    row->why ? row->why : "no reason known");
        said = row->why;
    }
}

static bool is_missed(const struct report_verdict *v)
{
    return v->known && !v->holds;
}

static void print_reasons(const struct report *report, FILE *out)
{
    print_missed_rows(report, out);
    for (size_t i = 0; i < report->claim_count; i++) {
        const struct report_claim *c = &report->claims[i];
        const char *apart = c->fitted ? c->fitted : c->chosen ? c->chosen : c->computed;
        bool missed = is_missed(&report->verdicts[i]);
        if (missed || is_missed(&report->program_verdicts[i]))
            fprintf(out, "Missed: claim %s%s: %s\n", c->id, missed ? "" : " (programs)",
                    c->why ? c->why : "no reason known");
        if (apart)
            fprintf(out, "Not counted: claim %s: %s\n", c->id, apart);
    }
}

static void print_parameters(const struct report *report, FILE *out)
{
    const char *profile = "";

    fprintf(out, "\nParameters and where they come from\n");
    for (size_t i = 0; i < report->parameter_count; i++) {
        const struct report_parameter *p = &report->parameters[i];
        if (strcmp(p->profile, profile) != 0)
            fprintf(out, "%s\n", p->profile);
        profile = p->profile;
        fprintf(out, "    %-28s %10.6g %-6s %s\n", p->name, p->value, p->unit, p->origin);
    }
}

static void print_score(const struct report *report, FILE *out)
{
    struct score s;

    score_count(report, &s);
    fprintf(out,
            "\n%s: %u of %u predicted values within 20 %%, %u of the %u that the null model misses; %u of %u fitted "
            "within 10 %%, %u of %u computed; ",
            report->name, s.predicted_good, s.predicted, s.telling_good, s.telling, s.fitted_good, s.fitted,
            s.computed_good, s.computed);
    if (s.programs > 0)
        fprintf(out, "%u of %u predicted by real programs, %u of the %u that theirs misses; ", s.programs_good,
                s.programs, s.programs_telling_good, s.programs_telling);
    fprintf(out, "%u of %u claims hold, %u more not counted; ", s.claims_good, s.claims, s.claims_apart);
    if (s.program_claims > 0)
        fprintf(out, "%u of %u by real programs; ", s.program_claims_good, s.program_claims);
    fprintf(out, "%u values not run; %.1f million events\n\n", s.unknown, (double)report->events / 1e6);
}

void report_print(const struct report *report, FILE *out)
{
    fprintf(out, "==== %s: %s\n", report->name, report->title);
    print_rows(report, out);
    print_claims(report, out);
    fprintf(out, "\n");
    print_reasons(report, out);
    print_parameters(report, out);
    print_score(report, out);
}
