/* delegated.c - see delegated.h. */
#include "delegated.h"
#include <ev.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/log.h"
#include "core/visible.h"
#include "launch.h"
#include "pvm3.h"
#include "pvmd/base/self.h"
#include "pvmd/net/machine.h"
#include "pvmd/net/rpc.h"
#include "startup.h"

#define LAUNCHES_MAX 4096 /* more than hosts */
#define LABEL_MAX    128  /* bytes of a launcher's name for messages */

struct delegated {
    struct pvmd_question question; /* of the master */
    uint32_t number;
    struct pvmd_launch *launch;
    bool answered;
    double limit_s;
    ev_timer limit;
    struct delegated *prev, *next;
};

/* A DM_LAUNCH. */
struct order {
    uint32_t number;
    double limit_s;
    char label[LABEL_MAX];
    char host[PVMD_HOST_NAME_MAX + 1];
    struct pvmd_command command;
    char *text; /* with the secret: to be wiped */
};

static struct delegated *all;

static void forget(struct delegated *d)
{
    ev_timer_stop(pvmd.loop, &d->limit);
    DL_DELETE(all, d);
    free(d);
}

static void cancel(struct delegated *d)
{
    if (d->launch)
        pvmd_launch_cancel(d->launch);
    forget(d);
}

/* ---- answers ---- */

static void answer_failure(const struct pvmd_question *q, int code, bool reached, const char *why)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u8(&body, reached);
    pvmc_buf_put_string(&body, why);
    pvmd_answer(q, code, &body);
    pvmc_buf_free(&body);
}

static void started(void *owner, const struct pvmd_start_line *line)
{
    struct delegated *d = owner;
    char text[PVMD_START_LINE_MAX];
    struct pvmc_buf body;
    pvmd_start_line_format(line, text, sizeof text);
    pvmc_buf_init(&body);
    pvmc_buf_put_string(&body, text);
    pvmd_answer(&d->question, PvmOk, &body);
    pvmc_buf_free(&body);
    d->answered = true;
}

static void failed(void *owner, int code, bool reached, const char *why)
{
    struct delegated *d = owner;
    answer_failure(&d->question, code, reached, why);
    forget(d);
}

static const struct pvmd_launch_events launch_events = {.started = started, .failed = failed};

/* The master has not told the end of the launch: it may have forgotten it. */
static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct delegated *d = w->data;
    char why[1024];
    const char *words = pvmd_launch_last_words(d->launch);
    (void)loop, (void)events;
    snprintf(why, sizeof why, "no daemon has started within %g s%s%s", d->limit_s, *words ? "; it said: " : "", words);
    if (!d->answered)
        answer_failure(&d->question, PvmCantStart, false, why);
    cancel(d);
}

/* ---- orders ---- */

/* Completes the start text of a new daemon of our own machine: the secret does not travel. */
static int add_secret(const uint8_t *bytes, size_t length, struct order *o)
{
    struct pvmd_start_text t;
    int place, rc = pvmd_start_text_parse((const char *)bytes, length, &t);
    const struct pvmd_key *key = rc ? NULL : pvmd_machine_key(t.machine.id, &place);
    if (!rc && (!key || place >= PVMD_PLACE_TOKENS))
        rc = PVMC_EDENIED;
    if (!rc) {
        t.machine = key->machine;
        o->text = pvmd_start_text_format(&t);
        snprintf(o->host, sizeof o->host, "%s", t.name);
    }
    OPENSSL_cleanse(&t.machine, sizeof t.machine);
    pvmd_start_text_free(&t);
    return rc ? rc : o->text ? 0 : PVMC_ENOMEM;
}

static void get_command(struct pvmc_buf *body, struct pvmd_command *c)
{
    uint32_t count = pvmc_buf_get_u32(body);
    for (uint32_t i = 0; i < count && !pvmc_buf_error(body) && !c->failed; i++) {
        char *word = pvmc_buf_get_string(body);
        if (word)
            pvmd_command_add(c, word);
        free(word);
    }
}

