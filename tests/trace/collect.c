/*
 * collect.c - traces a program and prints its events as text, one per line, without parts that differ between runs:
 * times are omitted, buffers appear as M, tids as t1, t2, ... in order of appearance, addresses as P.
 *
 *   collect [-b BYTES] [-o OPTION] [-m EVENT]... [-die] PROGRAM [ARGUMENT]...
 *
 * -b, -o: PvmTraceBuffer and PvmTraceOptions; -m: only this event (default: all); -die: ends after the first event.
 * Data that cannot be decoded gives exit code 1 and a line with ERROR.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"
#include "pvmtev.h"

extern struct Pvmtevdid pvmtevdidlist[];
extern struct Pvmtevinfo pvmtevinfo[];

enum { TAG = 700, TAG_EXIT = 701, FIELDS_MAX = 32, TIDS_MAX = 64, SOURCES_MAX = 16 };

struct form {
    int count, ids[FIELDS_MAX], types[FIELDS_MAX];
};

/* The descriptions from a task or daemon so far: forms by event, and with the entry and exit bits. */
struct source {
    int tid;
    struct form forms[3][TEV_MAX + 1];
    bool has_names; /* sent with a daemon's first message */
    long long latest_us;
    FILE *out; /* its output, in memory */
    char *text;
    size_t length;
};

static struct source sources[SOURCES_MAX];
static int source_count;
static FILE *out; /* of the source being read */
static int tids[TIDS_MAX], tid_count;

static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("ERROR: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    exit(1);
}

static void print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
}

static int take_int(void)
{
    int value = 0;
    if (pvm_upkint(&value, 1, 1) < 0)
        fail("a message ends too early");
    return value;
}

static struct source *source_of(int tid)
{
    for (int i = 0; i < source_count; i++)
        if (sources[i].tid == tid)
            return &sources[i];
    if (source_count == SOURCES_MAX)
        fail("more than %d sources", SOURCES_MAX);
    struct source *s = &sources[source_count];
    s->tid = tid;
    s->out = open_memstream(&s->text, &s->length);
    if (s->out == NULL)
        fail("no memory");
    return &sources[source_count++];
}

/* ---- values ---- */

static bool is_tid(int id)
{
    static const int ids[] = {TEV_DID_TID, TEV_DID_PT,  TEV_DID_MT,  TEV_DID_TT,  TEV_DID_DST, TEV_DID_SRC, TEV_DID_RST,
                              TEV_DID_STL, TEV_DID_SIB, TEV_DID_MDL, TEV_DID_NTL, TEV_DID_GT,  TEV_DID_IST, TEV_DID_TW};
    for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (ids[i] == id)
            return true;
    return false;
}

static int number_of_tid(int tid)
{
    for (int i = 0; i < tid_count; i++)
        if (tids[i] == tid)
            return i + 1;
    if (tid_count == TIDS_MAX)
        fail("more than %d tids", TIDS_MAX);
    tids[tid_count++] = tid;
    return tid_count;
}

static void print_number(int id, int value)
{
    if (is_tid(id) && value > 0x40000)
        print("t%d", number_of_tid(value));
    else if (id == TEV_DID_OPV && value > 0x40000)
        print("t%d", number_of_tid(value));
    else if (id == TEV_DID_FDS || id == TEV_DID_HCS || id == TEV_DID_HCU || id == TEV_DID_TGS || id == TEV_DID_TGU)
        print("N");
    else if ((id == TEV_DID_MB || id == TEV_DID_MSB || id == TEV_DID_MRB) && value > 0 && value != 999)
        print("M");
    else if (id == TEV_DID_CC && value > 0x40000)
        print("C");
    else if (id == TEV_DID_CXN || id == TEV_DID_CXS || id == TEV_DID_CXF || id == TEV_DID_CXC)
        print(value > 0 ? "C" : "%d", value);
    else if (id == TEV_DID_HPT)
        print("%#x", (unsigned)value);
    else
        print("%d", value);
}

static void print_text(int id)
{
    char text[4096];
    if (pvm_upkstr(text) < 0)
        fail("a string is not there");
    const char *slash = strrchr(text, '/');
    print("\"%s\"", (id == TEV_DID_TN || id == TEV_DID_SE) && slash != NULL ? slash + 1 : text);
}

