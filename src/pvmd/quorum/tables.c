/* tables.c - see tables.h. */
#include "tables.h"
#include <ev.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "election.h"
#include "journal.h"
#include "message.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "pvmd/net/link.h"
#include "pvmd/net/rpc.h"

/* Members notice a silent master at different times; then one of them is elected. Times PVM_HOST_TIMEOUT; seconds. */
#define NOTICE_SPREAD 0.1
#define NOTICE_LATEST 1.2 /* by one that is only told by silence */
#define ELECTION_S    2.

/* Between the campaigns of a candidate; one that has come back must overtake those of the others, who vote for it. */
#define RETRY_S  0.15
#define RETURN_S 0.03

#define RELOAD_S 0.5 /* between two attempts to load the tables */

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
static bool has_lost_part;       /* there was no memory for one */
static uint32_t first_as_master; /* our first change as master */
static bool returning;
static ev_timer reload;     /* at a member whose tables could not be loaded */
static ev_timer stuck;      /* at a master whose changes are not acknowledged */
static ev_prepare progress; /* never started: fed when changes are committed */

void pvmd_table_register(enum pvmd_table_kind kind, const struct pvmd_table *table)
{
    tables[kind] = table;
}

static bool has_failover(void)
{
    return strcmp(pvmc_config_text(PVMC_SETTING_FAILOVER), "no") != 0;
}

/* ---- who is who ---- */

static struct pvmd_host *host_of(uint32_t incarnation)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    for (size_t i = 0; i < count; i++)
        if (members[i]->incarnation == incarnation)
            return members[i];
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) { /* a master that has come back */
        struct pvmd_host *h = pvmd_host_by_index(i);
        if (h && h->incarnation == incarnation)
            return h;
    }
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
    has_lost_part = false;
}

static int keep_part(unsigned from, enum pvmd_table_kind kind, const uint8_t *data, size_t length)
{
    if (from != parts_from)
        drop_parts();
    parts_from = from;
    struct part *p = calloc(1, sizeof *p);
    if (!p || !(p->data = malloc(length + 1))) {
        free(p);
        has_lost_part = true;
        return PVMC_ENOMEM;
    }
    p->kind = kind;
    p->length = length;
    if (length)
        memcpy(p->data, data, length);
    DL_APPEND(parts, p);
    return 0;
}

static unsigned parts_to;
static enum pvmd_table_kind part_kind;

static void put_part(struct pvmc_buf *b, const struct pvmc_buf *part)
{
    pvmc_buf_put_u8(b, (uint8_t)part_kind);
    pvmc_buf_put_blob(b, part->data, part->length);
}

static void send_part(const struct pvmc_buf *part)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    put_part(&b, part);
    pvmd_ask(parts_to, PVMD_DM_TABLE_PART, &b, NULL, NULL);
    pvmc_buf_free(&b);
}

static void save_parts(void (*piece)(const struct pvmc_buf *part))
{
    for (part_kind = PVMD_TABLE_NONE; part_kind < PVMD_TABLE_KINDS; part_kind++)
        if (tables[part_kind])
            tables[part_kind]->save(piece);
}

static void send_parts(unsigned host_index)
{
    parts_to = host_index;
    save_parts(send_part);
}

static int get_part(struct pvmc_buf *body, unsigned from)
{
    size_t length;
    unsigned kind = pvmc_buf_get_u8(body);
    const uint8_t *data = pvmc_buf_get_blob(body, &length);
    int rc = pvmc_buf_end(body);
    if (!rc && (kind >= PVMD_TABLE_KINDS || !tables[kind]))
        rc = PVMC_EFORMAT;
    return rc ? rc : keep_part(from, kind, data, length);
}

static int part_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    return get_part(body, q->host_index);
}

/* ---- the journal ---- */

enum { RECORD_PART = 1, RECORD_MESSAGE };

#define JOURNAL_SLACK ((size_t)1 << 20) /* bytes of changes, beyond the tables, before it is written anew */

static size_t journal_base; /* bytes of the tables in it */

static void record_part(const struct pvmc_buf *part)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, RECORD_PART);
    put_part(&b, part);
    pvmd_journal_add(&b);
    pvmc_buf_free(&b);
}

static void record_message(const struct pvmd_quorum_message *m)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, RECORD_MESSAGE);
    pvmd_quorum_put(&b, m);
    pvmd_journal_add(&b);
    pvmc_buf_free(&b);
}

