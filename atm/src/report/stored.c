/* stored.c - see stored.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/sim.h"
#include "score.h"
#include "stored.h"

enum { KEY_MAX = 300, TEXT_MAX = 64 };

static const double tolerance_share = 0.001; /* of a model's value */
static const char by_program[] = "program", by_null_program[] = "null program";

static const char head[] = "paper,table,row,column,by,value,tolerance\n";

/* A line of the file. The key consists of all fields before the value. */
struct line {
    char key[KEY_MAX], text[TEXT_MAX];
    double tolerance; /* < 0: the text must be equal */
    bool met;
};

struct lines {
    struct line *line;
    size_t count;
};

static struct line *add(struct lines *lines)
{
    lines->line = pvma_renew(lines->line, (lines->count + 1) * sizeof *lines->line);
    memset(&lines->line[lines->count], 0, sizeof *lines->line);
    return &lines->line[lines->count++];
}

static void add_text(struct lines *lines, const struct report *report, const char *what, const char *id, const char *by,
                     const char *text)
{
    struct line *l = add(lines);

    snprintf(l->key, sizeof l->key, "%s,\"%s\",\"%s\",\"\",%s", report->name, what, id, by);
    snprintf(l->text, sizeof l->text, "%s", text);
    l->tolerance = -1;
}

static void add_claim(struct lines *lines, const struct report *report, size_t claim)
{
    const struct report_claim *c = &report->claims[claim];

    add_text(lines, report, "claim", c->id, "model", score_verdict(c, &report->verdicts[claim]));
    if (report->program_verdicts[claim].known)
        add_text(lines, report, "claim", c->id, by_program, score_verdict(c, &report->program_verdicts[claim]));
}

static void add_value(struct lines *lines, const struct report *report, const struct report_value *v, const char *by,
                      double value, double tolerance)
{
    struct line *l = add(lines);

    snprintf(l->key, sizeof l->key, "%s,\"%s\",\"%s\",\"%s\",%s", report->name, v->table, v->row, v->column, by);
    snprintf(l->text, sizeof l->text, "%.7g", value);
    l->tolerance = tolerance;
}

static void add_row(struct lines *lines, const struct report *report, const struct report_row *r)
{
    bool program = r->by == REPORT_PROGRAM;
    double share = program ? 0 : tolerance_share;

    if (r->known)
        add_value(lines, report, r->value, program ? by_program : "model", r->simulated,
                  fmax(r->interval, share * fabs(r->simulated)));
    if (r->has_null)
        add_value(lines, report, r->value, program ? by_null_program : "null model", r->null, share * fabs(r->null));
}

static void add_report(struct lines *lines, const struct report *report)
{
    char digest[32];

    for (size_t i = 0; i < report->row_count; i++)
        add_row(lines, report, &report->rows[i]);
    for (size_t i = 0; i < report->claim_count; i++)
        add_claim(lines, report, i);
    if (report->only_programs)
        return;
    snprintf(digest, sizeof digest, "%016" PRIx64, report->digest);
    add_text(lines, report, "digest", "", "model", digest);
}

int stored_write(const struct report *const *reports, unsigned count, const char *path)
{
    struct lines lines = {0};
    FILE *out = fopen(path, "w");

    if (!out) {
        fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
        return -1;
    }
    for (unsigned i = 0; i < count; i++)
        add_report(&lines, reports[i]);
    fputs(head, out);
    for (size_t i = 0; i < lines.count; i++) {
        fprintf(out, "%s,%s,", lines.line[i].key, lines.line[i].text);
        fprintf(out, lines.line[i].tolerance < 0 ? "\n" : "%.3g\n", lines.line[i].tolerance);
    }
    free(lines.line);
    if (fclose(out) == 0)
        return 0;
    fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
    return -1;
}

/* Splits a line at its last two commas, which no value has in it. */
static bool parse(char *text, struct line *l)
{
    char *tolerance, *value, *end = NULL;

    text[strcspn(text, "\n")] = 0;
    tolerance = strrchr(text, ',');
    if (!tolerance)
        return false;
    *tolerance++ = 0;
    value = strrchr(text, ',');
    if (!value)
        return false;
    *value++ = 0;
    snprintf(l->key, sizeof l->key, "%s", text);
    snprintf(l->text, sizeof l->text, "%s", value);
    l->tolerance = *tolerance ? strtod(tolerance, &end) : -1;
    return *text && *value && (!end || *end == 0);
}

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "atm-sim: %s %s; record one by: atm-sim reproduce --record FILE\n", path, why);
    return -1;
}

