/* tables.c - see tables.h. */
#include "tables.h"
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "election.h"
#include "message.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "pvmd/net/link.h"
#include "pvmd/net/rpc.h"

/* Members notice a silent master at different times; then one of them is elected. Times PVM_HOST_TIMEOUT; seconds. */
#define NOTICE_SPREAD 0.1
#define ELECTION_S    1.

/* A part of a table that has arrived ahead of its STATE. */
struct part {
    enum pvmd_table_kind kind;
    uint8_t *data;
    size_t length;
    struct part *prev, *next;
};

static struct pvmd_quorum quorum;
static const struct pvmd_table *tables[PVMD_TABLE_KINDS];
static struct part *parts;
static unsigned parts_from;      /* host index */
static uint32_t first_as_master; /* our first change as master */
static ev_timer stuck;           /* at a master whose changes are not acknowledged */
static ev_prepare progress;      /* never started: fed when changes are committed */

void pvmd_table_register(enum pvmd_table_kind kind, const struct pvmd_table *table)
{
    tables[kind] = table;
}

/* ---- who is who ---- */

static struct pvmd_host *host_of(uint32_t incarnation)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    for (size_t i = 0; i < count; i++)
        if (members[i]->incarnation == incarnation)
            return members[i];
    return NULL;
}

/* ---- parts of tables ---- */

static void drop_parts(void)
{
    struct part *p, *next;
    DL_FOREACH_SAFE (parts, p, next) {
        DL_DELETE(parts, p);
        free(p->data);
        free(p);
    }
}

static int keep_part(unsigned from, enum pvmd_table_kind kind, const uint8_t *data, size_t length)
{
    if (from != parts_from)
        drop_parts();
    parts_from = from;
    struct part *p = calloc(1, sizeof *p);
    if (!p || !(p->data = malloc(length + 1))) {
        free(p);
        return PVMC_ENOMEM;
    }
    p->kind = kind;
    p->length = length;
    if (length)
        memcpy(p->data, data, length);
    DL_APPEND(parts, p);
    return 0;
}

static int part_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    size_t length;
    unsigned kind = pvmc_buf_get_u8(body);
    const uint8_t *data = pvmc_buf_get_blob(body, &length);
    int rc = pvmc_buf_end(body);
    if (!rc && (kind >= PVMD_TABLE_KINDS || !tables[kind]))
        rc = PVMC_EFORMAT;
    return rc ? rc : keep_part(q->host_index, kind, data, length);
}

static unsigned parts_to;
static enum pvmd_table_kind part_kind;

static void send_part(const struct pvmc_buf *part)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, (uint8_t)part_kind);
    pvmc_buf_put_blob(&b, part->data, part->length);
    pvmd_ask(parts_to, PVMD_DM_TABLE_PART, &b, NULL, NULL);
    pvmc_buf_free(&b);
}

static void send_parts(unsigned host_index)
{
    parts_to = host_index;
    for (part_kind = PVMD_TABLE_NONE; part_kind < PVMD_TABLE_KINDS; part_kind++)
        if (tables[part_kind])
            tables[part_kind]->save(send_part);
}

/* ---- events of the quorum ---- */

static void send_message(void *arg, uint32_t to, const struct pvmd_quorum_message *m)
{
    const struct pvmd_host *host = host_of(to);
    struct pvmc_buf b;
    (void)arg;
    if (!host || host == pvmd_host_self())
        return;
    if (m->kind == PVMD_QUORUM_STATE)
        send_parts(host->index);
    pvmc_buf_init(&b);
    pvmd_quorum_put(&b, m);
    pvmd_ask(host->index, PVMD_DM_QUORUM, &b, NULL, NULL);
    pvmc_buf_free(&b);
}

static int apply_to(unsigned kind, const uint8_t *data, size_t length)
{
    struct pvmc_buf b;
    if (!length)
        return 0;
    if (kind >= PVMD_TABLE_KINDS || !tables[kind])
        return PVMC_EFORMAT;
    pvmc_buf_view(&b, data, length);
    return tables[kind]->apply(&b);
}

