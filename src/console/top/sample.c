/* sample.c - see sample.h. */
#include "sample.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "console/console.h"
#include "console/commands/host.h"
#include "core/clock.h"

/* ---- rates ---- */

static double rate(long long now, long long then, double seconds)
{
    return seconds > 0 && now > then ? (double)(now - then) / seconds : 0;
}

static struct pvmrouteusage sum(const struct sample_task *t)
{
    struct pvmrouteusage all = {0};

    for (int i = 0; i < t->route_count; i++) {
        all.ru_sent += t->routes[i].ru_sent;
        all.ru_sent_bytes += t->routes[i].ru_sent_bytes;
        all.ru_received += t->routes[i].ru_received;
        all.ru_received_bytes += t->routes[i].ru_received_bytes;
    }
    return all;
}

static long long bytes_of(const struct sample_task *t, const char *route)
{
    for (int i = 0; t != NULL && i < t->route_count; i++)
        if (strcmp(t->routes[i].ru_name, route) == 0)
            return t->routes[i].ru_sent_bytes + t->routes[i].ru_received_bytes;
    return 0;
}

/* The route with the most bytes since `before`, which may be NULL. NULL: there were none. */
static const char *main_route(const struct sample_task *t, const struct sample_task *before)
{
    const char *best = NULL;
    long long most = 0;

    for (int i = 0; i < t->route_count; i++) {
        const char *name = t->routes[i].ru_name;
        long long bytes = bytes_of(t, name) - bytes_of(before, name);
        if (bytes > most) {
            most = bytes;
            best = name;
        }
    }
    return best;
}

/* A tid is used again after a while: then it is another process. */
static const struct sample_task *same_task(const struct sample *before, const struct sample_task *t)
{
    struct sample_task *same = NULL;

    if (before != NULL)
        HASH_FIND_INT(before->by_tid, &t->tid, same);
    return same != NULL && same->pid == t->pid ? same : NULL;
}

static void compare_task(struct sample_task *t, const struct sample *before, double seconds)
{
    const struct sample_task *same = same_task(before, t);

    t->route = main_route(t, same);
    if (t->route == NULL)
        t->route = main_route(t, NULL);
    if (same == NULL)
        return;
    struct pvmrouteusage now = sum(t), then = sum(same);
    t->cpu = rate(t->cpu_us, same->cpu_us, seconds * 1e6);
    t->rates = (struct sample_rates){.sent = rate(now.ru_sent, then.ru_sent, seconds),
                                     .sent_bytes = rate(now.ru_sent_bytes, then.ru_sent_bytes, seconds),
                                     .received = rate(now.ru_received, then.ru_received, seconds),
                                     .received_bytes = rate(now.ru_received_bytes, then.ru_received_bytes, seconds)};
}

static void compare_host(struct sample_host *h, const struct sample *before, double seconds)
{
    for (int i = 0; before != NULL && i < before->host_count; i++) {
        const struct sample_host *same = &before->hosts[i];
        if (same->tid != h->tid)
            continue;
        h->busy = fmin(rate(h->busy_us, same->busy_us, seconds * 1e6), h->processors); /* the clock ticks coarsely */
        h->relayed_rate = rate(h->relayed, same->relayed, seconds);
        h->relayed_bytes_rate = rate(h->relayed_bytes, same->relayed_bytes, seconds);
    }
}

/* ---- taking a sample ---- */

static char *copy_text(struct sample *s, const char *text)
{
    char *copy = strdup(text);

    s->lacks_memory |= copy == NULL;
    return copy;
}