static void print_value(int id, int type)
{
    long l;
    short s;
    char c;
    float f[2];
    double d[2];
    switch (type) {
    case TEV_DATA_INT:
    case TEV_DATA_UINT:
        print_number(id, take_int());
        return;
    case TEV_DATA_LONG:
    case TEV_DATA_ULONG:
        if (pvm_upklong(&l, 1, 1) < 0)
            fail("a long is not there");
        print(l ? "P" : "0");
        return;
    case TEV_DATA_STRING:
        print_text(id);
        return;
    case TEV_DATA_BYTE:
        pvm_upkbyte(&c, 1, 1);
        print("'%c'", c);
        return;
    case TEV_DATA_SHORT:
        pvm_upkshort(&s, 1, 1);
        print("%d", s);
        return;
    case TEV_DATA_DOUBLE:
        pvm_upkdouble(d, 1, 1);
        print("%g", d[0]);
        return;
    case TEV_DATA_CPLX:
        pvm_upkcplx(f, 1, 1);
        print("(%g, %g)", f[0], f[1]);
        return;
    default:
        fail("type %d", type);
    }
}

static void print_values(int id, int type)
{
    bool array = type & TEV_DATA_ARRAY;
    int n = array ? take_int() : 1;
    if (array)
        print("[");
    for (int i = 0; i < n; i++) {
        if (i > 0)
            print(" ");
        print_value(id, type & ~TEV_DATA_ARRAY);
    }
    if (array)
        print("]");
}

/* ---- events ---- */

static void check_time(struct source *s, int seconds, int microseconds)
{
    long long us = seconds * 1000000LL + microseconds;
    if (us < s->latest_us || microseconds < 0 || microseconds > 999999)
        fail("time goes back");
    s->latest_us = us;
}

static const char *sign_of(int id)
{
    return id & TEV_EVENT_ENTRY ? "+" : id & TEV_EVENT_EXIT ? "-" : "";
}

static struct form *form_of(struct source *s, int id)
{
    int event = id & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT);
    if (event < 0 || event > TEV_MAX)
        fail("event %d", event);
    return &s->forms[id & TEV_EVENT_ENTRY ? 0 : id & TEV_EVENT_EXIT ? 1 : 2][event];
}

/* Reads an event with a description: name, then each datum with its id and type. */
static void take_described(struct source *s)
{
    int id = take_int(), event = id & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT), head[2] = {0};
    struct form *form = form_of(s, id);
    char name[100];
    if (form->count > 0 && event != TEV_ENDTASK)
        fail("%s is described twice", pvmtevinfo[event].name);
    form->count = 0;
    if (pvm_upkstr(name) < 0 || strcmp(name, pvmtevinfo[event].name) != 0)
        fail("event %d is not %s", event, name);
    for (int did; (did = take_int()) != TEV_MARK_EVENT_DESC_END; form->count++) {
        int type = take_int(), i = form->count;
        if (did < 0 || did > TEV_DID_MAX || i == FIELDS_MAX)
            fail("datum %d of %s", did, name);
        form->ids[i] = did;
        form->types[i] = type;
        if (i < 2) {
            head[i] = take_int();
            continue;
        }
        if (i == 2) {
            check_time(s, head[0], head[1]);
            print("t%d %s%s", number_of_tid(take_int()), name, sign_of(id));
            continue;
        }
        print(" %s=", pvmtevdidlist[did].did);
        print_values(did, type);
    }
    if (form->count < 3 || form->ids[0] != TEV_DID_TS || form->ids[1] != TEV_DID_TU || form->ids[2] != TEV_DID_TID)
        fail("%s does not begin with time and task", name);
    print("\n");
}

static void take_record(struct source *s)
{
    int id = take_int(), event = id & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT);
    const struct form *form = form_of(s, id);
    if (form->count == 0)
        fail("%s was not described", pvmtevinfo[event].name);
    int seconds = take_int(), microseconds = take_int();
    check_time(s, seconds, microseconds);
    print("t%d %s%s", number_of_tid(take_int()), pvmtevinfo[event].name, sign_of(id));
    for (int i = 3; i < form->count; i++) {
        print(" %s=", pvmtevdidlist[form->ids[i]].did);
        print_values(form->ids[i], form->types[i]);
    }
    print("\n");
    if (take_int() != TEV_MARK_EVENT_RECORD_END)
        fail("%s does not end", pvmtevinfo[event].name);
}

/* Reads an event of the program: values with their types. */
static void take_user(int tid)
{
    char name[100];
    int id = take_int(), type;
    if (id != TEV_USER_DEFINED || pvm_upkstr(name) < 0)
        fail("an event of the program is number %d", id);
    take_int();
    take_int();
    print("t%d %s", number_of_tid(tid), name);
    while ((type = take_int()) != TEV_MARK_USER_EVENT_RECORD_END) {
        print(" ");
        print_values(TEV_DID_OS, type);
    }
    print("\n");
}

static void take_names(struct source *s)
{
    int n = 0;
    char name[100], meaning[200];
    for (int id; (id = take_int()) != TEV_MARK_DATA_ID_END; n++)
        if (id != n || pvm_upkstr(name) < 0 || pvm_upkstr(meaning) < 0 || strcmp(name, pvmtevdidlist[n].did) != 0 ||
            strcmp(meaning, pvmtevdidlist[n].desc) != 0)
            fail("datum %d", id);
    if (n != TEV_DID_MAX + 1 || s->has_names)
        fail("%d data were named", n);
    s->has_names = true;
}

