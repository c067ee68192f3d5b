/* add.c - adding hosts. */
#include "add.h"
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "arrival.h"
#include "fanout.h"
#include "leave.h"
#include "membership.h"
#include "pvmd/net/liveness.h"
#include "pvmd/launch/manual.h"
#include "newcomer.h"
#include "tokens.h"
#include "pvm3.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/tables.h"

#define ORDERS_MAX    64   /* under way */
#define NEWCOMERS_MAX 8192 /* of all of them */
#define REST          3    /* times the time that the last batch took */
#define REST_MAX_S    2.   /* one slow host must not delay all others */

/* Of a host, in a line. */
struct name {
    const char *text;
    size_t length;
};

/* The hosts of one caller. */
struct order {
    struct pvmd_newcomer *newcomers;
    char **lines;
    struct name *names; /* of the lines, in order */
    unsigned count;
    const struct pvmd_hostfile *hostfile;
    uint32_t asker, asked;        /* as in struct pvmd_host */
    struct pvmd_arrival *arrival; /* that joins by itself, and is the only one of this order; NULL: they are launched */
    bool begun;                   /* else an earlier order is adding a host of the same name, or idle is set */
    pvmd_added *added;
    void *arg;
    struct order *prev, *next;
};

static struct order *orders;    /* in order of arrival */
static ev_prepare work_watcher; /* never started: fed when there may be work */
static void (*idle)(void);      /* called when no order is begun; none begins before that is NULL again */

/* Hosts that all daemons are being told of; by index, because each may be lost meanwhile. */
static struct {
    unsigned *indices;
    unsigned count;
    unsigned open; /* answers still to come */
    bool active;
    bool published; /* in the table of members, not yet committed */
    int64_t begun_us;
    ev_timer rest; /* before the next one */
} batch;

static void work(void);

static void work_event(struct ev_loop *loop, ev_prepare *w, int events)
{
    (void)loop, (void)w, (void)events;
    work();
}

/* Only the loop does the work, so that no callback runs inside a caller's function. */
static void schedule(void)
{
    if (ev_is_pending(&work_watcher))
        return;
    ev_prepare_init(&work_watcher, work_event);
    ev_feed_event(pvmd.loop, &work_watcher, EV_PREPARE);
}

static void newcomer_settled(struct pvmd_newcomer *n)
{
    (void)n;
    schedule();
}

static struct pvmd_newcomer *newcomer_of(const struct pvmd_host *host)
{
    struct order *o;
    DL_FOREACH (orders, o)
        for (unsigned i = 0; i < o->count; i++)
            if (host && o->newcomers[i].host == host)
                return &o->newcomers[i];
    return NULL;
}

/* ---- start of an order ---- */

/* The word that would be the host's name, for comparison before the line is parsed. */
static struct name name_of(const char *line)
{
    line += strspn(line, " \t&$");
    return (struct name){line, strcspn(line, " \t")};
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int order = strncasecmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

/* Both lists are sorted. */
static bool shares_name(const struct order *a, const struct order *b)
{
    for (unsigned i = 0, j = 0; i < a->count && j < b->count;) {
        int order = compare_names(&a->names[i], &b->names[j]);
        if (!order)
            return true;
        i += order < 0;
        j += order > 0;
    }
    return false;
}

static bool must_wait(const struct order *o)
{
    struct order *earlier;
    DL_FOREACH (orders, earlier) {
        if (earlier == o)
            return false;
        if (shares_name(o, earlier))
            return true;
    }
    return false;
}

/* Adds options that the line lacks, from the host's line in the hostfile, else from the file's last defaults. */
static int fill_in(struct pvmd_host_spec *spec, const struct pvmd_hostfile *hostfile)
{
    const struct pvmd_host_spec *line = hostfile ? pvmd_hostfile_find(hostfile, spec->name) : NULL;
    if (!hostfile)
        return 0;
    if (line)
        spec->overload |= line->overload;
    return pvmd_host_spec_default(spec, line ? line : &hostfile->defaults);
}

/* Whether an earlier master has added the host for this very request, but could not say so. */
static bool is_added(const struct pvmd_newcomer *n, const struct order *o)
{
    const struct pvmd_host *h = pvmd_host_by_name(n->spec.name);
    return h && o->asked && h->asked == o->asked && h->asker == o->asker;
}

static void enter_table(struct pvmd_newcomer *n, const struct order *o)
{
    const char *name = n->spec.name;
    if (is_added(n, o)) {
        n->status = (int)pvmc_tid_of_host_index(pvmd_host_by_name(name)->index);
        n->phase = PVMD_NEWCOMER_DONE;
        schedule();
        return;
    }
    n->host = pvmd_manual_take(name);
    if (n->host && n->spec.answer)
        return;
    if (n->host) { /* restarted */
        pvmd_host_free(n->host);
        n->host = NULL;
    }
    if (n->spec.answer) {
        pvmd_newcomer_fail(n, PvmBadParam, "no start by hand is under way: add it with so=ms first, without this line");
        return;
    }
    if (pvmd_host_any_by_name(name)) {
        pvmd_newcomer_fail(n, PvmDupHost, "the machine has a host of this name");
        return;
    }
    unsigned index = pvmc_failpoint(PVMC_FAILPOINT_HOST_ENTER) ? 0 : pvmd_host_next_index();
    uint32_t incarnation = pvmd_membership_new_incarnation();
    n->host = index && incarnation ? pvmd_host_new(index, incarnation, name) : NULL;
    if (!n->host)
        pvmd_newcomer_fail(n, PvmOutOfRes, "the host table is full, or there are no random numbers");
    else
        pvmd_liveness_go_on();
    if (n->host) {
        n->host->asker = o->asker;
        n->host->asked = o->asked;
    }
    if (n->host && n->arrival)
        n->host->token = (uint8_t)(pvmd_arrival_token(n->arrival) - PVMD_PLACE_TOKENS + 1);
    if (n->host && n->spec.speed)
        n->host->speed = n->spec.speed;
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_ENTER);
}

