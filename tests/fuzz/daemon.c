/* daemon.c - see daemon.h. */
#include "daemon.h"
#include <ev.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../../src/core/buf.h"
#include "../../src/core/dsig.h"
#include "../../src/core/hash.h"
#include "../../src/core/log.h"
#include "../../src/core/proto.h"
#include "../../src/pvmd/clients.h"
#include "../../src/pvmd/context.h"
#include "../../src/pvmd/daemon.h"
#include "../../src/pvmd/exec.h"
#include "../../src/pvmd/hoster.h"
#include "../../src/pvmd/hosts.h"
#include "../../src/pvmd/info.h"
#include "../../src/pvmd/join.h"
#include "../../src/pvmd/link.h"
#include "../../src/pvmd/listen.h"
#include "../../src/pvmd/mailbox.h"
#include "../../src/pvmd/manager.h"
#include "../../src/pvmd/multicast.h"
#include "../../src/pvmd/notify.h"
#include "../../src/pvmd/output.h"
#include "../../src/pvmd/relay.h"
#include "../../src/pvmd/resolve.h"
#include "../../src/pvmd/rpc.h"
#include "../../src/pvmd/service.h"
#include "../../src/pvmd/siblings.h"
#include "../../src/pvmd/spawn.h"
#include "../../src/pvmd/tasker.h"
#include "../../src/pvmd/trace.h"
#include "../../src/pvmd/watch.h"

enum { FRAME_BYTES_MAX = 1024, TURNS = 4 };

/* ---- what is played: other hosts ---- */

static int32_t asked[FUZZ_HOSTS + 1];

int32_t fuzz_asked(unsigned host)
{
    return asked[host];
}

void pvmd_link_send(struct pvmd_host *host, struct pvmi_frame *f)
{
    if (host->index <= FUZZ_HOSTS && f->h.ctx == PVMI_CTX_DM && f->h.wid && f->h.tag != (int32_t)PVMD_DM_ANSWER)
        asked[host->index] = f->h.wid;
}

void pvmd_link_call(struct pvmd_host *host, const struct pvmd_addresses *addresses)
{
    (void)host, (void)addresses;
}

void pvmd_link_close(struct pvmd_host *host)
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

void pvmd_link_accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    (void)p, (void)key;
    close(fd);
}