static int get_order(struct pvmc_buf *body, struct order *o)
{
    size_t length;
    o->number = pvmc_buf_get_u32(body);
    o->limit_s = (double)pvmc_buf_get_u64(body) / 1e6;
    pvmc_buf_get_string_to(body, o->label, sizeof o->label);
    get_command(body, &o->command);
    const uint8_t *text = pvmc_buf_get_blob(body, &length);
    int rc = pvmc_buf_end(body);
    if (!rc && (o->command.failed || !o->command.count))
        rc = PVMC_EFORMAT;
    return rc ? rc : add_secret(text, length, o);
}

static void free_order(struct order *o)
{
    if (o->text)
        OPENSSL_cleanse(o->text, strlen(o->text));
    free(o->text);
    pvmd_command_free(&o->command);
}

static void run(const struct pvmd_question *q, struct order *o)
{
    char why[256] = "out of memory, or too many launches";
    struct delegated *d = NULL, *other;
    unsigned count;
    DL_COUNT(all, other, count);
    if (count < LAUNCHES_MAX)
        d = calloc(1, sizeof *d);
    if (d)
        d->launch = pvmd_launch_start(pvmd.loop, o->label, &o->command, o->text, &launch_events, d, why, sizeof why);
    if (!d || !d->launch) {
        answer_failure(q, PvmOutOfRes, false, why);
        free(d);
        return;
    }
    d->question = *q;
    d->number = o->number;
    d->limit_s = o->limit_s;
    ev_timer_init(&d->limit, limit_event, o->limit_s, 0.);
    d->limit.data = d;
    ev_timer_start(pvmd.loop, &d->limit);
    DL_APPEND(all, d);
    pvmc_log(PVMC_LOG_INFO, "starting host %s for the master, by %s", PVMC_VISIBLE(o->host), PVMC_VISIBLE(o->label));
}

static bool is_from_master(const struct pvmd_question *q)
{
    return q->host_index == pvmd.master_index && !pvmd_is_master();
}

static int launch(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct order o = {0};
    int rc = is_from_master(q) ? get_order(body, &o) : PVMC_EDENIED;
    if (!rc)
        run(q, &o);
    free_order(&o);
    return rc;
}

static struct delegated *find(unsigned host_index, uint32_t number)
{
    struct delegated *d;
    DL_FOREACH (all, d)
        if (d->question.host_index == host_index && d->number == number)
            return d;
    return NULL;
}

static int launch_end(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct delegated *d = find(q->host_index, pvmc_buf_get_u32(body));
    bool linked = pvmc_buf_get_u8(body);
    int rc = pvmc_buf_end(body);
    if (rc || !d)
        return rc;
    if (!linked) {
        if (!d->answered) /* the master's side of it waits for that */
            answer_failure(&d->question, PvmCantStart, false, "the master does not want it any more");
        cancel(d);
        return 0;
    }
    pvmd_launch_release(d->launch);
    forget(d);
    return 0;
}

/* ---- events, start and end ---- */

static void cancel_others(unsigned than)
{
    struct delegated *d, *next;
    DL_FOREACH_SAFE (all, d, next)
        if (d->question.host_index != than)
            cancel(d);
}

void pvmd_delegated_link_lost(unsigned host_index, const char *why)
{
    (void)why;
    if (host_index == pvmd.master_index && !pvmd_is_master())
        cancel_others(0);
}

void pvmd_delegated_master_changed(void)
{
    cancel_others(pvmd_is_master() ? 0 : pvmd.master_index);
}

void pvmd_delegated_start(void)
{
    pvmd_dm_handle(PVMD_DM_LAUNCH, launch);
    pvmd_dm_handle(PVMD_DM_LAUNCH_END, launch_end);
}

void pvmd_delegated_stop(void)
{
    cancel_others(0);
}