static void begin_newcomer(struct pvmd_newcomer *n, const char *line, const struct order *o)
{
    char why[256];
    n->arrival = o->arrival;
    int rc = pvmd_host_spec_parse(line, strlen(line), &n->spec, why, sizeof why);
    if (!rc && !n->spec.name)
        pvmd_newcomer_fail(n, PvmBadParam, "a host name is missing");
    else if (rc)
        pvmd_newcomer_fail(n, n->spec.name ? PvmBadParam : PvmNoHost, "%s", *why ? why : pvmc_error_text(rc));
    else if (fill_in(&n->spec, o->hostfile))
        pvmd_newcomer_fail(n, PvmNoMem, "out of memory");
    else
        enter_table(n, o);
}

static void begin(struct order *o)
{
    o->begun = true;
    for (unsigned i = 0; i < o->count; i++)
        begin_newcomer(&o->newcomers[i], o->lines[i], o);
}

/* ---- batches ---- */

static void batch_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)arg, (void)body;
    struct pvmd_host *host = pvmd_host_any(host_index);
    if (code < 0 && host && newcomer_of(host))
        pvmd_add_link_lost(host, "it does not accept the host table");
    else if (code < 0 && host && host->state == PVMD_HOST_UP)
        pvmc_log(PVMC_LOG_ERROR, "host %s does not accept a new host: %s", host->name, pvmc_error_text(code));
    if (!--batch.open)
        schedule();
}

static void tell(const struct pvmd_host *host, const struct pvmc_buf *body)
{
    batch.open++;
    pvmd_ask(host->index, PVMD_DM_HOST_ADD, body, batch_answered, NULL);
}

/* Rows of all members, if wanted, then of the batch. */
static void put_table(struct pvmc_buf *b, struct pvmd_host **members, size_t count)
{
    pvmc_buf_init(b);
    pvmc_buf_put_u32(b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        pvmd_host_put_row(b, members[i]);
    pvmc_buf_put_u32(b, batch.count);
    for (unsigned i = 0; i < batch.count; i++)
        pvmd_host_put_row(b, pvmd_host_any(batch.indices[i]));
}

/* Tells members of the batch, and the batch of the members and itself. */
static void tell_all(void)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    struct pvmc_buf news, table;
    put_table(&news, NULL, 0);
    put_table(&table, members, count);
    for (size_t i = 0; i < count; i++)
        if (members[i] != pvmd_host_self())
            tell(members[i], &news);
    for (unsigned i = 0; i < batch.count; i++)
        tell(pvmd_host_any(batch.indices[i]), &table);
    pvmc_buf_free(&news);
    pvmc_buf_free(&table);
}

static void collect(void)
{
    struct order *o;
    DL_FOREACH (orders, o) {
        for (unsigned i = 0; i < o->count; i++) {
            struct pvmd_newcomer *n = &o->newcomers[i];
            if (n->phase != PVMD_NEWCOMER_LINKED)
                continue;
            unsigned *grown = realloc(batch.indices, (batch.count + 1) * sizeof *grown);
            if (!grown)
                return; /* the next batch */
            batch.indices = grown;
            batch.indices[batch.count++] = n->host->index;
            pvmd_host_set_state(n->host, PVMD_HOST_JOINING);
        }
    }
}

/* Launched, or arriving by themselves. */
static bool are_others_coming(void)
{
    struct order *o;
    DL_FOREACH (orders, o)
        for (unsigned i = 0; i < o->count; i++)
            if (o->newcomers[i].phase > PVMD_NEWCOMER_TURN && o->newcomers[i].phase < PVMD_NEWCOMER_LINKED)
                return true;
    return false;
}

