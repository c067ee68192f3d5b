#include "options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tally.h"
#include "team.h"

enum { TASKS_DEFAULT = 4, PACE_MAX_US = 1000000000, MEMBER = 1000, PACE };

static const struct argp_option option_table[] = {
    {"class", 'c', "CLASS", 0, "Problem class", 0},
    {"tasks", 't', "N", 0, "N tasks (4, if nothing else is said below)", 0},
    {"verify", 'v', NULL, 0, "Check the result; exit status 1 if it is wrong", 0},
    {"stats", 's', NULL, 0, "Print messages, their sizes, and the time in communication", 0},
    {"pace", PACE, "US", 0, "Sleep US microseconds before each communication, in the place of slower computing", 0},
    {"member", MEMBER, NULL, OPTION_HIDDEN, NULL, 0}, /* team_pvm.c adds it for tasks that it starts */
    {0},
};

/* What parse_option() needs: argp passes one pointer. */
struct parsing {
    const struct kernel *kernel;
    struct options options;
};

static char class_of(struct argp_state *state, const struct kernel *kernel, const char *text)
{
    if (text[0] == '\0' || text[1] != '\0' || !strchr(kernel->classes, text[0]))
        argp_error(state, "there is no class \"%s\": use one of %s", text, kernel->classes);
    return text[0];
}

static int tasks_of(struct argp_state *state, const struct kernel *kernel, const char *text)
{
    char *end;
    long tasks = strtol(text, &end, 10);

    if (*end != '\0' || tasks < 1 || tasks > TEAM_MAX)
        argp_error(state, "\"%s\" is not a number of tasks from 1 to %d", text, TEAM_MAX);
    if (kernel->tasks_allowed && !kernel->tasks_allowed((int)tasks))
        argp_error(state, "%ld tasks are not possible: use %s", tasks, kernel->tasks_help);
    return (int)tasks;
}

static long pace_of(struct argp_state *state, const char *text)
{
    char *end;
    long pace_us = strtol(text, &end, 10);

    if (end == text || *end != '\0' || pace_us < 0 || pace_us > PACE_MAX_US)
        argp_error(state, "\"%s\" is not a time from 0 to %d us", text, PACE_MAX_US);
    return pace_us;
}

/* When all options are known: the number of tasks may depend on the class. */
static void finish(struct argp_state *state, const struct kernel *kernel, struct options *options)
{
    if (options->tasks == 0)
        options->tasks = kernel->default_tasks ? kernel->default_tasks(options->class) : TASKS_DEFAULT;
    if (kernel->class_allows && !kernel->class_allows(options->class, options->tasks))
        argp_error(state, "%d tasks are not possible in class %c: use %s", options->tasks, options->class,
                   kernel->tasks_help);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;

    switch (key) {
    case 'c':
        parsing->options.class = class_of(state, parsing->kernel, text);
        return 0;
    case 't':
        parsing->options.tasks = tasks_of(state, parsing->kernel, text);
        return 0;
    case 'v':
        parsing->options.verify = true;
        return 0;
    case 's':
        parsing->options.stats = true;
        return 0;
    case PACE:
        parsing->options.pace_us = pace_of(state, text);
        return 0;
    case MEMBER:
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
        break;
    case ARGP_KEY_END:
        finish(state, parsing->kernel, &parsing->options);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* The kernel's purpose above the options, its classes and numbers of tasks below. */
static char *help_text(int key, const char *text, void *input)
{
    const struct kernel *kernel = ((struct parsing *)input)->kernel;
    const char *tasks = kernel->tasks_help ? kernel->tasks_help : "any number";
    const size_t room = 1000;
    char *help;

    if (key == ARGP_KEY_HELP_PRE_DOC)
        return strdup(kernel->purpose);
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    help = malloc(room);
    if (help)
        snprintf(help, room, "Classes: %s\nTasks: %s", kernel->class_help, tasks);
    return help;
}

struct options options_parse(int argc, char **argv, const struct kernel *kernel)
{
    const struct argp parser = {option_table, parse_option, NULL, "\v", NULL, help_text, NULL};
    struct parsing parsing = {kernel, {.class = kernel->classes[0]}};

    argp_parse(&parser, argc, argv, 0, NULL, &parsing);
    tally_pace(parsing.options.pace_us);
    return parsing.options;
}

bool options_power_of_two(int tasks)
{
    return tasks > 0 && (tasks & (tasks - 1)) == 0;
}
