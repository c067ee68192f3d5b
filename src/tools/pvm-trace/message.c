/* message.c - see message.h. */
#include "message.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/hash.h"

enum { ITEMS_MAX = 1 << 20, USER_TEXT_BYTES = 1024 };

struct slot {
    int id, type; /* TEV_DID_..., TEV_DATA_... */
};

struct layout {
    struct {
        int sender, event; /* with TEV_EVENT_ENTRY or _EXIT */
    } key;
    int count;
    struct slot slots[EVENT_FIELDS_MAX];
    UT_hash_handle hh;
};

struct message_layouts {
    struct layout *known;
    struct store store; /* of the current event */
};

struct message_layouts *message_layouts_new(void)
{
    return calloc(1, sizeof(struct message_layouts));
}

void message_layouts_free(struct message_layouts *l)
{
    struct layout *each, *next;
    HASH_ITER (hh, l->known, each, next) {
        HASH_DEL(l->known, each);
        free(each);
    }
    store_free(&l->store);
    free(l);
}

/* ---- values: each function reads one; 0 or -1 ---- */

static int read_int(int *value)
{
    return pvm_upkint(value, 1, 1) < 0 ? -1 : 0;
}

/* Reads one value of an integer type. */
static int read_number(int type, int64_t *value)
{
    int i = 0;
    unsigned u = 0;
    long l = 0;
    short s = 0;
    unsigned short us = 0;
    char c = 0;
    int rc;
    switch (type) {
    case TEV_DATA_BYTE:
        rc = pvm_upkbyte(&c, 1, 1);
        *value = (unsigned char)c;
        break;
    case TEV_DATA_SHORT:
        rc = pvm_upkshort(&s, 1, 1);
        *value = s;
        break;
    case TEV_DATA_USHORT:
        rc = pvm_upkushort(&us, 1, 1);
        *value = us;
        break;
    case TEV_DATA_UINT:
        rc = pvm_upkuint(&u, 1, 1);
        *value = u;
        break;
    case TEV_DATA_LONG:
    case TEV_DATA_ULONG:
        rc = pvm_upklong(&l, 1, 1);
        *value = l;
        break;
    default: /* INT; also a value that the sender deferred, which is an index */
        rc = pvm_upkint(&i, 1, 1);
        *value = i;
    }
    return rc < 0 ? -1 : 0;
}

static int read_real(int type, double *value)
{
    double d[2] = {0};
    float f[2] = {0};
    int rc = type == TEV_DATA_DOUBLE  ? pvm_upkdouble(d, 1, 1)
             : type == TEV_DATA_DCPLX ? pvm_upkdcplx(d, 1, 1)
             : type == TEV_DATA_CPLX  ? pvm_upkcplx(f, 1, 1)
                                      : pvm_upkfloat(f, 1, 1);
    *value = type == TEV_DATA_DOUBLE || type == TEV_DATA_DCPLX ? d[0] : f[0];
    return rc < 0 ? -1 : 0;
}

/* Reads a text of any length, packed by pvm_pkstr(): its length including the NUL, then bytes. */
static const char *read_text(struct store *s)
{
    int bytes = 0;
    pvm_bufinfo(pvm_getrbuf(), &bytes, NULL, NULL); /* upper bound of the length */
    char *text = malloc((size_t)bytes + 1);
    if (!text)
        return NULL;
    const char *kept = pvm_upkstr(text) < 0 ? NULL : store_text(s, text);
    free(text);
    return kept;
}

static bool is_real(int type)
{
    return type == TEV_DATA_FLOAT || type == TEV_DATA_DOUBLE || type == TEV_DATA_CPLX || type == TEV_DATA_DCPLX;
}

static int read_scalar(struct store *s, int type, struct field *f)
{
    if (type == TEV_DATA_STRING) {
        f->kind = FIELD_TEXT;
        f->text = read_text(s);
        return f->text ? 0 : -1;
    }
    f->kind = is_real(type) ? FIELD_REAL : FIELD_NUMBER;
    return is_real(type) ? read_real(type, &f->real) : read_number(type, &f->number);
}

static int read_texts(struct store *s, struct field *f)
{
    const char **texts = store_take(s, (size_t)f->count * sizeof *texts);
    f->kind = FIELD_TEXTS;
    f->texts = texts;
    for (int i = 0; i < f->count; i++)
        if (!(texts[i] = read_text(s)))
            return -1;
    return 0;
}