static void begin_batch(void)
{
    batch.count = 0;
    if (!ev_is_active(&batch.rest) || !are_others_coming())
        collect();
    if (!batch.count)
        return;
    ev_timer_stop(pvmd.loop, &batch.rest);
    batch.active = true;
    batch.begun_us = pvmc_clock_us();
    pvmc_failpoint(PVMC_FAILPOINT_HOST_TELL);
    pvmd_tables_indices_given();
    tell_all();
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_TELL);
}

static void make_member(struct pvmd_newcomer *n)
{
    pvmc_log(PVMC_LOG_INFO, "host %s (%s, %s port %u) is a member", n->host->name, n->host->arch, n->host->address,
             n->host->port);
    n->status = (int)pvmc_tid_of_host_index(n->host->index);
    if (n->token)
        pvmd_tokens_spend(n->token);
    n->token = 0;
    n->phase = PVMD_NEWCOMER_DONE;
    n->host = NULL; /* it may leave before the order is done */
}

/* All daemons know the batch: its hosts become members. Hosts lost meanwhile are out of the table already. */
static void publish_batch(void)
{
    pvmc_failpoint(PVMC_FAILPOINT_HOST_UP);
    for (unsigned i = 0; i < batch.count; i++) {
        struct pvmd_newcomer *n = newcomer_of(pvmd_host_any(batch.indices[i]));
        if (n)
            pvmd_host_set_state(n->host, PVMD_HOST_UP);
    }
    batch.published = true;
    pvmd_membership_changed();
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_UP);
}

static void rest_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    schedule();
}

/*
 * A batch costs each daemon some messages, whatever its size. So newcomers gather for some time, unless all are there:
 * batches then take at most a quarter of the time unless they are slow, and become larger as the machine does.
 */
static void rest(void)
{
    double rest_s = REST * (double)(pvmc_clock_us() - batch.begun_us) / 1e6;
    ev_timer_init(&batch.rest, rest_event, rest_s < REST_MAX_S ? rest_s : REST_MAX_S, 0.);
    ev_timer_start(pvmd.loop, &batch.rest);
}

/* They are members, whatever happens to this master. */
static void end_batch(void)
{
    for (unsigned i = 0; i < batch.count; i++) {
        struct pvmd_host *host = pvmd_host_any(batch.indices[i]);
        struct pvmd_newcomer *n = newcomer_of(host);
        if (!n)
            continue;
        make_member(n);
        pvmd_tell_host_joined(host);
    }
    batch.active = batch.published = false;
    rest();
}

/* ---- end of an order ---- */

static void free_order(struct order *o)
{
    for (unsigned i = 0; i < o->count; i++) {
        if (o->newcomers)
            pvmd_newcomer_clear(&o->newcomers[i]);
        if (o->lines)
            free(o->lines[i]);
    }
    free(o->newcomers);
    free(o->names);
    free(o->lines);
    free(o);
}

static bool is_done(const struct order *o)
{
    for (unsigned i = 0; i < o->count; i++)
        if (o->newcomers[i].phase != PVMD_NEWCOMER_DONE)
            return false;
    return o->begun;
}

/* Hosts that are still being added when the daemon ends count as failed. */
static void finish(struct order *o)
{
    int *status = malloc((o->count + 1) * sizeof *status);
    const char **why = malloc((o->count + 1) * sizeof *why);
    DL_DELETE(orders, o);
    for (unsigned i = 0; status && why && i < o->count; i++) {
        status[i] = o->newcomers[i].phase == PVMD_NEWCOMER_DONE ? o->newcomers[i].status : PvmDSysErr;
        why[i] = o->newcomers[i].why;
    }
    if (status && why && o->added)
        o->added(o->arg, o->count, status, why);
    free(status);
    free(why);
    free_order(o);
    if (!orders)
        pvmd_fanout_clear_all();
}

/* ---- progress ---- */

static void launch_next(struct order *o)
{
    bool here = pvmd_fanout_is_free_here() || o->arrival; /* which launches itself */
    unsigned member = here ? 0 : pvmd_fanout_member();
    for (unsigned i = 0; i < o->count && (here || member); i++) {
        struct pvmd_newcomer *n = &o->newcomers[i];
        if (n->phase != PVMD_NEWCOMER_TURN || !(here || pvmd_newcomer_travels(n)))
            continue;
        pvmd_newcomer_begin(n, here ? pvmd.host_index : member);
        here = pvmd_fanout_is_free_here();
        member = here ? 0 : pvmd_fanout_member();
    }
}

