/*
 * info.c - pvm-info: shows the build and the settings of this dpvm. Except for --task it only reads tables: it needs no
 * daemon and starts none.
 */
#include <argp.h>
#include <limits.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"
#include "devices.h"
#include "links.h"
#include "table.h"
#include "text.h"
#include "core/fault/failpoint.h"
#include "core/config.h"
#include "core/fault/failpoint.h"
#include "core/message/dsig.h"
#include "core/message/frame.h"
#include "core/version.h"

#define ANSWER_LIMIT_S 2.0

enum { EXIT_BAD_SETTING = 1, EXIT_NO_ANSWER = 1, EXIT_BAD_USAGE = 2 };

static struct {
    bool settings, devices, failpoints, json;
    int task; /* 0: none */
} options;

static const char doc[] =
    "Show this dpvm's version and build, the transports that are usable here, and its settings."
    "\vThe exit code is 1 if a setting has a malformed value (its default is used then), or if the task given with "
    "--task does not answer.";

static const struct argp_option option_table[] = {
    {"config", 'c', NULL, 0, "Show every setting: value, origin, default, meaning", 0},
    {"devices", 'd', NULL, 0, "Show the transports, and which ones PVM_TRANSPORT chooses", 0},
    {"failpoints", 'f', NULL, 0, "Show the steps of daemons that PVM_FAULT can make fail; see dpvm-transports(7)", 0},
    {"task", 't', "TID", 0, "Show this task's traffic with each peer, by transport", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0}};

