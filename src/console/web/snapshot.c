/* snapshot.c - see snapshot.h. */
#include "snapshot.h"
#include <stdlib.h>
#include "tools/pvm-info/text.h"
#include "tools/pvm-trace/clock.h"
#include "tools/pvm-trace/meaning.h"

enum { NAME_BYTES_MAX = 512, GONE_MAX = 256, MEMORY_STEP_BYTES = 1 << 18 };

int64_t snapshot_now_us(const struct snapshot *s)
{
    return clock_now_us() - s->origin_us;
}

/* ---- hosts ---- */

struct snapshot_host *snapshot_host(const struct snapshot *s, int tid)
{
    struct snapshot_host *h;

    HASH_FIND_INT(s->hosts, &tid, h);
    return h;
}

static void free_host(struct snapshot_host *h)
{
    free(h->name);
    free(h->arch);
    free(h);
}

static struct snapshot_host *add_host(struct snapshot *s, const struct pvmhostinfo *info)
{
    struct snapshot_host *h = calloc(1, sizeof(*h));

    if (h == NULL)
        return NULL;
    h->tid = info->hi_tid;
    h->name = strndup(info->hi_name, NAME_BYTES_MAX);
    h->arch = strndup(info->hi_arch, NAME_BYTES_MAX);
    h->speed = info->hi_speed;
    h->changed = true;
    if (h->name != NULL && h->arch != NULL && PVMC_HASH_ADD(hh, s->hosts, tid, h))
        return h;
    free_host(h);
    return NULL;
}

void snapshot_set_hosts(struct snapshot *s, const struct pvmhostinfo *hosts, int n)
{
    struct snapshot_host *h, *next;

    HASH_ITER (hh, s->hosts, h, next)
        h->seen = false;
    for (int i = 0; i < n; i++) {
        h = snapshot_host(s, hosts[i].hi_tid);
        if (h != NULL && (h->gone_us != 0 || strcmp(h->name, hosts[i].hi_name) != 0)) { /* its number is used again */
            HASH_DEL(s->hosts, h);
            free_host(h);
            h = NULL;
        }
        if (h != NULL || (h = add_host(s, &hosts[i])) != NULL)
            h->seen = true;
    }
    HASH_ITER (hh, s->hosts, h, next)
        if (!h->seen && h->gone_us == 0) {
            h->gone_us = snapshot_now_us(s);
            h->changed = true;
        }
}

int snapshot_host_count(const struct snapshot *s)
{
    int count = 0;

    for (const struct snapshot_host *h = s->hosts; h != NULL; h = h->hh.next)
        count += h->gone_us == 0;
    return count;
}

/* ---- tasks ---- */

struct snapshot_task *snapshot_task(const struct snapshot *s, int tid)
{
    struct snapshot_task *t;

    HASH_FIND_INT(s->tasks, &tid, t);
    return t;
}

static void free_task(struct snapshot *s, struct snapshot_task *t)
{
    HASH_DEL(s->tasks, t);
    s->ended -= t->ended_us != 0;
    s->running -= t->ended_us == 0;
    free(t->name);
    free(t);
}

/* The task that ended first makes room. */
static void forget_oldest(struct snapshot *s)
{
    struct snapshot_task *oldest = NULL;

    for (struct snapshot_task *t = s->tasks; t != NULL; t = t->hh.next)
        if (t->ended_us != 0 && (oldest == NULL || t->ended_us < oldest->ended_us))
            oldest = t;
    if (oldest == NULL)
        return;
    if (s->gone_count < GONE_MAX)
        s->gone[s->gone_count++] = oldest->tid;
    free_task(s, oldest);
}

struct snapshot_task *snapshot_meet(struct snapshot *s, int tid, int64_t time_us)
{
    struct snapshot_task *t = snapshot_task(s, tid);

    if (t != NULL)
        return t;
    t = s->running < SNAPSHOT_TASKS_MAX ? calloc(1, sizeof(*t)) : NULL;
    if (t == NULL)
        return NULL;
    t->tid = tid;
    t->host = pvm_tidtohost(tid);
    t->begun_us = time_us;
    t->changed = true;
    if (!PVMC_HASH_ADD(hh, s->tasks, tid, t)) {
        free(t);
        return NULL;
    }
    s->running++;
    return t;
}

