/* sddf.c - see sddf.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core/hash.h"
#include "core/visible.h"
#include "console/console.h"
#include "pvmtev.h"
#include "sddf.h"

enum {
    FIELDS_MAX = 64,
    ITEMS_MAX = 1 << 20, /* items of one array */
    TEXT_MAX = 1 << 16,  /* bytes of one string that are shown */
    HOST_ADD = 401,      /* event numbers that tracers use for their own events */
    OUTPUT = 404,
};

/* The fields of an event, in order. */
struct form {
    int count, ids[FIELDS_MAX], types[FIELDS_MAX];
};

/* An event as described by a task or daemon. */
struct description {
    struct {
        int source, event;
    } key;
    struct form form;
    UT_hash_handle hh;
};

/* An event as described in the trace. */
struct shown {
    int event;
    struct form form;
    UT_hash_handle hh;
};

struct sddf {
    int job;
    FILE *file; /* NULL: stdout */
    struct description *descriptions;
    struct shown *shown;
    int seconds, microseconds; /* of the latest event */
    bool bad;                  /* the message ends too early */
    FILE *text;                /* memory stream of the next output */
    char *memory;
    size_t length;
};

/* Exported by libpvm3 for tracers. */
extern struct Pvmtevdid pvmtevdidlist[];
extern struct Pvmtevinfo pvmtevinfo[];
int pvmupkstralloc(char **text);

/* ---- lines ---- */

/* Makes the line visible: events contain text chosen by the program. */
static void print_line(const struct sddf *s, int tid, const char *line, size_t length)
{
    size_t size = length * PVMC_VISIBLE_GROWTH + 1;
    char *shown = malloc(size);

    if (shown != NULL) {
        pvmc_visible_bytes(shown, size, line, length);
        printf("[T%d:t%x] %s\n", s->job, (unsigned)tid, shown);
    }
    free(shown);
}

static void flush_lines(struct sddf *s, int tid)
{
    if (fclose(s->text) != 0 || s->memory == NULL) {
        fprintf(stderr, "pvm: out of memory: some of a trace is lost\n");
        s->length = 0;
    }
    if (s->length > 0 && s->file != NULL) {
        fwrite(s->memory, 1, s->length, s->file);
        fflush(s->file);
    } else if (s->length > 0) {
        if (console_before_output != NULL)
            console_before_output();
        for (char *line = s->memory, *end; *line != '\0'; line = end + 1) {
            end = strchrnul(line, '\n');
            print_line(s, tid, line, (size_t)(end - line));
            if (*end == '\0')
                break;
        }
        fflush(stdout);
    }
    free(s->memory);
    s->memory = NULL;
}

static bool begin_lines(struct sddf *s)
{
    s->text = open_memstream(&s->memory, &s->length);
    return s->text != NULL;
}

/* ---- values ---- */

static int take_int(struct sddf *s)
{
    int value = 0;

    if (pvm_upkint(&value, 1, 1) < 0)
        s->bad = true;
    return value;
}

/* The caller frees *text. Returns "" when there is no text. */
static const char *take_text(struct sddf *s, char **text)
{
    *text = NULL;
    if (pvmupkstralloc(text) < 0)
        s->bad = true;
    return *text != NULL ? *text : "";
}

static void skip_text(struct sddf *s)
{
    char *text;

    take_text(s, &text);
    free(text);
}

static const char *type_name(int type)
{
    switch (type & ~TEV_DATA_ARRAY) {
    case TEV_DATA_BYTE:
    case TEV_DATA_STRING:
        return "char";
    case TEV_DATA_FLOAT:
    case TEV_DATA_CPLX:
        return "float";
    case TEV_DATA_DOUBLE:
    case TEV_DATA_DCPLX:
        return "double";
    default:
        return "int";
    }
}

static const char *dimensions(int type)
{
    bool array = type & TEV_DATA_ARRAY, string = (type & ~TEV_DATA_ARRAY) == TEV_DATA_STRING;

    return array && string ? "[][]" : array || string ? "[]" : "";
}

