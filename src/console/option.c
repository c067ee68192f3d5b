/* option.c - settings of the console task and the daemon: getopt, setopt, tickle, idump. */
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include "console.h"
#include "command.h"
#include "option.h"

/* A named value. */
struct option_value {
    const char *name;
    int value;
};

static const struct option_value routes[] = {
    {"PvmDontRoute", PvmDontRoute}, {"PvmAllowDirect", PvmAllowDirect}, {"PvmRouteDirect", PvmRouteDirect}, {0}};
static const struct option_value trace_options[] = {
    {"PvmTraceFull", PvmTraceFull}, {"PvmTraceTime", PvmTraceTime}, {"PvmTraceCount", PvmTraceCount}, {0}};

static const struct option {
    const char *name;
    int what;
    const struct option_value *values; /* names of values, or NULL */
} options[] = {
    {"PvmRoute", PvmRoute, routes},
    {"PvmDebugMask", PvmDebugMask, NULL},
    {"PvmAutoErr", PvmAutoErr, NULL},
    {"PvmOutputTid", PvmOutputTid, NULL},
    {"PvmOutputCode", PvmOutputCode, NULL},
    {"PvmTraceTid", PvmTraceTid, NULL},
    {"PvmTraceCode", PvmTraceCode, NULL},
    {"PvmTraceBuffer", PvmTraceBuffer, NULL},
    {"PvmTraceOptions", PvmTraceOptions, trace_options},
    {"PvmFragSize", PvmFragSize, NULL},
    {"PvmResvTids", PvmResvTids, NULL},
    {"PvmSelfOutputTid", PvmSelfOutputTid, NULL},
    {"PvmSelfOutputCode", PvmSelfOutputCode, NULL},
    {"PvmSelfTraceTid", PvmSelfTraceTid, NULL},
    {"PvmSelfTraceCode", PvmSelfTraceCode, NULL},
    {"PvmSelfTraceBuffer", PvmSelfTraceBuffer, NULL},
    {"PvmSelfTraceOptions", PvmSelfTraceOptions, trace_options},
    {"PvmShowTids", PvmShowTids, NULL},
    {"PvmOutputContext", PvmOutputContext, NULL},
    {"PvmTraceContext", PvmTraceContext, NULL},
    {"PvmSelfOutputContext", PvmSelfOutputContext, NULL},
    {"PvmSelfTraceContext", PvmSelfTraceContext, NULL},
    {"PvmNoReset", PvmNoReset, NULL},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]), TICKLE_ARGUMENTS_MAX = 10, TICKLE_ANSWERS_MAX = 64 };

const char *option_name(int i)
{
    return i < OPTION_COUNT ? options[i].name : NULL;
}

static const struct option *find_option(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    complain("PVM Option \"%s\" Unknown.", name);
    return NULL;
}

int option_get(int argc, char **argv)
{
    const struct option *only = argc > 1 ? find_option(argv[1]) : NULL;
    json_t *rows;

    if (argc > 1 && only == NULL)
        return CONSOLE_FAILED;
    rows = console.json ? json_object() : NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (only != NULL && only != &options[i])
            continue;
        int value = pvm_getopt(options[i].what);
        if (rows == NULL)
            printf("%s Currently Set to %d\n", options[i].name, value);
        else
            json_object_set_new(rows, options[i].name, json_integer(value));
    }
    if (rows != NULL)
        print_json(json_pack("{s:o}", "options", rows));
    return CONSOLE_OK;
}

/* Parses a number or the name of one of the option's values. */
static bool parse_value(const struct option *option, const char *text, int *value)
{
    for (const struct option_value *v = option->values; v != NULL && v->name != NULL; v++)
        if (strcmp(v->name, text) == 0) {
            *value = v->value;
            return true;
        }
    return parse_number(option->name, text, value);
}

int option_set(int argc, char **argv)
{
    const struct option *option = find_option(argv[1]);
    int value;

    (void)argc;
    if (option == NULL || !parse_value(option, argv[2], &value))
        return CONSOLE_FAILED;
    int auto_error = pvm_setopt(PvmAutoErr, 0); /* our own message is better */
    int before = option->what == PvmAutoErr ? auto_error : pvm_getopt(option->what);
    int code = pvm_setopt(option->what, value);
    if (option->what != PvmAutoErr || code < 0)
        pvm_setopt(PvmAutoErr, auto_error);
    if (code == PvmBadParam || code == PvmNotImpl) {
        advise("setopt: %s cannot be set to %s", option->name, argv[2]);
        return CONSOLE_FAILED;
    }
    printf("%s Changed from %d to %d\n", option->name, before, value);
    return CONSOLE_OK;
}

int option_tickle(int argc, char **argv)
{
    int arguments[TICKLE_ARGUMENTS_MAX], answers[TICKLE_ANSWERS_MAX], count = 0;

    for (int i = 1; i < argc; i++)
        if (!parse_number("tickle", argv[i], &arguments[i - 1]))
            return CONSOLE_FAILED;
    int code = pvm_tickle(argc - 1, arguments, &count, answers);
    if (code < 0) {
        advise("tickle: %s", error_text(code));
        return CONSOLE_FAILED;
    }
    if (console.json) {
        json_t *list = json_array();
        for (int i = 0; i < count; i++)
            json_array_append_new(list, json_integer(answers[i]));
        print_json(json_pack("{s:o}", "answers", list));
        return CONSOLE_OK;
    }
    printf("(");
    for (int i = 0; i < count; i++)
        printf(" %d", answers[i]);
    printf(" )\n");
    return CONSOLE_OK;
}

int option_idump(int argc, char **argv)
{
    (void)argc, (void)argv;
    fflush(stdout);
    fprintf(stderr, "libpvm [t%x]: i_dump() %zu bytes total\n", (unsigned)console.tid, mallinfo2().uordblks);
    return CONSOLE_OK;
}
