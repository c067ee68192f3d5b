/* alias.c - the commands alias and unalias, and the expansion of aliases. */
#include <stdlib.h>
#include <string.h>
#include "core/hash.h"
#include "console.h"
#include "alias.h"
#include "command.h"
#include "line.h"

enum { ALIASES_MAX = 1000 };

struct alias {
    char *name;
    int count;
    char **words;
    UT_hash_handle hh;
};

static struct alias *aliases; /* by name */

static struct alias *find(const char *name)
{
    struct alias *alias;
    HASH_FIND_STR(aliases, name, alias);
    return alias;
}

static void free_alias(struct alias *alias)
{
    for (int i = 0; alias->words != NULL && i < alias->count; i++)
        free(alias->words[i]);
    free(alias->words);
    free(alias->name);
    free(alias);
}

static int compare(const struct alias *a, const struct alias *b)
{
    return strcmp(a->name, b->name);
}

/* A new alias with copies of the words; NULL when out of memory. */
static struct alias *new_alias(const char *name, int count, char **words)
{
    struct alias *alias = calloc(1, sizeof(*alias));

    if (alias == NULL)
        return NULL;
    alias->name = strdup(name);
    alias->words = calloc((size_t)count + 1, sizeof(*alias->words));
    alias->count = count;
    bool good = alias->name != NULL && alias->words != NULL;
    for (int i = 0; good && i < count; i++)
        good = (alias->words[i] = strdup(words[i])) != NULL;
    if (good)
        return alias;
    free_alias(alias);
    return NULL;
}

int alias_set(const char *name, int count, char **words)
{
    struct alias *old = find(name), *alias = NULL;

    if (old != NULL || HASH_COUNT(aliases) < ALIASES_MAX)
        alias = new_alias(name, count, words);
    if (alias == NULL)
        return ALIAS_NO_MEMORY;
    if (!PVMC_HASH_ADD_TEXT(hh, aliases, name, alias)) {
        free_alias(alias);
        return ALIAS_NO_MEMORY;
    }
    if (old != NULL) {
        HASH_DEL(aliases, old);
        free_alias(old);
    }
    HASH_SORT(aliases, compare);
    return 0;
}

const char *alias_name(int i)
{
    struct alias *alias = aliases;

    while (alias != NULL && i-- > 0)
        alias = alias->hh.next;
    return alias != NULL ? alias->name : NULL;
}

/* Replaces the first word by the alias's words. 0 or ALIAS_NO_MEMORY. */
static int expand(const struct alias *alias, int *argc, char ***argv)
{
    char **longer = malloc((size_t)(*argc + alias->count + 1) * sizeof(*longer));

    if (longer == NULL)
        return ALIAS_NO_MEMORY;
    memcpy(longer, alias->words, (size_t)alias->count * sizeof(*longer));
    memcpy(longer + alias->count, *argv + 1, (size_t)*argc * sizeof(*longer)); /* with the final NULL */
    free(*argv);
    *argv = longer;
    *argc += alias->count - 1;
    return 0;
}

int alias_expand(int *argc, char ***argv)
{
    unsigned left = HASH_COUNT(aliases) + 1; /* more expansions than that are a loop */

    while (*argc > 0) {
        const struct alias *alias = find((*argv)[0]);
        if (alias == NULL)
            return 0;
        if (left-- == 0)
            return ALIAS_LOOP;
        int code = expand(alias, argc, argv);
        if (code < 0)
            return code;
        if (strcmp((*argv)[0], alias->name) == 0) /* such as "alias ps ps -a" */
            return 0;
    }
    return 0;
}

static void print_alias(const struct alias *alias, json_t *rows)
{
    char *text = words_join(alias->count, alias->words);

    if (text == NULL)
        return;
    if (rows != NULL)
        json_object_set_new(rows, alias->name, text_json(text));
    else
        printf("%s\t%s\n", alias->name, text);
    free(text);
}

int alias_command(int argc, char **argv)
{
    json_t *rows;

    if (argc > 2) {
        if (alias_set(argv[1], argc - 2, argv + 2) == 0)
            return CONSOLE_OK;
        advise("alias: out of memory, or more than %d aliases", ALIASES_MAX);
        return CONSOLE_FAILED;
    }
    rows = console.json ? json_object() : NULL;
    for (struct alias *alias = aliases; alias != NULL; alias = alias->hh.next)
        if (argc == 1 || strcmp(alias->name, argv[1]) == 0)
            print_alias(alias, rows);
    if (rows != NULL)
        print_json(json_pack("{s:o}", "aliases", rows));
    return CONSOLE_OK;
}

int alias_remove(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct alias *alias = find(argv[i]);
        if (alias == NULL)
            continue;
        HASH_DEL(aliases, alias);
        free_alias(alias);
    }
    return CONSOLE_OK;
}

void alias_forget_all(void)
{
    struct alias *alias, *next;

    HASH_ITER (hh, aliases, alias, next) {
        HASH_DEL(aliases, alias);
        free_alias(alias);
    }
}
