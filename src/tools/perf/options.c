/* options.c - parses the command line with argp: lists of numbers, ranges and names. */
#include "core/version.h"
#include "options.h"
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"

enum { EXIT_BAD_USAGE = 2, KEY_VERIFY = 256, KEY_BIND, KEY_SVG, SAMPLES_LIMIT = 100000, SECONDS_LIMIT = 3600 };

static const char introduction[] =
    "Measure messages between tasks of the running virtual machine.\vTESTs:\n"
    "  lat       half the round-trip time between two tasks\n"
    "  bw        bandwidth: one task streams messages to another\n"
    "  bibw      bw in both directions at once\n"
    "  rate      messages per second: long streams of short messages\n"
    "  mcast     pvm_mcast until all receivers have answered\n"
    "  match     receive by source and tag while other messages wait\n"
    "  spawn     pvm_spawn until all tasks have enrolled\n"
    "  barrier   pvm_barrier\n"
    "  ring      a message around a ring of tasks\n"
    "  alltoall  a message from each task to each other task\n"
    "\n"
    "LISTs are comma-separated. SIZES take the suffixes k, M and G (powers of 1024) and ranges: 8..4M doubles, 8..4M*4 "
    "multiplies by 4, 100..500+100 adds 100. See pvm-perf(1).";

static const struct argp_option option_table[] = {
    {"sizes", 's', "SIZES", 0, "Message sizes in bytes (default: lat, bw, bibw 4..4M; rate, ring, match 8; else 8,64k)",
     0},
    {"encodings", 'e', "LIST", 0, "default, raw, inplace, psend, or all (default: raw)", 0},
    {"transports", 't', "LIST", 0,
     "Values of PVM_TRANSPORT, one column each; write + for a comma in a value: daemon,shm,shm+tcp", 0},
    {"hosts", 'H', "LIST", 0, "Run the partners on these hosts, in turn (default: this host)", 0},
    {"tasks", 'n', "LIST", 0, "Numbers of tasks (mcast: of receivers)", 0},
    {"queued", 'q', "LIST", 0, "match: numbers of waiting messages (default: 0,1000,100000)", 0},
    {"repetitions", 'r', "COUNT", 0, "Number of samples per point, instead of a time", 0},
    {"duration", 'd', "SECONDS", 0, "Time per point (default: 0.2)", 0},
    {"warmup", 'w', "ROUNDS", 0, "Warm-up rounds per point (default: 10; spawn 1)", 0},
    {"verify", KEY_VERIFY, "HOW", 0,
     "Which messages to verify: none, sample (before and after the measurement; default), all (also while measuring)",
     0},
    {"bind", KEY_BIND, NULL, 0, "Bind each task to a processor, in turn", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"svg", KEY_SVG, "FILE", 0, "Also draw the curves (with gnuplot): time, or bandwidth where the test has one", 0},
    {0}};

/* ---- numbers ---- */

/* Parses a number with suffix k, M or G; *rest is the text after it. -1: not a number, or above max. */
static long number(const char *text, long max, const char **rest)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || value < 0 || text[0] == '+' || text[0] == ' ')
        return -1;
    static const char suffixes[] = "kmg";
    const char *suffix = *end ? strchr(suffixes, *end | 0x20) : NULL;
    if (suffix) {
        int shift = 10 * (int)(suffix - suffixes + 1);
        if (value > LONG_MAX >> shift)
            return -1;
        value <<= shift;
        end++;
    }
    *rest = end;
    return value <= max ? value : -1;
}

static void append(struct argp_state *state, struct int_list *list, long value)
{
    if (list->count == LIST_MAX)
        argp_error(state, "a list may have at most %d values", LIST_MAX);
    list->values[list->count++] = (int)value;
}

/* Parses from..to, from..to*factor or from..to+step; text starts after "from..". */
static const char *append_range(struct argp_state *state, struct int_list *list, long from, const char *text, long max)
{
    const char *rest;
    long to = number(text, max, &rest), by = 2;
    if (to < from)
        return NULL;
    bool adds = *rest == '+';
    if (adds || *rest == '*')
        by = number(rest + 1, max, &rest);
    if (adds ? by < 1 : by < 2 || from == 0) /* the range would be infinite */
        return NULL;
    for (long value = from; value <= to; value = adds ? value + by : value * by)
        append(state, list, value);
    return rest;
}

