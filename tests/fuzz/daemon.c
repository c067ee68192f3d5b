/* daemon.c - see daemon.h. */
#include "daemon.h"
#include <ev.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/buf.h"
#include "core/message/dsig.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/tasks/clients.h"
#include "pvmd/base/self.h"
#include "pvmd/spawn/exec.h"
#include "pvmd/base/hosts.h"
#include "pvmd/hosts/join.h"
#include "pvmd/net/link.h"
#include "pvmd/door/listen.h"
#include "pvmd/net/resolve.h"
#include "pvmd/net/rpc.h"
#include "pvmd/parts.h"
#include "pvmd/quorum/message.h"
#include "pvmd/quorum/tables.h"

enum { FRAME_BYTES_MAX = 1024, TURNS = 4 };

/* ---- fakes: other hosts ---- */

static int32_t asked[FUZZ_HOSTS + 1];

int32_t fuzz_asked(unsigned host)
{
    return asked[host];
}

void pvmd_link_send(struct pvmd_host *host, struct pvmc_frame *f)
{
    if (host->index <= FUZZ_HOSTS && f->h.ctx == PVMC_CTX_DM && f->h.wid && f->h.tag != (int32_t)PVMD_DM_ANSWER)
        asked[host->index] = f->h.wid;
}

void pvmd_link_call(struct pvmd_host *host, const struct pvmw_addresses *addresses)
{
    (void)host, (void)addresses;
}

void pvmd_link_close(struct pvmd_host *host)
{
    (void)host;
}

bool pvmd_link_is_out(const struct pvmd_host *master)
{
    (void)master;
    return false;
}

bool pvmd_link_is_proven(const struct pvmd_host *host)
{
    return host->index % 2;
}

void pvmd_link_reopen(struct pvmd_host *host)
{
    (void)host;
}

const char *pvmd_link_why(const struct pvmd_host *host)
{
    (void)host;
    return "";
}

enum pvmd_verdict pvmd_link_offered(const struct pvmd_preface *p)
{
    (void)p;
    return PVMD_VERDICT_WRONG;
}

void pvmd_link_crossed(const struct pvmd_preface *p)
{
    (void)p;
}

void pvmd_link_accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    (void)p, (void)key;
    close(fd);
}

bool pvmd_link_look_at(const struct pvmd_host *host, struct pvmd_link_figures *figures)
{
    (void)host, (void)figures;
    return false;
}

void pvmd_link_peer_counts(struct pvmd_host *host, uint32_t count, enum pvmd_count kind)
{
    (void)count, (void)kind;
    MUST(host->index != pvmd.master_index && pvmd.host_index != pvmd.master_index);
}

void pvmd_link_ask_again(struct pvmd_host *host)
{
    (void)host;
}

bool pvmd_link_is_busy(const struct pvmd_host *host)
{
    (void)host;
    return false;
}

enum pvmd_link_state pvmd_link_state(const struct pvmd_host *host)
{
    (void)host;
    return PVMD_LINK_IDLE;
}

bool pvmd_link_look(struct pvmd_host *host)
{
    (void)host;
    return false;
}

int64_t pvmd_link_proven_us(const struct pvmd_host *host)
{
    (void)host;
    return 0;
}

int64_t pvmd_link_useful_us(const struct pvmd_host *host)
{
    (void)host;
    return 0;
}

bool pvmd_link_has_kept(const struct pvmd_host *host)
{
    (void)host;
    return false;
}

void pvmd_link_forgive(struct pvmd_host *host, int64_t us)
{
    (void)host, (void)us;
}

void pvmd_link_look_idle(struct pvmd_host *host, int64_t now_us)
{
    (void)host, (void)now_us;
}

void pvmd_link_ping(struct pvmd_host *host)
{
    (void)host;
}

void pvmd_link_stuck(struct pvmd_host *host, const char *why)
{
    (void)host, (void)why;
}

void pvmd_link_silent(struct pvmd_host *host, const char *why)
{
    (void)host, (void)why;
}

