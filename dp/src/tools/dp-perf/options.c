/* options.c - reads the command line with argp. */
#include "core/version.h"
#include "options.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <dp.h>
#include "order.h"
#include "pvm3.h"

enum { EXIT_BAD_USAGE = 2, KEY_JSON = 256, KEY_LINES, KEY_PLOT, KEY_CPU, KEY_PATIENCE, KEY_IDLE, TURNS_MIN = 200 };

const char *const test_names[TESTS] = {"serve", "lat", "uni", "bidir", "model"};

static const char introduction[] =
    "Measure Directed Point between this node and node NID, where `dp-perf serve' runs, by the paper's "
    "methods.\vTESTs:\n"
    "  serve  be the other end, for one client at a time\n"
    "  lat    half the time of a round trip\n"
    "  uni    10 MB there and an acknowledgement of 4 bytes back\n"
    "  bidir  10 MB in both directions at once\n"
    "  model  the parameters of the paper's cost model, and their predictions\n"
    "\n"
    "A figure is the mean of the middle 80 % of at least 200 iterations. CARRIERS: raw, reliable and go-back-n of "
    "libdp; "
    "udp and tcp between the same interfaces; frames: plain Ethernet frames by the simplest program. See dp-perf(1).";

static const struct argp_option option_table[] = {
    {"interface", 'i', "NAME", 0, "Network interface (default: libdp's choice)", 0},
    {"over", 'o', "CARRIERS", 0, "Carriers in this order, separated by commas (default: all; model: raw)", 0},
    {"sizes", 's', "BYTES", 0, "Message sizes, separated by commas; max: the longest (default: lat 1, else max)", 0},
    {"iterations", 'n', "COUNT", 0, "At least 200 (default: lat 2000, else 200)", 0},
    {"bytes", 'b', "BYTES", 0, "uni, bidir: bytes of a transfer (default: 10000000)", 0},
    {"wait", 'w', "HOW", 0, "spin (default) or sleep; bidir always spins", 0},
    {"cpu", KEY_CPU, "NUMBER", 0, "Run on this processor; none: on any (default: the first, serve: the last)", 0},
    {"patience", KEY_PATIENCE, "SECONDS", 0, "Give up after this much silence of the other node (default: 5)", 0},
    {"idle", KEY_IDLE, "SECONDS", 0, "serve: end after this time without orders", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {"lines", KEY_LINES, NULL, 0, "Print lines of carrier, name, value and unit", 0},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw the figures against the sizes (needs gnuplot)", 0},
    {0}};

static uint32_t read_number(struct argp_state *state, const char *option, const char *text, long min, long max)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < min || value > max)
        argp_error(state, "--%s: \"%s\" is not a number from %ld to %ld", option, text, min, max);
    return (uint32_t)value;
}

static void read_carriers(struct argp_state *state, struct options *o, char *text)
{
    o->over_count = 0;
    for (char *rest = NULL, *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        int i = 0;
        while (i < CARRIERS && strcmp(carriers[i].name, name))
            i++;
        if (i == CARRIERS)
            argp_error(state, "--over: \"%s\" is not one of raw, reliable, go-back-n, udp, tcp, frames", name);
        for (int j = 0; j < o->over_count; j++)
            if (o->over[j] == i)
                argp_error(state, "--over: \"%s\" is given twice", name);
        o->over[o->over_count++] = i;
    }
}

/* "max" is stored as 0. */
static void read_sizes(struct argp_state *state, struct options *o, char *text)
{
    o->size_count = 0;
    for (char *rest = NULL, *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (o->size_count == SIZES_MAX)
            argp_error(state, "--sizes: at most %d are possible", SIZES_MAX);
        o->sizes[o->size_count++] = strcmp(word, "max") ? read_number(state, "sizes", word, 1, MESSAGE_BYTES_MAX) : 0;
    }
}

static void read_words(struct argp_state *state, struct options *o, const char *arg)
{
    if (state->arg_num == 0) {
        int i = 0;
        while (i < TESTS && strcmp(test_names[i], arg))
            i++;
        if (i == TESTS)
            argp_error(state, "\"%s\" is not one of serve, lat, uni, bidir, model", arg);
        o->test = (enum test)i;
    } else if (state->arg_num == 1 && o->test != TEST_SERVE) {
        char *end;
        long nid = strtol(arg, &end, 10);
        if (end == arg || *end || nid < 1 || nid > DP_NID_MAX)
            argp_error(state, "\"%s\" is not a node id from 1 to %d", arg, DP_NID_MAX);
        o->nid = (uint16_t)nid;
    } else {
        argp_error(state, "unexpected argument \"%s\"", arg);
    }
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'i':
        o->interface = arg;
        return 0;
    case 'o':
        read_carriers(state, o, arg);
        return 0;
    case 's':
        read_sizes(state, o, arg);
        return 0;
    case 'n':
        o->turns = read_number(state, "iterations", arg, TURNS_MIN, TURNS_MAX);
        return 0;
    case 'b':
        o->bytes = read_number(state, "bytes", arg, 1, 1000000000);
        return 0;
    case 'w':
        if (strcmp(arg, "spin") && strcmp(arg, "sleep"))
            argp_error(state, "--wait: \"%s\" is neither spin nor sleep", arg);
        o->spin = !strcmp(arg, "spin");
        return 0;
    case KEY_CPU:
        o->cpu = strcmp(arg, "none") ? (int)read_number(state, "cpu", arg, 0, 1023) : -1;
        return 0;
    case KEY_PATIENCE:
        o->patience_s = (int)read_number(state, "patience", arg, 1, 3600);
        return 0;
    case KEY_IDLE:
        o->idle_s = (int)read_number(state, "idle", arg, 1, 86400);
        return 0;
    case KEY_JSON:
    case KEY_LINES:
        o->form = key == KEY_JSON ? FORM_JSON : FORM_LINES;
        return 0;
    case KEY_PLOT:
        o->plot = arg;
        return 0;
    case ARGP_KEY_ARG:
        read_words(state, o, arg);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num == 0)
            argp_error(state, "serve, lat, uni, bidir or model?");
        if (o->test != TEST_SERVE && !o->nid)
            argp_error(state, "%s with which node? Give its id (NID)", test_names[o->test]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "dp-perf");
}

void options_read(int argc, char **argv, struct options *o)
{
    const struct argp argp = {option_table, take_option, "serve\nlat|uni|bidir|model NID", introduction, NULL,
                              NULL,         NULL};
    *o = (struct options){.bytes = TRANSFER_BYTES, .spin = true, .cpu = -2, .patience_s = 5};
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_BAD_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, o);
    if (o->turns == 0)
        o->turns = o->test == TEST_LAT ? 10 * TURNS_MIN : TURNS_MIN;
    for (int i = 0; o->over_count == 0 && i < (o->test == TEST_MODEL ? 1 : CARRIERS); i++)
        o->over[i] = i;
    if (o->over_count == 0)
        o->over_count = o->test == TEST_MODEL ? 1 : CARRIERS;
    if (o->size_count == 0 && o->test != TEST_MODEL)
        o->sizes[o->size_count++] = o->test == TEST_LAT ? 1 : 0;
    if (o->test == TEST_BIDIR)
        o->spin = true;
}
