/* complete.c - completion of the word at the cursor. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alias.h"
#include "command.h"
#include "complete.h"
#include "console.h"
#include "console/commands/host.h"
#include "names.h"
#include "option.h"
#include "console/commands/trace.h"

enum { CHOICES_MAX = 1000 };

/* Adds a word if it starts with the prefix. */
static void offer(struct completion *c, const char *prefix, const char *word)
{
    if (c->count >= CHOICES_MAX || strncmp(word, prefix, strlen(prefix)) != 0)
        return;
    char **longer = realloc(c->choices, (size_t)(c->count + 1) * sizeof(*longer));
    if (longer == NULL)
        return;
    c->choices = longer;
    if ((c->choices[c->count] = strdup(word)) != NULL)
        c->count++;
}

static void offer_commands(struct completion *c, const char *prefix)
{
    for (const struct command *row = command_table; row->name != NULL; row++)
        if (!(row->flags & COMMAND_HIDDEN))
            offer(c, prefix, row->name);
}

static void offer_aliases(struct completion *c, const char *prefix)
{
    const char *name;
    for (int i = 0; (name = alias_name(i)) != NULL; i++)
        offer(c, prefix, name);
}

static void offer_commands_and_aliases(struct completion *c, const char *prefix)
{
    offer_commands(c, prefix);
    offer_aliases(c, prefix);
}

static void offer_options(struct completion *c, const char *prefix)
{
    const char *name;
    for (int i = 0; (name = option_name(i)) != NULL; i++)
        offer(c, prefix, name);
}

static void offer_events(struct completion *c, const char *prefix)
{
    const char *name;
    for (int i = 0; (name = trace_event_name(i)) != NULL; i++)
        offer(c, prefix, name);
}

static void offer_hosts(struct completion *c, const char *prefix)
{
    struct pvmhostinfo *hosts = NULL;
    int count = 0, formats;

    if (pvm_config(&count, &formats, &hosts) < 0)
        return;
    for (int i = 0; i < count; i++)
        offer(c, prefix, hosts[i].hi_name);
}

static void offer_tasks(struct completion *c, const char *prefix)
{
    struct pvmtaskinfo *tasks = NULL;
    int count = 0;
    char text[16];

    if (pvm_tasks(0, &count, &tasks) < 0)
        return;
    for (int i = 0; i < count; i++)
        if (tasks[i].ti_tid != console.tid) {
            snprintf(text, sizeof(text), "t%x", (unsigned)tasks[i].ti_tid);
            offer(c, prefix, text);
        }
}

/* Options of spawn such as "-h1". */
static void offer_places(struct completion *c, const char *prefix)
{
    struct pvmhostinfo *hosts = NULL;
    int count = 0, formats;
    char text[256];

    if (*prefix != '-' || pvm_config(&count, &formats, &hosts) < 0)
        return;
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "-%s", hosts[i].hi_name);
        offer(c, prefix, text);
    }
}

/* A name of names.h with what comes before it in the word, such as "->". */
struct named {
    struct completion *to;
    const char *word;
    size_t before; /* bytes of `word` */
};

static void offer_named(void *arg, const char *name)
{
    const struct named *n = arg;
    char *choice = NULL;

    if (asprintf(&choice, "%.*s%s", (int)n->before, n->word, name) >= 0)
        offer(n->to, n->word, choice);
    free(choice);
}

/* Arguments of spawn: options with places or files, the program, and its own arguments, which are often files. */
static void offer_spawn(struct completion *c, const char *word)
{
    static const char *const to_file[] = {"->>", "->", "-@"};
    struct named n = {c, word, 0};

    for (size_t i = 0; i < sizeof(to_file) / sizeof(to_file[0]) && n.before == 0; i++)
        if (strncmp(word, to_file[i], strlen(to_file[i])) == 0)
            n.before = strlen(to_file[i]);
    if (n.before == 0 && *word == '-') {
        offer_places(c, word);
        return;
    }
    if (n.before == 0 && strchr(word, '/') == NULL)
        names_programs(word, offer_named, &n);
    names_files(word + n.before, offer_named, &n);
}

/* What can complete the arguments of each command. */
static const struct {
    command_function *run;
    void (*offer)(struct completion *c, const char *prefix);
} arguments[] = {
    {help_command, offer_commands}, {host_add, offer_hosts},      {host_delete, offer_hosts},
    {host_mstat, offer_hosts},      {task_kill, offer_tasks},     {task_sig, offer_tasks},
    {task_pstat, offer_tasks},      {option_get, offer_options},  {option_set, offer_options},
    {trace_command, offer_events},  {spawn_command, offer_spawn}, {alias_remove, offer_aliases},
    {alias_command, offer_aliases},
};

/* The command whose full name starts the line. */
static const struct command *line_command(const char *line, size_t length)
{
    for (const struct command *row = command_table; row->name != NULL; row++)
        if (strlen(row->name) == length && strncmp(row->name, line, length) == 0)
            return row;
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the choices, removes duplicates and sets `insert` to their common prefix after `typed` bytes. */
static int finish(struct completion *c, size_t typed)
{
    int kept = 1;

    qsort(c->choices, (size_t)c->count, sizeof(*c->choices), compare);
    for (int i = 1; i < c->count; i++)
        if (strcmp(c->choices[i], c->choices[kept - 1]) == 0)
            free(c->choices[i]);
        else
            c->choices[kept++] = c->choices[i];
    c->count = kept;
    const char *first = c->choices[0], *last = c->choices[kept - 1];
    size_t common = 0;
    while (first[common] != '\0' && first[common] == last[common])
        common++;
    bool ends_word = kept == 1 && first[common - 1] != '/'; /* in a folder, more follows */
    if (asprintf(&c->insert, "%.*s%s", (int)(common - typed), first + typed, ends_word ? " " : "") >= 0)
        return 0;
    c->insert = NULL;
    return -1;
}

int complete_line(const char *line, size_t length, struct completion *out)
{
    size_t begin = length, start = 0;
    char *prefix;

    *out = (struct completion){0};
    while (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '\t')
        begin--;
    while (start < begin && (line[start] == ' ' || line[start] == '\t'))
        start++;
    prefix = strndup(line + begin, length - begin);
    if (prefix == NULL)
        return -1;
    if (start == begin) {
        offer_commands_and_aliases(out, prefix);
    } else {
        const struct command *command = line_command(line + start, strcspn(line + start, " \t"));
        for (size_t i = 0; command != NULL && i < sizeof(arguments) / sizeof(arguments[0]); i++)
            if (arguments[i].run == command->run)
                arguments[i].offer(out, prefix);
    }
    free(prefix);
    if (out->count > 0 && finish(out, length - begin) == 0)
        return 0;
    complete_free(out);
    return -1;
}

void complete_free(struct completion *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->choices[i]);
    free(c->choices);
    free(c->insert);
    *c = (struct completion){0};
}
