/* sweep.c - see sweep.h. */
#include "sweep.h"
#include <argp.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/argument.h"
#include "plot/plot.h"
#include "runner.h"

enum { EXIT_USAGE = 2, ONLY_MAX = 32, FILES_MAX = 64, KEY_ONLY = 256, KEY_LIST };

struct job {
    const char *files[FILES_MAX];
    struct sweep_experiment *experiments; /* of the files */
    const char *csv, *svg, *only[ONLY_MAX];
    size_t file_count, only_count;
    unsigned workers;
    long seed; /* -1: the file's */
    bool list;
};

static const struct argp_option options[] = {
    {"jobs", 'j', "NUMBER", 0, "Runs at once (default: one for each processor)", 0},
    {"csv", 'c', "FILE|FOLDER", 0, "Write the results as CSV into FILE.csv, FOLDER/NAME.csv or standard output (-)", 0},
    {"svg", 's', "FOLDER", 0, "Draw the plots as FOLDER/NAME-PLOT.svg, with gnuplot", 0},
    {"only", KEY_ONLY, "NAME=VALUE", 0, "Only points with this value (repeatable)", 0},
    {"seed", 'S', "NUMBER", 0, "Seed of the first replication, instead of the file's", 0},
    {"list", KEY_LIST, NULL, 0, "Check the files and list their points", 0},
    {0}};

/* ---- command line ---- */

static bool is_csv_file(const char *where)
{
    size_t length = strlen(where);
    return length > 4 && !strcmp(where + length - 4, ".csv");
}

static void check(const struct job *job, struct argp_state *state)
{
    if (!job->file_count)
        argp_error(state, "which experiment? Give a file, see atm-experiment(5)");
    if (job->file_count > 1 && job->csv && is_csv_file(job->csv))
        argp_error(state, "--csv=%s: give a folder for the results of several experiments", job->csv);
}