static void take_task(struct sample *s, struct sample_host *h, const struct pvmtaskusage *u)
{
    struct sample_task *t = &s->tasks[s->task_count++];
    size_t bytes = (size_t)u->tu_nroute * sizeof(*t->routes);

    *t = (struct sample_task){.tid = u->tu_tid,
                              .pid = u->tu_pid,
                              .host = h->name,
                              .state = u->tu_state,
                              .cpu_us = u->tu_cpu_us,
                              .memory_bytes = u->tu_memory_bytes,
                              .does = u->tu_does,
                              .peer = u->tu_peer,
                              .tag = u->tu_tag,
                              .waits_us = u->tu_waits_us,
                              .waiting = u->tu_waiting,
                              .waiting_bytes = u->tu_waiting_bytes,
                              .queue_bytes = u->tu_queue_bytes};
    h->tasks++;
    t->routes = malloc(bytes + 1);
    s->lacks_memory |= t->routes == NULL;
    if (t->routes == NULL)
        return;
    memcpy(t->routes, u->tu_routes, bytes);
    t->route_count = u->tu_nroute;
}

static void take_host(struct sample *s, const struct pvmhostusage *u, const char *name)
{
    struct sample_host *h = &s->hosts[s->host_count++];

    *h = (struct sample_host){.tid = u->hu_tid,
                              .processors = u->hu_processors,
                              .name = copy_text(s, name),
                              .load = u->hu_load,
                              .busy_us = u->hu_busy_us,
                              .memory_bytes = u->hu_memory_bytes,
                              .available_bytes = u->hu_available_bytes,
                              .relayed = u->hu_relayed,
                              .relayed_bytes = u->hu_relayed_bytes};
    for (int i = 0; i < u->hu_ntask; i++)
        take_task(s, h, &u->hu_tasks[i]);
}

static void take_usage(struct sample *s, const struct pvmhostusage *usage, int count)
{
    int formats, host_count, tasks = 0;
    struct pvmhostinfo *hosts = host_list(&host_count, &formats);

    for (int i = 0; i < count; i++)
        tasks += usage[i].hu_ntask;
    s->hosts = calloc((size_t)count + 1, sizeof(*s->hosts));
    s->tasks = calloc((size_t)tasks + 1, sizeof(*s->tasks));
    s->lacks_memory = s->hosts == NULL || s->tasks == NULL;
    for (int i = 0; i < count && !s->lacks_memory; i++)
        take_host(s, &usage[i], hosts != NULL ? host_name(hosts, host_count, usage[i].hu_tid) : "?");
}

static void index_tasks(struct sample *s)
{
    for (int i = 0; i < s->task_count; i++)
        s->lacks_memory |= !PVMC_HASH_ADD(hh, s->by_tid, tid, &s->tasks[i]);
}

/* Names and parents come from the list of tasks; a task that has come or gone in between has none. */
static void name_tasks(struct sample *s)
{
    struct pvmtaskinfo *infos = NULL;
    int count = 0;

    if (pvm_tasks(0, &count, &infos) < 0)
        count = 0;
    for (int i = 0; i < count; i++) {
        struct sample_task *t;
        HASH_FIND_INT(s->by_tid, &infos[i].ti_tid, t);
        if (t != NULL && t->name == NULL) {
            t->name = copy_text(s, infos[i].ti_a_out);
            t->parent = infos[i].ti_ptid;
        }
    }
    for (int i = 0; i < s->task_count; i++)
        if (s->tasks[i].name == NULL)
            s->tasks[i].name = copy_text(s, "");
}

struct sample *sample_take(const struct sample *before, int *code)
{
    struct pvmhostusage *usage;
    int count;

    *code = pvm_usage(0, &count, &usage);
    if (*code < 0)
        return NULL;
    struct sample *s = calloc(1, sizeof(*s));
    *code = s != NULL ? PvmOk : PvmNoMem;
    if (s == NULL)
        return NULL;
    s->at_us = pvmc_clock_us();
    s->seconds = before != NULL ? (double)(s->at_us - before->at_us) / 1e6 : 0;
    take_usage(s, usage, count);
    index_tasks(s);
    name_tasks(s);
    if (s->lacks_memory) {
        sample_free(s);
        *code = PvmNoMem;
        return NULL;
    }
    for (int i = 0; i < s->task_count; i++)
        compare_task(&s->tasks[i], before, s->seconds);
    for (int i = 0; i < s->host_count; i++)
        compare_host(&s->hosts[i], before, s->seconds);
    return s;
}