void pvmd_link_peer_relays(struct pvmd_host *host, uint32_t count)
{
    (void)count;
    MUST(host->index != pvmd.master_index && pvmd.host_index != pvmd.master_index);
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

int64_t pvmd_link_heard_us(const struct pvmd_host *host)
{
    (void)host;
    return 0;
}

bool pvmd_link_has_kept(const struct pvmd_host *host)
{
    (void)host;
    return false;
}

void pvmd_link_excuse(struct pvmd_host *host, int64_t us)
{
    (void)host, (void)us;
}

void pvmd_link_ping(struct pvmd_host *host)
{
    (void)host;
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

uint16_t pvmd_listen_port(void)
{
    return 4000;
}

/*
 * The linker puts these in place of the functions of that name: TLS would take longer to start than all the rest, and
 * memory is trimmed by a timer that pvmd_run() sets up.
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

/* ---- what is played: the name service, processes ---- */

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

/* Started, it seems: no such process exists. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    static pid_t latest;
    (void)path, (void)actions, (void)attributes, (void)argv, (void)environment;
    *pid = 0x40000000 + ++latest % 0x100000;
    return 0;
}

int kill(pid_t pid, int number)
{
    (void)pid, (void)number;
    return 0;
}

/* ---- the daemon ---- */

static void quiet(enum pvmi_log_level level, const char *line, void *arg)
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
    setenv("PVM_MAX_TASKS", "8", 1);
    pvmi_log_to(quiet, NULL, PVMI_LOG_DEBUG);
    pvmd_exec_raise_limits();
    snprintf(path, sizeof path, "/tmp/dpvm-fuzz-%d", (int)getpid());
    pvmd = (struct pvmd_daemon){.host_name = "a", .socket_path = path};
    atexit(remove_socket);
}

static void start_duties(void)
{
    pvmd_info_start();
    pvmd_task_list_start();
    pvmd_tickle_start();
    pvmd_context_start();
    pvmd_watch_start();
    pvmd_notify_start();
    pvmd_mailbox_start();
    pvmd_multicast_start();
    pvmd_output_start();
    pvmd_siblings_start();
    pvmd_spawn_start();
    pvmd_exec_start();
    pvmd_tasker_start();
    pvmd_hoster_start();
    pvmd_manager_start();
}

void fuzz_daemon_start(unsigned master)
{
    prepare();
    memset(asked, 0, sizeof asked);
    pvmd.host_index = pvmd.master_index = 0;
    pvmd.ending = false;
    pvmd.loop = ev_default_loop(0);
    start_duties();
    MUST(!pvmd_net_start() && !pvmd_clients_start(pvmd.socket_path));
    if (pvmd.host_index != 1) { /* numbers are given out in turn */
        pvmd_host_free(pvmd_host_self());
        pvmd.host_index = 1;
        pvmd_host_new(1, 1, "a");
    }
    for (unsigned i = 2; i <= FUZZ_HOSTS; i++)
        pvmd_host_new(i, i, (char[]){(char)('a' + i - 1), '\0'});
    for (unsigned i = 1; i <= FUZZ_HOSTS; i++)
        pvmd_host_set_state(pvmd_host_any(i), i < FUZZ_HOSTS ? PVMD_HOST_UP : PVMD_HOST_JOINING);
    pvmd.master_index = master;
}

void fuzz_daemon_work(void)
{
    for (int i = 0; i < TURNS; i++)
        ev_run(pvmd.loop, EVRUN_NOWAIT);
}

/* All that waits for an answer is freed when there will be none; a spawn then asks the hosts that are left. */
static void give_up_questions(void)
{
    for (int round = 0; round < FUZZ_HOSTS; round++) {
        for (unsigned i = 1; i <= PVMI_HOST_INDEX_MAX; i++)
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
    pvmd_exec_stop();
    pvmd_output_stop();
    pvmd_mailbox_stop();
    pvmd_notify_stop();
    pvmd_trace_stop();
    pvmd_watch_stop();
    pvmd_context_stop();
    pvmd_tasks_stop();
    pvmd_manager_stop();
    pvmd_hoster_stop();
    pvmd_service_stop();
    pvmd_relay_stop();
    ev_loop_destroy(pvmd.loop);
}

/* ---- the task ---- */

static int connection = -1;

void fuzz_task_frame(const struct pvmi_frame_header *h, const uint8_t *payload)
{
    uint8_t wire[PVMI_FRAME_HEADER_BYTES + FRAME_BYTES_MAX];
    MUST(h->length <= FRAME_BYTES_MAX);
    pvmi_frame_encode(h, wire);
    if (h->length)
        memcpy(wire + PVMI_FRAME_HEADER_BYTES, payload, h->length);
    send(connection, wire, PVMI_FRAME_HEADER_BYTES + h->length, MSG_NOSIGNAL);
    fuzz_daemon_work();
}

void fuzz_task_request(uint32_t tag, const uint8_t *body, size_t length)
{
    struct pvmi_frame_header h = {.length = (uint32_t)length,
                                  .body_length = length,
                                  .dst = PVMI_TID_DAEMON,
                                  .src = pvmd_task_by_tid(FUZZ_TASK) ? FUZZ_TASK : 0,
                                  .ctx = PVMI_CTX_TM,
                                  .tag = (int32_t)tag,
                                  .wid = 1};
    fuzz_task_frame(&h, body);
}

static void give_number(struct pvmd_task *task, pvmi_tid tid)
{
    HASH_DEL(pvmd_tasks, task);
    task->tid = tid;
    pvmd_queue_init(&task->queue, tid);
    MUST(PVMI_HASH_ADD(hh, pvmd_tasks, tid, task));
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
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, PVMI_TASK_PROTOCOL);
    pvmi_buf_put_u32(&b, 1);
    pvmi_buf_put_u32(&b, 0);
    pvmi_buf_put_u32(&b, pvmi_dsig_own());
    pvmi_buf_put_string(&b, "fuzz");
    fuzz_task_request(PVMI_TM_CONNECT, b.data, b.length);
    pvmi_buf_free(&b);
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