/* A change, and the answer to the request that caused it. */
static int apply(void *arg, const uint8_t *change, size_t length)
{
    struct pvmc_buf b;
    size_t change_length, answer_length;
    (void)arg;
    pvmc_buf_view(&b, change, length);
    unsigned kind = pvmc_buf_get_u8(&b);
    const uint8_t *what = pvmc_buf_get_blob(&b, &change_length);
    const uint8_t *answer = pvmc_buf_get_blob(&b, &answer_length);
    int rc = pvmc_buf_end(&b);
    rc = rc ? rc : apply_to(kind, what, change_length);
    rc = rc ? rc : apply_to(PVMD_TABLE_ANSWERS, answer, answer_length);
    if (rc)
        pvmc_log(PVMC_LOG_WARNING, "cannot follow the master's change of table %u: %s", kind, pvmc_error_text(rc));
    return rc;
}

static void save(void *arg, struct pvmc_buf *b)
{
    (void)arg, (void)b; /* the parts have been sent ahead */
}

static int load(void *arg, const uint8_t *data, size_t length)
{
    int rc = 0;
    struct part *p;
    (void)arg, (void)data, (void)length;
    for (unsigned k = 0; k < PVMD_TABLE_KINDS; k++)
        if (tables[k])
            tables[k]->clear();
    DL_FOREACH (parts, p) {
        struct pvmc_buf b;
        pvmc_buf_view(&b, p->data, p->length);
        rc = rc ? rc : tables[p->kind]->load(&b);
    }
    drop_parts();
    if (rc)
        pvmc_log(PVMC_LOG_ERROR, "cannot take over the master's tables: %s", pvmc_error_text(rc));
    return rc;
}

static void change_master(unsigned host_index)
{
    pvmd_election_end();
    if (pvmd.master_index == host_index)
        return;
    pvmd.master_index = host_index;
    pvmd_tell_master_changed();
}

static void following(void *arg, uint32_t leader)
{
    const struct pvmd_host *host = host_of(leader);
    (void)arg;
    if (!host)
        return;
    pvmc_log(PVMC_LOG_INFO, "host %s is the master", host->name);
    change_master(host->index);
}

static void leading(void *arg)
{
    (void)arg;
    pvmc_log(PVMC_LOG_INFO, "this host is the master, by the votes of a majority");
    first_as_master = quorum.version.seq + 1;
    change_master(pvmd.host_index);
}

static void progress_event(struct ev_loop *loop, ev_prepare *w, int what)
{
    (void)loop, (void)w, (void)what;
    pvmd_tell_tables_committed(quorum.committed);
}

/* The loop tells the listeners, who may make the next change. */
static void committed(void *arg, uint32_t seq)
{
    (void)arg;
    ev_timer_stop(pvmd.loop, &stuck);
    if (seq < quorum.version.seq)
        ev_timer_start(pvmd.loop, &stuck);
    if (!ev_is_pending(&progress))
        ev_feed_event(pvmd.loop, &progress, EV_PREPARE);
}

static void deposed(void *arg)
{
    (void)arg;
    pvmd_end(1, "other hosts have elected another master");
}

static const struct pvmd_quorum_events events = {
    .send = send_message,
    .apply = apply,
    .save = save,
    .load = load,
    .following = following,
    .leading = leading,
    .committed = committed,
    .deposed = deposed,
};

static int quorum_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    const struct pvmd_host *host = pvmd_host_by_index(q->host_index);
    struct pvmd_quorum_message m;
    int rc = pvmd_quorum_get(body, &m);
    if (!rc && host)
        pvmd_quorum_receive(&quorum, host->incarnation, &m);
    return rc;
}

/* ---- at the master ---- */