static void read_numbers(struct argp_state *state, const char *option, char *text, long min, long max,
                         struct int_list *list)
{
    const char *at = text;
    list->count = 0;
    do {
        const char *rest;
        long value = number(at, max, &rest);
        if (value >= 0 && strncmp(rest, "..", 2) == 0)
            rest = append_range(state, list, value, rest + 2, max);
        else if (value >= 0)
            append(state, list, value);
        if (value < min || !rest || (*rest && *rest != ','))
            argp_error(state, "--%s: \"%s\" is not a list of numbers from %ld to %ld, such as 8,1k,4M or 8..4M", option,
                       text, min, max);
        at = rest && *rest == ',' ? rest + 1 : NULL;
    } while (at);
}

static int read_number(struct argp_state *state, const char *option, const char *text, long min, long max)
{
    const char *rest;
    long value = number(text, max, &rest);
    if (value < min || *rest)
        argp_error(state, "--%s: \"%s\" is not a number from %ld to %ld", option, text, min, max);
    return (int)value;
}

static int read_us(struct argp_state *state, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0.001 && seconds <= SECONDS_LIMIT / 2))
        argp_error(state, "--duration: \"%s\" is not a time in seconds from 0.001 to %d", text, SECONDS_LIMIT / 2);
    return (int)(seconds * 1e6);
}

/* ---- names ---- */

static int split(struct argp_state *state, const char *option, char *text, char **names, int max)
{
    int n = 0;
    for (char *rest = NULL, *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (n == max)
            argp_error(state, "--%s may have at most %d names", option, max);
        names[n++] = name;
    }
    if (n == 0)
        argp_error(state, "--%s needs a name", option);
    return n;
}

static void read_transports(struct argp_state *state, char *text, struct options *o)
{
    o->transport_count = split(state, "transports", text, o->transports, TRANSPORTS_MAX);
    for (int i = 0; i < o->transport_count; i++)
        for (char *c = o->transports[i]; *c; c++)
            if (*c == '+')
                *c = ',';
}

static void read_hosts(struct argp_state *state, char *text, struct options *o)
{
    o->host_count = split(state, "hosts", text, o->hosts, HOSTS_MAX);
    for (int i = 0; i < o->host_count; i++)
        if (strlen(o->hosts[i]) >= HOST_NAME_MAX_BYTES)
            argp_error(state, "--hosts: %.40s... is too long", o->hosts[i]);
}

static int find_name(const char *name, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

static void read_encodings(struct argp_state *state, char *text, struct options *o)
{
    char *names[ENCODING_COUNT];
    o->encodings.count = 0;
    if (strcmp(text, "all") == 0)
        for (int i = 0; i < ENCODING_COUNT; i++)
            append(state, &o->encodings, i);
    else
        for (int i = 0, n = split(state, "encodings", text, names, ENCODING_COUNT); i < n; i++) {
            int encoding = find_name(names[i], encoding_names, ENCODING_COUNT);
            if (encoding < 0)
                argp_error(state, "--encodings: \"%s\" is not one of default, raw, inplace, psend", names[i]);
            append(state, &o->encodings, encoding);
        }
}

static int read_verify(struct argp_state *state, const char *text)
{
    static const char *const names[] = {"none", "sample", "all"};
    int verify = find_name(text, names, 3);
    if (verify < 0)
        argp_error(state, "--verify: \"%s\" is not one of none, sample, all", text);
    return verify;
}

/* ---- the command line ---- */

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 's':
        read_numbers(state, "sizes", arg, 0, BYTES_MAX, &o->bytes);
        return 0;
    case 'n':
        read_numbers(state, "tasks", arg, 1, MEMBERS_MAX - 1, &o->tasks);
        return 0;
    case 'q':
        read_numbers(state, "queued", arg, 0, 100000000, &o->queued);
        return 0;
    case 'e':
        read_encodings(state, arg, o);
        return 0;
    case 't':
        read_transports(state, arg, o);
        return 0;
    case 'H':
        read_hosts(state, arg, o);
        return 0;
    case 'r':
        o->samples = read_number(state, "repetitions", arg, 1, SAMPLES_LIMIT);
        return 0;
    case 'd':
        o->time_us = read_us(state, arg);
        o->samples = 0;
        return 0;
    case 'w':
        o->warmup = read_number(state, "warmup", arg, 0, 1000000);
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case KEY_SVG:
        o->svg = arg;
        return 0;
    case KEY_VERIFY:
        o->verify = read_verify(state, arg);
        return 0;
    case KEY_BIND:
        o->bind = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "%s: one TEST at a time", arg);
        o->test = test_find(arg);
        if (o->test < 0)
            argp_error(state, "%s: no such test", arg);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which TEST?");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void set_list(struct int_list *list, const int *values, int n)
{
    if (list->count == 0)
        for (int i = 0; i < n; i++)
            list->values[list->count++] = values[i];
}

