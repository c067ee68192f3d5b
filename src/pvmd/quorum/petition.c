/* petition.c - see petition.h. */
#include "petition.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "pvm3.h"
#include "pvmd/base/self.h"

/* ---- asking ---- */

struct asking {
    uint32_t number;
    struct pvmc_buf petition; /* as it travels */
    pvmd_answered *answered;
    void *arg;
    bool asked; /* the current master */
    struct asking *prev, *next;
};

static struct asking *all_asking; /* in order of number */
static uint32_t last_number;

static void finish_asking(struct asking *a, unsigned host_index, int code, struct pvmc_buf *body)
{
    DL_DELETE(all_asking, a);
    a->answered(a->arg, host_index, code, body);
    pvmc_buf_free(&a->petition);
    free(a);
}

static void ask(struct asking *a);

/* PvmHostFail comes from rpc.c when the master's host has left the table: the next master will be asked. */
static void asking_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    struct asking *a = arg;
    if (code != PvmHostFail || pvmd.ending) {
        finish_asking(a, host_index, code, body);
        return;
    }
    a->asked = false;
    if (host_index != pvmd.master_index)
        ask(a);
}

static void ask(struct asking *a)
{
    if (pvmd_tables_are_leaderless())
        return;
    a->asked = true;
    pvmd_ask(pvmd.master_index, PVMD_DM_PETITION, &a->petition, asking_answered, a);
}

/* Our oldest question may have been answered when it is asked again: then its answer is kept for longer than needed. */
static void put_petition(struct pvmc_buf *b, uint32_t number, enum pvmd_dm what, const struct pvmc_buf *head,
                         const struct pvmc_buf *body)
{
    pvmc_buf_init(b);
    pvmc_buf_put_u32(b, number);
    pvmc_buf_put_u32(b, all_asking->number);
    pvmc_buf_put_u32(b, (uint32_t)what);
    pvmc_buf_put_u32(b, (uint32_t)((head ? head->length : 0) + body->length)); /* a blob of both */
    if (head)
        pvmc_buf_put_bytes(b, head->data, head->length);
    pvmc_buf_put_bytes(b, body->data, body->length);
}

static void refuse(pvmd_answered *answered, void *arg, int code)
{
    struct pvmc_buf empty;
    pvmc_buf_view(&empty, NULL, 0);
    answered(arg, pvmd.master_index, code, &empty);
}

static void ignore_answer(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)arg, (void)host_index, (void)code, (void)body;
}

void pvmd_ask_master_headed(enum pvmd_dm what, const struct pvmc_buf *head, const struct pvmc_buf *body,
                            pvmd_answered *answered, void *arg)
{
    answered = answered ? answered : ignore_answer;
    struct asking *a = calloc(1, sizeof *a);
    if (!a) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for a request to the master");
        refuse(answered, arg, PvmNoMem);
        return;
    }
    *a = (struct asking){.number = ++last_number, .answered = answered, .arg = arg};
    DL_APPEND(all_asking, a);
    put_petition(&a->petition, a->number, what, head, body);
    if (pvmc_buf_error(&a->petition))
        refuse(asking_answered, a, PvmNoMem);
    else
        ask(a);
}

void pvmd_ask_master(enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void *arg)
{
    pvmd_ask_master_headed(what, NULL, body, answered, arg);
}

void pvmd_petition_master_changed(void)
{
    struct asking *a, *next;
    DL_FOREACH_SAFE (all_asking, a, next)
        if (!a->asked)
            ask(a);
}

/* ---- answers that may have to be given again ---- */

struct given {
    unsigned asker; /* host index */
    uint32_t number;
    int code;
    uint8_t *body;
    size_t length;
    struct given *prev, *next;
};

static struct given *all_given;

static void free_given(struct given *g)
{
    DL_DELETE(all_given, g);
    free(g->body);
    free(g);
}

static void put_given(struct pvmc_buf *b, unsigned asker, uint32_t number, uint32_t oldest, int code, const void *body,
                      size_t length)
{
    pvmc_buf_put_u32(b, asker);
    pvmc_buf_put_u32(b, number);
    pvmc_buf_put_u32(b, oldest);
    pvmc_buf_put_i32(b, code);
    pvmc_buf_put_blob(b, body, length);
}

/* The asker has the answers to its requests before `oldest`. */
static void forget(unsigned asker, uint32_t oldest)
{
    struct given *g, *next;
    DL_FOREACH_SAFE (all_given, g, next)
        if (g->asker == asker && g->number < oldest)
            free_given(g);
}

static int get_given(struct pvmc_buf *b)
{
    struct given *g = calloc(1, sizeof *g);
    if (!g)
        return PVMC_ENOMEM;
    g->asker = pvmc_buf_get_u32(b);
    g->number = pvmc_buf_get_u32(b);
    uint32_t oldest = pvmc_buf_get_u32(b);
    g->code = pvmc_buf_get_i32(b);
    const uint8_t *body = pvmc_buf_get_blob(b, &g->length);
    int rc = pvmc_buf_end(b);
    if (!rc && !(g->body = malloc(g->length + 1)))
        rc = PVMC_ENOMEM;
    if (rc) {
        free(g);
        return rc;
    }
    if (g->length)
        memcpy(g->body, body, g->length);
    forget(g->asker, oldest);
    DL_APPEND(all_given, g);
    return 0;
}

static void save_given(void (*piece)(const struct pvmc_buf *part))
{
    struct given *g;
    DL_FOREACH (all_given, g) {
        struct pvmc_buf b;
        pvmc_buf_init(&b);
        put_given(&b, g->asker, g->number, 0, g->code, g->body, g->length);
        piece(&b);
        pvmc_buf_free(&b);
    }
}