/* No event of PVM has arrays of reals; they are truncated to integers. */
static int read_numbers(struct store *s, int type, struct field *f)
{
    int64_t *numbers = store_take(s, (size_t)f->count * sizeof *numbers);
    f->kind = FIELD_NUMBERS;
    f->numbers = numbers;
    for (int i = 0; i < f->count; i++) {
        double real = 0;
        if (is_real(type) ? read_real(type, &real) : read_number(type, &numbers[i]))
            return -1;
        if (is_real(type))
            numbers[i] = real > -0x1p63 && real < 0x1p63 ? (int64_t)real : 0;
    }
    return 0;
}

static int read_array(struct store *s, int type, struct field *f)
{
    if (read_int(&f->count) || f->count < 0 || f->count > ITEMS_MAX)
        return -1;
    return type == TEV_DATA_STRING ? read_texts(s, f) : read_numbers(s, type, f);
}

static int read_value(struct store *s, const struct slot *slot, struct field *f)
{
    int type = slot->type & ~TEV_DATA_ARRAY;
    f->id = (uint8_t)slot->id;
    if (type == TEV_DATA_NULL || type >= TEV_DATA_STRUCT_START)
        return -1; /* not used by any event of pvmtev.h */
    return slot->type & TEV_DATA_ARRAY ? read_array(s, type, f) : read_scalar(s, type, f);
}

/* ---- records ---- */

static int begin_event(int number, struct event *e)
{
    int what = number & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT);
    if (what > TEV_MAX || number < 0)
        return -1;
    *e = (struct event){.what = (uint16_t)what, .tid = -1};
    e->phase = number & TEV_EVENT_ENTRY ? PHASE_ENTRY : number & TEV_EVENT_EXIT ? PHASE_EXIT : PHASE_POINT;
    return 0;
}

/* Stores time and task in the event itself, everything else in its fields. */
static void keep_field(struct event *e, struct field *fields, const struct field *f)
{
    if (f->kind == FIELD_NUMBER && f->id == TEV_DID_TS)
        event_add_time(e, f->number, 1000000);
    else if (f->kind == FIELD_NUMBER && f->id == TEV_DID_TU)
        event_add_time(e, f->number, 1);
    else if (f->kind == FIELD_NUMBER && f->id == TEV_DID_TID && e->tid < 0)
        e->tid = (int)f->number;
    else if (e->fields < EVENT_FIELDS_MAX)
        fields[e->fields++] = *f;
}

static struct layout *find_layout(struct message_layouts *l, int sender, int number)
{
    struct layout *found, wanted = {.key = {sender, number}};
    HASH_FIND(hh, l->known, &wanted.key, sizeof wanted.key, found);
    return found;
}

/* An empty layout; it replaces an earlier one of the same sender and event. */
static struct layout *new_layout(struct message_layouts *l, int sender, int number)
{
    struct layout *layout = find_layout(l, sender, number);
    if (layout) {
        layout->count = 0;
        return layout;
    }
    layout = calloc(1, sizeof *layout);
    if (!layout)
        return NULL;
    layout->key.sender = sender;
    layout->key.event = number;
    if (!PVMC_HASH_ADD(hh, l->known, key, layout)) {
        free(layout);
        return NULL;
    }
    return layout;
}

/* Reads a record with its description: number, name, then {id, type, value} up to the end mark. */
static int read_described(struct message_layouts *l, int sender, struct event *e, struct field *fields)
{
    int number, id;
    if (read_int(&number) || begin_event(number, e) || !read_text(&l->store))
        return -1;
    struct layout *layout = new_layout(l, sender, number);
    if (!layout)
        return -1;
    while (!read_int(&id) && id >= 0) {
        struct field f = {0};
        struct slot slot = {.id = id};
        if (id > TEV_DID_MAX || layout->count == EVENT_FIELDS_MAX || read_int(&slot.type))
            return -1;
        layout->slots[layout->count++] = slot;
        if (read_value(&l->store, &slot, &f))
            return -1;
        keep_field(e, fields, &f);
    }
    return id == TEV_MARK_EVENT_DESC_END ? 0 : -1;
}

/* Reads a record that was described before: number and values. */
static int read_bare(struct message_layouts *l, int sender, struct event *e, struct field *fields)
{
    int number, end;
    if (read_int(&number) || begin_event(number, e))
        return -1;
    struct layout *layout = find_layout(l, sender, number);
    if (!layout)
        return -1;
    for (int i = 0; i < layout->count; i++) {
        struct field f = {0};
        if (read_value(&l->store, &layout->slots[i], &f))
            return -1;
        keep_field(e, fields, &f);
    }
    return read_int(&end) || end != TEV_MARK_EVENT_RECORD_END ? -1 : 0;
}