/* Sets the defaults of the test. An axis that the test does not have gets one value, which is not shown. */
static void complete(struct options *o)
{
    static const int short_only[] = {8}, short_and_long[] = {8, 65536}, waiting[] = {0, 1000, 100000}, zero[] = {0},
                     raw[] = {ENCODING_RAW};
    const struct test *test = &tests[o->test];
    set_list(&o->encodings, raw, 1);
    if (!(test->axes & AXIS_BYTES))
        o->bytes = (struct int_list){.count = 1};
    else if (test->figure == FIGURE_MESSAGES || test->figure == FIGURE_HOP || test->axes & AXIS_QUEUED)
        set_list(&o->bytes, short_only, 1);
    else if (test->axes & AXIS_TASKS)
        set_list(&o->bytes, short_and_long, 2);
    for (int bytes = 4; o->bytes.count == 0 || (bytes > 4 && bytes <= 4 << 20); bytes *= 2)
        o->bytes.values[o->bytes.count++] = bytes;
    if (test->axes & AXIS_QUEUED)
        set_list(&o->queued, waiting, 3);
    set_list(&o->queued, zero, 1);
    set_list(&o->tasks, test->default_tasks ? &test->default_tasks : (const int[]){2}, 1);
    if (o->samples == 0 && o->time_us == 0)
        o->samples = test->default_samples;
    if (o->warmup < 0)
        o->warmup = test->default_samples ? 1 : 10;
    if (o->time_us == 0)
        o->time_us = 200000;
}

/* Rejects options that have no effect on the test. */
static void refuse_useless(const struct options *o)
{
    const struct test *test = &tests[o->test];
    const char *what = !(test->axes & AXIS_BYTES) && o->bytes.count > 0       ? "--sizes"
                       : !(test->axes & AXIS_BYTES) && o->encodings.count > 0 ? "--encodings"
                       : !(test->axes & AXIS_TASKS) && o->tasks.count > 0     ? "--tasks"
                       : !(test->axes & AXIS_QUEUED) && o->queued.count > 0   ? "--queued"
                                                                              : NULL;
    if (what) {
        fprintf(stderr, "pvm-perf: %s has no %s\n", test->name, what);
        exit(EXIT_BAD_USAGE);
    }
    for (int i = 0; i < o->encodings.count; i++)
        if (test->members == -1 && o->encodings.values[i] == ENCODING_PSEND) {
            fprintf(stderr, "pvm-perf: %s has no encoding psend: pvm_mcast sends a packed buffer\n", test->name);
            exit(EXIT_BAD_USAGE);
        }
    for (int i = 0; i < o->tasks.count; i++)
        if (test->members == 0 && o->tasks.values[i] < 2) {
            fprintf(stderr, "pvm-perf: %s needs at least 2 --tasks\n", test->name);
            exit(EXIT_BAD_USAGE);
        }
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "pvm-perf");
}

void options_read(int argc, char **argv, struct options *out)
{
    const struct argp argp = {option_table, take_option, "TEST", introduction, NULL, NULL, NULL};
    *out = (struct options){.warmup = -1, .verify = VERIFY_SAMPLE};
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_BAD_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, out);
    refuse_useless(out);
    complete(out);
}