static void put_number(struct sddf *s, int type)
{
    long l = 0;
    short h = 0;
    float f[2] = {0, 0};
    double d[2] = {0, 0};
    int status = 0;

    switch (type) {
    case TEV_DATA_LONG:
    case TEV_DATA_ULONG:
        status = pvm_upklong(&l, 1, 1);
        fprintf(s->text, type == TEV_DATA_LONG ? "%ld" : "%lu", l);
        break;
    case TEV_DATA_SHORT:
    case TEV_DATA_USHORT:
        status = pvm_upkshort(&h, 1, 1);
        fprintf(s->text, "%d", type == TEV_DATA_SHORT ? h : (unsigned short)h);
        break;
    case TEV_DATA_FLOAT:
        status = pvm_upkfloat(f, 1, 1);
        fprintf(s->text, "%f", f[0]);
        break;
    case TEV_DATA_CPLX:
        status = pvm_upkcplx(f, 1, 1);
        fprintf(s->text, "%f, %f", f[0], f[1]);
        break;
    case TEV_DATA_DOUBLE:
        status = pvm_upkdouble(d, 1, 1);
        fprintf(s->text, "%f", d[0]);
        break;
    case TEV_DATA_DCPLX:
        status = pvm_upkdcplx(d, 1, 1);
        fprintf(s->text, "%f, %f", d[0], d[1]);
        break;
    case TEV_DATA_INT:
        fprintf(s->text, "%d", take_int(s));
        break;
    case TEV_DATA_UINT:
        fprintf(s->text, "%u", (unsigned)take_int(s));
        break;
    default:
        s->bad = true;
    }
    s->bad = s->bad || status < 0;
}

/* Bytes are shown as text. */
static void put_bytes(struct sddf *s, int n)
{
    char *bytes = calloc((size_t)n + 1, 1);

    if (bytes == NULL || (n > 0 && pvm_upkbyte(bytes, n, 1) < 0))
        s->bad = true;
    fprintf(s->text, "[%d] { \"%s\" }", n + 1, bytes != NULL ? bytes : "");
    free(bytes);
}

/* The size of the longest string precedes them. */
static void put_strings(struct sddf *s, int n)
{
    char *list = NULL, *text;
    size_t length = 0, longest = 0;
    FILE *all = open_memstream(&list, &length);

    if (all == NULL)
        return;
    for (int i = 0; i < n && !s->bad; i++) {
        const char *shown = take_text(s, &text);
        longest = strlen(shown) + 1 > longest ? strlen(shown) + 1 : longest;
        fprintf(all, "%s\"%s\"", i > 0 ? ", " : "", shown);
        free(text);
    }
    fclose(all);
    fprintf(s->text, "[%d] [%zu] { %s }", n, longest, list != NULL ? list : "");
    free(list);
}

static void put_array(struct sddf *s, int type)
{
    int n = take_int(s);

    if (s->bad || n < 0 || n > ITEMS_MAX) {
        s->bad = true;
        return;
    }
    if (type == TEV_DATA_BYTE) {
        put_bytes(s, n);
    } else if (type == TEV_DATA_STRING) {
        put_strings(s, n);
    } else {
        fprintf(s->text, "[%d] { ", n);
        for (int i = 0; i < n && !s->bad; i++) {
            fputs(i > 0 ? ", " : "", s->text);
            put_number(s, type);
        }
        fputs(" }", s->text);
    }
}

static void put_value(struct sddf *s, int type)
{
    char *text;

    if (type & TEV_DATA_ARRAY) {
        put_array(s, type & ~TEV_DATA_ARRAY);
    } else if (type == TEV_DATA_STRING) {
        const char *shown = take_text(s, &text);
        fprintf(s->text, "[%zu] { \"%s\" }", strlen(shown) + 1, shown);
        free(text);
    } else if (type == TEV_DATA_BYTE) {
        put_bytes(s, 1);
    } else {
        put_number(s, type);
    }
}

/* ---- events ---- */

static int number_of(int event)
{
    int kind = event & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT);

    return event & TEV_EVENT_EXIT ? 2001 + 2 * kind : 1000 + 2 * kind;
}

static const char *name_of(int event)
{
    int kind = event & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT);

    if (kind == HOST_ADD)
        return "host_add";
    if (kind == OUTPUT)
        return "output";
    return kind >= 0 && kind <= TEV_MAX ? pvmtevinfo[kind].name : "event";
}

static const char *suffix_of(int event)
{
    return event & TEV_EVENT_ENTRY ? "0.0" : event & TEV_EVENT_EXIT ? "1.1" : "0";
}

/* Fields of user-defined events have numbers instead of names. */
static void describe_field(FILE *out, int id, int type, int *users)
{
    char name[32], meaning[64];

    if (id >= 0 && id <= TEV_DID_MAX) {
        snprintf(name, sizeof(name), "%s", pvmtevdidlist[id].did);
        snprintf(meaning, sizeof(meaning), "%s", pvmtevdidlist[id].desc);
    } else {
        snprintf(name, sizeof(name), "USR%d", *users);
        snprintf(meaning, sizeof(meaning), "User Defined Value #%d", (*users)++);
    }
    fprintf(out, "\t// \"%s\" \"%s\"\n", name, meaning);
    fprintf(out, "\t%s \"%s\"%s;\n", type_name(type), name, dimensions(type));
}

