/* choice.c - see choice.h. */
#include "choice.h"
#include <stdio.h>
#include <string.h>
#include "core/error.h"

#define NAME_BYTES    32
#define WHY_BYTES     256
#define TYPICAL_BYTES 4096 /* the message size for which transports are ordered */

/* The state of parsing. */
struct reading {
    struct pvmt_choice *out;
    const struct pvmt_transport_row *excluded[PVMT_CHOICE_MAX];
    unsigned excluded_count;
    bool spelling; /* only that is read: no transport is asked whether it is usable */
    bool named;    /* an item that is not ^name was read */
    bool closed;   /* "daemon" ended the list */
    char *why;
    size_t size;
};

int pvmt_choice_usable(const struct pvmt_transport_row *row, char *why, size_t size)
{
    if (!row->ops || row->internal) {
        snprintf(why, size, "%s", row->why_not ? row->why_not : "not built");
        return PVMC_EUNSUPPORTED;
    }
    if (size)
        why[0] = '\0';
    int rc = row->ops->available(why, size);
    if (!rc && !row->ops->offer)
        rc = PVMC_EUNSUPPORTED;
    if (rc && size && !why[0])
        snprintf(why, size, "%s", pvmc_error_text(rc));
    return rc;
}

static const struct pvmt_transport_row *row_of(const char *name)
{
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++)
        if (!strcmp(row->name, name))
            return row;
    return NULL;
}

/* ---- messages ---- */

static void append(char *text, size_t size, const char *part)
{
    size_t length = strlen(text);
    if (length < size)
        snprintf(text + length, size - length, "%s", part);
}

/* "usable here: tcp, daemon; not: shm (why), dp (why)" */
static void list_all(char *text, size_t size)
{
    char reason[WHY_BYTES], item[WHY_BYTES + NAME_BYTES + 8];
    append(text, size, "usable here: auto");
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++)
        if (!pvmt_choice_usable(row, reason, sizeof reason)) {
            append(text, size, ", ");
            append(text, size, row->name);
        }
    append(text, size, ", daemon; not:");
    const char *comma = " ";
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++)
        if (pvmt_choice_usable(row, reason, sizeof reason)) {
            snprintf(item, sizeof item, "%s%s (%s)", comma, row->name, reason);
            append(text, size, item);
            comma = ", ";
        }
}

static int refuse(struct reading *r, const char *text, const char *item, const char *what)
{
    snprintf(r->why, r->size, "PVM_TRANSPORT=%.100s: \"%s\" %s; ", text, item, what);
    if (r->spelling)
        append(r->why, r->size, "pvm-info -d lists all");
    else
        list_all(r->why, r->size);
    return PVMC_EPARAM;
}

static void note_unusable(struct reading *r, const char *text, const char *name, const char *reason)
{
    char part[WHY_BYTES + NAME_BYTES + 64];
    if (!r->why[0])
        snprintf(r->why, r->size, "PVM_TRANSPORT=%.100s: goes on without", text);
    snprintf(part, sizeof part, " %s (%s);", name, reason);
    append(r->why, r->size, part);
}

/* ---- collecting ---- */

static bool chosen(const struct pvmt_choice *c, const struct pvmt_transport_ops *ops)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->ops[i] == ops)
            return true;
    return false;
}

static void choose(struct pvmt_choice *c, const struct pvmt_transport_ops *ops)
{
    if (c->count < PVMT_CHOICE_MAX && !chosen(c, ops))
        c->ops[c->count++] = ops;
}

/* Time of a typical message, in nanoseconds. */
static uint64_t time_of(const struct pvmt_transport_ops *ops)
{
    struct pvmt_attributes a;
    ops->query(NULL, &a);
    return a.latency_ns + TYPICAL_BYTES * UINT64_C(1000) / (a.bandwidth_mbs ? a.bandwidth_mbs : 1);
}

static bool by_name_only(const struct pvmt_transport_ops *ops)
{
    struct pvmt_attributes a;
    ops->query(NULL, &a);
    return a.by_name_only;
}

