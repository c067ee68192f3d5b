/* experiment.c - see experiment.h: files, lines, and checks of the whole. */
#include "experiment.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "experiment_lines.h"
#include "point.h"
#include "statistics.h"

enum { ERRORS_MAX = 10, ANY = PVMA_WORDS_MAX };

static const struct {
    const char *name;
    sweep_read_line *read;
    unsigned words, most; /* besides the first: at least, at most */
    const char *form;
} kinds[] = {
    {"title", sweep_read_title, 1, ANY, "title TEXT"},
    {"topology", sweep_read_topology, 1, 1, "topology FILE, or topology { and lines of atm-topology(5) and }"},
    {"set", sweep_read_set, 2, ANY, "set NAME VALUE"},
    {"vary", sweep_read_vary, 2, ANY,
     "vary NAME VALUE..., with ranges such as 64..1024*2 and 1..9+2, or vary NAME,NAME VALUE,VALUE..."},
    {"skip", sweep_read_skip, 1, ANY, "skip NAME=VALUE... (or NAME<NUMBER, NAME>NUMBER)"},
    {"load", sweep_read_load, 1, ANY, "load greedy|echo|cbr|poisson|none [size=BYTES] [count=PDUS] [interval=TIME]"},
    {"program", sweep_read_program, 1, ANY, "program COMMAND..."},
    {"model", sweep_read_model, 1, ANY, "model NAME [option=value ...]"},
    {"time", sweep_read_time, 1, 1, "time TIME"},
    {"warmup", sweep_read_warmup, 1, 1, "warmup MSER-5, or warmup TIME"},
    {"limit", sweep_read_limit, 1, 1, "limit TIME"},
    {"replications", sweep_read_replications, 1, ANY, "replications NUMBER [NAME=VALUE ...]"},
    {"seed", sweep_read_seed, 1, 1, "seed NUMBER"},
    {"estimate", sweep_read_estimate, 1, 1, "estimate mean, or estimate median"},
    {"confidence", sweep_read_confidence, 1, 1, "confidence PERCENT"},
    {"measure", sweep_read_measure, 1, ANY, "measure RESULT..."},
    {"value", sweep_read_value, 2, ANY, "value NAME REGULAR-EXPRESSION, with the number in a group"},
    {"plot", sweep_read_plot, 3, ANY, "plot NAME x=VARIABLE y=RESULT [series=VARIABLE] [log=xy] [title=TEXT]"},
};

int sweep_experiment_variable(const struct sweep_experiment *e, const char *name, size_t length)
{
    for (size_t i = 0; i < e->variable_count; i++)
        if (strlen(e->variables[i].name) == length && !memcmp(e->variables[i].name, name, length))
            return (int)i;
    return -1;
}

int sweep_experiment_column(const struct sweep_experiment *e, const char *name)
{
    for (size_t i = 0; i < e->column_count; i++)
        if (!strcmp(e->columns[i].name, name))
            return (int)i;
    return -1;
}

/* ---- lines ---- */

static bool is_of_topology(const char *word)
{
    static const char *const words[] = {"host", "switch", "link", "pvc", "profile", "source", "fail"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(words[i], word))
            return true;
    return false;
}

static void read_words(struct sweep_reader *s)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, s->r.word[0]) != 0)
            continue;
        if (s->r.words <= kinds[i].words)
            pvma_reader_complain(&s->r, s->r.line, "the line is too short; write: %s", kinds[i].form);
        else if (s->r.words - 1 > kinds[i].most)
            pvma_reader_complain(&s->r, s->r.line, "\"%.40s\" is too much; write: %s", s->r.word[kinds[i].most + 1],
                                 kinds[i].form);
        else
            kinds[i].read(s);
        return;
    }
    if (is_of_topology(s->r.word[0])) {
        pvma_reader_complain(&s->r, s->r.line, "\"%s\" belongs to a topology; write it between topology { and }",
                             s->r.word[0]);
        return;
    }
    pvma_reader_complain(
        &s->r, s->r.line,
        "\"%.40s\" cannot begin a line; lines begin with title, topology, set, vary, skip, load, program, "
        "model, time, warmup, limit, replications, seed, estimate, confidence, measure, value or plot",
        s->r.word[0]);
}

/* A line of the topology in braces. */
static void read_block(struct sweep_reader *s, const char *line)
{
    size_t length;
    const char *unknown = sweep_unknown_name(s->e, line, &length);
    if (unknown)
        pvma_reader_complain(&s->r, s->r.line, "there is no variable \"%.*s\"; declare it above the topology",
                             (int)(length < 40 ? length : 40), unknown);
    if (strcmp(line + strspn(line, " \t\r"), "}") != 0) {
        fprintf(s->block_out, "%s\n", line);
        return;
    }
    fclose(s->block_out);
    s->block_out = NULL;
    s->e->block.text = s->block;
    s->block = NULL;
}

static void trim(char *line)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r", line[length - 1]))
        line[--length] = 0;
}

static void read_line(struct sweep_reader *s, char *line)
{
    trim(line);
    if (s->block_out) {
        read_block(s, line);
        return;
    }
    char *words = pvma_copy_text(line);
    const char *rest = line + strspn(line, " \t");
    rest += strcspn(rest, " \t");
    s->rest = rest + strspn(rest, " \t");
    pvma_reader_split(&s->r, words);
    if (s->r.words)
        read_words(s);
    free(words);
}

