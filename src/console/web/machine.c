/* machine.c - see machine.h. */
#include "machine.h"
#include <stdlib.h>
#include <time.h>
#include "console/console.h"
#include "dpvm.h"
#include "groups.h"
#include "pvmtev.h"
#include "tools/pvm-info/links.h"
#include "tools/pvm-info/text.h"
#include "tools/pvm-trace/clock.h"
#include "tools/pvm-trace/message.h"

enum { TAG_TRACE = 1, TAG_OUTPUT, TAG_TRAFFIC };

enum {
    TURN_MS = 30, /* for messages, before others have their turn */
    TRAFFIC_ASKED = 100,
    PATIENCE_US = 30000000, /* before a task is asked again */
    FLAG_CONNECTED = 0x4,   /* of ti_flag */
    OUTPUT_BYTES_MAX = 64 << 20,
    CLASSES_SHOWN = 2000,
    ENTRIES_SHOWN = 200,
};

struct machine machine;

static int context;
static struct message_layouts *layouts;
static json_t *event_names;

/* What is asked, and how often. */
enum asked { HOSTS, TASKS, MAILBOX, GROUPS, USAGE, TRAFFIC, SAMPLE, FORGET, ASKED };
static const int interval_ms[ASKED] = {[HOSTS] = 1000, [TASKS] = 1000,  [MAILBOX] = 2000, [GROUPS] = 2000,
                                       [USAGE] = 2000, [TRAFFIC] = 500, [SAMPLE] = 1000,  [FORGET] = 10000};
static int64_t due_ms[ASKED];

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- tracing ---- */

/* The events that show what a task does; the others are many, and cost time. */
static void choose_events(Pvmtmask mask)
{
    static const int events[] = {TEV_ADDMHF,  TEV_BARRIER, TEV_BCAST,  TEV_EXIT,        TEV_GATHER,     TEV_JOINGROUP,
                                 TEV_KILL,    TEV_LVGROUP, TEV_MCAST,  TEV_NRECV,       TEV_PRECV,      TEV_PROBE,
                                 TEV_PSEND,   TEV_RECV,    TEV_REDUCE, TEV_SCATTER,     TEV_MHF_INVOKE, TEV_SEND,
                                 TEV_SENDSIG, TEV_SPAWN,   TEV_TRECV,  TEV_USER_DEFINED};

    TEV_MASK_INIT(mask);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        TEV_MASK_SET(mask, events[i]);
}

static const char *start_tracing(void)
{
    Pvmtmask mask, none;

    choose_events(mask);
    TEV_MASK_INIT(none);
    int code = pvm_reg_tracer(context, TAG_TRACE, context, TAG_OUTPUT, mask, 0, PvmTraceFull);
    pvm_settmask(PvmTaskSelf, none);
    return code == PvmOk ? NULL : code == PvmAlready ? "another tracer is registered" : error_text(code);
}

static json_t *names_of_events(void)
{
    json_t *names = json_array();

    for (int i = 0; i <= TEV_MAX; i++)
        json_array_append_new(names, json_string(event_name(i)));
    return names;
}

bool machine_open(bool traces, const char **why)
{
    *why = NULL;
    machine.snapshot.origin_us = clock_now_us();
    machine.snapshot.own_tid = console.tid;
    machine.traffic.own_tid = console.tid;
    machine.spacetime.snapshot = &machine.snapshot;
    machine.spacetime.traffic = &machine.traffic;
    machine.mailbox = json_array();
    machine.groups = json_array();
    event_names = names_of_events();
    layouts = message_layouts_new();
    context = pvm_newcontext();
    if (context < 0 || layouts == NULL)
        return false;
    if (traces)
        *why = start_tracing();
    return true;
}

void machine_collect_output(void)
{
    pvm_setopt(PvmOutputTid, console.tid);
    pvm_setopt(PvmOutputContext, context);
    pvm_setopt(PvmOutputCode, TAG_OUTPUT);
}

/* ---- messages ---- */

/* Times are by the clock of the event's host. */
static int64_t offset_us(int tid)
{
    int daemon = pvm_tidtohost(tid);
    struct snapshot_host *h = daemon > 0 ? snapshot_host(&machine.snapshot, daemon) : NULL;

    if (h == NULL || daemon == pvm_tidtohost(console.tid))
        return 0;
    if (!h->has_offset) {
        h->has_offset = true;
        h->offset_us = clock_offset_us(daemon);
    }
    return h->offset_us;
}