static void take_message(int tid)
{
    struct source *s = source_of(tid);
    int mark, open = 0;
    out = s->out;
    while (pvm_upkint(&mark, 1, 1) == 0)
        if (mark == TEV_MARK_EVENT_BUFFER)
            open++;
        else if (mark == TEV_MARK_EVENT_BUFFER_END)
            open--;
        else if (mark == TEV_MARK_DATA_ID)
            take_names(s);
        else if (mark == TEV_MARK_EVENT_DESC)
            take_described(s);
        else if (mark == TEV_MARK_EVENT_RECORD)
            take_record(s);
        else if (mark == TEV_MARK_USER_EVENT_RECORD)
            take_user(tid);
        else
            fail("mark %d", mark);
    if (open != 0)
        fail("a buffer is not closed");
}

/* ---- running the program ---- */

static void choose_event(char *mask, const char *name)
{
    for (int event = TEV_FIRST; event <= TEV_MAX; event++)
        if (name == NULL || strcmp(pvmtevinfo[event].name, name) == 0)
            TEV_MASK_SET(mask, event);
}

static int start(char **argv, const char *buffer, const char *option, Pvmtmask mask)
{
    int tid;
    pvm_settmask(PvmTaskChild, mask);
    pvm_setopt(PvmTraceTid, pvm_mytid());
    pvm_setopt(PvmTraceCode, TAG);
    pvm_setopt(PvmTraceBuffer, atoi(buffer));
    pvm_setopt(PvmTraceOptions, atoi(option));
    number_of_tid(pvm_mytid());
    if (pvm_spawn(argv[0], argv + 1, 0, "", 1, &tid) != 1)
        fail("%s was not started", argv[0]);
    return tid;
}

/* Tasks by number, then daemons. A daemon's events arrive in any order, so they are sorted alphabetically. */
static int by_tid(const void *a, const void *b)
{
    int x = ((const struct source *)a)->tid, y = ((const struct source *)b)->tid;
    return (x < 0) != (y < 0) ? (x < 0 ? 1 : -1) : x < y ? -1 : x > y;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show_sorted(char *text)
{
    char *lines[1000];
    int n = 0;
    for (char *line = strtok(text, "\n"); line != NULL && n < 1000; line = strtok(NULL, "\n"))
        lines[n++] = line;
    qsort(lines, (size_t)n, sizeof(lines[0]), by_text);
    for (int i = 0; i < n; i++)
        puts(lines[i]);
}

static void show(void)
{
    for (int i = 0; i < source_count; i++)
        fclose(sources[i].out); /* sets text and length */
    qsort(sources, (size_t)source_count, sizeof(sources[0]), by_tid);
    for (int i = 0; i < source_count; i++) {
        if (sources[i].tid < 0)
            show_sorted(sources[i].text);
        else
            fputs(sources[i].text, stdout);
        free(sources[i].text);
    }
}

/* Collects until the task has ended, and its end is an event; then waits for messages in transit. */
static void collect(bool die)
{
    for (struct timeval patience = {.tv_sec = 20};;) {
        int bytes, tag, src, mid = pvm_trecv(-1, -1, &patience);
        if (mid < 0 || (mid == 0 && patience.tv_sec))
            fail("nothing comes");
        if (mid == 0)
            return;
        pvm_bufinfo(mid, &bytes, &tag, &src);
        if (tag == TAG)
            take_message(src);
        if (tag == TAG_EXIT)
            patience = (struct timeval){.tv_usec = 300000};
        if (die && tag == TAG && src > 0)
            return;
    }
}

int main(int argc, char **argv)
{
    const char *buffer = "0", *option = "1";
    bool die = false, some = false;
    Pvmtmask mask;
    int i = 1;
    TEV_MASK_INIT(mask);
    for (; i + 1 < argc && argv[i][0] == '-'; i++)
        if (strcmp(argv[i], "-b") == 0)
            buffer = argv[++i];
        else if (strcmp(argv[i], "-o") == 0)
            option = argv[++i];
        else if (strcmp(argv[i], "-die") == 0)
            die = true;
        else if (strcmp(argv[i], "-m") == 0 && (some = true))
            choose_event(mask, argv[++i]);
    if (!some)
        choose_event(mask, NULL);
    int tid = start(argv + i, buffer, option, mask);
    pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid);
    pvm_setopt(PvmAutoErr, 0); /* unpacking fails at the end of the message */
    collect(die);
    show();
    pvm_exit();
    return 0;
}