static void describe(struct sddf *s, FILE *out, int event, const struct form *form)
{
    struct shown *shown;
    int users = 0;

    HASH_FIND_INT(s->shown, &event, shown);
    if (shown != NULL && memcmp(&shown->form, form, sizeof(*form)) == 0)
        return;
    if (shown == NULL) {
        shown = calloc(1, sizeof(*shown));
        if (shown == NULL)
            return;
        shown->event = event;
        if (!PVMC_HASH_ADD(hh, s->shown, event, shown)) {
            free(shown);
            return;
        }
    }
    shown->form = *form;
    fprintf(out, "\n#%d: \"%s(%s)\"\n{\n", number_of(event), name_of(event), suffix_of(event));
    for (int i = 0; i < form->count; i++)
        describe_field(out, form->ids[i], form->types[i], &users);
    fputs("};;\n\n", out);
}

/* Writes an event with its values in `body`. */
static void write_event(struct sddf *s, int tid, int event, const struct form *form, const char *body)
{
    if (!begin_lines(s))
        return;
    describe(s, s->text, event, form);
    fprintf(s->text, "\"%s(%s)\" { %s };;\n", name_of(event), suffix_of(event), body);
    flush_lines(s, tid);
}

static void add_field(struct sddf *s, struct form *form, int id, int type)
{
    if (form->count == FIELDS_MAX) {
        s->bad = true;
        return;
    }
    form->ids[form->count] = id;
    form->types[form->count++] = type;
}

/* Copies a value to the body. The first three are time and task. */
static void take_value(struct sddf *s, const struct form *form, int i, int *tid)
{
    int *to[] = {&s->seconds, &s->microseconds, tid};

    fputs(i > 0 ? ", " : "", s->text);
    if (i > 2 || form->types[i] != TEV_DATA_INT) {
        put_value(s, form->types[i]);
        return;
    }
    *to[i] = take_int(s);
    fprintf(s->text, "%d", *to[i]);
}

static struct form *form_of(struct sddf *s, int source, int event)
{
    struct description *d, like = {.key = {source, event}};

    HASH_FIND(hh, s->descriptions, &like.key, sizeof(like.key), d);
    if (d != NULL)
        return &d->form;
    d = calloc(1, sizeof(*d));
    if (d == NULL)
        return NULL;
    d->key = like.key;
    if (PVMC_HASH_ADD(hh, s->descriptions, key, d))
        return &d->form;
    free(d);
    return NULL;
}

static void take_described(struct sddf *s, struct form *form, int *tid)
{
    skip_text(s); /* the event's name */
    form->count = 0;
    for (int id; !s->bad && (id = take_int(s)) != TEV_MARK_EVENT_DESC_END;) {
        add_field(s, form, id, take_int(s));
        if (!s->bad)
            take_value(s, form, form->count - 1, tid);
    }
}

static void take_record(struct sddf *s, const struct form *form, int *tid)
{
    for (int i = 0; i < form->count && !s->bad; i++)
        take_value(s, form, i, tid);
    if (take_int(s) != TEV_MARK_EVENT_RECORD_END)
        s->bad = true;
}

/* Writes the event whose body is complete. */
static void finish_event(struct sddf *s, int source, int event, const struct form *form)
{
    s->bad = fclose(s->text) != 0 || s->memory == NULL || s->bad;
    char *body = s->memory;
    if (!s->bad)
        write_event(s, source, event, form, body);
    free(body);
}

/* Reads an event and returns its number. */
static int take_event(struct sddf *s, int source, bool described, int *tid)
{
    int event = take_int(s);
    struct form *form = form_of(s, source, event);

    if (form == NULL || !begin_lines(s)) {
        s->bad = true;
        return event;
    }
    if (described)
        take_described(s, form, tid);
    else
        take_record(s, form, tid);
    finish_event(s, source, event, form);
    return event;
}

static void take_user_event(struct sddf *s, int source)
{
    struct form form = {3, {TEV_DID_TID, TEV_DID_TS, TEV_DID_TU}, {TEV_DATA_INT, TEV_DATA_INT, TEV_DATA_INT}};
    int event = take_int(s);

    skip_text(s);
    if (!begin_lines(s))
        return;
    s->seconds = take_int(s);
    s->microseconds = take_int(s);
    fprintf(s->text, "%d, %d, %d", source, s->seconds, s->microseconds);
    for (int type; !s->bad && (type = take_int(s)) != TEV_MARK_USER_EVENT_RECORD_END;) {
        add_field(s, &form, -1, type);
        fputs(", ", s->text);
        put_value(s, type);
    }
    finish_event(s, source, event, &form);
}