static void take_event(const struct event *e, void *arg)
{
    (void)arg;
    spacetime_take(&machine.spacetime, e, e->time_us + offset_us(e->tid) - machine.snapshot.origin_us);
}

static void take_text(int tid, bool is_error, int count)
{
    char *text = count > 0 && count <= OUTPUT_BYTES_MAX ? malloc((size_t)count) : NULL;

    if (text != NULL && pvm_upkbyte(text, count, 1) >= 0)
        output_take(&machine.output, tid, is_error, text, (size_t)count, snapshot_now_us(&machine.snapshot));
    free(text);
}

/* The forms of these messages are in pvm_spawn(3). */
static void take_output(void)
{
    int tid = 0, count = 0, value = 0;

    if (pvm_upkint(&tid, 1, 1) < 0 || pvm_upkint(&count, 1, 1) < 0)
        return;
    if (count > 0)
        take_text(tid, false, count);
    else if (count == 0)
        output_end(&machine.output, tid, snapshot_now_us(&machine.snapshot));
    else if (count == PvmOutputError && pvm_upkint(&value, 1, 1) >= 0)
        take_text(tid, true, value);
}

static void take_traffic(int sender)
{
    struct links_report report = {.tid = sender};
    struct snapshot_task *t = snapshot_task(&machine.snapshot, sender);

    if (links_read(&report))
        traffic_told(&machine.traffic, &report);
    links_free(&report, 1);
    if (t != NULL)
        t->asked_us = 0;
}

static void take_message(int mid)
{
    int tag = 0, sender = 0;

    pvm_bufinfo(mid, NULL, &tag, &sender);
    if (tag == TAG_TRACE)
        message_read(layouts, sender, take_event, NULL);
    else if (tag == TAG_OUTPUT)
        take_output();
    else if (tag == TAG_TRAFFIC)
        take_traffic(sender);
}

bool machine_take_messages(void)
{
    int errors = pvm_setopt(PvmAutoErr, 0), old = pvm_setcontext(context), mid;
    int64_t until_ms = now_ms() + TURN_MS;

    while ((mid = pvm_nrecv(-1, -1)) > 0 && now_ms() < until_ms)
        take_message(mid);
    if (mid > 0)
        take_message(mid);
    pvm_setcontext(old);
    pvm_setopt(PvmAutoErr, errors);
    return mid <= 0;
}

/* ---- questions ---- */

static void look_at_hosts(void)
{
    struct pvmhostinfo *hosts = NULL;
    int count = 0, formats;

    if (pvm_config(&count, &formats, &hosts) >= 0)
        snapshot_set_hosts(&machine.snapshot, hosts, count);
}

static void look_at_tasks(void)
{
    struct pvmtaskinfo *tasks = NULL;
    int count = 0;

    if (pvm_tasks(0, &count, &tasks) >= 0)
        snapshot_set_tasks(&machine.snapshot, tasks, count);
}

static void look_at_usage(void)
{
    struct pvmhostusage *hosts = NULL;
    int count = 0;

    if (pvm_usage(0, &count, &hosts) < 0)
        return;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < hosts[i].hu_ntask; j++)
            snapshot_use(&machine.snapshot, &hosts[i].hu_tasks[j]);
}

static json_t *class_json(const struct pvmmboxinfo *class)
{
    json_t *entries = json_array();

    for (int i = 0; i < class->mi_nentries && i < ENTRIES_SHOWN; i++)
        json_array_append_new(entries,
                              json_pack("[i, i, i]", class->mi_indices[i], class->mi_owners[i], class->mi_flags[i]));
    return json_pack("{s:o, s:i, s:o}", "name", text_json(class->mi_name), "count", class->mi_nentries, "entries",
                     entries);
}

/* Replaces what was last seen, if it differs. */
static void replace(json_t **seen, json_t *now, bool *changed)
{
    if (json_equal(*seen, now)) {
        json_decref(now);
        return;
    }
    json_decref(*seen);
    *seen = now;
    *changed = true;
}

static void look_at_mailbox(void)
{
    struct pvmmboxinfo *classes = NULL;
    json_t *rows = json_array();
    int count = 0;

    pvm_getmboxinfo((char *)"*", &count, &classes);
    for (int i = 0; i < count && i < CLASSES_SHOWN; i++)
        json_array_append_new(rows, class_json(&classes[i]));
    replace(&machine.mailbox, rows, &machine.mailbox_changed);
}

