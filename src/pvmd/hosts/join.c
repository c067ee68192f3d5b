/* join.c - see join.h. Also starts and ends the network in the right order. */
#include "join.h"
#include <malloc.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "wire/tls.h"
#include "add.h"
#include "arrival.h"
#include "drain.h"
#include "pvmd/base/self.h"
#include "pvmd/base/events.h"
#include "forward.h"
#include "hostfile.h"
#include "pvmd/launch/delegate.h"
#include "pvmd/launch/delegated.h"
#include "pvmd/launch/launch.h"
#include "leave.h"
#include "membership.h"
#include "pvmd/net/link.h"
#include "pvmd/door/listen.h"
#include "pvmd/net/liveness.h"
#include "pvmd/base/logfile.h"
#include "pvmd/base/memory.h"
#include "pvmd/launch/manual.h"
#include "pvm3.h"
#include "pvmd/net/resolve.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/journal.h"
#include "pvmd/quorum/petition.h"
#include "slave.h"
#include "tokens.h"
#include "pvmd/tasks/tasks.h"

static struct pvmd_hostfile hostfile;

int pvmd_join_read_hostfile(const char *path)
{
    return pvmd_hostfile_read(path, &hostfile);
}

/* ---- lists of names in requests ---- */

struct names {
    char **list;
    uint32_t count;
};

static void free_names(struct names *n)
{
    for (uint32_t i = 0; n->list && i < n->count; i++)
        free(n->list[i]);
    free(n->list);
    *n = (struct names){0};
}

/* The whole body: u32 n, n strings. */
static int get_names(struct pvmc_buf *body, struct names *n)
{
    *n = (struct names){.count = pvmc_buf_get_u32(body)};
    if (n->count > PVMC_HOST_INDEX_MAX) {
        n->count = 0;
        return PVMC_ELIMIT;
    }
    n->list = calloc(n->count + 1, sizeof *n->list);
    for (uint32_t i = 0; n->list && i < n->count; i++)
        n->list[i] = pvmc_buf_get_string(body);
    int rc = n->list ? pvmc_buf_end(body) : PVMC_ENOMEM;
    if (rc)
        free_names(n);
    return rc;
}

/* ---- requests of tasks: forwarded to the master ---- */

static int ask_master(const struct pvmd_request *r, enum pvmd_dm what, struct pvmc_buf *body)
{
    struct names names;
    int rc = get_names(body, &names);
    uint32_t count = names.count;
    free_names(&names);
    if (rc)
        return rc;
    if (count)
        return pvmd_forward(r, what, body);
    pvmd_request_answer(r, PvmBadParam, NULL);
    return 0;
}

static int add_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    return ask_master(r, PVMD_DM_ADDHOSTS, body);
}

static int delete_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    return ask_master(r, PVMD_DM_DELHOSTS, body);
}

static int halt_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    pvmd_request_answer(r, PvmOk, NULL);
    pvmd_ask_master(PVMD_DM_HALT, body, NULL, NULL);
    return 0;
}

/* ---- the same at the master ---- */

static void put_status(struct pvmc_buf *b, unsigned count, const int *status, int *good)
{
    *good = 0;
    pvmc_buf_put_u32(b, count);
    for (unsigned i = 0; i < count; i++) {
        pvmc_buf_put_i32(b, status[i]);
        *good += status[i] >= 0;
    }
}

static void added(void *arg, unsigned count, const int *status, const char *const *why)
{
    struct pvmd_petition *p = arg;
    struct pvmc_buf b;
    int good;
    pvmc_buf_init(&b);
    put_status(&b, count, status, &good);
    for (unsigned i = 0; i < count; i++)
        pvmc_buf_put_string(&b, why[i]);
    pvmd_petition_answer(p, good, &b);
    pvmc_buf_free(&b);
    free(p);
}