static void write_journal(void)
{
    struct pvmd_quorum_message m;
    struct pvmd_journal_owner owner = {.machine = pvmd_secrets->own.machine,
                                       .incarnation = quorum.self,
                                       .next_index = pvmd_host_last_index() % PVMC_HOST_INDEX_MAX + 1};
    int rc = pvmd_journal_begin(&owner);
    OPENSSL_cleanse(&owner, sizeof owner);
    if (rc)
        return;
    save_parts(record_part);
    pvmd_quorum_describe(&quorum, &m);
    record_message(&m);
    pvmd_journal_put();
    journal_base = pvmd_journal_bytes();
}

static bool changes_members; /* while a change of them is made */

/* Then the secret that authenticates the journal may be another one. */
static bool is_of_keys(const struct pvmd_quorum_message *m)
{
    return m->length && m->data[0] == PVMD_TABLE_KEYS;
}

/* Keeps a change before anybody hears of it. A master without other hosts needs no journal. */
static void record(void *arg, const struct pvmd_quorum_message *m)
{
    (void)arg;
    if (!has_failover())
        return;
    if (quorum.peer_count < 2)
        pvmd_journal_remove();
    else if (changes_members || is_of_keys(m) || pvmd_journal_bytes() > 2 * journal_base + JOURNAL_SLACK)
        write_journal();
    else
        record_message(m);
}

static int replay(struct pvmc_buf *b)
{
    struct pvmd_quorum_message m;
    if (pvmc_buf_get_u8(b) == RECORD_PART)
        return get_part(b, pvmd.host_index);
    int rc = pvmd_quorum_get(b, &m);
    if (!rc)
        pvmd_quorum_receive(&quorum, quorum.self, &m);
    return rc;
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
    rc = rc ? rc : pvmc_failpoint(PVMC_FAILPOINT_TABLES_CHANGE);
    rc = rc ? rc : apply_to(kind, what, change_length);
    rc = rc ? rc : apply_to(PVMD_TABLE_ANSWERS, answer, answer_length);
    pvmc_failpoint_done(PVMC_FAILPOINT_TABLES_CHANGE);
    if (rc)
        pvmc_log(PVMC_LOG_WARNING, "cannot follow the master's change of table %u: %s", kind, pvmc_error_text(rc));
    return rc;
}

static void save(void *arg, struct pvmc_buf *b)
{
    (void)arg, (void)b; /* the parts have been sent ahead */
}

static void reload_event(struct ev_loop *loop, ev_timer *w, int what)
{
    (void)what;
    ev_timer_stop(loop, w);
    pvmd_quorum_ask_tables(&quorum);
}

static int load(void *arg, const uint8_t *data, size_t length)
{
    struct part *p;
    (void)arg, (void)data, (void)length;
    int rc = has_lost_part ? PVMC_ENOMEM : pvmc_failpoint(PVMC_FAILPOINT_TABLES_LOAD);
    for (unsigned k = 0; k < PVMD_TABLE_KINDS; k++)
        if (tables[k])
            tables[k]->clear();
    DL_FOREACH (parts, p) {
        struct pvmc_buf b;
        pvmc_buf_view(&b, p->data, p->length);
        rc = rc ? rc : tables[p->kind]->load(&b);
    }
    drop_parts();
    pvmc_failpoint_done(PVMC_FAILPOINT_TABLES_LOAD);
    if (rc) {
        pvmc_log(PVMC_LOG_ERROR, "cannot take over the master's tables: %s", pvmc_error_text(rc));
        ev_timer_again(pvmd.loop, &reload);
    }
    return rc;
}

static void change_master(unsigned host_index)
{
    bool is_back = returning && quorum.role == PVMD_QUORUM_LEADER;
    pvmd_election_end();
    if (pvmd.master_index == host_index && !is_back)
        return;
    returning = false;
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
    first_as_master = quorum.version.seq;
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
        ev_timer_again(pvmd.loop, &stuck);
    if (!ev_is_pending(&progress))
        ev_feed_event(pvmd.loop, &progress, EV_PREPARE);
}

static void deposed(void *arg)
{
    (void)arg;
    pvmd_end(1, "other hosts have elected another master");
}

static const struct pvmd_quorum_events events = {
    .record = record,
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
    if (!rc && returning && m.kind == PVMD_QUORUM_ASK)
        return 0; /* we want to lead: the others have our host under its former index */
    if (!rc && host)
        pvmd_quorum_receive(&quorum, host->incarnation, &m);
    if (!rc && m.kind == PVMD_QUORUM_STATE)
        drop_parts(); /* those of a former leader are not loaded */
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
    pvmc_buf_put_u8(b, (uint8_t)kind);
    pvmc_buf_put_blob(b, change ? change->data : NULL, change ? change->length : 0);
    pvmc_buf_put_blob(b, answer ? answer->data : NULL, answer ? answer->length : 0);
}

bool pvmd_tables_are_shared(void)
{
    return quorum.peer_count > 1;
}