void sample_free(struct sample *s)
{
    if (s == NULL)
        return;
    HASH_CLEAR(hh, s->by_tid);
    for (int i = 0; i < s->task_count; i++) {
        free(s->tasks[i].name);
        free(s->tasks[i].routes);
    }
    for (int i = 0; i < s->host_count; i++)
        free(s->hosts[i].name);
    free(s->tasks);
    free(s->hosts);
    free(s);
}

/* ---- words and JSON ---- */

const char *sample_does(enum pvmdoes does)
{
    switch (does) {
    case PvmDoesWork:
        return "work";
    case PvmDoesReceive:
        return "receive";
    case PvmDoesSend:
        return "send";
    case PvmDoesAsk:
        return "ask";
    case PvmDoesMeet:
        return "meet";
    default:
        return "-";
    }
}

static json_t *routes_json(const struct sample_task *t)
{
    json_t *routes = json_object();

    for (int i = 0; i < t->route_count; i++) {
        const struct pvmrouteusage *r = &t->routes[i];
        json_object_set_new(routes, r->ru_name,
                            json_pack("{s:I, s:I, s:I, s:I}", "sent", (json_int_t)r->ru_sent, "sent_bytes",
                                      (json_int_t)r->ru_sent_bytes, "received", (json_int_t)r->ru_received,
                                      "received_bytes", (json_int_t)r->ru_received_bytes));
    }
    return routes;
}

static json_t *task_json(const struct sample_task *t)
{
    char state[2] = {(char)t->state, '\0'};
    json_t *row = json_pack("{s:o, s:o, s:o, s:i, s:o, s:s, s:f, s:f, s:I}", "tid", json_tid(t->tid), "parent",
                            t->parent > 0 ? json_tid(t->parent) : json_null(), "host", text_json(t->host), "pid",
                            t->pid, "command", text_json(t->name), "state", state, "cpu_seconds",
                            (double)t->cpu_us / 1e6, "cpu", t->cpu, "memory_bytes", (json_int_t)t->memory_bytes);

    if (t->does != PvmDoesUnknown)
        json_object_set_new(row, "does", json_string(sample_does(t->does)));
    if (t->does > PvmDoesWork) {
        json_object_set_new(row, "peer", t->peer == -1 ? json_null() : json_tid(t->peer));
        json_object_set_new(row, "tag", t->tag == -1 ? json_null() : json_integer(t->tag));
        json_object_set_new(row, "waits_seconds", json_real((double)t->waits_us / 1e6));
    }
    json_object_update_new(row, json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o}", "waiting", (json_int_t)t->waiting,
                                          "waiting_bytes", (json_int_t)t->waiting_bytes, "queue_bytes",
                                          (json_int_t)t->queue_bytes, "sent_per_second", t->rates.sent,
                                          "sent_bytes_per_second", t->rates.sent_bytes, "received_per_second",
                                          t->rates.received, "received_bytes_per_second", t->rates.received_bytes,
                                          "routes", routes_json(t)));
    return row;
}

static json_t *host_json(const struct sample_host *h)
{
    return json_pack("{s:o, s:o, s:i, s:i, s:f, s:f, s:I, s:I, s:f, s:f}", "host", text_json(h->name), "tid",
                     json_tid(h->tid), "tasks", h->tasks, "processors", h->processors, "busy", h->busy, "load", h->load,
                     "memory_bytes", (json_int_t)h->memory_bytes, "available_bytes", (json_int_t)h->available_bytes,
                     "relayed_per_second", h->relayed_rate, "relayed_bytes_per_second", h->relayed_bytes_rate);
}

json_t *sample_json(const struct sample *s)
{
    json_t *hosts = json_array(), *tasks = json_array();

    for (int i = 0; i < s->host_count; i++)
        json_array_append_new(hosts, host_json(&s->hosts[i]));
    for (int i = 0; i < s->task_count; i++)
        if (s->tasks[i].tid != console.tid)
            json_array_append_new(tasks, task_json(&s->tasks[i]));
    return json_pack("{s:f, s:o, s:o}", "seconds", s->seconds, "hosts", hosts, "tasks", tasks);
}
