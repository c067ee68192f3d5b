/* launchers.c - see launchers.h. */
#include "launchers.h"
#include <stdio.h>
#include <string.h>
#include "core/config.h"

#define X(name) &pvmd_launch_##name,
static const struct pvmd_launcher *const launchers[] = {PVMD_LAUNCHERS(X)};
#undef X

enum { COUNT = sizeof launchers / sizeof *launchers };

static const char *option_of(const struct pvmd_launcher *l)
{
    return l->option ? l->option : l->name;
}

/* so=pw is a wish, and no launcher: it leaves the choice of the way to PVM_LAUNCHER. */
static const struct pvmd_launcher *named_by(const char *start)
{
    for (unsigned i = 0; start && i < COUNT; i++)
        if (launchers[i]->name && !strcmp(option_of(launchers[i]), start))
            return launchers[i];
    return NULL;
}

const struct pvmd_launcher *pvmd_launcher_choose(struct pvmd_launch_wish *w)
{
    const struct pvmd_launcher *asked = named_by(w->start);
    w->named = asked ? asked->name : pvmc_config_text(PVMC_SETTING_LAUNCHER);
    for (unsigned i = 0; i < COUNT; i++)
        if (launchers[i]->serves ? launchers[i]->serves(w) : pvmd_launch_is_named(w, launchers[i]->name))
            return launchers[i];
    return NULL;
}

bool pvmd_launcher_is_option(const char *text)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (option_of(launchers[i]) && !strcmp(option_of(launchers[i]), text))
            return true;
    return false;
}

/* ---- lists for messages ---- */

struct list {
    char *text;
    size_t size, used;
};

static void add(struct list *l, const char *word, const char *means)
{
    int n = snprintf(l->text + l->used, l->size - l->used, "%s%s%s%s%s", l->used ? ", " : "", word, means ? " (" : "",
                     means ? means : "", means ? ")" : "");
    if (n > 0 && (size_t)n < l->size - l->used)
        l->used += (size_t)n;
}

const char *pvmd_launcher_names(void)
{
    static char text[256];
    struct list l = {.text = text, .size = sizeof text};
    add(&l, "auto", NULL);
    for (unsigned i = 0; i < COUNT; i++)
        if (launchers[i]->name)
            add(&l, launchers[i]->name, NULL);
    return text;
}

const char *pvmd_launcher_options(void)
{
    static char text[256];
    struct list l = {.text = text, .size = sizeof text};
    for (unsigned i = 0; i < COUNT; i++)
        if (option_of(launchers[i]))
            add(&l, option_of(launchers[i]), launchers[i]->means);
    return text;
}