/* The next master would give this answer, because a host that is out cannot be deleted again. */
static void out(void *arg, unsigned count, const int *status)
{
    const struct pvmd_petition *p = arg;
    struct pvmc_buf b;
    int good;
    if (!pvmd_host_by_index(p->question.host_index))
        return; /* it was its own host, which will not ask again */
    pvmc_buf_init(&b);
    put_status(&b, count, status, &good);
    pvmd_petition_keep(p, good, &b);
    pvmc_buf_free(&b);
}

static void deleted(void *arg, unsigned count, const int *status)
{
    struct pvmd_petition *p = arg;
    struct pvmc_buf b;
    int good;
    pvmc_buf_init(&b);
    put_status(&b, count, status, &good);
    pvmd_petition_answer(p, good, &b);
    pvmc_buf_free(&b);
    free(p);
}

static int change_hosts(const struct pvmd_petition *p, struct pvmc_buf *body, bool add)
{
    struct names names;
    int rc = get_names(body, &names);
    struct pvmd_petition *copy = rc ? NULL : malloc(sizeof *copy);
    if (copy) {
        const char *const *list = (const char *const *)names.list;
        *copy = *p;
        rc = add ? pvmd_add_hosts(list, names.count, &hostfile, copy, added, copy)
                 : pvmd_leave_delete(list, names.count, out, deleted, copy);
        if (rc)
            free(copy);
    } else if (!rc) {
        rc = PVMC_ENOMEM;
    }
    free_names(&names);
    return rc;
}

static int add_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    return change_hosts(p, body, true);
}

static int delete_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    return change_hosts(p, body, false);
}

/* It has no answer: the machine ends. If this master is lost before that, the next one is asked. */
static int halt_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    (void)p;
    int rc = pvmc_buf_end(body);
    if (!rc)
        pvmd_halt(0, "a task has halted the machine");
    return rc;
}

/* ---- messages from the master ---- */

/* Only the master may send host changes, and the master accepts them from nobody. */
static int check_master(const struct pvmd_question *q)
{
    return q->host_index == pvmd.master_index && !pvmd_is_master() ? 0 : PVMC_EDENIED;
}

static void make_member(struct pvmd_host *h)
{
    if (h->state != PVMD_HOST_JOINING)
        return;
    pvmd_host_set_state(h, PVMD_HOST_UP);
    pvmd_tell_host_joined(h);
}

/* Rows of members, for a host that joins; or of hosts that are about to be members. */
static int get_rows(struct pvmc_buf *body, bool members)
{
    uint32_t count = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_error(body);
    for (uint32_t i = 0; !rc && i < count; i++) {
        struct pvmd_host *h;
        rc = pvmd_host_get_row(body, &h);
        if (!rc && members)
            make_member(h);
        else if (!rc)
            pvmd_host_note_index(h->index); /* not given again, should we be the next master */
    }
    return rc;
}

static int host_add(const struct pvmd_question *q, struct pvmc_buf *body)
{
    int rc = check_master(q);
    rc = rc ? rc : pvmc_failpoint(PVMC_FAILPOINT_HOST_ROWS);
    rc = rc ? rc : get_rows(body, true);
    rc = rc ? rc : get_rows(body, false);
    rc = rc ? rc : pvmc_buf_end(body);
    pvmc_failpoint_done(PVMC_FAILPOINT_HOST_ROWS);
    if (!rc)
        pvmd_answer(q, PvmOk, NULL);
    return rc;
}

static int host_remove(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct pvmd_host *h = pvmd_host_any(pvmc_buf_get_u32(body));
    uint32_t incarnation = pvmc_buf_get_u32(body);
    int rc = check_master(q);
    rc = rc ? rc : pvmc_buf_end(body);
    if (rc || !h || h->incarnation != incarnation)
        return rc;
    if (h == pvmd_host_self())
        pvmd_end(0, "this host is deleted from the machine");
    else
        pvmd_leave_forget(h);
    return 0;
}