static void read_lines(struct sweep_reader *s, char *text)
{
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        s->r.line++;
        read_line(s, line);
        line = end && *end ? end : NULL;
    }
    if (!s->block_out)
        return;
    pvma_reader_complain(&s->r, s->e->block.line, "the topology has no end; add a line with } after it");
    fclose(s->block_out);
    free(s->block);
}

/* ---- the whole ---- */

/* A median's confidence interval ends at two of its values, so some values are needed. */
static void check_median(struct sweep_reader *s, uint32_t replications)
{
    size_t least = sweep_median_least(s->e->confidence / 100.0);
    if (replications > 1 && replications < least)
        pvma_reader_complain(&s->r, s->r.line,
                             "the median of %u runs has no confidence interval of %u %%; give %zu replications or more",
                             replications, s->e->confidence, least);
}

static void check_whole(struct sweep_reader *s)
{
    const struct sweep_experiment *e = s->e;
    bool program = e->workload == SWEEP_PROGRAM;
    if (e->workload == SWEEP_NOTHING)
        pvma_reader_complain(&s->r, s->r.line, "nothing runs; add: load KIND, program COMMAND or model NAME");
    if (e->workload == SWEEP_LOAD && !e->file.text && !e->block.text)
        pvma_reader_complain(&s->r, e->work.line, "the load has no network; add: topology FILE");
    if (e->workload != SWEEP_LOAD && e->workload != SWEEP_NOTHING && (e->time.text || e->warmup_time.text))
        pvma_reader_complain(&s->r, e->time.text ? e->time.line : e->warmup_time.line,
                             "time and warmup are for a load; a program or a model has its own");
    if (!e->column_count)
        pvma_reader_complain(&s->r, s->r.line, "nothing is measured; add: %s",
                             program ? "value NAME REGULAR-EXPRESSION" : "measure RESULT...");
    for (size_t i = 0; i <= e->exception_count && e->median; i++)
        check_median(s, i ? e->exceptions[i - 1].replications : e->replications);
    size_t runs = sweep_point_count(e) * sweep_replications_most(e);
    if (runs > SWEEP_RUNS_MAX)
        pvma_reader_complain(&s->r, s->r.line, "%zu runs, more than %d; vary less, or give fewer replications", runs,
                             SWEEP_RUNS_MAX);
    for (size_t i = 0; i < e->column_count; i++)
        if ((e->columns[i].pattern != NULL) != program)
            pvma_reader_complain(&s->r, e->columns[i].line,
                                 program ? "%s: a program's results are values; write: value NAME REGULAR-EXPRESSION"
                                         : "%s: values are results of a program; write: measure RESULT...",
                                 e->columns[i].name);
}

static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = pvma_copy_text(slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    return name;
}

int sweep_experiment_parse(const char *path, const char *text, size_t length, struct sweep_experiment *e)
{
    *e = (struct sweep_experiment){.replications = 1, .seed = 1, .confidence = 95};
    if (length > SWEEP_BYTES_MAX) {
        pvmc_log(PVMC_LOG_ERROR, "%s: too long; an experiment has at most %zu octets", path, SWEEP_BYTES_MAX);
        return PVMC_ELIMIT;
    }
    struct sweep_reader s = {.r.name = path, .e = e};
    char *copy = pvma_new(length + 1);
    e->path = pvma_copy_text(path);
    e->name = name_of(path);
    if (length)
        memcpy(copy, text, length);
    if (pvma_text_is_plain(copy, length)) {
        read_lines(&s, copy);
        if (!s.r.errors)
            check_whole(&s);
    } else {
        pvma_reader_complain(&s.r, 1, "not a text; an experiment consists of printable ASCII");
    }
    free(copy);
    if (s.r.errors > ERRORS_MAX)
        pvmc_log(PVMC_LOG_ERROR, "%s: and %u more", path, s.r.errors - ERRORS_MAX);
    if (s.r.errors)
        sweep_experiment_free(e);
    return s.r.errors ? PVMC_EFORMAT : 0;
}

int sweep_experiment_load(const char *path, struct sweep_experiment *e)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    *e = (struct sweep_experiment){0};
    size_t length = 0;
    char *text = file ? pvma_text_read(file, &length) : NULL;
    bool failed = !file || ferror(file);
    if (failed)
        pvmc_log(PVMC_LOG_ERROR, "cannot read the experiment %s: %s; see atm-experiment(5)", path, strerror(errno));
    if (file && !is_stdin)
        fclose(file);
    int error = failed ? PVMC_ESYSTEM : sweep_experiment_parse(path, text, length, e);
    free(text);
    return error;
}

static void free_condition(struct sweep_condition *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->parts[i].value);
}

void sweep_experiment_free(struct sweep_experiment *e)
{
    struct sweep_text *const texts[] = {&e->title, &e->file, &e->block, &e->work, &e->time, &e->warmup_time, &e->limit};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]->text);
    for (size_t i = 0; i < e->variable_count; i++) {
        for (size_t k = 0; k < e->variables[i].count; k++)
            free(e->variables[i].values[k]);
        free(e->variables[i].values);
    }
    for (size_t i = 0; i < e->column_count; i++)
        free(e->columns[i].pattern);
    for (size_t i = 0; i < e->plot_count; i++) {
        free(e->plots[i].title);
        free_condition(&e->plots[i].only);
    }
    for (size_t i = 0; i < e->skip_count; i++)
        free_condition(&e->skips[i]);
    for (size_t i = 0; i < e->exception_count; i++)
        free_condition(&e->exceptions[i].condition);
    free(e->path);
    free(e->name);
    *e = (struct sweep_experiment){0};
}