void snapshot_name(struct snapshot_task *t, const char *name)
{
    if (name == NULL || *name == '\0' || (t->name != NULL && strncmp(t->name, name, NAME_BYTES_MAX) == 0))
        return;
    free(t->name);
    t->name = strndup(name, NAME_BYTES_MAX);
    t->changed = true;
}

void snapshot_end(struct snapshot *s, struct snapshot_task *t, int64_t time_us)
{
    if (t->ended_us != 0)
        return;
    t->ended_us = time_us > 0 ? time_us : 1;
    t->changed = true;
    t->depth = 0;
    s->running--;
    s->ended++;
}

static void list_task(struct snapshot *s, const struct pvmtaskinfo *info)
{
    struct snapshot_task *t = snapshot_meet(s, info->ti_tid, snapshot_now_us(s));

    if (t == NULL || t->ended_us != 0) /* its end has overtaken the list */
        return;
    t->seen = t->listed = true;
    snapshot_name(t, info->ti_a_out);
    int parent = info->ti_ptid > 0 ? info->ti_ptid : 0;
    t->changed |= t->parent != parent || t->pid != info->ti_pid || t->flags != info->ti_flag;
    t->parent = parent;
    t->pid = info->ti_pid;
    t->flags = info->ti_flag;
    t->host = info->ti_host;
}

/* Small changes of what it needs are not worth telling. */
static bool differs(const struct snapshot_usage *a, const struct snapshot_usage *b)
{
    return a->at_us == 0 || a->does != b->does || a->peer != b->peer || a->tag != b->tag ||
           abs(a->cpu_percent - b->cpu_percent) > 1 || llabs(a->memory_bytes - b->memory_bytes) >= MEMORY_STEP_BYTES ||
           a->queue_bytes != b->queue_bytes;
}

void snapshot_use(struct snapshot *s, const struct pvmtaskusage *usage)
{
    struct snapshot_task *t = snapshot_task(s, usage->tu_tid);
    struct snapshot_usage now = {.at_us = snapshot_now_us(s),
                                 .cpu_us = usage->tu_cpu_us,
                                 .memory_bytes = usage->tu_memory_bytes,
                                 .queue_bytes = usage->tu_queue_bytes,
                                 .does = usage->tu_does,
                                 .peer = usage->tu_peer,
                                 .tag = usage->tu_tag};

    if (t == NULL || t->ended_us != 0)
        return;
    if (t->usage.at_us != 0 && now.at_us > t->usage.at_us)
        now.cpu_percent = (int)((now.cpu_us - t->usage.cpu_us) * 100 / (now.at_us - t->usage.at_us));
    t->changed |= differs(&t->usage, &now);
    t->usage = now;
}

/* A task that only an event has told of may be newer than the list. */
void snapshot_set_tasks(struct snapshot *s, const struct pvmtaskinfo *tasks, int n)
{
    struct snapshot_task *t, *next;
    int64_t now_us = snapshot_now_us(s);

    HASH_ITER (hh, s->tasks, t, next)
        t->seen = false;
    for (int i = 0; i < n; i++)
        list_task(s, &tasks[i]);
    HASH_ITER (hh, s->tasks, t, next)
        if (!t->seen && t->listed)
            snapshot_end(s, t, now_us);
        else if (!t->seen) /* next time */
            t->listed = true;
    while (s->ended > SNAPSHOT_ENDED_MAX && s->gone_count < GONE_MAX)
        forget_oldest(s);
}

/* ---- history ---- */

void snapshot_sample(struct snapshot *s, const struct snapshot_sample *sample)
{
    s->samples[s->sample_count++ % SNAPSHOT_SAMPLES] = *sample;
}

/* ---- JSON ---- */