static int halt(const struct pvmd_question *q, struct pvmc_buf *body)
{
    int rc = check_master(q);
    rc = rc ? rc : pvmc_buf_end(body);
    if (!rc)
        pvmd_end(0, "the machine is halted");
    return rc;
}

static int ping(const struct pvmd_question *q, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    if (!rc)
        pvmd_answer(q, PvmOk, NULL);
    return rc;
}

static int link_count(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct pvmd_host *h = pvmd_host_by_index(q->host_index);
    uint32_t count = pvmc_buf_get_u32(body);
    unsigned kind = pvmc_buf_get_u8(body);
    int rc = pvmc_buf_end(body);
    if (!rc && h && h != pvmd_host_self() && !pvmd_is_master() && h->index != pvmd.master_index)
        pvmd_link_peer_counts(h, count, kind);
    return rc;
}

/* ---- events of links ---- */

void pvmd_join_link_up(unsigned host_index)
{
    struct pvmd_host *h = pvmd_host_any(host_index);
    pvmd_trim_later();
    if (pvmd_is_master())
        pvmd_add_link_up(h);
    else if (host_index == pvmd.master_index)
        pvmd_slave_linked();
}

/* A host that the lost master was adding may be a member for others, and we may have frames for it. */
static void mark_newcomers(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (h && h->state == PVMD_HOST_JOINING && i != pvmd.master_index)
            h->left_over = true;
    }
}

/* As the new master: if it were a member, our table would say so. Its daemon ends. */
static void drop_newcomers(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (h && h->left_over)
            pvmd_leave_forget(h);
    }
}

/*
 * Candidates must reach those to which frames went through the master. A host that joined asks whether the next master
 * knows it.
 */
static void call_members(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (h && h != pvmd_host_self() && !h->lost &&
            (pvmd_tables_are_awaited() || pvmd_link_state(h) == PVMD_LINK_RELAYED))
            pvmd_link_reopen(h);
    }
}

/* At a slave. */
static void lose_master(struct pvmd_host *master, const char *why)
{
    bool proven = pvmd_link_is_proven(master);
    if (pvmd_link_is_out(master)) {
        pvmd_end(1, "this host is no member of the machine any more");
        return;
    }
    mark_newcomers();
    master->lost = true;
    pvmd_link_close(master);
    call_members();
    pvmd_tables_master_lost(why, proven);
}

void pvmd_join_link_lost(unsigned host_index, const char *why)
{
    struct pvmd_host *h = pvmd_host_any(host_index);
    if (pvmd_link_is_proven(h))
        pvmd_tables_host_dead(h);
    if (!pvmd_is_master()) {
        if (host_index == pvmd.master_index)
            lose_master(h, why);
    } else if (pvmd_add_concerns(h)) {
        pvmd_add_link_lost(h, why);
    } else if (h->state == PVMD_HOST_UP) {
        pvmd_leave_lost(h, why);
    } else if (h->state == PVMD_HOST_LEAVING) {
        pvmd_leave_gone(h);
    }
}

/* If it had been made a member, the next master would know. One with tables may know more than that one. */
void pvmd_join_link_out(unsigned host_index)
{
    (void)host_index;
    if (pvmd_tables_are_awaited())
        pvmd_end(1, "the machine goes on without this host");
}

/* As the new master: calls all members, and removes the old master. */
static void take_over(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (!h || h == pvmd_host_self())
            continue;
        if (h->lost)
            pvmd_leave_lost(h, "it was the master");
        else
            pvmd_link_reopen(h);
    }
    pvmd_membership_changed();
    pvmd_liveness_go_on();
}

void pvmd_join_master_changed(void)
{
    mark_newcomers();
    if (!pvmd_is_master())
        return;
    drop_newcomers();
    take_over();
}

/* Tells the other slave how many of its frames have come; the other slave does the same. */
void pvmd_join_link_count(unsigned host_index, uint32_t received, enum pvmd_count kind)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, received);
    pvmc_buf_put_u8(&body, (uint8_t)kind);
    pvmd_ask_through_master(host_index, PVMD_DM_LINK_COUNT, &body);
    pvmc_buf_free(&body);
}

