/* control.c - see control.h. */
#include "control.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "console/console.h"
#include "dpvm.h"

enum { WISHES_MAX = 16, HOSTS_MAX = 64, ARGUMENTS_MAX = 256, COUNT_MAX = 10000, TEXT_BYTES = 1000 };

struct wish {
    int number;
    const char *action;
    json_t *body;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_t worker;
static bool runs, ends;
static struct wish wishes[WISHES_MAX]; /* the first is being fulfilled */
static int wish_count, last_number;
static json_t *results;

/* ---- what a wish needs ---- */

static const char *const actions[] = {"add", "spawn", "kill"};

static bool is_texts(const json_t *list, size_t max)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return false;
    return json_is_array(list) && json_array_size(list) <= max;
}

static const char *text_of(const json_t *body, const char *key)
{
    const char *text = json_string_value(json_object_get(body, key));

    return text != NULL ? text : "";
}

static long number_of(const json_t *body, const char *key)
{
    return (long)json_integer_value(json_object_get(body, key));
}

/* NULL if it can be tried. */
static const char *fault(const char *action, const json_t *body)
{
    if (strcmp(action, "add") == 0)
        return is_texts(json_object_get(body, "hosts"), HOSTS_MAX) &&
                       json_array_size(json_object_get(body, "hosts")) > 0
                   ? NULL
                   : "hosts: a list of 1 to 64 names";
    if (strcmp(action, "kill") == 0)
        return number_of(body, "tid") <= 0             ? "tid: the number of a task"
               : number_of(body, "tid") == console.tid ? "this is pvm web itself"
                                                       : NULL;
    if (*text_of(body, "program") == '\0')
        return "program: a name";
    if (number_of(body, "count") < 1 || number_of(body, "count") > COUNT_MAX)
        return "count: a number from 1 to 10000";
    json_t *arguments = json_object_get(body, "arguments");
    return arguments == NULL || is_texts(arguments, ARGUMENTS_MAX) ? NULL : "arguments: a list of at most 256 texts";
}

/* ---- the thread ---- */

__attribute__((format(printf, 2, 3))) static bool say(char text[TEXT_BYTES], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, TEXT_BYTES, format, args);
    va_end(args);
    return false;
}

static bool add(const json_t *body, char text[TEXT_BYTES])
{
    const json_t *hosts = json_object_get(body, "hosts");
    char *names[HOSTS_MAX];
    int status[HOSTS_MAX] = {0}, count = (int)json_array_size(hosts);

    for (int i = 0; i < count; i++)
        names[i] = (char *)json_string_value(json_array_get(hosts, (size_t)i));
    int added = pvm_addhosts(names, count, status);
    if (added == count)
        return !say(text, "added %d host%s", added, added == 1 ? "" : "s");
    if (added < 0)
        return say(text, "%s", error_text(added));
    for (int i = 0; i < count; i++)
        if (status[i] < 0)
            return say(text, "added %d of %d; %.100s: %s", added, count, names[i], error_text(status[i]));
    return say(text, "added %d of %d", added, count);
}

static bool spawn(const json_t *body, char text[TEXT_BYTES])
{
    const json_t *arguments = json_object_get(body, "arguments");
    const char *where = text_of(body, "host"), *program = text_of(body, "program");
    char *argv[ARGUMENTS_MAX + 1] = {NULL};
    int count = (int)number_of(body, "count");
    int *tids = calloc((size_t)count, sizeof(*tids));

    if (tids == NULL)
        return say(text, "out of memory");
    for (size_t i = 0; i < json_array_size(arguments); i++)
        argv[i] = (char *)json_string_value(json_array_get(arguments, i));
    int started = pvm_spawn((char *)program, argv, (*where != '\0' ? PvmTaskHost : PvmTaskDefault) | PvmTaskStreams,
                            (char *)where, count, tids);
    int code = started < 0 ? started : started < count ? tids[started] : 0;
    if (code < 0) {
        const char *why = pvm_spawnerr();
        say(text, "started %d of %d: %s%s%s", started > 0 ? started : 0, count, error_text(code),
            why != NULL && *why != '\0' ? ": " : "", why != NULL ? why : "");
    } else {
        say(text, "started %d task%s", started, started == 1 ? "" : "s");
    }
    free(tids);
    return code >= 0;
}

static bool kill_task(const json_t *body, char text[TEXT_BYTES])
{
    int tid = (int)number_of(body, "tid"), code = pvm_kill(tid);

    return code < 0 ? say(text, "t%x: %s", (unsigned)tid, error_text(code)) : !say(text, "killed t%x", (unsigned)tid);
}

static void fulfil(const struct wish *w)
{
    char text[TEXT_BYTES] = "";
    bool good = strcmp(w->action, "add") == 0     ? add(w->body, text)
                : strcmp(w->action, "spawn") == 0 ? spawn(w->body, text)
                                                  : kill_task(w->body, text);

    pthread_mutex_lock(&lock);
    if (results == NULL)
        results = json_array();
    json_array_append_new(results,
                          json_pack("{s:i, s:b, s:o}", "request", w->number, "good", good, "text", text_json(text)));
    json_decref(wishes[0].body);
    memmove(wishes, wishes + 1, (size_t)--wish_count * sizeof(*wishes));
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!ends) {
        if (wish_count == 0) {
            pthread_cond_wait(&news, &lock);
            continue;
        }
        struct wish w = wishes[0];
        pthread_mutex_unlock(&lock);
        fulfil(&w);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- the loop's side ---- */

/* Signals are for the loop. */
bool control_open(void)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    runs = pthread_create(&worker, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return runs;
}

int control_wish(const char *action, json_t *body, const char **why)
{
    const char *known = NULL;
    int number = 0;

    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(action, actions[i]) == 0)
            known = actions[i];
    *why = known == NULL           ? "no such action"
           : !json_is_object(body) ? "the body is not a JSON object"
                                   : fault(known, body);
    if (*why != NULL)
        return 0;
    pthread_mutex_lock(&lock);
    if (wish_count < WISHES_MAX) {
        number = ++last_number;
        wishes[wish_count++] = (struct wish){number, known, json_deep_copy(body)};
        pthread_cond_signal(&news);
    } else {
        *why = "too many requests wait";
    }
    pthread_mutex_unlock(&lock);
    return number;
}

json_t *control_results(void)
{
    pthread_mutex_lock(&lock);
    json_t *taken = results;
    results = NULL;
    pthread_mutex_unlock(&lock);
    return taken;
}

/* A wish that waits for a slow host is not waited for: the process is about to end. */
void control_close(void)
{
    if (!runs)
        return;
    pthread_mutex_lock(&lock);
    ends = true;
    bool idle = wish_count == 0;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    if (idle)
        pthread_join(worker, NULL);
}