static void look_at_groups(void)
{
    json_t *rows = groups_take();

    if (!groups_ask() && rows == NULL)
        rows = json_array();
    if (rows != NULL)
        replace(&machine.groups, rows, &machine.groups_changed);
}

/* Asks some of the tasks that can answer, those first that were asked longest ago. */
static void ask_for_traffic(void)
{
    int64_t now_us = snapshot_now_us(&machine.snapshot);
    int n = 0;
    static int last;
    struct snapshot_task *t = snapshot_task(&machine.snapshot, last), *first;

    first = t = t != NULL && t->hh.next != NULL ? t->hh.next : machine.snapshot.tasks;
    while (t != NULL && n < TRAFFIC_ASKED) {
        bool waits = t->asked_us != 0 && now_us - t->asked_us < PATIENCE_US;
        if (t->ended_us == 0 && (t->flags & FLAG_CONNECTED) && t->tid != console.tid && !waits) {
            t->asked_us = now_us;
            links_request(t->tid, context, TAG_TRAFFIC);
            n++;
        }
        last = t->tid;
        t = t->hh.next != NULL ? t->hh.next : machine.snapshot.tasks;
        if (t == first)
            break;
    }
}

static void take_sample(void)
{
    snapshot_sample(&machine.snapshot, &(struct snapshot_sample){.time_us = snapshot_now_us(&machine.snapshot),
                                                                 .hosts = snapshot_host_count(&machine.snapshot),
                                                                 .tasks = machine.snapshot.running,
                                                                 .messages = machine.traffic.messages,
                                                                 .bytes = machine.traffic.bytes,
                                                                 .events = machine.spacetime.events});
}

static bool is_known(int tid, void *arg)
{
    (void)arg;
    return snapshot_task(&machine.snapshot, tid) != NULL;
}

static void forget_the_old(void)
{
    traffic_keep(&machine.traffic, is_known, NULL);
    spacetime_forget_ended(&machine.spacetime);
}

static void look_at(enum asked what, bool watched)
{
    switch (what) {
    case HOSTS:
        look_at_hosts();
        return;
    case TASKS:
        look_at_tasks();
        return;
    case MAILBOX:
        look_at_mailbox();
        return;
    case GROUPS:
        look_at_groups();
        return;
    case USAGE:
        if (watched)
            look_at_usage();
        return;
    case TRAFFIC:
        if (watched)
            ask_for_traffic();
        return;
    case SAMPLE:
        output_show_beginnings(&machine.output, snapshot_now_us(&machine.snapshot));
        take_sample();
        return;
    default:
        forget_the_old();
    }
}

void machine_look(bool watched)
{
    int errors = pvm_setopt(PvmAutoErr, 0);

    for (int i = 0; i < ASKED; i++)
        if (now_ms() >= due_ms[i]) {
            look_at((enum asked)i, watched);
            due_ms[i] = now_ms() + interval_ms[i];
        }
    pvm_setopt(PvmAutoErr, errors);
}

int machine_due_ms(void)
{
    int64_t first_ms = due_ms[0], left_ms;

    for (int i = 1; i < ASKED; i++)
        if (due_ms[i] < first_ms)
            first_ms = due_ms[i];
    left_ms = first_ms - now_ms();
    return left_ms > 0 ? (int)left_ms : 0;
}

/* ---- the whole ---- */

void machine_tell(json_t *to, bool all)
{
    snapshot_tell(&machine.snapshot, to, all);
    traffic_tell(&machine.traffic, to, all);
    spacetime_tell(&machine.spacetime, to, all);
    output_tell(&machine.output, to, all);
    if (all || machine.mailbox_changed)
        json_object_set(to, "mailbox", machine.mailbox);
    if (all || machine.groups_changed)
        json_object_set(to, "groups", machine.groups);
    machine.mailbox_changed = machine.groups_changed = false;
    if (all)
        json_object_set(to, "event_names", event_names);
}

void machine_close(void)
{
    snapshot_free(&machine.snapshot);
    traffic_free(&machine.traffic);
    spacetime_free(&machine.spacetime);
    output_free(&machine.output);
    json_decref(machine.mailbox);
    json_decref(machine.groups);
    json_decref(event_names);
    if (layouts != NULL)
        message_layouts_free(layouts);
}
