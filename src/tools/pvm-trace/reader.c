/* reader.c - opens a trace, detects its format, and reads dpvm's own format. */
#include "reader.h"
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <jansson.h>
#include "record.h"

enum { WRITER_LIMIT_MS = 5000, PAUSE_MS = 20, LINE_MAX_BYTES = 1 << 26 };

/* ---- fields ---- */

/* False for a list that no event can have. */
static bool take_list(struct store *s, json_t *json, struct field *f)
{
    size_t n = json_array_size(json);
    bool texts = n && json_is_string(json_array_get(json, 0));
    int64_t *numbers = store_take(s, n * sizeof *numbers);
    const char **strings = (const char **)numbers;
    f->kind = texts ? FIELD_TEXTS : FIELD_NUMBERS;
    f->count = (int32_t)n;
    f->numbers = numbers;
    if (texts)
        f->texts = strings;
    for (size_t i = 0; i < n; i++) {
        json_t *item = json_array_get(json, i);
        if (texts ? !json_is_string(item) : !json_is_integer(item))
            return false;
        if (texts)
            strings[i] = store_text(s, json_string_value(item));
        else
            numbers[i] = json_integer_value(item);
    }
    return true;
}

static bool take_value(struct store *s, json_t *json, struct field *f)
{
    switch (json_typeof(json)) {
    case JSON_INTEGER:
        f->kind = FIELD_NUMBER;
        f->number = json_integer_value(json);
        return true;
    case JSON_REAL:
        f->kind = FIELD_REAL;
        f->real = json_real_value(json);
        return true;
    case JSON_STRING:
        f->kind = FIELD_TEXT;
        f->text = store_text(s, json_string_value(json));
        return true;
    case JSON_ARRAY:
        return take_list(s, json, f);
    default:
        return false;
    }
}

/* Reads all keys that are names of fields; other keys belong to the line. */
static bool take_fields(struct trace *t, json_t *line, struct event *e)
{
    struct field fields[EVENT_FIELDS_MAX];
    const char *key;
    json_t *value;
    json_object_foreach(line, key, value)
    {
        int id = event_field_by_name(key);
        if (id < 0)
            continue;
        if (e->fields == EVENT_FIELDS_MAX)
            return false;
        fields[e->fields] = (struct field){.id = (uint8_t)id};
        if (!take_value(&t->store, value, &fields[e->fields++]))
            return false;
    }
    size_t bytes = e->fields * sizeof *fields;
    e->field = memcpy(store_take(&t->store, bytes), fields, bytes);
    return true;
}

/* ---- lines ---- */

static int number_of(json_t *line, const char *key, int absent)
{
    json_t *value = json_object_get(line, key);
    return json_is_integer(value) ? (int)json_integer_value(value) : absent;
}

static const char *text_of(struct trace *t, json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text ? store_text(&t->store, text) : "";
}

static int phase_by_name(const char *name)
{
    for (int i = PHASE_POINT; name && i <= PHASE_EXIT; i++)
        if (!strcmp(name, event_phases[i]))
            return i;
    return -1;
}

static bool take_event(struct trace *t, json_t *line)
{
    const char *name = json_string_value(json_object_get(line, "event"));
    int what = name ? event_by_name(name) : -1;
    int phase = phase_by_name(json_string_value(json_object_get(line, "phase")));
    json_t *time = json_object_get(line, "t");
    struct event e = {.tid = number_of(line, "tid", -1)};
    if (what < 0 || phase < 0 || e.tid < 0 || !json_is_integer(time))
        return false;
    e.time_us = json_integer_value(time);
    if (!event_is_time(e.time_us))
        return false;
    e.what = (uint16_t)what;
    e.phase = (uint8_t)phase;
    if (!take_fields(t, line, &e))
        return false;
    trace_add(t, &e);
    return true;
}

static void take_host(struct trace *t, json_t *line)
{
    struct trace_host *h = trace_host(t, number_of(line, "host", 0));
    json_t *offset = json_object_get(line, "offset");
    h->name = text_of(t, line, "name");
    h->arch = text_of(t, line, "arch");
    h->offset_us = json_integer_value(offset); /* 0 if it is not a number */
    if (!event_is_time(h->offset_us))
        h->offset_us = 0;
}

static void take_task(struct trace *t, json_t *line)
{
    struct trace_task *task = trace_task(t, number_of(line, "task", 0));
    task->parent = number_of(line, "parent", PvmNoParent);
    task->host = number_of(line, "on", 0);
    task->name = text_of(t, line, "name");
}

/* False when the line is malformed. */
static bool take_line(struct trace *t, const char *text, size_t bytes)
{
    json_t *line = json_loadb(text, bytes, 0, NULL);
    bool good = true;
    if (!json_is_object(line))
        good = false;
    else if (json_object_get(line, "event"))
        good = take_event(t, line);
    else if (json_is_integer(json_object_get(line, "task")))
        take_task(t, line);
    else if (json_is_integer(json_object_get(line, "host")))
        take_host(t, line);
    else if (json_is_integer(json_object_get(line, "end")))
        t->complete = true;
    else
        good = json_is_integer(json_object_get(line, "pvm-trace"));
    if (good && t->complete)
        t->lost_messages = number_of(line, "lost", (int)t->lost_messages);
    json_decref(line);
    return good;
}

int reader_read_lines(FILE *f, const char *path, struct trace *t)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t bytes;
    bool any = false;
    while ((bytes = getline(&text, &room, f)) > 0) {
        if (bytes < LINE_MAX_BYTES && take_line(t, text, (size_t)bytes))
            any = true;
        else
            t->damaged_lines++;
        if (!any && t->damaged_lines == 3)
            break;
    }
    free(text);
    if (!any)
        warnx("%s is not a trace: it starts neither like a file of PVM_TRACE nor like one of PVM's tracer", path);
    return any ? 0 : -1;
}

/* ---- files ---- */

/* Waits until the collector, which locks the file, has finished it. */
static void await_writer(FILE *f, const char *path)
{
    int waited_ms = 0;
    while (flock(fileno(f), LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK && waited_ms < WRITER_LIMIT_MS) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
        waited_ms += PAUSE_MS;
    }
    if (waited_ms >= WRITER_LIMIT_MS)
        warnx("%s: the program is still running; this is its trace so far", path);
}

static int read_open(FILE *f, const char *path, struct trace *t)
{
    struct stat about;
    if (fstat(fileno(f), &about) || S_ISDIR(about.st_mode)) {
        warnx("%s is a directory, not a trace", path);
        return -1;
    }
    await_writer(f, path);
    int first = getc(f);
    if (first == EOF) {
        warnx("%s is empty: the program did not enrol in PVM, or was not started with PVM_TRACE", path);
        return -1;
    }
    ungetc(first, f);
    return first == '/' || first == '#' ? reader_read_sddf(f, path, t) : reader_read_lines(f, path, t);
}

int reader_read(const char *path, struct trace *t)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        warn("cannot read %s", path);
        return -1;
    }
    int rc = read_open(f, path, t);
    if (!rc && ferror(f)) {
        warn("cannot read %s", path);
        rc = -1;
    }
    fclose(f);
    if (!rc && t->damaged_lines)
        warnx("%s: skipped %" PRId64 " damaged line%s", path, t->damaged_lines, t->damaged_lines == 1 ? "" : "s");
    if (!rc && t->lost_messages)
        warnx("%s: the collector could not read %" PRId64 " messages", path, t->lost_messages);
    if (!rc && !t->event_count) {
        warnx("%s has no events: nothing was traced", path);
        rc = -1;
    }
    return rc;
}