/* Skips the names of fields, which a daemon sends once: we have our own table. */
static int skip_names(struct message_layouts *l)
{
    int id;
    while (!read_int(&id) && id >= 0)
        if (!read_text(&l->store) || !read_text(&l->store))
            return -1;
    return id == TEV_MARK_DATA_ID_END ? 0 : -1;
}

/* Appends a value of a user-defined event to text[size], as text. */
static int append_value(struct store *s, int type, char *text, size_t size)
{
    struct field f = {0};
    size_t used = strlen(text);
    const char *space = used && text[used - 1] != ' ' ? " " : "";
    char byte = 0;
    if (type == TEV_DATA_BYTE) { /* a character: pvm_pkstr() packs texts as bytes here */
        int rc = pvm_upkbyte(&byte, 1, 1);
        snprintf(text + used, size - used, "%c", isprint((unsigned char)byte) ? byte : '?');
        return rc < 0 ? -1 : 0;
    }
    if (type == TEV_DATA_NULL || type >= TEV_DATA_STRUCT_START || read_scalar(s, type, &f))
        return -1;
    if (f.kind == FIELD_TEXT)
        snprintf(text + used, size - used, "%s%s", space, f.text);
    else if (f.kind == FIELD_REAL)
        snprintf(text + used, size - used, "%s%g", space, f.real);
    else
        snprintf(text + used, size - used, "%s%lld", space, (long long)f.number);
    return 0;
}

/* Reads a user-defined event: number, name, time, then {type, values}. Its values become one text. */
static int read_user(struct message_layouts *l, struct event *e, struct field *fields)
{
    int number, seconds, microseconds, type;
    char text[USER_TEXT_BYTES] = "";
    if (read_int(&number) || begin_event(number, e) || !read_text(&l->store) || read_int(&seconds) ||
        read_int(&microseconds))
        return -1;
    e->time_us = seconds * INT64_C(1000000) + microseconds;
    while (!read_int(&type) && type >= 0) {
        int count = 1;
        if (type & TEV_DATA_ARRAY && (read_int(&count) || count > ITEMS_MAX))
            return -1;
        if (*text && strlen(text) + 1 < sizeof text)
            strcat(text, " ");
        for (int i = 0; i < count; i++)
            if (append_value(&l->store, type & ~TEV_DATA_ARRAY, text, sizeof text))
                return -1;
    }
    fields[0] = (struct field){.id = TEV_DID_PSG, .kind = FIELD_TEXT, .text = store_text(&l->store, text)};
    e->fields = 1;
    return type == TEV_MARK_USER_EVENT_RECORD_END ? 0 : -1;
}

/* Reads what follows a mark: 1 for an event, 0 for anything else, -1 when malformed. */
static int read_marked(struct message_layouts *l, int sender, int mark, struct event *e, struct field *fields)
{
    e->tid = -1;
    switch (mark) {
    case TEV_MARK_EVENT_BUFFER:
    case TEV_MARK_EVENT_BUFFER_END:
        return 0;
    case TEV_MARK_DATA_ID:
        return skip_names(l);
    case TEV_MARK_EVENT_DESC:
        return read_described(l, sender, e, fields) ? -1 : 1;
    case TEV_MARK_EVENT_RECORD:
        return read_bare(l, sender, e, fields) ? -1 : 1;
    case TEV_MARK_USER_EVENT_RECORD:
        return read_user(l, e, fields) ? -1 : 1;
    default:
        return -1;
    }
}

int message_read(struct message_layouts *l, int sender, void (*take)(const struct event *e, void *arg), void *arg)
{
    struct field fields[EVENT_FIELDS_MAX];
    int mark, had = 0;
    int old = pvm_setopt(PvmAutoErr, 0); /* unpacking fails at the end of the message */
    while (!read_int(&mark)) {
        struct event e = {.field = fields};
        store_clear(&l->store);
        had = read_marked(l, sender, mark, &e, fields);
        e.field = fields;
        if (had < 0)
            break;
        if (had > 0 && e.tid < 0)
            e.tid = sender;
        if (had > 0)
            take(&e, arg);
    }
    pvm_setopt(PvmAutoErr, old);
    return had < 0 ? -1 : 0;
}
