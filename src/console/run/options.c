/* options.c - see options.h. */
#include "options.h"
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "console/console.h"
#include "mpirun.h"

enum { TIMEOUT_MAX_S = 10000000 };
enum { KEEP_GOING = 256, TAGS, INPUT, TIMEOUT, HOSTFILE };

/* What the parser of one program's words works on. */
struct parsing {
    struct run_options *all;
    struct run_program *program;
};

static const char doc[] =
    "Start N copies of PROGRAM on the virtual machine, print their output, and wait until they end."
    "\vIf no virtual machine runs, one is started, and halted at the end. PROGRAM is searched for as in pvm_spawn(3); "
    "if it contains '/', it is a path relative to this directory. More programs follow after ':', each with its own "
    "copies, hosts and directory.\n"
    "Ctrl-C interrupts the tasks; a second Ctrl-C kills them. SIGUSR1 and SIGUSR2 are passed on.\n"
    "The exit code is 0 if all tasks have ended with 0; else the largest of those that failed by themselves, where 128 "
    "is added to the number "
    "of a signal that has killed one. It is 1 if a task could not be started or was lost with its host, 2 for a wrong "
    "command line, 3 without a virtual machine, 124 after the time of --timeout, and 130 after Ctrl-C.\n"
    "Most options of mpirun are understood; for the others, pvm run says what to use instead.";

static const struct argp_option option_table[] = {
    {"copies", 'n', "N", 0, "Number of copies (default: 1, or one per slot of the hosts)", 0},
    {NULL, 'N', NULL, OPTION_ALIAS, NULL, 0},
    {"host", 'H', "HOST[:SLOTS][,...]", 0,
     "Run on these hosts: as many copies on each as it has slots (default: 1), and so on from the first. Hosts that "
     "are not in the machine are added",
     0},
    {"hostfile", HOSTFILE, "FILE", 0, "The same for the hosts of a file, a line each: 'NAME [slots=N]'", 0},
    {"export", 'x', "NAME[=VALUE]", 0, "Give this environment variable to the tasks of all programs", 0},
    {"directory", 'w', "DIR", 0, "Working directory of the tasks (default: this one, if it exists there)", 0},
    {"wrap", 'W', "COMMAND", 0, "Run the tasks, and tasks that they spawn, under COMMAND, such as 'valgrind -q'", 0},
    {"prefix", 'p', NULL, 0, "Prefix each line of output with the task id", 1},
    {"tag-output", TAGS, NULL, 0, "Prefix each line with the task id and the stream it comes from", 1},
    {"stdin", INPUT, "none|first|all", 0, "Who reads this command's standard input (default: first, the first task)",
     1},
    {"keep-going", KEEP_GOING, NULL, 0, "Do not end the other tasks when one fails", 1},
    {"timeout", TIMEOUT, "SECONDS", 0, "End the tasks after that time", 1},
    {0}};

/* A number from 1 to `most`. */
static int number(const char *option, const char *text, long most, struct argp_state *state)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1 || value > most)
        argp_error(state, "%s %s: give a number from 1 to %ld", option, text, most);
    return (int)value;
}

static void take_hostfile(struct run_program *program, const char *path, struct argp_state *state)
{
    int line;
    const char *wrong = run_places_add_file(&program->places, path, &line);

    if (wrong != NULL && line > 0)
        argp_error(state, "--hostfile %s, line %d: %s", path, line, wrong);
    else if (wrong != NULL)
        argp_error(state, "--hostfile %s: %s", path, wrong);
}

static void take_variable(char *text, struct argp_state *state)
{
    char *value = strchr(text, '=');

    size_t length = value != NULL ? (size_t)(value - text) : strlen(text);
    if (length == 0 || memchr(text, ':', length) != NULL)
        argp_error(state, "-x %s: give a variable's name, or NAME=VALUE", text);
    if (value != NULL) {
        *value = '\0';
        if (setenv(text, value + 1, 1) != 0)
            argp_failure(state, CONSOLE_FAILED, 0, "out of memory");
    } else if (getenv(text) == NULL) {
        argp_error(state, "-x %s: there is no such variable here; give a value: -x %s=VALUE", text, text);
    }
    pvm_export(text);
}

