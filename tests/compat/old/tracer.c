/*
 * tracer.c - prints the events of all tasks that are started from a shell, in the style of 1995. It reports events of a
 * task whose time is before that of the preceding event. pvmtev(7) describes the format of the messages.
 */
/* clang-format off */
#include "old.h"

#define TRACES 666
#define OUTPUT 667
#define DATA   32
#define TASKS  64

/* The data of events; a call has one event at its start and one at its end. */
static struct description {
    int n;
    int id[DATA], type[DATA];
} descriptions[3][TEV_MAX + 1];

static char names[TEV_MAX + 1][64];

static struct clock {
    int tid, seconds, microseconds;
} clocks[TASKS];

static int number; /* the last unpacked value, if it is an int */

static int next()
{
    int value = 0;
    pvm_upkint(&value, 1, 1);
    return value;
}

static void skip(type)
int type;
{
    char text[8192];
    int i, n = type & TEV_DATA_ARRAY ? next() : 1;

    for (i = 0; i < n; i++)
        switch (type & ~TEV_DATA_ARRAY) {
        case TEV_DATA_INT:
        case TEV_DATA_UINT:
            number = next();
            break;
        case TEV_DATA_STRING:
            pvm_upkstr(text);
            break;
        default:
            printf("tracer: data of type %d\n", type);
            exit(1);
        }
}

static void show(event, phase, tid, seconds, microseconds)
int event, phase, tid, seconds, microseconds;
{
    struct clock *c = clocks;

    printf("tracer: t%x %s%s\n", tid, names[event], phase == 0 ? "" : phase == 1 ? " begins" : " ends");
    while (c->tid && c->tid != tid)
        c++;
    if (c->tid && (seconds < c->seconds || (seconds == c->seconds && microseconds < c->microseconds)))
        printf("tracer: t%x %s: Timestamps Decreasing\n", tid, names[event]);
    c->tid = tid;
    c->seconds = seconds;
    c->microseconds = microseconds;
}

static void read_event(described)
int described;
{
    int id = next(), event = id & ~(TEV_EVENT_ENTRY | TEV_EVENT_EXIT);
    int phase = id & TEV_EVENT_ENTRY ? 1 : id & TEV_EVENT_EXIT ? 2 : 0;
    int i, seconds = 0, microseconds = 0, tid = 0;
    struct description *d = &descriptions[phase][event];

    if (described) {
        pvm_upkstr(names[event]);
        d->n = 0;
    }
    for (i = 0; described || i < d->n; i++) {
        if (described && (d->id[i] = next()) == TEV_MARK_EVENT_DESC_END)
            break;
        if (described) {
            d->type[i] = next();
            d->n++;
        }
        skip(d->type[i]);
        if (d->id[i] == TEV_DID_TS)
            seconds = number;
        else if (d->id[i] == TEV_DID_TU)
            microseconds = number;
        else if (d->id[i] == TEV_DID_TID)
            tid = number;
    }
    if (!described && next() != TEV_MARK_EVENT_RECORD_END)
        printf("tracer: no end of %s\n", names[event]);
    show(event, phase, tid, seconds, microseconds);
}

static void skip_data_names()
{
    char text[256];

    while (next() != TEV_MARK_DATA_ID_END) {
        pvm_upkstr(text);
        pvm_upkstr(text);
    }
}

static void read_traces()
{
    int mark;

    while (pvm_upkint(&mark, 1, 1) >= 0)
        switch (mark) {
        case TEV_MARK_DATA_ID:
            skip_data_names();
            break;
        case TEV_MARK_EVENT_DESC:
            read_event(1);
            break;
        case TEV_MARK_EVENT_RECORD:
            read_event(0);
            break;
        }
}

int main(argc, argv)
int argc;
char **argv;
{
    static int events[] = {TEV_MYTID, TEV_PARENT, TEV_SPAWN, TEV_SEND, TEV_RECV, TEV_EXIT};
    Pvmtmask mask;
    int i, mid, tag, context;

    TEV_MASK_INIT(mask);
    for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        TEV_MASK_SET(mask, events[i]);
    if (pvm_mytid() < 0)
        exit(1);
    pvm_setcontext(context = pvm_newcontext());
    if (pvm_reg_tracer(context, TRACES, context, OUTPUT, mask, 0, PvmTraceFull) < 0)
        exit(1);
    pvm_setopt(PvmAutoErr, 0);
    printf("tracer: ready\n");
    fflush(stdout);
    while ((mid = pvm_recv(-1, -1)) > 0) {
        pvm_bufinfo(mid, (int *)0, &tag, (int *)0);
        if (tag == TRACES)
            read_traces();
        fflush(stdout);
    }
    pvmbailout(0);
    return 0;
}
