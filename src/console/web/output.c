/* output.c - see output.h. */
#include "output.h"
#include <stdlib.h>
#include "tools/pvm-info/text.h"

enum { STREAMS = 2, BEGINNING_LIMIT_US = 1000000, TASKS_MAX = 20000 };

struct output_task {
    int tid;
    char *text[STREAMS]; /* of OUTPUT_LINE_BYTES */
    size_t bytes[STREAMS];
    int64_t since_us[STREAMS];
    UT_hash_handle hh;
};

static struct output_line *line_at(struct output *o, int64_t number)
{
    return &o->lines[number % OUTPUT_LINES];
}

static void drop_first(struct output *o)
{
    struct output_line *line = line_at(o, o->first++);

    o->bytes -= line->bytes;
    free(line->text);
    line->text = NULL;
}

static void add_line(struct output *o, int tid, bool is_error, const char *text, size_t bytes, int64_t now_us)
{
    char *copy = malloc(bytes + 1);

    if (copy == NULL)
        return;
    for (size_t i = 0; i < bytes; i++)
        copy[i] = text[i] != '\0' ? text[i] : ' ';
    copy[bytes] = '\0';
    while (o->count - o->first >= OUTPUT_LINES || (o->first < o->count && o->bytes + bytes > OUTPUT_BYTES))
        drop_first(o);
    *line_at(o, o->count++) = (struct output_line){tid, is_error, now_us, copy, bytes};
    o->bytes += bytes;
}

static struct output_task *get_task(struct output *o, int tid)
{
    struct output_task *t;

    HASH_FIND_INT(o->tasks, &tid, t);
    if (t != NULL || HASH_COUNT(o->tasks) >= TASKS_MAX || (t = calloc(1, sizeof(*t))) == NULL)
        return t;
    t->tid = tid;
    if (PVMC_HASH_ADD(hh, o->tasks, tid, t))
        return t;
    free(t);
    return NULL;
}

static void flush(struct output *o, struct output_task *t, int stream, int64_t now_us)
{
    if (t->bytes[stream] > 0)
        add_line(o, t->tid, stream == 1, t->text[stream], t->bytes[stream], now_us);
    t->bytes[stream] = 0;
}

/* Keeps the beginning of a line; a long line becomes several. */
static void keep(struct output *o, struct output_task *t, int stream, const char *text, size_t bytes, int64_t now_us)
{
    while (bytes > 0) {
        if (t->text[stream] == NULL && (t->text[stream] = malloc(OUTPUT_LINE_BYTES)) == NULL)
            return;
        size_t room = OUTPUT_LINE_BYTES - t->bytes[stream], part = bytes < room ? bytes : room;
        if (t->bytes[stream] == 0)
            t->since_us[stream] = now_us;
        memcpy(t->text[stream] + t->bytes[stream], text, part);
        t->bytes[stream] += part;
        text += part;
        bytes -= part;
        if (t->bytes[stream] == OUTPUT_LINE_BYTES)
            flush(o, t, stream, now_us);
    }
}

void output_take(struct output *o, int tid, bool is_error, const char *text, size_t bytes, int64_t now_us)
{
    struct output_task *t = get_task(o, tid);
    const char *newline;

    while (t != NULL && bytes > 0 && (newline = memchr(text, '\n', bytes)) != NULL) {
        size_t part = (size_t)(newline - text);
        bool begun = t->bytes[is_error] > 0;
        keep(o, t, is_error, text, part, now_us);
        if (!begun && part == 0)
            add_line(o, tid, is_error, "", 0, now_us);
        flush(o, t, is_error, now_us);
        text += part + 1;
        bytes -= part + 1;
    }
    if (t != NULL)
        keep(o, t, is_error, text, bytes, now_us);
}

static void free_task(struct output *o, struct output_task *t)
{
    HASH_DEL(o->tasks, t);
    for (int i = 0; i < STREAMS; i++)
        free(t->text[i]);
    free(t);
}

void output_end(struct output *o, int tid, int64_t now_us)
{
    struct output_task *t;

    HASH_FIND_INT(o->tasks, &tid, t);
    if (t == NULL)
        return;
    for (int i = 0; i < STREAMS; i++)
        flush(o, t, i, now_us);
    free_task(o, t);
}

void output_show_beginnings(struct output *o, int64_t now_us)
{
    for (struct output_task *t = o->tasks; t != NULL; t = t->hh.next)
        for (int i = 0; i < STREAMS; i++)
            if (t->bytes[i] > 0 && now_us - t->since_us[i] > BEGINNING_LIMIT_US)
                flush(o, t, i, now_us);
}

void output_tell(struct output *o, json_t *to, bool all)
{
    json_t *rows = json_array();

    for (int64_t i = all || o->told < o->first ? o->first : o->told; i < o->count; i++) {
        const struct output_line *line = line_at(o, i);
        json_array_append_new(rows, json_pack("[i, b, I, o]", line->tid, line->is_error, (json_int_t)line->time_us,
                                              text_json(line->text)));
    }
    o->told = o->count;
    if (all || json_array_size(rows) > 0)
        json_object_set_new(to, "output", rows);
    else
        json_decref(rows);
}

void output_free(struct output *o)
{
    struct output_task *t, *next;

    HASH_ITER (hh, o->tasks, t, next)
        free_task(o, t);
    while (o->first < o->count)
        drop_first(o);
}
