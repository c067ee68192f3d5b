/*
 * sddf.c - reads files of PVM's tracer: descriptions of records in SDDF's text format, and records.
 *
 *     #1052: "mytid(0.0)" { // comments   int "TS"; char "HN"[]; };;        "mytid(0.0)" { 1795265778, 468574, 262156
 * };;
 */
#include <ctype.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "core/hash.h"
#include "reader.h"

enum { TOKEN_MAX = 65536, NAME_BYTES = 64, ITEMS_MAX = 1 << 20 };

struct slot {
    int id; /* TEV_DID_...; -1: unknown */
    bool text, array;
};

struct layout {
    char name[NAME_BYTES]; /* with the phase, as "send(0.0)" */
    int what, phase;       /* -1: an event that pvmtev.h does not have */
    int count;
    struct slot slots[EVENT_FIELDS_MAX];
    UT_hash_handle hh;
};

enum token { T_END, T_TEXT, T_WORD, T_MARK };

struct scanner {
    FILE *f;
    char text[TOKEN_MAX]; /* text of the current token */
    enum token token;
    struct layout *layouts;
    struct trace *trace;
};

/* ---- tokens ---- */

static int skip_comment(FILE *f, int c)
{
    int next = getc(f), last = 0;
    if (next == '/') {
        while (c != EOF && c != '\n')
            c = getc(f);
        return c;
    }
    if (next != '*') {
        ungetc(next, f);
        return c;
    }
    while ((c = getc(f)) != EOF && !(last == '*' && c == '/'))
        last = c;
    return c == EOF ? EOF : ' ';
}

static int first_character(FILE *f)
{
    int c;
    do {
        c = getc(f);
        if (c == '/')
            c = skip_comment(f, c);
    } while (c != EOF && isspace(c));
    return c;
}

static enum token next(struct scanner *s)
{
    size_t n = 0;
    int c = first_character(s->f);
    if (c == EOF)
        return s->token = T_END;
    if (c == '"') {
        while ((c = getc(s->f)) != EOF && c != '"') {
            if (c == '\\')
                c = getc(s->f);
            if (n + 1 < sizeof s->text)
                s->text[n++] = (char)c;
        }
        s->text[n] = '\0';
        return s->token = c == EOF ? T_END : T_TEXT;
    }
    bool word = isalnum(c) || c == '-' || c == '+' || c == '.' || c == '_';
    do {
        s->text[n++] = (char)c;
        c = getc(s->f);
    } while (word && c != EOF && n + 1 < sizeof s->text && (isalnum(c) || strchr("+-._", c)));
    ungetc(c, s->f);
    s->text[n] = '\0';
    return s->token = word ? T_WORD : T_MARK;
}

static bool is_mark(const struct scanner *s, char mark)
{
    return s->token == T_MARK && s->text[0] == mark;
}

/* Skips to the token after the next ";;". */
static void skip_record(struct scanner *s)
{
    for (int semicolons = 0; semicolons < 2 && s->token != T_END; next(s))
        semicolons = is_mark(s, ';') ? semicolons + 1 : 0;
}

/* ---- descriptions ---- */

static void name_layout(struct layout *l, const char *name)
{
    char event[NAME_BYTES];
    snprintf(l->name, sizeof l->name, "%s", name);
    snprintf(event, sizeof event, "%.*s", (int)strcspn(name, "("), name);
    const char *phase = strchr(name, '(');
    l->what = event_by_name(event);
    l->phase = phase && !strcmp(phase, "(0.0)")   ? PHASE_ENTRY
               : phase && !strcmp(phase, "(1.1)") ? PHASE_EXIT
                                                  : PHASE_POINT;
}

/* Reads a description, after the '#' of "#number:". */
static void read_layout(struct scanner *s)
{
    struct layout *l, *old;
    while (next(s) != T_TEXT && s->token != T_END)
        ;
    if (s->token == T_END)
        return;
    if (!(l = calloc(1, sizeof *l)))
        store_out_of_memory();
    name_layout(l, s->text);
    while (next(s) != T_END && !is_mark(s, '}')) {
        bool text = s->token == T_WORD && !strcmp(s->text, "char");
        if (s->token != T_WORD || next(s) != T_TEXT || l->count == EVENT_FIELDS_MAX)
            continue;
        l->slots[l->count] = (struct slot){.id = event_field_by_name(s->text), .text = text};
        next(s);
        l->slots[l->count++].array = is_mark(s, '[');
    }
    HASH_FIND_STR(s->layouts, l->name, old);
    if (old) {
        HASH_DEL(s->layouts, old);
        free(old);
    }
    if (!PVMC_HASH_ADD_TEXT(hh, s->layouts, name, l))
        store_out_of_memory();
    next(s);
    skip_record(s);
}

/* ---- records: on entry the token is the first of the value, on return the one after it ---- */

