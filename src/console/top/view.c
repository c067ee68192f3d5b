/* view.c - see view.h. */
#include "view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "console/console.h"
#include "core/visible.h"

/* ---- numbers and words ---- */

enum { NUMBER = 16, DOING = 80 };

/* At most six characters: 0, 987, 1.2k, 34M. step: 1000 or 1024. */
static const char *number(char text[NUMBER], double value, double step)
{
    static const char units[] = " kMGTPE";
    int unit = 0;

    for (; value >= 999.5 && units[unit + 1] != '\0'; unit++)
        value /= step;
    if (unit == 0)
        snprintf(text, NUMBER, value > 0 && value < 10 && value != (int)value ? "%.1f" : "%.0f", value);
    else
        snprintf(text, NUMBER, value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
    return text;
}

#define COUNT(value) number((char[NUMBER]){0}, (double)(value), 1000)
#define BYTES(value) number((char[NUMBER]){0}, (double)(value), 1024)

/* "receive t40002 7 12s": what it does, with whom, which tag, for how long. */
static void put_doing(const struct sample_task *t, char text[DOING])
{
    int n = snprintf(text, DOING, "%s", sample_does(t->does));

    if (t->does <= PvmDoesWork)
        return;
    if (t->does == PvmDoesAsk && t->peer < 0)
        n += snprintf(text + n, (size_t)(DOING - n), " pvmd");
    else if (t->peer != -1)
        n += snprintf(text + n, (size_t)(DOING - n), " t%x", (unsigned)t->peer);
    else
        n += snprintf(text + n, (size_t)(DOING - n), " any");
    if (t->does == PvmDoesReceive || t->does == PvmDoesSend)
        n += t->tag == -1 ? snprintf(text + n, (size_t)(DOING - n), " any")
                          : snprintf(text + n, (size_t)(DOING - n), " %d", t->tag);
    if (t->waits_us >= 1000000)
        snprintf(text + n, (size_t)(DOING - n), " %llds", t->waits_us / 1000000);
}

/* ---- order ---- */

static double by_cpu(const struct sample_task *t)
{
    return t->cpu;
}

static double by_memory(const struct sample_task *t)
{
    return (double)t->memory_bytes;
}

static double by_sent(const struct sample_task *t)
{
    return t->rates.sent_bytes;
}

static double by_received(const struct sample_task *t)
{
    return t->rates.received_bytes;
}

static double by_messages(const struct sample_task *t)
{
    return t->rates.sent + t->rates.received;
}

static double by_queue(const struct sample_task *t)
{
    return (double)t->waiting_bytes + (double)t->queue_bytes;
}

static double by_wait(const struct sample_task *t)
{
    return (double)t->waits_us;
}

/* Numbers sort from the largest down; tid, host and name have none, and sort upwards. */
static const struct {
    const char *name;
    double (*value)(const struct sample_task *t);
} keys[] = {{"cpu", by_cpu},
            {"memory", by_memory},
            {"messages", by_messages},
            {"sent", by_sent},
            {"received", by_received},
            {"queue", by_queue},
            {"wait", by_wait},
            {"tid", NULL},
            {"host", NULL},
            {"name", NULL}};

#define KEYS (int)(sizeof(keys) / sizeof(keys[0]))

int view_key(const char *name)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return i;
    return -1;
}

const char *view_key_name(int key)
{
    return key >= 0 && key < KEYS ? keys[key].name : NULL;
}

static const struct view *sorted; /* qsort() passes nothing on */

static int compare_texts(const struct sample_task *a, const struct sample_task *b)
{
    const char *key = keys[sorted->key].name;
    int order = strcmp(key, "host") == 0   ? strcmp(a->host, b->host)
                : strcmp(key, "name") == 0 ? strcmp(a->name, b->name)
                                           : 0;

    return order;
}

static int compare(const void *left, const void *right)
{
    const struct sample_task *a = *(struct sample_task *const *)left, *b = *(struct sample_task *const *)right;
    int order = 0;

    if (keys[sorted->key].value != NULL) {
        double x = keys[sorted->key].value(a), y = keys[sorted->key].value(b);
        order = (x < y) - (x > y);
    } else {
        order = compare_texts(a, b);
    }
    if (order == 0)
        order = (a->tid > b->tid) - (a->tid < b->tid);
    return sorted->reverse ? -order : order;
}