/* A file or a folder; an option in its place is a slip. */
static const char *place(const char *arg, const char *option, struct argp_state *state)
{
    if (!*arg || !strncmp(arg, "--", 2))
        argp_error(state, "%s: \"%s\" is no place for results; give a file or a folder", option, arg);
    return arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct job *job = state->input;
    switch (key) {
    case 'j':
        job->workers = (unsigned)pvma_argument_number(arg, 1, SWEEP_WORKERS_MAX, "--jobs", state);
        return 0;
    case 'c':
        return job->csv = place(arg, "--csv", state), 0;
    case 's':
        return job->svg = place(arg, "--svg", state), 0;
    case 'S':
        return job->seed = pvma_argument_number(arg, 0, INT32_MAX, "--seed", state), 0;
    case KEY_ONLY:
        if (!strchr(arg, '=') || job->only_count == ONLY_MAX)
            argp_error(state, "--only=%s: give NAME=VALUE, at most %d times", arg, ONLY_MAX);
        return job->only[job->only_count++] = arg, 0;
    case KEY_LIST:
        return job->list = true, 0;
    case ARGP_KEY_ARG:
        if (job->file_count == FILES_MAX)
            argp_error(state, "more than %d experiments", FILES_MAX);
        return job->files[job->file_count++] = arg, 0;
    case ARGP_KEY_END:
        check(job, state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static unsigned processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count < 1 ? 1 : count > SWEEP_WORKERS_MAX ? SWEEP_WORKERS_MAX : (unsigned)count;
}

/* ---- which points ---- */

static bool is_only(const struct sweep_experiment *e, size_t point, void *arg)
{
    const struct job *job = arg;
    for (size_t i = 0; i < job->only_count; i++) {
        size_t length = strcspn(job->only[i], "=");
        int variable = sweep_experiment_variable(e, job->only[i], length);
        if (variable < 0 || strcmp(sweep_point_value(e, point, (size_t)variable), job->only[i] + length + 1) != 0)
            return false;
    }
    return true;
}

static bool check_only(const struct job *job, const struct sweep_experiment *e)
{
    for (size_t i = 0; i < job->only_count; i++) {
        const char *only = job->only[i];
        size_t length = strcspn(only, "=");
        int variable = sweep_experiment_variable(e, only, length);
        bool found = false;
        for (size_t k = 0; variable >= 0 && k < e->variables[variable].count; k++)
            found = found || !strcmp(e->variables[variable].values[k], only + length + 1);
        if (found)
            continue;
        fprintf(stderr, "atm-sim: --only=%s: %s has no such %s; --list shows the points\n", only, e->path,
                variable < 0 ? "variable" : "value");
        return false;
    }
    return true;
}

static bool check_points(const struct job *job, const struct sweep_experiment *e)
{
    for (size_t p = 0; p < sweep_point_count(e); p++)
        if (!sweep_point_is_skipped(e, p) && is_only(e, p, (void *)job))
            return true;
    fprintf(stderr, "atm-sim: %s: no point is left; %s\n", e->path,
            job->only_count ? "--list without --only shows the points" : "skip fewer");
    return false;
}

static void list(const struct job *job, const struct sweep_experiment *e)
{
    char where[512];
    for (size_t p = 0; p < sweep_point_count(e); p++) {
        if (sweep_point_is_skipped(e, p) || !is_only(e, p, (void *)job))
            continue;
        sweep_point_format(e, p, where, sizeof where);
        printf("%s%s%s\n", e->name, *where ? " " : "", where);
    }
}

/* ---- results ---- */

static bool make_folder(const char *path)
{
    bool good = !mkdir(path, 0777) || errno == EEXIST;
    if (!good)
        fprintf(stderr, "atm-sim: cannot make the folder %s: %m\n", path);
    return good;
}

/* Where the CSV goes. */
static void csv_path(const char *where, const char *name, char path[4096])
{
    snprintf(path, 4096, is_csv_file(where) ? "%s" : "%s/%s.csv", where, name);
}

static bool can_write(const char *path)
{
    bool is_there = !access(path, F_OK);
    FILE *file = fopen(path, "ae"); /* what is there stays until there are results */
    if (!file) {
        fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
        return false;
    }
    fclose(file);
    if (!is_there)
        unlink(path);
    return true;
}

/* Before the runs, which may take hours. */
static bool check_places(const struct job *job, const struct sweep_experiment *e)
{
    char path[4096];
    bool good = true;
    if (job->csv && strcmp(job->csv, "-") != 0) {
        csv_path(job->csv, e->name, path);
        good = (is_csv_file(job->csv) || make_folder(job->csv)) && can_write(path);
    }
    for (size_t i = 0; job->svg && i < e->plot_count && good; i++) {
        sweep_table_plot_path(e, i, job->svg, path, sizeof path);
        good = make_folder(job->svg) && can_write(path);
    }
    if (good && job->svg && e->plot_count && !plot_is_possible()) {
        fprintf(stderr, "atm-sim: --svg needs gnuplot, which is not in PATH; install gnuplot-nox\n");
        return false;
    }
    return good;
}

static bool write_csv(const struct sweep_table *table, const char *where)
{
    char path[4096];
    if (!strcmp(where, "-")) {
        sweep_table_csv(table, stdout);
        return true;
    }
    csv_path(where, table->experiment->name, path);
    FILE *out = fopen(path, "we");
    if (out)
        sweep_table_csv(table, out);
    bool bad = !out || ferror(out);
    bad = (out && fclose(out)) || bad;
    if (bad)
        fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
    return !bad;
}

static bool write_results(const struct job *job, const struct sweep_table *table)
{
    bool good = true;
    if (!job->csv || strcmp(job->csv, "-") != 0)
        sweep_table_print(table, stdout);
    if (job->csv)
        good = write_csv(table, job->csv);
    if (job->svg)
        good = !sweep_table_draw(table, job->svg) && good;
    return good;
}

/* ---- running ---- */

static bool run(const struct job *job, const struct sweep_experiment *e, bool *stopped)
{
    struct sweep_table table;
    struct sweep_outcome outcome;
    struct sweep_order order = {
        .workers = job->workers, .wants = is_only, .arg = (void *)job, .progress = isatty(STDERR_FILENO)};
    sweep_table_begin(&table, e);
    bool good = !sweep_run_all(&table, &order, &outcome);
    if (good && outcome.stopped)
        fprintf(stderr, "atm-sim: %s: stopped; %zu of %zu points are done, and their results follow\n", e->path,
                outcome.done, outcome.points);
    if (good)
        good = write_results(job, &table);
    if (outcome.failed)
        fprintf(stderr, "atm-sim: %s: %zu of %zu points have no result\n", e->path, outcome.failed, outcome.points);
    *stopped = outcome.stopped;
    sweep_table_end(&table);
    return good && outcome.done == outcome.points;
}

/* ---- files ---- */

/* Results of two files would have the same names. */
static bool check_name(const struct job *job, size_t number)
{
    const struct sweep_experiment *e = job->experiments;
    for (size_t i = 0; i < number && (job->csv || job->svg); i++) {
        if (!e[i].name || strcmp(e[i].name, e[number].name) != 0)
            continue;
        fprintf(stderr, "atm-sim: %s and %s: their results would have one name; run them one after the other\n",
                e[i].path, e[number].path);
        return false;
    }
    return true;
}

static bool load(const struct job *job, size_t number)
{
    struct sweep_experiment *e = &job->experiments[number];
    if (sweep_experiment_load(job->files[number], e))
        return false;
    if (job->seed >= 0)
        e->seed = (uint32_t)job->seed;
    return !sweep_workload_check(e) && check_only(job, e) && check_points(job, e) && check_name(job, number);
}

/* All files are checked before the first one runs. */
static bool load_all(const struct job *job)
{
    bool good = true;
    for (size_t i = 0; i < job->file_count; i++)
        good = load(job, i) && good;
    for (size_t i = 0; i < job->file_count && good && !job->list; i++)
        good = check_places(job, &job->experiments[i]);
    return good;
}

static bool run_all(const struct job *job)
{
    bool good = true, stopped = false;
    for (size_t i = 0; i < job->file_count && !stopped; i++) {
        if (job->list)
            list(job, &job->experiments[i]);
        else
            good = run(job, &job->experiments[i], &stopped) && good;
    }
    return good;
}

int sweep_main(int argc, char **argv)
{
    static const struct argp parser = {options,
                                       parse,
                                       "FILE...",
                                       "Run experiments: each combination of what varies, with replications, on all "
                                       "processors. See atm-experiment(5).",
                                       NULL,
                                       NULL,
                                       NULL};
    struct job job = {.workers = processors(), .seed = -1};
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &job);
    job.experiments = pvma_new(job.file_count * sizeof *job.experiments);
    bool good = load_all(&job) && run_all(&job);
    for (size_t i = 0; i < job.file_count; i++)
        sweep_experiment_free(&job.experiments[i]);
    free(job.experiments);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