static void clear_given(void)
{
    while (all_given)
        free_given(all_given);
}

void pvmd_petition_host_left(unsigned index)
{
    forget(index, UINT32_MAX);
}

static const struct pvmd_table table = {
    .apply = get_given, .save = save_given, .clear = clear_given, .load = get_given};

/* ---- answering, at the master ---- */

#define HANDLERS_MAX 16

static struct {
    enum pvmd_dm what;
    pvmd_petition_handler *handler;
} handlers[HANDLERS_MAX];

/* An answer that waits until its change is committed. */
struct due {
    uint32_t seq;
    struct pvmd_question question;
    int code;
    struct pvmc_buf body;
    struct due *prev, *next;
};

static struct due *all_due; /* in order of seq */

void pvmd_petition_handle(enum pvmd_dm what, pvmd_petition_handler *handler)
{
    unsigned i = 0;
    while (handlers[i].handler && handlers[i].what != what)
        i++;
    handlers[i].what = what;
    handlers[i].handler = handler;
}

static void answer_when(uint32_t seq, const struct pvmd_question *q, int code, const struct pvmc_buf *body)
{
    if (pvmd_tables_have_committed(seq)) {
        pvmd_answer(q, code, body);
        return;
    }
    struct due *d = calloc(1, sizeof *d);
    if (!d) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for an answer to host %u", q->host_index);
        pvmd_answer(q, PvmNoMem, NULL);
        return;
    }
    *d = (struct due){.seq = seq, .question = *q, .code = code};
    pvmc_buf_init(&d->body);
    if (body)
        pvmc_buf_put_bytes(&d->body, body->data, body->length);
    DL_APPEND(all_due, d);
}

void pvmd_petition_committed(uint32_t seq)
{
    while (all_due && all_due->seq <= seq) {
        struct due *d = all_due;
        DL_DELETE(all_due, d);
        pvmd_answer(&d->question, d->code, &d->body);
        pvmc_buf_free(&d->body);
        free(d);
    }
}

void pvmd_petition_answer(const struct pvmd_petition *p, int code, const struct pvmc_buf *body)
{
    answer_when(pvmd_tables_changed(PVMD_TABLE_NONE, NULL, NULL), &p->question, code, body);
}

/* A change together with the answer to the request for it. Returns its number. */
static uint32_t change_and_answer(const struct pvmd_petition *p, enum pvmd_table_kind kind,
                                  const struct pvmc_buf *change, int code, const struct pvmc_buf *body)
{
    struct pvmc_buf answer, own;
    pvmc_buf_init(&answer);
    put_given(&answer, p->question.host_index, p->number, p->oldest, code, body ? body->data : NULL,
              body ? body->length : 0);
    pvmc_buf_view(&own, answer.data, answer.length);
    if (get_given(&own))
        pvmc_log(PVMC_LOG_ERROR, "no memory to keep an answer");
    uint32_t seq = pvmd_tables_changed(kind, change, &answer);
    pvmc_buf_free(&answer);
    return seq;
}

void pvmd_petition_changed(const struct pvmd_petition *p, enum pvmd_table_kind kind, const struct pvmc_buf *change,
                           int code, const struct pvmc_buf *body)
{
    answer_when(change_and_answer(p, kind, change, code, body), &p->question, code, body);
}

void pvmd_petition_keep(const struct pvmd_petition *p, int code, const struct pvmc_buf *body)
{
    change_and_answer(p, PVMD_TABLE_NONE, NULL, code, body);
}

/* Whether it has been answered before, by us or by an earlier master. */
static bool answer_again(const struct pvmd_petition *p)
{
    struct given *g;
    DL_FOREACH (all_given, g) {
        if (g->asker != p->question.host_index || g->number != p->number)
            continue;
        struct pvmc_buf body;
        pvmc_buf_view(&body, g->body, g->length);
        body.length = g->length;
        pvmd_petition_answer(p, g->code, &body);
        return true;
    }
    return false;
}

static int petition(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct pvmd_petition p = {.question = *q, .number = pvmc_buf_get_u32(body)};
    struct pvmc_buf rest;
    size_t length;
    p.oldest = pvmc_buf_get_u32(body);
    enum pvmd_dm what = pvmc_buf_get_u32(body);
    const uint8_t *data = pvmc_buf_get_blob(body, &length);
    int rc = pvmc_buf_end(body);
    if (rc || !pvmd_is_master())
        return rc ? rc : PVMC_EDENIED;
    forget(q->host_index, p.oldest);
    if (answer_again(&p))
        return 0;
    pvmc_buf_view(&rest, data, length);
    for (unsigned i = 0; i < HANDLERS_MAX && handlers[i].handler; i++)
        if (handlers[i].what == what)
            return handlers[i].handler(&p, &rest);
    return PVMC_EUNSUPPORTED;
}

void pvmd_petition_start(void)
{
    pvmd_table_register(PVMD_TABLE_ANSWERS, &table);
    pvmd_dm_handle(PVMD_DM_PETITION, petition);
}

/* The askers free what they keep for the answer. */
void pvmd_petition_stop(void)
{
    while (all_asking)
        refuse(asking_answered, all_asking, PvmHostFail);
    while (all_due) {
        struct due *d = all_due;
        DL_DELETE(all_due, d);
        pvmc_buf_free(&d->body);
        free(d);
    }
    clear_given();
    memset(handlers, 0, sizeof handlers);
    last_number = 0;
}