/*
 * Adds all usable transports that are not chosen yet, fastest first. Each is asked once: some look for devices, which
 * takes a task's start longer than all else here.
 */
static void choose_rest(struct pvmt_choice *c)
{
    char reason[WHY_BYTES];
    unsigned first = c->count;
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++) {
        if (!row->ops || by_name_only(row->ops) || chosen(c, row->ops) ||
            pvmt_choice_usable(row, reason, sizeof reason))
            continue;
        choose(c, row->ops);
        for (unsigned i = c->count - 1; i > first && time_of(c->ops[i]) < time_of(c->ops[i - 1]); i--) {
            const struct pvmt_transport_ops *slower = c->ops[i - 1];
            c->ops[i - 1] = c->ops[i];
            c->ops[i] = slower;
        }
    }
}

static void remove_excluded(struct reading *r)
{
    struct pvmt_choice *c = r->out;
    unsigned kept = 0;
    for (unsigned i = 0; i < c->count; i++) {
        bool excluded = false;
        for (unsigned j = 0; j < r->excluded_count; j++)
            excluded = excluded || r->excluded[j]->ops == c->ops[i];
        if (!excluded)
            c->ops[kept++] = c->ops[i];
    }
    c->count = kept;
}

/* ---- reading ---- */

static int exclude(struct reading *r, const char *text, const char *item)
{
    const struct pvmt_transport_row *row = row_of(item + 1);
    if (!row)
        return refuse(r, text, item + 1, strcmp(item + 1, "daemon") ? "is no transport" : "cannot be excluded");
    if (r->excluded_count < PVMT_CHOICE_MAX)
        r->excluded[r->excluded_count++] = row;
    return 0;
}

static int include(struct reading *r, const char *text, const char *item)
{
    char reason[WHY_BYTES];
    r->named = true;
    if (r->closed)
        return refuse(r, text, item, "follows daemon, which must be last");
    if (!strcmp(item, "auto")) {
        if (!r->spelling)
            choose_rest(r->out);
        return 0;
    }
    if (!strcmp(item, "daemon")) {
        r->closed = true;
        return 0;
    }
    const struct pvmt_transport_row *row = row_of(item);
    if (!row)
        return refuse(r, text, item, "is no transport");
    if (row->internal)
        return refuse(r, text, item, row->why_not);
    if (r->spelling)
        return 0;
    if (pvmt_choice_usable(row, reason, sizeof reason))
        note_unusable(r, text, item, reason);
    else
        choose(r->out, row->ops);
    return 0;
}

/* The next item of a comma-separated list, trimmed; false at the end. */
static bool next_item(const char **at, char item[NAME_BYTES])
{
    *at += strspn(*at, " ,");
    size_t length = strcspn(*at, ","), whole = length;
    while (length && (*at)[length - 1] == ' ')
        length--;
    snprintf(item, NAME_BYTES, "%.*s", (int)length, *at);
    *at += whole;
    return length;
}

static int read_all(struct reading *r, const char *text)
{
    char item[NAME_BYTES];
    int rc = 0;
    r->why[0] = '\0';
    for (const char *at = text; !rc && next_item(&at, item);)
        rc = item[0] == '^' ? exclude(r, text, item) : include(r, text, item);
    return rc;
}

int pvmt_choice_check(const char *text, char *why, size_t size)
{
    struct reading r = {.spelling = true, .why = why, .size = size};
    return read_all(&r, text);
}

int pvmt_choice_parse(const char *text, struct pvmt_choice *out, char *why, size_t size)
{
    struct reading r = {.out = out, .why = why, .size = size};
    out->count = 0;
    int rc = read_all(&r, text);
    if (rc)
        return rc;
    if (!r.named)
        choose_rest(out);
    remove_excluded(&r);
    if (why[0]) {
        append(why, size, " ");
        list_all(why, size);
    }
    return 0;
}