/* ---- start and end ---- */

static void register_handlers(void)
{
    pvmd_tm_handle((int)PVMC_TM_ADDHOSTS, add_request);
    pvmd_tm_handle((int)PVMC_TM_DELHOSTS, delete_request);
    pvmd_tm_handle((int)PVMC_TM_HALT, halt_request);
    pvmd_petition_handle(PVMD_DM_ADDHOSTS, add_petition);
    pvmd_petition_handle(PVMD_DM_DELHOSTS, delete_petition);
    pvmd_petition_handle(PVMD_DM_HALT, halt_petition);
    pvmd_dm_handle(PVMD_DM_HOST_ADD, host_add);
    pvmd_dm_handle(PVMD_DM_HOST_REMOVE, host_remove);
    pvmd_dm_handle(PVMD_DM_HALT, halt);
    pvmd_dm_handle(PVMD_DM_PING, ping);
    pvmd_dm_handle(PVMD_DM_LINK_COUNT, link_count);
    pvmd_drain_start();
}

static int set_options(struct pvmd_host *self, int speed, int slots, const char *exec_path, const char *working_dir,
                       const char *debugger)
{
    if (speed)
        self->speed = speed;
    if (slots)
        self->slots = slots;
    return (exec_path && pvmd_host_set_text(&self->exec_path, exec_path)) ||
                   (working_dir && pvmd_host_set_text(&self->working_dir, working_dir)) ||
                   (debugger && pvmd_host_set_text(&self->debugger, debugger))
               ? PVMC_ENOMEM
               : 0;
}

static int options_of_master(struct pvmd_host *self)
{
    const struct pvmd_host_spec *line = pvmd_hostfile_find(&hostfile, self->name);
    if (line && line->atm_host && setenv("PVM_ATM_HOST", line->atm_host, 1))
        return PVMC_ENOMEM;
    return line ? set_options(self, line->speed, line->slots, line->exec_path, line->working_dir, line->debugger) : 0;
}

/* Creates our own row, under a new index if we take a machine back, and, in a slave, the master's as far as it is
 * known. */
static int begin_table(const struct pvmd_journal_owner *predecessor)
{
    const struct pvmd_start_text *text = pvmd_slave_text();
    if (!text)
        pvmd.host_index = pvmd.master_index = predecessor ? predecessor->next_index : pvmd_host_next_index();
    uint32_t incarnation = text ? text->incarnation : predecessor ? predecessor->incarnation : 1;
    struct pvmd_host *self = pvmd_host_new(pvmd.host_index, incarnation, pvmd.host_name);
    if (!self || pvmd_host_set_text(&self->arch, pvmc_arch_own()))
        return PVMC_ENOMEM;
    self->dsig = pvmc_dsig_own();
    self->slots = pvmd_host_slots_own();
    self->port = pvmd_listen_port();
    pvmd_host_set_state(self, PVMD_HOST_UP);
    if (!text)
        return options_of_master(self);
    struct pvmd_host *master = pvmd_host_new(text->master_index, text->master_incarnation, text->master_name);
    if (!master)
        return PVMC_ENOMEM;
    master->port = (uint16_t)text->master_port; /* to ask it, should the connection break, whether we still belong */
    pvmd_host_set_state(master, PVMD_HOST_JOINING);
    return set_options(self, text->speed, text->slots, text->exec_path, text->working_dir, text->debugger);
}

static int start_tls(void)
{
    /* TLS allocates read buffers for each burst; without this, the end of the heap would move each time. */
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    const char *why = pvmw_tls_start();
    if (why)
        pvmc_log(PVMC_LOG_ERROR, "cannot set up TLS: %s", why);
    return why ? PVMC_ESYSTEM : 0;
}