static bool passes(const struct view *v, const struct sample_task *t)
{
    char text[VIEW_LINE];

    if (t->tid == console.tid)
        return false;
    if (v->filter[0] == '\0')
        return true;
    view_task(t, text);
    return strstr(text, v->filter) != NULL;
}

void view_choose(struct view *v, const struct sample *s)
{
    view_free(v);
    v->rows = calloc((size_t)s->task_count + 1, sizeof(*v->rows));
    for (int i = 0; v->rows != NULL && i < s->task_count; i++)
        if (passes(v, &s->tasks[i]))
            v->rows[v->count++] = &s->tasks[i];
    sorted = v;
    if (v->count > 0)
        qsort(v->rows, (size_t)v->count, sizeof(*v->rows), compare);
}

void view_free(struct view *v)
{
    free(v->rows);
    v->rows = NULL;
    v->count = 0;
}

/* ---- lines ---- */

void view_summary(const struct sample *s, char line[VIEW_LINE])
{
    int does[PvmDoesMeet + 2] = {0}, n, tasks = 0;
    struct sample_rates all = {0};
    double cpu = 0;

    for (int i = 0; i < s->task_count; i++) {
        const struct sample_task *t = &s->tasks[i];
        if (t->tid == console.tid)
            continue;
        tasks++;
        does[t->does + 1]++;
        cpu += t->cpu;
        all.sent += t->rates.sent;
        all.sent_bytes += t->rates.sent_bytes;
    }
    n = snprintf(line, VIEW_LINE, "%d host%s, %d task%s", s->host_count, s->host_count == 1 ? "" : "s", tasks,
                 tasks == 1 ? "" : "s");
    for (int i = PvmDoesWork; i <= PvmDoesMeet; i++)
        if (does[i + 1] > 0)
            n += snprintf(line + n, (size_t)(VIEW_LINE - n), ", %d %s", does[i + 1], sample_does(i));
    snprintf(line + n, (size_t)(VIEW_LINE - n), "; CPU %.0f %%, %s messages/s, %s bytes/s", cpu * 100, COUNT(all.sent),
             BYTES(all.sent_bytes));
}

void view_host_heading(char line[VIEW_LINE])
{
    snprintf(line, VIEW_LINE, "%-16s %8s %5s %5s %6s %6s %6s %5s %9s %9s", "HOST", "TID", "CPUS", "BUSY", "LOAD",
             "FREE", "MEMORY", "TASKS", "RELAYED/s", "BYTES/s");
}

void view_host(const struct sample_host *h, char line[VIEW_LINE])
{
    snprintf(line, VIEW_LINE, "%-16.64s %8x %5d %4.0f%% %6.2f %6s %6s %5d %9s %9s", PVMC_VISIBLE(h->name),
             (unsigned)h->tid, h->processors, h->processors > 0 ? h->busy * 100 / h->processors : 0, h->load,
             BYTES(h->available_bytes), BYTES(h->memory_bytes), h->tasks, COUNT(h->relayed_rate),
             BYTES(h->relayed_bytes_rate));
}

void view_heading(char line[VIEW_LINE])
{
    snprintf(line, VIEW_LINE, "%-12s %8s %8s S %4s %6s %6s %6s %6s %6s %-6s %5s %6s %-24s %s", "HOST", "TID", "PID",
             "%CPU", "MEMORY", "SENT/s", "BYTES", "RECV/s", "BYTES", "ROUTE", "QUEUE", "BYTES", "DOES", "NAME");
}

void view_task(const struct sample_task *t, char line[VIEW_LINE])
{
    char doing[DOING];
    const char *slash = strrchr(t->name, '/'), *name = slash != NULL ? slash + 1 : t->name;

    put_doing(t, doing);
    snprintf(line, VIEW_LINE, "%-12.64s %8x %8d %c %4.0f %6s %6s %6s %6s %6s %-6s %5s %6s %-24s %.128s",
             PVMC_VISIBLE(t->host), (unsigned)t->tid, t->pid, t->state, t->cpu * 100, BYTES(t->memory_bytes),
             COUNT(t->rates.sent), BYTES(t->rates.sent_bytes), COUNT(t->rates.received), BYTES(t->rates.received_bytes),
             t->route != NULL ? t->route : "-", COUNT(t->waiting), BYTES(t->waiting_bytes + t->queue_bytes), doing,
             *name != '\0' ? PVMC_VISIBLE(name) : "-");
}