static int read_lines(struct lines *lines, FILE *in, const char *path)
{
    char text[KEY_MAX + 2 * TEXT_MAX], why[TEXT_MAX];

    if (!fgets(text, sizeof text, in) || strcmp(text, head) != 0)
        return refuse(path, "is not a file of --record");
    while (fgets(text, sizeof text, in))
        if (!parse(text, add(lines))) {
            snprintf(why, sizeof why, "has a malformed line %zu", lines->count + 1);
            return refuse(path, why);
        }
    return 0;
}

static int load(struct lines *lines, const char *path)
{
    FILE *in = fopen(path, "r");
    int rc;

    if (!in) {
        fprintf(stderr, "atm-sim: cannot read %s: %m; record one by: atm-sim reproduce --record FILE\n", path);
        return -1;
    }
    rc = read_lines(lines, in, path);
    fclose(in);
    return rc;
}

/* Such as a pipe, which can be opened only once. */
static bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

int stored_can_check(const char *path)
{
    struct lines lines = {0};
    int rc = is_special(path) ? 0 : load(&lines, path);

    free(lines.line);
    return rc;
}

/* Opens it as stored_write() will, and keeps what is in it. */
int stored_can_write(const char *path)
{
    bool is_new = access(path, F_OK) != 0;
    FILE *out;

    if (is_special(path))
        return 0;
    out = fopen(path, "a");
    if (!out) {
        fprintf(stderr, "atm-sim: cannot write %s: %m; give --record a file in a folder that you can write\n", path);
        return -1;
    }
    fclose(out);
    if (is_new)
        unlink(path);
    return 0;
}

static struct line *stored_as(struct lines *stored, const char *key)
{
    for (size_t i = 0; i < stored->count; i++)
        if (strcmp(stored->line[i].key, key) == 0)
            return &stored->line[i];
    return NULL;
}

static bool agrees(const struct line *stored, const struct line *now)
{
    if (stored->tolerance < 0)
        return strcmp(stored->text, now->text) == 0;
    return fabs(strtod(now->text, NULL) - strtod(stored->text, NULL)) <= stored->tolerance;
}

/* Prints what is different about a line, and returns whether anything is. */
static bool differs(struct lines *stored, const struct line *now, FILE *out)
{
    struct line *then = stored_as(stored, now->key);

    if (!then) {
        fprintf(out, "%s: stored nowhere, now %s\n", now->key, now->text);
        return true;
    }
    then->met = true;
    if (agrees(then, now))
        return false;
    fprintf(out, "%s: stored %s", now->key, then->text);
    if (then->tolerance >= 0)
        fprintf(out, " +-%.3g", then->tolerance);
    fprintf(out, ", now %s\n", now->text);
    return true;
}

static bool is_of(const struct line *l, const struct report *report)
{
    size_t length = strlen(report->name);

    return strncmp(l->key, report->name, length) == 0 && l->key[length] == ',';
}

static bool is_by_program(const struct line *l)
{
    const char *by = strrchr(l->key, ',') + 1;

    return strcmp(by, by_program) == 0 || strcmp(by, by_null_program) == 0;
}

static unsigned print_missing(const struct lines *stored, const struct report *report, bool models_only, FILE *out)
{
    unsigned missing = 0;

    for (size_t i = 0; i < stored->count; i++) {
        const struct line *l = &stored->line[i];
        if (l->met || !is_of(l, report) || (models_only && is_by_program(l)))
            continue;
        fprintf(out, "%s: stored %s, now nowhere\n", l->key, l->text);
        missing++;
    }
    return missing;
}

int stored_check(const struct report *const *reports, unsigned count, const char *path, bool models_only, FILE *out)
{
    struct lines stored = {0}, now = {0};
    unsigned differences = 0;

    if (load(&stored, path) != 0)
        return -1;
    for (unsigned i = 0; i < count; i++)
        add_report(&now, reports[i]);
    for (size_t i = 0; i < now.count; i++)
        differences += differs(&stored, &now.line[i], out);
    for (unsigned i = 0; i < count; i++)
        differences += print_missing(&stored, reports[i], models_only, out);
    if (differences > 0)
        fprintf(out,
                "%u results differ from %s.\nIf they change on purpose, record them by script/atm-tables, or by\n"
                "    atm-sim reproduce --record %s\nand say in the commit why they do.\n",
                differences, path, path);
    else
        fprintf(out, "all %zu results are as in %s\n", now.count, path);
    free(stored.line);
    free(now.line);
    return differences > 0 ? -1 : 0;
}