/* Skips names of data: they are PVM's, which we have. */
static void skip_names(struct sddf *s)
{
    while (!s->bad && take_int(s) != TEV_MARK_DATA_ID_END) {
        skip_text(s);
        skip_text(s);
    }
}

bool sddf_message(struct sddf *s, void (*task)(void *arg, int tid, bool ended), void *arg)
{
    int mark = 0, source = 0, tid = 0;

    s->bad = false;
    pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &source);
    while (!s->bad && pvm_upkint(&mark, 1, 1) == 0) {
        if (mark == TEV_MARK_DATA_ID) {
            skip_names(s);
        } else if (mark == TEV_MARK_USER_EVENT_RECORD) {
            take_user_event(s, source);
        } else if (mark == TEV_MARK_EVENT_DESC || mark == TEV_MARK_EVENT_RECORD) {
            int event = take_event(s, source, mark == TEV_MARK_EVENT_DESC, &tid);
            if (!s->bad && (event == TEV_NEWTASK || event == TEV_ENDTASK))
                task(arg, tid, event == TEV_ENDTASK);
        } else if (mark != TEV_MARK_EVENT_BUFFER && mark != TEV_MARK_EVENT_BUFFER_END) {
            s->bad = true;
        }
    }
    return !s->bad;
}

/* ---- events that PVM does not have ---- */

void sddf_output(struct sddf *s, int tid, const char *text, size_t length)
{
    static const struct form form = {4,
                                     {TEV_DID_TS, TEV_DID_TU, TEV_DID_TID, TEV_DID_OS},
                                     {TEV_DATA_INT, TEV_DATA_INT, TEV_DATA_INT, TEV_DATA_STRING}};
    char *body = NULL;

    if (asprintf(&body, "%d, %d, %d, [%zu] { \"%.*s\" }", s->seconds, s->microseconds, tid, length + 1, (int)length,
                 text) < 0)
        return;
    write_event(s, tid, OUTPUT, &form, body);
    free(body);
}

static void write_host(struct sddf *s, const struct pvmhostinfo *host)
{
    static const struct form form = {
        7,
        {TEV_DID_TS, TEV_DID_TU, TEV_DID_TID, TEV_DID_HN, TEV_DID_HNA, TEV_DID_HA, TEV_DID_HSP},
        {TEV_DATA_INT, TEV_DATA_INT, TEV_DATA_INT, TEV_DATA_STRING, TEV_DATA_STRING, TEV_DATA_STRING, TEV_DATA_INT}};
    size_t size = strlen(host->hi_name) + 1;
    char *body = NULL;

    if (asprintf(&body, "%d, %d, %d, [%zu] { \"%s\" }, [%zu] { \"%s\" }, [%zu] { \"%s\" }, %d", s->seconds,
                 s->microseconds, host->hi_tid, size, host->hi_name, size, host->hi_name, strlen(host->hi_arch) + 1,
                 host->hi_arch, host->hi_speed) < 0)
        return;
    write_event(s, host->hi_tid, HOST_ADD, &form, body);
    free(body);
}

static void write_begin(struct sddf *s)
{
    struct pvmhostinfo *hosts;
    struct timeval now;
    int n, formats;
    char date[32];

    gettimeofday(&now, NULL);
    s->seconds = (int)now.tv_sec;
    s->microseconds = (int)now.tv_usec;
    strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", localtime(&now.tv_sec));
    if (!begin_lines(s))
        return;
    fprintf(s->text, "/*\n * \"Creation Date\" \"%s\"\n * \"Machine\" \"Console %s (PVM %s)\"\n */ ;;\n\n", date,
            PVM_VER, PVM_VER);
    flush_lines(s, console.tid);
    if (pvm_config(&n, &formats, &hosts) == 0)
        for (int i = 0; i < n; i++)
            write_host(s, &hosts[i]);
}

struct sddf *sddf_new(int job, FILE *file)
{
    struct sddf *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return NULL;
    s->job = job;
    s->file = file;
    write_begin(s);
    return s;
}

void sddf_free(struct sddf *s)
{
    struct description *d, *next_description;
    struct shown *shown, *next_shown;

    HASH_ITER (hh, s->descriptions, d, next_description) {
        HASH_DEL(s->descriptions, d);
        free(d);
    }
    HASH_ITER (hh, s->shown, shown, next_shown) {
        HASH_DEL(s->shown, shown);
        free(shown);
    }
    if (s->file != NULL)
        fclose(s->file);
    free(s);
}