static void work(void)
{
    struct order *o, *next;
    DL_FOREACH_SAFE (orders, o, next) {
        if (!o->begun && !must_wait(o) && !idle)
            begin(o);
        if (o->begun)
            launch_next(o);
    }
    if (batch.active && !batch.open && !batch.published)
        publish_batch();
    if (batch.published && pvmd_membership_is_known())
        end_batch();
    if (!batch.active)
        begin_batch();
    DL_FOREACH_SAFE (orders, o, next) {
        if (!is_done(o))
            continue;
        finish(o);
        schedule(); /* another order may be waiting for it */
    }
    if (idle && !pvmd_add_is_begun())
        idle();
}

/* ---- called by other rooms ---- */

static bool copy_lines(struct order *o, const char *const *lines)
{
    for (unsigned i = 0; i < o->count; i++) {
        o->lines[i] = strdup(lines[i]);
        if (!o->lines[i])
            return false;
        o->newcomers[i].settled = newcomer_settled;
        o->names[i] = name_of(o->lines[i]);
    }
    qsort(o->names, o->count, sizeof *o->names, compare_names);
    return true;
}

static bool has_room_for(unsigned count)
{
    const struct order *o;
    unsigned others = 0;
    DL_FOREACH (orders, o) {
        others += !o->arrival;
        count += o->count;
    }
    return others < ORDERS_MAX && count <= NEWCOMERS_MAX;
}

/* Takes a new order in. The texts are copied. */
static int put_order(struct order *o, const char *const *lines)
{
    o->lines = calloc(o->count + 1, sizeof *o->lines);
    o->newcomers = calloc(o->count + 1, sizeof *o->newcomers);
    o->names = calloc(o->count + 1, sizeof *o->names);
    if (!o->lines || !o->newcomers || !o->names || !copy_lines(o, lines)) {
        free_order(o);
        return PVMC_ENOMEM;
    }
    DL_APPEND(orders, o);
    schedule();
    return 0;
}

int pvmd_add_hosts(const char *const *lines, unsigned count, const struct pvmd_hostfile *hostfile,
                   const struct pvmd_petition *petition, pvmd_added *added, void *arg)
{
    if (!has_room_for(count)) {
        pvmc_log(PVMC_LOG_WARNING, "%u more hosts refused: too many are being added", count);
        return PVMC_ELIMIT;
    }
    struct order *o = calloc(1, sizeof *o);
    if (!o)
        return PVMC_ENOMEM;
    o->count = count;
    o->hostfile = hostfile;
    o->asker = petition ? petition->question.host_index : 0;
    o->asked = petition ? petition->number : 0;
    o->added = added;
    o->arg = arg;
    return put_order(o, lines);
}

int pvmd_add_arrival(const char *line, struct pvmd_arrival *arrival)
{
    struct order *o = calloc(1, sizeof *o);
    if (!o)
        return PVMC_ENOMEM;
    o->count = 1;
    o->arrival = arrival;
    return put_order(o, &line);
}

bool pvmd_add_concerns(const struct pvmd_host *host)
{
    return newcomer_of(host);
}

void pvmd_add_committed(uint32_t seq)
{
    (void)seq;
    if (batch.published)
        schedule();
}

bool pvmd_add_busy(void)
{
    return orders != NULL;
}

bool pvmd_add_is_begun(void)
{
    const struct order *o;
    DL_FOREACH (orders, o)
        if (o->begun)
            return true;
    return false;
}

void pvmd_add_hold(void (*now_idle)(void))
{
    bool was_held = idle;
    idle = now_idle;
    if (was_held && !idle && orders)
        schedule();
}

void pvmd_add_link_up(struct pvmd_host *host)
{
    struct pvmd_newcomer *n = newcomer_of(host);
    if (n && n->phase == PVMD_NEWCOMER_LINK)
        pvmd_newcomer_link_up(n);
}

void pvmd_add_link_lost(struct pvmd_host *host, const char *why)
{
    struct pvmd_newcomer *n = newcomer_of(host);
    bool known = host->state == PVMD_HOST_JOINING, is_member = host->state == PVMD_HOST_UP;
    unsigned index = host->index;
    uint32_t incarnation = host->incarnation;
    if (!n || pvmd_newcomer_comes_back(n, why))
        return;
    pvmd_newcomer_fail(n, PvmCantStart, "%s: %s",
                       n->phase == PVMD_NEWCOMER_LINK ? "its daemon runs but cannot be called" : "lost while it joined",
                       why);
    schedule();
    if (known)
        pvmd_leave_tell(index, incarnation);
    if (known || is_member)
        pvmd_rpc_host_left(index);
    if (is_member)
        pvmd_membership_changed();
}

void pvmd_add_stop(void)
{
    while (orders)
        finish(orders);
    ev_timer_stop(pvmd.loop, &batch.rest);
    free(batch.indices);
    memset(&batch, 0, sizeof batch);
}