int pvmd_listen_start(struct ev_loop *loop, const char *ip, uint16_t port, const struct pvmd_listen_events *events)
{
    (void)loop, (void)ip, (void)port, (void)events;
    return 0;
}

void pvmd_listen_stop(void)
{
}

void pvmd_listen_keys_changed(void)
{
}

uint16_t pvmd_listen_port(void)
{
    return 4000;
}

/*
 * The linker replaces these functions. Starting TLS would take longer than all the rest, and trimming memory takes
 * time, too.
 */
const char *__wrap_pvmw_tls_start(void);
void __wrap_pvmw_tls_stop(void);
void __wrap_pvmd_trim_later(void);

const char *__wrap_pvmw_tls_start(void)
{
    return NULL;
}

void __wrap_pvmw_tls_stop(void)
{
}

void __wrap_pvmd_trim_later(void)
{
}

/* ---- fakes: the name service, processes ---- */

struct pvmd_resolve *pvmd_resolve_start(struct ev_loop *loop, const char *name, pvmd_resolved *resolved, void *arg)
{
    (void)loop, (void)name, (void)resolved, (void)arg;
    return NULL;
}

void pvmd_resolve_cancel(struct pvmd_resolve *r)
{
    (void)r;
}

void pvmd_resolve_stop(void)
{
}

/* Reports success; no such process exists. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    static pid_t latest;
    (void)path, (void)actions, (void)attributes, (void)argv, (void)environment;
    *pid = 0x40000000 + ++latest % 0x100000;
    return 0;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    return posix_spawn(pid, file, actions, attributes, argv, environment);
}

int kill(pid_t pid, int number)
{
    (void)pid, (void)number;
    return 0;
}

/* ---- the daemon ---- */

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

static void remove_socket(void)
{
    unlink(pvmd.socket_path);
}

static void prepare(void)
{
    static char path[100];
    if (*path)
        return;
    signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    setenv("PVM_MAX_TASKS", "8", 1);
    setenv("PVM_FAILOVER", "no", 1); /* else the daemon keeps a journal in PVM_TMP */
    pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
    pvmd_exec_raise_limits();
    snprintf(path, sizeof path, "/tmp/dpvm-fuzz-%d", (int)getpid());
    pvmd = (struct pvmd_daemon){.host_name = "a", .socket_path = path};
    atexit(remove_socket);
}

/* As a slave, this daemon follows the master, and has its tables: nothing is in them. */
static void follow(void)
{
    static const uint32_t ids[] = {1, 2};
    const struct pvmd_quorum_message state = {
        .kind = PVMD_QUORUM_STATE, .term = 1, .version = {.term = 1}, .now = {.ids = ids, .count = 2}};
    struct pvmc_buf b;
    pvmd_tables_start();
    pvmc_buf_init(&b);
    pvmd_quorum_put(&b, &state);
    struct pvmc_message *m = pvmc_message_new(pvmc_dsig_own());
    m->src = PVMC_TID_DAEMON | pvmc_tid_of_host_index(pvmd.master_index);
    m->dst = PVMC_TID_DAEMON | pvmd_host_tid();
    m->ctx = PVMC_CTX_DM;
    m->tag = (int32_t)PVMD_DM_QUORUM;
    MUST(!pvmc_message_pack_bytes(m, b.data, b.length));
    pvmd_rpc_receive(pvmd.master_index, m);
    pvmc_message_unref(m);
    pvmc_buf_free(&b);
}