static void take_wrapper(struct run_program *program, const char *command, struct argp_state *state)
{
    if (command[strspn(command, " \t")] == '\0')
        argp_error(state, "--wrap: give a command, such as --wrap 'valgrind -q'");
    if (command[0] != '/' && memchr(command, '/', strcspn(command, " \t")) != NULL)
        argp_error(state, "--wrap %s: give the full path, or the name of a command in PATH", command);
    program->wrapper = command;
}

static void take_input(struct run_options *o, const char *who, struct argp_state *state)
{
    if (strcmp(who, "none") == 0)
        o->input = RUN_INPUT_NONE;
    else if (strcmp(who, "all") == 0)
        o->input = RUN_INPUT_ALL;
    else if (strcmp(who, "first") == 0 || strcmp(who, "0") == 0)
        o->input = RUN_INPUT_FIRST;
    else
        argp_error(state, "--stdin %s: give none, first or all", who);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    struct parsing *p = state->input;
    const char *wrong;

    switch (key) {
    case 'n':
    case 'N':
        p->program->count = number("-n", arg, RUN_COPIES_MAX, state);
        return 0;
    case 'H':
        wrong = run_places_add_list(&p->program->places, arg);
        if (wrong != NULL)
            argp_error(state, "--host %s: %s", arg, wrong);
        return 0;
    case HOSTFILE:
        take_hostfile(p->program, arg, state);
        return 0;
    case 'x':
        take_variable(arg, state);
        return 0;
    case 'w':
        p->program->folder = arg;
        return 0;
    case 'W':
        take_wrapper(p->program, arg, state);
        return 0;
    case 'p':
        p->all->prefix = RUN_PREFIX_TID;
        return 0;
    case TAGS:
        p->all->prefix = RUN_PREFIX_TAG;
        return 0;
    case INPUT:
        take_input(p->all, arg, state);
        return 0;
    case KEEP_GOING:
        p->all->keep_going = true;
        return 0;
    case TIMEOUT:
        p->all->timeout_s = number("--timeout", arg, TIMEOUT_MAX_S, state);
        return 0;
    case ARGP_KEY_ARGS:
        p->program->words = state->argv + state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program given. Try: pvm run -n 2 hello");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Reads one program's words, of which the first stands for "pvm run". */
static void read_program(struct run_options *o, int argc, char **argv)
{
    struct argp argp = {option_table, take_option, "PROGRAM [ARGUMENT...] [: [OPTION...] PROGRAM [ARGUMENT...]]...",
                        doc,          NULL,        NULL,
                        NULL};
    struct parsing parsing = {o, &o->programs[o->program_count]};

    *parsing.program = (struct run_program){0};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &parsing);
    o->program_count++;
    int count = parsing.program->count > 0 ? parsing.program->count : parsing.program->places.slots;
    if (count > RUN_COPIES_MAX - o->copies) {
        advise("pvm run: there can be no more than %d tasks", RUN_COPIES_MAX);
        exit(CONSOLE_USAGE);
    }
    o->copies += count;
}

bool run_options_count(struct run_options *o)
{
    o->copies = 0;
    for (int i = 0; i < o->program_count; i++) {
        struct run_program *program = &o->programs[i];
        if (program->count == 0)
            program->count = program->places.count > 0 ? program->places.slots : 1;
        if (program->count > RUN_COPIES_MAX - o->copies)
            return false;
        o->copies += program->count;
    }
    return true;
}

void run_options_read(struct run_options *o, int argc, char **argv)
{
    *o = (struct run_options){.programs = calloc((size_t)argc, sizeof(*o->programs))};
    if (o->programs == NULL) {
        advise("pvm run: out of memory");
        exit(CONSOLE_FAILED);
    }
    for (int first = 0; first < argc;) {
        int end = first + 1;
        while (end < argc && strcmp(argv[end], ":") != 0)
            end++;
        if (end < argc)
            argv[end] = NULL;
        argv[first] = (char *)"pvm run";
        mpirun_translate(end - first, argv + first);
        read_program(o, end - first, argv + first);
        if (first > 0)
            argv[first] = NULL; /* ends the words before it */
        first = end;
    }
}

void run_options_free(struct run_options *o)
{
    for (int i = 0; i < o->program_count; i++)
        run_places_free(&o->programs[i].places);
    free(o->programs);
}