static json_t *host_json(const struct snapshot_host *h)
{
    return json_pack("{s:i, s:o, s:o, s:i, s:I}", "tid", h->tid, "name", text_json(h->name), "arch", text_json(h->arch),
                     "speed", h->speed, "gone", (json_int_t)h->gone_us);
}

static json_t *usage_json(const struct snapshot_usage *u)
{
    if (u->at_us == 0)
        return json_null();
    return json_pack("{s:i, s:I, s:I, s:i, s:i, s:i}", "cpu", u->cpu_percent, "memory", (json_int_t)u->memory_bytes,
                     "queue", (json_int_t)u->queue_bytes, "does", u->does, "peer", u->peer, "tag", u->tag);
}

static json_t *task_json(const struct snapshot *s, const struct snapshot_task *t)
{
    const struct snapshot_call *call = t->depth > 0 ? &t->calls[t->depth - 1] : NULL;

    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:o, s:I, s:I, s:b, s:b, s:i, s:i, s:I, s:o}", "tid", t->tid, "parent",
                     t->parent, "host", t->host, "pid", t->pid, "flags", t->flags, "name",
                     text_json(t->name != NULL ? t->name : ""), "begun", (json_int_t)t->begun_us, "ended",
                     (json_int_t)t->ended_us, "traced", t->traced, "own", t->tid == s->own_tid, "doing",
                     call != NULL ? (int)meaning_category(call->what) : 0, "call", call != NULL ? call->what : -1,
                     "since", (json_int_t)(call != NULL ? call->since_us : 0), "usage", usage_json(&t->usage));
}

static json_t *sample_json(const struct snapshot_sample *p)
{
    return json_pack("[I, i, i, I, I, I]", (json_int_t)p->time_us, p->hosts, p->tasks, (json_int_t)p->messages,
                     (json_int_t)p->bytes, (json_int_t)p->events);
}

static void set_unless_empty(json_t *to, const char *key, json_t *rows, bool all)
{
    if (all || json_array_size(rows) > 0)
        json_object_set_new(to, key, rows);
    else
        json_decref(rows);
}

static void tell_hosts(struct snapshot *s, json_t *to, bool all)
{
    json_t *rows = json_array();

    for (struct snapshot_host *h = s->hosts; h != NULL; h = h->hh.next) {
        if (all || h->changed)
            json_array_append_new(rows, host_json(h));
        h->changed = false;
    }
    set_unless_empty(to, "hosts", rows, all);
}

static void tell_tasks(struct snapshot *s, json_t *to, bool all)
{
    json_t *rows = json_array(), *gone = json_array();

    for (struct snapshot_task *t = s->tasks; t != NULL; t = t->hh.next) {
        if (all || t->changed)
            json_array_append_new(rows, task_json(s, t));
        t->changed = false;
    }
    for (int i = 0; i < s->gone_count && !all; i++)
        json_array_append_new(gone, json_integer(s->gone[i]));
    s->gone_count = 0;
    set_unless_empty(to, "tasks", rows, all);
    set_unless_empty(to, "forget", gone, false);
}

static void tell_history(struct snapshot *s, json_t *to, bool all)
{
    json_t *rows = json_array();
    int64_t first = s->sample_count > SNAPSHOT_SAMPLES ? s->sample_count - SNAPSHOT_SAMPLES : 0;

    if (!all && s->samples_told > first)
        first = s->samples_told;
    for (int64_t i = first; i < s->sample_count; i++)
        json_array_append_new(rows, sample_json(&s->samples[i % SNAPSHOT_SAMPLES]));
    s->samples_told = s->sample_count;
    set_unless_empty(to, "history", rows, all);
}

void snapshot_tell(struct snapshot *s, json_t *to, bool all)
{
    tell_hosts(s, to, all);
    tell_tasks(s, to, all);
    tell_history(s, to, all);
}

void snapshot_free(struct snapshot *s)
{
    struct snapshot_host *h, *next_host;
    struct snapshot_task *t, *next_task;

    HASH_ITER (hh, s->hosts, h, next_host) {
        HASH_DEL(s->hosts, h);
        free_host(h);
    }
    HASH_ITER (hh, s->tasks, t, next_task)
        free_task(s, t);
}