static int read_tid(const char *text, struct argp_state *state)
{
    char *end;
    unsigned long tid = strtoul(*text == 't' ? text + 1 : text, &end, 16);

    if (*text == '\0' || *end != '\0' || tid == 0 || tid > INT_MAX)
        argp_error(state, "%s: not a task id; give one such as t40002", text);
    return (int)tid;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'c':
        options.settings = true;
        return 0;
    case 'd':
        options.devices = true;
        return 0;
    case 'f':
        options.failpoints = true;
        return 0;
    case 't':
        options.task = read_tid(arg, state);
        return 0;
    case 'j':
        options.json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: unexpected argument", arg);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
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

enum { FACT_COUNT = 9 };

static void collect_facts(struct fact facts[FACT_COUNT])
{
    static char dsig[16], frame[16];

    snprintf(dsig, sizeof(dsig), "0x%08x", (unsigned)pvmc_dsig_own());
    snprintf(frame, sizeof(frame), "%d", PVMC_FRAME_VERSION);
    const struct fact all[FACT_COUNT] = {
        {"version", "version", pvmc_version},
        {"pvm", "interface of PVM", PVM_VER},
        {"frame_version", "frame version", frame},
        {"compiler", "compiler", compiler()},
        {"build_type", "build type", DPVM_BUILD_TYPE},
        {"sanitizers", "sanitizers", *DPVM_SANITIZE != '\0' ? DPVM_SANITIZE : "none"},
        {"arch", "architecture", pvmc_arch_own()},
        {"dsig", "data signature", dsig},
        {"root", "PVM_ROOT", pvmc_config_root()},
    };
    memcpy(facts, all, sizeof(all));
}

static int show_build(void)
{
    struct fact facts[FACT_COUNT];

    collect_facts(facts);
    if (options.json) {
        json_t *all = json_object();
        for (int i = 0; i < FACT_COUNT; i++)
            json_object_set_new(all, facts[i].key, text_json(facts[i].value));
        json_object_set_new(all, "transports", devices_json());
        text_print_json(all, JSON_INDENT(2));
    } else {
        const char *cell[FACT_COUNT * 2];
        for (int i = 0; i < FACT_COUNT; i++)
            cell[2 * i] = facts[i].label, cell[2 * i + 1] = facts[i].value;
        table_print(stdout, cell, FACT_COUNT, 2, 0);
        putchar('\n');
        devices_print();
    }
    return EXIT_SUCCESS;
}

/* ---- settings ---- */

struct setting_state {
    const struct pvmc_setting_row *row;
    const char *value, *origin;
    bool good;
    char why[128]; /* when not good */
};

static int examine_settings(struct setting_state states[PVMC_SETTING_COUNT])
{
    int bad = 0;

    for (int i = 0; i < PVMC_SETTING_COUNT; i++) {
        struct setting_state *s = &states[i];
        const char *given = getenv(pvmc_setting_table[i].name);
        *s = (struct setting_state){.row = &pvmc_setting_table[i], .good = true};
        s->origin = pvmc_config_origin((enum pvmc_setting)i);
        s->value = given != NULL && strcmp(s->origin, "default") != 0 ? given : s->row->fallback;
        if (given != NULL && *given != '\0' &&
            pvmc_config_check((enum pvmc_setting)i, given, s->why, sizeof(s->why)) != 0) {
            s->good = false;
            bad++;
        }
    }
    return bad;
}

static void print_settings_json(const struct setting_state *states)
{
    json_t *rows = json_array();

    for (int i = 0; i < PVMC_SETTING_COUNT; i++) {
        const struct setting_state *s = &states[i];
        json_t *row =
            json_pack("{s:s, s:o, s:s, s:s, s:s, s:b}", "name", s->row->name, "value", text_json(s->value), "origin",
                      s->origin, "default", s->row->fallback, "help", s->row->help, "valid", s->good);
        if (!s->good)
            json_object_set_new(row, "why_not", text_json(s->why));
        json_array_append_new(rows, row);
    }
    text_print_json(json_pack("{s:o}", "settings", rows), JSON_INDENT(2));
}

static const char *or_dash(const char *text)
{
    return *text != '\0' ? text : "-";
}

static void print_settings(const struct setting_state *states)
{
    enum { COLUMNS = 5 };
    static const char *const heading[COLUMNS] = {"SETTING", "VALUE", "ORIGIN", "DEFAULT", "MEANING"};
    const char *cell[(PVMC_SETTING_COUNT + 1) * COLUMNS];

    memcpy(cell, heading, sizeof(heading));
    for (int i = 0; i < PVMC_SETTING_COUNT; i++) {
        const struct setting_state *s = &states[i];
        const char **row = cell + (i + 1) * COLUMNS;
        row[0] = s->row->name;
        row[1] = or_dash(s->value);
        row[2] = s->origin;
        row[3] = or_dash(s->row->fallback);
        row[4] = s->row->help;
    }
    table_print(stdout, cell, PVMC_SETTING_COUNT + 1, COLUMNS, table_width(stdout));
}

static int show_settings(void)
{
    static struct setting_state states[PVMC_SETTING_COUNT];
    int bad = examine_settings(states);

    if (options.json)
        print_settings_json(states);
    else
        print_settings(states);
    fflush(stdout);
    for (int i = 0; i < PVMC_SETTING_COUNT; i++)
        if (!states[i].good)
            fprintf(stderr, "pvm-info: %s\n", states[i].why);
    pvmc_config_warn_unknown();
    return bad > 0 ? EXIT_BAD_SETTING : EXIT_SUCCESS;
}

/* ---- failpoints ---- */

static int show_failpoints(void)
{
    enum { COLUMNS = 3 };
    static const char *const heading[COLUMNS] = {"STEP", "FAILS", "MEANING"};
    const char *cell[(PVMC_FAILPOINT_COUNT + 1) * COLUMNS];
    json_t *rows = json_array();

    memcpy(cell, heading, sizeof(heading));
    for (int i = 0; i < PVMC_FAILPOINT_COUNT; i++) {
        const struct pvmc_failpoint_row *row = &pvmc_failpoint_table[i];
        const char **column = cell + (i + 1) * COLUMNS;
        column[0] = row->name;
        column[1] = row->can_fail ? "yes" : "no";
        column[2] = row->help;
        json_array_append_new(
            rows, json_pack("{s:s, s:b, s:s}", "step", row->name, "can_fail", row->can_fail, "help", row->help));
    }
    if (options.json)
        text_print_json(json_pack("{s:O}", "failpoints", rows), JSON_INDENT(2));
    else
        table_print(stdout, cell, PVMC_FAILPOINT_COUNT + 1, COLUMNS, table_width(stdout));
    json_decref(rows);
    return EXIT_SUCCESS;
}

/* ---- a task ---- */

/* Enrols as a task; does not start a machine. */
static int show_task(int tid)
{
    struct links_report report = {.tid = tid};

    unsetenv("PVM_TRACE"); /* do not trace this tool */
    pvm_setopt(PvmRoute, PvmDontRoute);
    if (pvm_mytid() < 0)
        return EXIT_NO_ANSWER; /* libpvm has printed the reason */
    links_ask(&report, 1, ANSWER_LIMIT_S);
    if (report.status != LINKS_TOLD)
        fprintf(stderr, "pvm-info: %s\n", links_excuse(&report, ANSWER_LIMIT_S));
    else if (options.json)
        text_print_json(links_json(&report), JSON_INDENT(2));
    else
        links_print(stdout, &report);
    links_free(&report, 1);
    pvm_exit();
    return report.status == LINKS_TOLD ? EXIT_SUCCESS : EXIT_NO_ANSWER;
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "pvm-info");
}

int main(int argc, char **argv)
{
    const struct argp argp = {option_table, take_option, NULL, doc, NULL, NULL, NULL};

    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_BAD_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    if (options.task != 0)
        return show_task(options.task);
    if (options.devices)
        return devices_show(options.json) == 0 ? EXIT_SUCCESS : EXIT_BAD_SETTING;
    if (options.failpoints)
        return show_failpoints();
    return options.settings ? show_settings() : show_build();
}
