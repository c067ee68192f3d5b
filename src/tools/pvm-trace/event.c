/* event.c - names of events and of their fields, from libpvm's tables. */
#include "event.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/hash.h"
#include "store.h"

extern struct Pvmtevinfo pvmtevinfo[];
extern struct Pvmtevdid pvmtevdidlist[];

const char *const event_phases[] = {"point", "entry", "exit"};

struct name {
    const char *text;
    int id;
    UT_hash_handle hh;
};

static struct name event_storage[TEV_MAX + 1], field_storage[TEV_DID_MAX + 1];
static struct name *events, *fields; /* by text */

__attribute__((constructor)) static void index_names(void)
{
    for (int i = 0; i <= TEV_MAX; i++) {
        event_storage[i] = (struct name){.text = pvmtevinfo[i].name, .id = i};
        if (!PVMC_HASH_ADD_TEXT(hh, events, text, &event_storage[i]))
            store_out_of_memory();
    }
    for (int i = 0; i <= TEV_DID_MAX; i++) {
        field_storage[i] = (struct name){.text = pvmtevdidlist[i].did, .id = i};
        if (!PVMC_HASH_ADD_TEXT(hh, fields, text, &field_storage[i]))
            store_out_of_memory();
    }
}

__attribute__((destructor)) static void drop_names(void)
{
    HASH_CLEAR(hh, events);
    HASH_CLEAR(hh, fields);
}

const struct field *event_field(const struct event *e, int id)
{
    for (int i = 0; e && i < e->fields; i++)
        if (e->field[i].id == id)
            return &e->field[i];
    return NULL;
}

int64_t event_number(const struct event *e, int id, int64_t absent)
{
    const struct field *f = event_field(e, id);
    return f && f->kind == FIELD_NUMBER ? f->number : absent;
}

bool event_is_time(int64_t us)
{
    return us >= -EVENT_TIME_MAX_US && us <= EVENT_TIME_MAX_US;
}

void event_add_time(struct event *e, int64_t number, int64_t unit_us)
{
    int64_t us;
    if (!__builtin_mul_overflow(number, unit_us, &us) && event_is_time(us) && event_is_time(e->time_us + us))
        e->time_us += us;
}

const char *event_name(int what)
{
    static char text[32];
    if (what >= 0 && what <= TEV_MAX)
        return pvmtevinfo[what].name;
    snprintf(text, sizeof text, "event %d", what);
    return text;
}

const char *event_field_name(int id)
{
    return id >= 0 && id <= TEV_DID_MAX ? pvmtevdidlist[id].did : "?";
}

static int find(struct name *table, const char *text)
{
    struct name *n;
    HASH_FIND_STR(table, text, n);
    return n ? n->id : -1;
}

int event_by_name(const char *name)
{
    return find(events, name);
}

int event_field_by_name(const char *name)
{
    return find(fields, name);
}