static void start_tables(bool is_back)
{
    pvmd_membership_start();
    pvmd_tokens_start();
    pvmd_arrival_listen();
    pvmd_petition_start();
    if (is_back)
        pvmd_tables_return();
    else
        pvmd_tables_start();
}

int pvmd_net_start(void)
{
    static const struct pvmd_listen_events events = {.offered = pvmd_link_offered,
                                                     .crossed = pvmd_link_crossed,
                                                     .accepted = pvmd_link_accepted,
                                                     .knocked = pvmd_arrival_judge,
                                                     .entered = pvmd_arrival_enter};
    const struct pvmd_start_text *text = pvmd_slave_text();
    const char *ip = pvmc_config_text(PVMC_SETTING_IP);
    struct pvmd_journal_owner predecessor;
    bool is_back = !text && pvmd_journal_read(&predecessor);
    int rc = text ? 0 : is_back ? pvmd_machine_join(&predecessor.machine) : pvmd_machine_new();
    OPENSSL_cleanse(&predecessor.machine, sizeof predecessor.machine);
    rc = rc ? rc : start_tls();
    rc = rc ? rc : pvmd_listen_start(pvmd.loop, ip, (uint16_t)pvmc_config_integer(PVMC_SETTING_PORT), &events);
    rc = rc ? rc : begin_table(is_back ? &predecessor : NULL);
    if (rc)
        return rc;
    register_handlers();
    pvmd_liveness_start();
    start_tables(is_back);
    if (text || is_back)
        pvmd_liveness_go_on(); /* there are other hosts */
    pvmd_trim_later();
    return 0;
}

static void hostfile_added(void *arg, unsigned count, const int *status, const char *const *why)
{
    unsigned good = 0;
    (void)arg;
    for (unsigned i = 0; i < count; i++) {
        good += status[i] >= 0;
        if (status[i] == PvmAlready && why[i]) /* how to start it by hand: not logged, because it contains the secret */
            pvmd_logfile_tell(why[i]);
    }
    pvmc_log(PVMC_LOG_INFO, "%u of %u hosts of the hostfile are added", good, count);
}

static void add_hostfile(void)
{
    const char **names = calloc(hostfile.count + 1, sizeof *names);
    unsigned count = 0;
    for (size_t i = 0; names && i < hostfile.count; i++)
        if (!hostfile.hosts[i].later && strcasecmp(hostfile.hosts[i].name, pvmd.host_name))
            names[count++] = hostfile.hosts[i].name;
    if (count && pvmd_add_hosts(names, count, &hostfile, NULL, hostfile_added, NULL))
        pvmc_log(PVMC_LOG_ERROR, "no memory for the hosts of the hostfile");
    free(names);
}

void pvmd_join_start(void)
{
    if (pvmd_slave_text())
        pvmd_slave_ready();
    else
        add_hostfile();
}

bool pvmd_join_busy(void)
{
    return pvmd_add_busy();
}

void pvmd_halt(int exit_code, const char *why)
{
    if (pvmd_is_master())
        pvmd_leave_all(exit_code, why);
    else
        pvmd_end(exit_code, why);
}

void pvmd_net_stop(void)
{
    pvmd_drain_stop();
    pvmd_slave_stop();
    pvmd_leave_stop();
    pvmd_add_stop();
    pvmd_arrival_stop();
    pvmd_delegate_stop();
    pvmd_delegated_stop();
    pvmd_launch_stop();
    pvmd_manual_stop();
    pvmd_resolve_stop();
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++)
        if (pvmd_host_any(i))
            pvmd_link_close(pvmd_host_any(i));
    pvmd_listen_stop();
    pvmd_liveness_stop();
    pvmd_tables_stop();
    pvmd_membership_stop();
    pvmd_tokens_stop();
    pvmd_rpc_stop();
    pvmd_host_free_all();
    pvmd_hostfile_free(&hostfile);
    pvmw_tls_stop();
}