/* [n] { "text" } or [n] { 1, 2, 3 } */
static bool read_array(struct scanner *s, const struct slot *slot, struct field *f)
{
    if (!is_mark(s, '[') || next(s) != T_WORD)
        return false;
    long n = strtol(s->text, NULL, 10);
    if (n < 0 || n > ITEMS_MAX || (next(s), !is_mark(s, ']')) || (next(s), !is_mark(s, '{')))
        return false;
    if (slot->text) {
        f->kind = FIELD_TEXT;
        f->text = next(s) == T_TEXT ? store_text(&s->trace->store, s->text) : "";
        if (s->token == T_TEXT)
            next(s);
    } else {
        int64_t *numbers = store_take(&s->trace->store, (size_t)n * sizeof *numbers);
        f->kind = FIELD_NUMBERS;
        f->count = 0;
        f->numbers = numbers;
        while (next(s) != T_END && !is_mark(s, '}'))
            if (s->token == T_WORD && f->count < n)
                numbers[f->count++] = strtoll(s->text, NULL, 10);
    }
    bool closed = is_mark(s, '}');
    next(s);
    return closed;
}

static bool read_value(struct scanner *s, const struct slot *slot, struct field *f)
{
    *f = (struct field){.id = (uint8_t)(slot->id < 0 ? 0 : slot->id)};
    if (slot->array)
        return read_array(s, slot, f);
    if (s->token != T_WORD)
        return false;
    bool real = strpbrk(s->text, ".e") != NULL;
    f->kind = real ? FIELD_REAL : FIELD_NUMBER;
    if (real)
        f->real = strtod(s->text, NULL);
    else
        f->number = strtoll(s->text, NULL, 10);
    next(s);
    return true;
}

static void place(struct event *e, struct field *fields, const struct slot *slot, const struct field *f)
{
    if (slot->id == TEV_DID_TS && f->kind == FIELD_NUMBER)
        event_add_time(e, f->number, 1000000);
    else if (slot->id == TEV_DID_TU && f->kind == FIELD_NUMBER)
        event_add_time(e, f->number, 1);
    else if (slot->id == TEV_DID_TID && f->kind == FIELD_NUMBER && e->tid < 0)
        e->tid = (int)f->number;
    else if (slot->id >= 0)
        fields[e->fields++] = *f;
}

/* Handles the tracer's own event for hosts. */
static void take_host(struct scanner *s, const struct event *e)
{
    const struct field *name = event_field(e, TEV_DID_HN), *arch = event_field(e, TEV_DID_HA);
    struct trace_host *h = trace_host(s->trace, e->tid);
    h->name = name && name->kind == FIELD_TEXT ? name->text : "";
    h->arch = arch && arch->kind == FIELD_TEXT ? arch->text : "";
}

static void keep(struct scanner *s, const struct layout *l, struct event *e, const struct field *fields)
{
    size_t bytes = e->fields * sizeof *fields;
    e->field = memcpy(store_take(&s->trace->store, bytes), fields, bytes);
    if (l->what >= 0) {
        e->what = (uint16_t)l->what;
        e->phase = (uint8_t)l->phase;
        trace_add(s->trace, e);
    } else if (!strncmp(l->name, "host_add(", strlen("host_add("))) {
        take_host(s, e);
    }
}

/* Reads a record whose name is the current token. */
static bool read_record(struct scanner *s)
{
    struct layout *l;
    struct field fields[EVENT_FIELDS_MAX], f;
    struct event e = {.tid = -1};
    HASH_FIND_STR(s->layouts, s->text, l);
    if (!l || (next(s), !is_mark(s, '{')))
        return false;
    next(s);
    for (int i = 0; i < l->count; i++) {
        if (!read_value(s, &l->slots[i], &f))
            return false;
        place(&e, fields, &l->slots[i], &f);
        if (is_mark(s, ','))
            next(s);
    }
    if (!is_mark(s, '}') || e.tid < 0)
        return false;
    keep(s, l, &e, fields);
    return true;
}

int reader_read_sddf(FILE *f, const char *path, struct trace *t)
{
    struct scanner *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->f = f;
    s->trace = t;
    next(s);
    while (s->token != T_END) {
        if (is_mark(s, '#')) {
            read_layout(s);
            continue;
        }
        if (s->token == T_TEXT && !read_record(s))
            t->damaged_lines++;
        skip_record(s);
    }
    bool any = s->layouts;
    t->complete = true;
    struct layout *l, *following;
    HASH_ITER (hh, s->layouts, l, following) {
        HASH_DEL(s->layouts, l);
        free(l);
    }
    free(s);
    if (!any)
        warnx("%s is not a trace: it starts neither like a file of PVM_TRACE nor like one of PVM's tracer", path);
    return any ? 0 : -1;
}
