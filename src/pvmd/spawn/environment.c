/* environment.c - see environment.h. */
#include "environment.h"
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/hash.h"
#include "pvmd/base/self.h"

extern char **environ;

/* ---- variables ---- */

/* The place of a name's variable. */
struct pvmd_variable {
    size_t index;
    UT_hash_handle hh;
    char name[];
};

static struct pvmd_variable *find(const struct pvmd_environment *e, const char *name, size_t length)
{
    struct pvmd_variable *v;
    HASH_FIND(hh, e->by_name, name, length, v);
    return v;
}

const char *pvmd_environment_get(const struct pvmd_environment *e, const char *name)
{
    size_t length = strlen(name);
    const struct pvmd_variable *v = find(e, name, length);
    return v ? e->variables[v->index] + length + 1 : NULL;
}

/* Makes room for one more and the NULL after it. */
static int grow(struct pvmd_environment *e)
{
    size_t capacity = e->capacity ? 2 * e->capacity : 64;
    if (e->count + 2 <= e->capacity)
        return 0;
    char **variables = realloc(e->variables, capacity * sizeof *variables);
    if (!variables)
        return PVMC_ENOMEM;
    e->variables = variables;
    e->capacity = capacity;
    return 0;
}

static struct pvmd_variable *add_name(struct pvmd_environment *e, const char *name, size_t length)
{
    struct pvmd_variable *v = malloc(sizeof *v + length + 1);
    if (!v)
        return NULL;
    v->index = e->count;
    memcpy(v->name, name, length);
    v->name[length] = '\0';
    if (PVMC_HASH_ADD_TEXT(hh, e->by_name, name, v))
        return v;
    free(v);
    return NULL;
}

static int append(struct pvmd_environment *e, char *copy, size_t name_length)
{
    if (grow(e) || !add_name(e, copy, name_length))
        return PVMC_ENOMEM;
    e->variables[e->count++] = copy;
    e->variables[e->count] = NULL;
    return 0;
}

int pvmd_environment_set(struct pvmd_environment *e, const char *variable)
{
    size_t name_length = strcspn(variable, "=");
    const struct pvmd_variable *old = find(e, variable, name_length);
    char *copy = strdup(variable);
    if (!copy)
        return PVMC_ENOMEM;
    if (old) {
        free(e->variables[old->index]);
        e->variables[old->index] = copy;
        return 0;
    }
    int rc = append(e, copy, name_length);
    if (rc)
        free(copy);
    return rc;
}

static int set_all(struct pvmd_environment *e, char *const *variables)
{
    int rc = 0;
    for (char *const *v = variables; *v && !rc; v++)
        if (strchr(*v, '='))
            rc = pvmd_environment_set(e, *v);
    return rc;
}

static int set_text(struct pvmd_environment *e, const char *name, const char *value)
{
    char *variable;
    if (asprintf(&variable, "%s=%s", name, value) < 0)
        return PVMC_ENOMEM;
    int rc = pvmd_environment_set(e, variable);
    free(variable);
    return rc;
}

static int set_number(struct pvmd_environment *e, const char *name, const char *format, int value)
{
    char text[32];
    snprintf(text, sizeof text, format, value);
    return set_text(e, name, text);
}

static int set_ours(struct pvmd_environment *e, const struct pvmd_order *order)
{
    static const char no_traces[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
    int rc = set_text(e, "PVMSOCK", pvmd.socket_path);
    if (!rc)
        rc = set_number(e, "PVMCTX", "0x%x", (int)order->context);
    if (!rc)
        rc = set_text(e, "PVMTMASK", *order->trace_mask ? order->trace_mask : no_traces);
    if (!rc)
        rc = set_number(e, "PVMTRCBUF", "%d", order->trace_buffer);
    if (!rc)
        rc = set_number(e, "PVMTRCOPT", "%d", order->trace_options);
    return rc;
}

int pvmd_environment_make(const struct pvmd_order *order, struct pvmd_environment *e)
{
    *e = (struct pvmd_environment){0};
    int rc = set_all(e, environ);
    if (!rc)
        rc = set_all(e, order->environment);
    return rc ? rc : set_ours(e, order);
}

void pvmd_environment_free(struct pvmd_environment *e)
{
    struct pvmd_variable *v, *next;
    HASH_ITER (hh, e->by_name, v, next) {
        HASH_DEL(e->by_name, v);
        free(v);
    }
    for (size_t i = 0; i < e->count; i++)
        free(e->variables[i]);
    free(e->variables);
    *e = (struct pvmd_environment){0};
}

/* ---- $NAME ---- */

static const char *home(void)
{
    const char *value = getenv("HOME");
    const struct passwd *user = value ? NULL : getpwuid(getuid());
    return value ? value : user ? user->pw_dir : "/";
}

static const char *value_of(const char *name, size_t length)
{
    char text[256];
    if (!length || length >= sizeof text)
        return "";
    memcpy(text, name, length);
    text[length] = '\0';
    const char *value = getenv(text);
    if (!strcmp(text, "PVM_ROOT"))
        return pvmc_config_root();
    if (!strcmp(text, "PVM_ARCH"))
        return value && *value ? value : pvmc_arch_own();
    if (!strcmp(text, "HOME"))
        return home();
    return value ? value : "";
}

/* Reads the name after the '$' at `at`, in braces or not. Returns where the text continues. */
static const char *name_at(const char *at, const char **name, size_t *length)
{
    bool braces = at[1] == '{';
    *name = at + 1 + braces;
    *length = 0;
    while (isalnum((unsigned char)(*name)[*length]) || (*name)[*length] == '_')
        ++*length;
    const char *behind = *name + *length;
    return braces && *behind == '}' ? behind + 1 : behind;
}

char *pvmd_environment_expand(const char *text)
{
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);
    if (!f)
        return NULL;
    while (*text) {
        const char *name;
        size_t length;
        if (*text != '$') {
            fputc(*text++, f);
            continue;
        }
        text = name_at(text, &name, &length);
        fputs(length ? value_of(name, length) : "$", f);
    }
    if (fclose(f)) {
        free(out);
        return NULL;
    }
    return out;
}
