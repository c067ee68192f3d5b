/*
 * info.c - pvm-info: what this dpvm is and how it is set up. Looks into tables only: needs no daemon, starts none.
 */
#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"
#include "table.h"
#include "../core/config.h"
#include "../core/dsig.h"
#include "../core/error.h"
#include "../core/frame.h"
#include "../transports/transport.h"

enum { EXIT_BAD_SETTING = 1, EXIT_BAD_USAGE = 2 };

static struct {
    bool settings;
    bool json;
} options;

static const char doc[] =
    "Show what this dpvm is, which transports it can use here, and how it is set up."
    "\vThe exit code is 1 if a setting has a value that is not understood; the default counts then.";

static const struct argp_option option_table[] = {
    {"config", 'c', NULL, 0, "Show every setting: value, where it comes from, default, meaning", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0}};

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'c':
        options.settings = true;
        return 0;
    case 'j':
        options.json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: no arguments are expected", arg);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(value);
}

/* A text of the user's for JSON; bytes that are no UTF-8 become '?'. */
static json_t *json_text(const char *text)
{
    json_t *value = json_string(text);

    if (value != NULL)
        return value;
    char *copy = strdup(text);
    for (char *p = copy; p != NULL && *p != '\0'; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    value = json_string(copy != NULL ? copy : "");
    free(copy);
    return value;
}

/* ---- build ---- */

static const char *compiler(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

struct fact {
    const char *key, *label, *value;
};

enum { FACT_COUNT = 8 };

static void collect_facts(struct fact facts[FACT_COUNT])
{
    static char dsig[16], frame[16];

    snprintf(dsig, sizeof(dsig), "0x%08x", (unsigned)pvmi_dsig_own());
    snprintf(frame, sizeof(frame), "%d", PVMI_FRAME_VERSION);
    const struct fact all[FACT_COUNT] = {
        {"version", "version", PVM_VER},
        {"frame_version", "frame version", frame},
        {"compiler", "compiler", compiler()},
        {"build_type", "build type", DPVM_BUILD_TYPE},
        {"sanitizers", "sanitizers", *DPVM_SANITIZE != '\0' ? DPVM_SANITIZE : "none"},
        {"arch", "architecture", pvmi_arch_own()},
        {"dsig", "data signature", dsig},
        {"root", "PVM_ROOT", pvmi_config_root()},
    };
    memcpy(facts, all, sizeof(all));
}

/* ---- transports ---- */

struct transport_state {
    const struct pvmi_transport_row *row;
    bool usable;
    bool has_attributes;
    char why_not[128]; /* when not usable */
    struct pvmi_attributes attributes;
};

static void examine(const struct pvmi_transport_row *row, struct transport_state *state)
{
    static const struct pvmi_callbacks none;
    struct pvmi_transport *transport = NULL;
    int code;

    *state = (struct transport_state){.row = row};
    if (row->ops == NULL) {
        snprintf(state->why_not, sizeof(state->why_not), "%s", row->why_not != NULL ? row->why_not : "not built");
        return;
    }
    code = row->ops->available(state->why_not, sizeof(state->why_not));
    if (code < 0) {
        if (state->why_not[0] == '\0')
            snprintf(state->why_not, sizeof(state->why_not), "%s", pvmi_error_text(code));
        return;
    }
    state->usable = true;
    if (row->ops->open(NULL, &none, NULL, &transport) != 0)
        return;
    row->ops->query(transport, &state->attributes);
    row->ops->close(transport);
    state->has_attributes = true;
}

static json_t *transport_json(const struct transport_state *state)
{
    const struct pvmi_attributes *a = &state->attributes;
    json_t *row = json_pack("{s:s, s:b}", "name", state->row->name, "usable", state->usable);

    if (state->row->ops != NULL)
        json_object_set_new(row, "summary", json_string(state->row->ops->summary));
    if (!state->usable)
        json_object_set_new(row, "why_not", json_text(state->why_not));
    if (state->has_attributes)
        json_object_set_new(row, "attributes",
                            json_pack("{s:I, s:I, s:I, s:I, s:b}", "frame_max_bytes", (json_int_t)a->frame_max,
                                      "copy_max_bytes", (json_int_t)a->copy_max, "latency_ns",
                                      (json_int_t)a->latency_ns, "bandwidth_mbs", (json_int_t)a->bandwidth_mbs,
                                      "local_only", a->local_only));
    return row;
}

static void attributes_text(const struct transport_state *state, char *text, size_t size)
{
    const struct pvmi_attributes *a = &state->attributes;

    if (!state->has_attributes)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "frames to %u KiB, copies to %u B, %.1f us, %u MB/s%s", (unsigned)a->frame_max / 1024,
                 (unsigned)a->copy_max, a->latency_ns / 1000.0, a->bandwidth_mbs,
                 a->local_only ? ", this host only" : "");
}

static int transport_count(void)
{
    int n = 0;
    while (pvmi_transport_table[n].name != NULL)
        n++;
    return n;
}

static void print_transports(const struct transport_state *states, int n)
{
    enum { COLUMNS = 4, ATTRIBUTES_MAX = 128 };
    const char **cell = calloc((size_t)(n + 1) * COLUMNS, sizeof(*cell));
    char(*attributes)[ATTRIBUTES_MAX] = calloc((size_t)n + 1, sizeof(*attributes));
    static const char *const heading[COLUMNS] = {"TRANSPORT", "USABLE", "ATTRIBUTES", "WHAT IT IS"};

    if (cell != NULL && attributes != NULL) {
        memcpy(cell, heading, sizeof(heading));
        for (int i = 0; i < n; i++) {
            attributes_text(&states[i], attributes[i], sizeof(attributes[i]));
            const char **row = cell + (i + 1) * COLUMNS;
            row[0] = states[i].row->name;
            row[1] = states[i].usable ? "yes" : "no";
            row[2] = attributes[i];
            row[3] = states[i].usable ? states[i].row->ops->summary : states[i].why_not;
        }
        table_print(stdout, cell, n + 1, COLUMNS, table_width(stdout));
    }
    free(cell);
    free(attributes);
}

static int show_build(void)
{
    struct fact facts[FACT_COUNT];
    int n = transport_count();
    struct transport_state *states = calloc((size_t)n + 1, sizeof(*states));

    if (states == NULL)
        return EXIT_FAILURE;
    collect_facts(facts);
    for (int i = 0; i < n; i++)
        examine(&pvmi_transport_table[i], &states[i]);
    if (options.json) {
        json_t *all = json_object(), *rows = json_array();
        for (int i = 0; i < FACT_COUNT; i++)
            json_object_set_new(all, facts[i].key, json_text(facts[i].value));
        for (int i = 0; i < n; i++)
            json_array_append_new(rows, transport_json(&states[i]));
        json_object_set_new(all, "transports", rows);
        print_json(all);
    } else {
        const char *cell[FACT_COUNT * 2];
        for (int i = 0; i < FACT_COUNT; i++)
            cell[2 * i] = facts[i].label, cell[2 * i + 1] = facts[i].value;
        table_print(stdout, cell, FACT_COUNT, 2, 0);
        putchar('\n');
        print_transports(states, n);
    }
    free(states);
    return EXIT_SUCCESS;
}

/* ---- settings ---- */

struct setting_state {
    const struct pvmi_setting_row *row;
    const char *value, *origin;
    bool good;
    char why[128]; /* when not good */
};

static int examine_settings(struct setting_state states[PVMI_SETTING_COUNT])
{
    int bad = 0;

    for (int i = 0; i < PVMI_SETTING_COUNT; i++) {
        struct setting_state *s = &states[i];
        const char *given = getenv(pvmi_setting_table[i].name);
        *s = (struct setting_state){.row = &pvmi_setting_table[i], .good = true};
        s->origin = pvmi_config_origin((enum pvmi_setting)i);
        s->value = given != NULL && strcmp(s->origin, "default") != 0 ? given : s->row->fallback;
        if (given != NULL && *given != '\0' &&
            pvmi_config_check((enum pvmi_setting)i, given, s->why, sizeof(s->why)) != 0) {
            s->good = false;
            bad++;
        }
    }
    return bad;
}

static void print_settings_json(const struct setting_state *states)
{
    json_t *rows = json_array();

    for (int i = 0; i < PVMI_SETTING_COUNT; i++) {
        const struct setting_state *s = &states[i];
        json_t *row =
            json_pack("{s:s, s:o, s:s, s:s, s:s, s:b}", "name", s->row->name, "value", json_text(s->value), "origin",
                      s->origin, "default", s->row->fallback, "help", s->row->help, "valid", s->good);
        if (!s->good)
            json_object_set_new(row, "why_not", json_text(s->why));
        json_array_append_new(rows, row);
    }
    print_json(json_pack("{s:o}", "settings", rows));
}

static const char *or_dash(const char *text)
{
    return *text != '\0' ? text : "-";
}

static void print_settings(const struct setting_state *states)
{
    enum { COLUMNS = 5 };
    static const char *const heading[COLUMNS] = {"SETTING", "VALUE", "ORIGIN", "DEFAULT", "MEANING"};
    const char *cell[(PVMI_SETTING_COUNT + 1) * COLUMNS];

    memcpy(cell, heading, sizeof(heading));
    for (int i = 0; i < PVMI_SETTING_COUNT; i++) {
        const struct setting_state *s = &states[i];
        const char **row = cell + (i + 1) * COLUMNS;
        row[0] = s->row->name;
        row[1] = or_dash(s->value);
        row[2] = s->origin;
        row[3] = or_dash(s->row->fallback);
        row[4] = s->row->help;
    }
    table_print(stdout, cell, PVMI_SETTING_COUNT + 1, COLUMNS, table_width(stdout));
}

static int show_settings(void)
{
    static struct setting_state states[PVMI_SETTING_COUNT];
    int bad = examine_settings(states);

    if (options.json)
        print_settings_json(states);
    else
        print_settings(states);
    fflush(stdout);
    for (int i = 0; i < PVMI_SETTING_COUNT; i++)
        if (!states[i].good)
            fprintf(stderr, "pvm-info: %s\n", states[i].why);
    pvmi_config_warn_unknown();
    return bad > 0 ? EXIT_BAD_SETTING : EXIT_SUCCESS;
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    fprintf(to, "pvm-info %s (dpvm)\n", PVM_VER);
}

int main(int argc, char **argv)
{
    const struct argp argp = {option_table, take_option, NULL, doc, NULL, NULL, NULL};

    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_BAD_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    return options.settings ? show_settings() : show_build();
}