void fuzz_daemon_start(unsigned master)
{
    prepare();
    memset(asked, 0, sizeof asked);
    pvmd.host_index = pvmd.master_index = 0;
    pvmd.ending = false;
    pvmd.loop = ev_default_loop(0);
    pvmd_parts_start();
    MUST(!pvmd_net_start() && !pvmd_clients_start(pvmd.socket_path));
    if (pvmd.host_index != 1) { /* host numbers are assigned in turn */
        pvmd_host_free(pvmd_host_self());
        pvmd.host_index = 1;
        pvmd_host_new(1, 1, "a");
    }
    for (unsigned i = 2; i <= FUZZ_HOSTS; i++)
        pvmd_host_new(i, i, (char[]){(char)('a' + i - 1), '\0'});
    for (unsigned i = 1; i <= FUZZ_HOSTS; i++)
        pvmd_host_set_state(pvmd_host_any(i), i < FUZZ_HOSTS ? PVMD_HOST_UP : PVMD_HOST_JOINING);
    pvmd.master_index = master;
    if (!pvmd_is_master())
        follow();
}

void fuzz_daemon_work(void)
{
    for (int i = 0; i < TURNS; i++)
        ev_run(pvmd.loop, EVRUN_NOWAIT);
}

/* Requests are freed when no answer can come; a spawn then asks the remaining hosts. */
static void give_up_questions(void)
{
    for (int round = 0; round < FUZZ_HOSTS; round++) {
        for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++)
            if (pvmd_host_any(i))
                pvmd_rpc_host_left(i);
        fuzz_daemon_work();
    }
}

void fuzz_daemon_stop(void)
{
    pvmd_clients_stop();
    give_up_questions();
    pvmd_net_stop();
    pvmd_parts_stop();
    ev_loop_destroy(pvmd.loop);
}

/* ---- the task ---- */

static int connection = -1;

void fuzz_task_frame(const struct pvmc_frame_header *h, const uint8_t *payload)
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES + FRAME_BYTES_MAX];
    MUST(h->length <= FRAME_BYTES_MAX);
    pvmc_frame_encode(h, wire);
    if (h->length)
        memcpy(wire + PVMC_FRAME_HEADER_BYTES, payload, h->length);
    send(connection, wire, PVMC_FRAME_HEADER_BYTES + h->length, MSG_NOSIGNAL);
    fuzz_daemon_work();
}

void fuzz_task_request(uint32_t tag, const uint8_t *body, size_t length)
{
    struct pvmc_frame_header h = {.length = (uint32_t)length,
                                  .body_length = length,
                                  .dst = PVMC_TID_DAEMON,
                                  .src = pvmd_task_by_tid(FUZZ_TASK) ? FUZZ_TASK : 0,
                                  .ctx = PVMC_CTX_TM,
                                  .tag = (int32_t)tag,
                                  .wid = 1};
    fuzz_task_frame(&h, body);
}

static void give_number(struct pvmd_task *task, pvmc_tid tid)
{
    HASH_DEL(pvmd_tasks, task);
    task->tid = tid;
    pvmd_queue_init(&task->queue, tid);
    MUST(PVMC_HASH_ADD(hh, pvmd_tasks, tid, task));
}

void fuzz_task_spawned(void)
{
    struct pvmd_task *task = pvmd_task_new("spawned");
    give_number(task, FUZZ_SPAWNED_TASK);
    task->flags = PVMD_TASK_FORKED;
    task->siblings_from = 2;
    task->cookie = 7;
    task->pid = 0x40000000;
}

static void introduce(void)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, PVMC_TASK_PROTOCOL);
    pvmc_buf_put_u32(&b, 1);
    pvmc_buf_put_u32(&b, 0);
    pvmc_buf_put_u32(&b, pvmc_dsig_own());
    pvmc_buf_put_string(&b, "fuzz");
    fuzz_task_request(PVMC_TM_CONNECT, b.data, b.length);
    pvmc_buf_free(&b);
    MUST(pvmd_tasks);
    give_number(pvmd_tasks, FUZZ_TASK);
}

void fuzz_task_connect(void)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    strcpy(sun.sun_path, pvmd.socket_path);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    MUST(!connect(connection, (struct sockaddr *)&sun, sizeof sun));
    fuzz_daemon_work();
    introduce();
}

void fuzz_task_close(void)
{
    close(connection);
    fuzz_daemon_work();
}