/* Half of the hosts do not answer: they may have elected another master. */
static void stuck_event(struct ev_loop *loop, ev_timer *w, int what)
{
    (void)loop, (void)w, (void)what;
    pvmd_end(1, "half of the hosts do not answer; they may have elected another master");
}

static void put_record(struct pvmc_buf *b, enum pvmd_table_kind kind, const struct pvmc_buf *change,
                       const struct pvmc_buf *answer)
{
    pvmc_buf_init(b);
    pvmc_buf_put_u8(b, (uint8_t)kind);
    pvmc_buf_put_blob(b, change ? change->data : NULL, change ? change->length : 0);
    pvmc_buf_put_blob(b, answer ? answer->data : NULL, answer ? answer->length : 0);
}

static uint32_t changed(enum pvmd_table_kind kind, const struct pvmc_buf *change, const struct pvmc_buf *answer,
                        const struct pvmd_quorum_set *members)
{
    struct pvmc_buf b;
    put_record(&b, kind, change, answer);
    uint32_t seq = pvmd_quorum_change(&quorum, b.data, b.length, members);
    pvmc_buf_free(&b);
    if (!pvmd_tables_have_committed(seq) && !ev_is_active(&stuck))
        ev_timer_start(pvmd.loop, &stuck);
    return seq;
}

uint32_t pvmd_tables_changed(enum pvmd_table_kind kind, const struct pvmc_buf *change, const struct pvmc_buf *answer)
{
    return changed(kind, change, answer, NULL);
}

void pvmd_tables_hosts_changed(const struct pvmc_buf *change)
{
    static uint32_t ids[PVMD_QUORUM_MAX];
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    for (size_t i = 0; i < count; i++)
        ids[i] = members[i]->incarnation;
    changed(PVMD_TABLE_HOSTS, change, NULL, &(struct pvmd_quorum_set){.ids = ids, .count = (unsigned)count});
}

bool pvmd_tables_are_settled(void)
{
    return quorum.role == PVMD_QUORUM_LEADER && quorum.committed >= first_as_master && pvmd_quorum_is_settled(&quorum);
}

bool pvmd_tables_have_committed(uint32_t seq)
{
    return quorum.committed >= seq;
}

/* ---- at any daemon ---- */

bool pvmd_tables_are_leaderless(void)
{
    return pvmd_election_is_on();
}

void pvmd_tables_master_lost(const char *why, bool proven)
{
    const struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    if (quorum.lacking) {
        pvmd_end(1, "the master was lost while this host joined");
        return;
    }
    pvmc_log(PVMC_LOG_WARNING, "the master, %s, is lost: %s", master->name, why);
    if (proven)
        pvmd_quorum_dead(&quorum, master->incarnation);
    pvmd_quorum_leader_lost(&quorum);
    double limit_s = (double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 1e6;
    pvmd_election_begin(&quorum, proven ? limit_s : limit_s * NOTICE_SPREAD + ELECTION_S, why);
}

void pvmd_tables_host_dead(const struct pvmd_host *host)
{
    pvmd_quorum_dead(&quorum, host->incarnation);
}

void pvmd_tables_start(void)
{
    const struct pvmd_host *self = pvmd_host_self(), *master = pvmd_host_any(pvmd.master_index);
    ev_timer_init(&stuck, stuck_event, (double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 1e6, 0.);
    ev_prepare_init(&progress, progress_event);
    if (pvmd_is_master())
        pvmd_quorum_found(&quorum, self->incarnation, &events, NULL);
    else
        pvmd_quorum_join(&quorum, self->incarnation, master->incarnation, &events, NULL);
    pvmd_dm_handle(PVMD_DM_QUORUM, quorum_question);
    pvmd_dm_handle(PVMD_DM_TABLE_PART, part_question);
}

void pvmd_tables_stop(void)
{
    pvmd_election_end();
    ev_timer_stop(pvmd.loop, &stuck);
    drop_parts();
}