static uint32_t changed(enum pvmd_table_kind kind, const struct pvmc_buf *change, const struct pvmc_buf *answer,
                        const struct pvmd_quorum_set *members)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    if (members || pvmd_tables_are_shared())
        put_record(&b, kind, change, answer);
    changes_members = members;
    uint32_t seq = pvmd_quorum_change(&quorum, b.data, b.length, members);
    changes_members = false;
    pvmc_buf_free(&b);
    if (!pvmd_tables_have_committed(seq) && !ev_is_active(&stuck))
        ev_timer_again(pvmd.loop, &stuck);
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

void pvmd_tables_indices_given(void)
{
    if (has_failover() && pvmd_tables_are_shared())
        write_journal();
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

/* Nobody leads. A master that comes back to a machine that is gone founds a new one. */
static void give_up(void)
{
    if (returning)
        returning = false;
    else
        pvmd_end(1, "the master is lost, and no majority of the hosts can be reached");
    pvmd_election_end();
}

bool pvmd_tables_are_awaited(void)
{
    return !quorum.peer_count;
}

/* A host that joins may be a member for others, but not before it has been told who they are. */
static bool may_be_a_member(const struct pvmd_host *master)
{
    return !pvmd_tables_are_awaited() || master->state == PVMD_HOST_UP;
}

void pvmd_tables_master_lost(const char *why, bool proven)
{
    const struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    pvmc_log(PVMC_LOG_WARNING, "the master, %s, is lost: %s", master->name, why);
    if (!may_be_a_member(master) || !has_failover()) {
        pvmd_end(1, has_failover() ? "the master was lost while this host joined"
                                   : "a daemon cannot go on without its master (PVM_FAILOVER=no)");
        return;
    }
    if (proven)
        pvmd_quorum_dead(&quorum, master->incarnation);
    pvmd_quorum_leader_lost(&quorum);
    double limit_s = (double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 1e6;
    pvmd_election_begin(&quorum, RETRY_S, limit_s * (proven ? NOTICE_LATEST : NOTICE_SPREAD), ELECTION_S, false,
                        give_up);
}

void pvmd_tables_host_dead(const struct pvmd_host *host)
{
    pvmd_quorum_dead(&quorum, host->incarnation);
}

static void begin(void)
{
    ev_timer_init(&stuck, stuck_event, 0., (double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 1e6); /* from anew */
    ev_timer_init(&reload, reload_event, 0., RELOAD_S);
    ev_prepare_init(&progress, progress_event);
    pvmd_dm_handle(PVMD_DM_QUORUM, quorum_question);
    pvmd_dm_handle(PVMD_DM_TABLE_PART, part_question);
    first_as_master = 0;
}

void pvmd_tables_start(void)
{
    const struct pvmd_host *self = pvmd_host_self(), *master = pvmd_host_any(pvmd.master_index);
    begin();
    if (pvmd_is_master())
        pvmd_quorum_found(&quorum, self->incarnation, &events, NULL);
    else
        pvmd_quorum_join(&quorum, self->incarnation, master->incarnation, &events, NULL);
    quorum.half_elects = !strcmp(pvmc_config_text(PVMC_SETTING_FAILOVER), "half");
}

void pvmd_tables_return(void)
{
    size_t count;
    begin();
    returning = true;
    pvmd_quorum_join(&quorum, pvmd_host_self()->incarnation, pvmd_host_self()->incarnation, &events, NULL);
    quorum.half_elects = !strcmp(pvmc_config_text(PVMC_SETTING_FAILOVER), "half");
    int rc = pvmd_journal_replay(replay);
    pvmd_host_set_last_index(pvmd.host_index); /* for the next return */
    struct pvmd_host **members = pvmd_host_list(&count);
    returning = !rc && !quorum.lacking && count > 1;
    if (!returning)
        return;
    pvmc_log(PVMC_LOG_INFO, "looking for the machine of the journal: %u hosts", (unsigned)count);
    pvmd_quorum_leader_lost(&quorum);
    for (size_t i = 0; i < count; i++)
        if (members[i] != pvmd_host_self())
            pvmd_link_reopen(members[i]);
    pvmd_election_begin(&quorum, RETURN_S, (double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 1e6, 0., true, give_up);
}

bool pvmd_tables_are_returning(void)
{
    size_t count;
    pvmd_host_list(&count);
    if (returning && count < 2)
        give_up();
    return returning;
}

bool pvmd_tables_are_ours(void)
{
    return quorum.role == PVMD_QUORUM_LEADER;
}

void pvmd_tables_stop(void)
{
    pvmd_election_end();
    ev_timer_stop(pvmd.loop, &stuck);
    ev_timer_stop(pvmd.loop, &reload);
    drop_parts();
    pvmd_journal_remove();
}
