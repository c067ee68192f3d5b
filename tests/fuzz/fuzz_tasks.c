/*
 * fuzz_tasks.c - the daemon against a task that says anything: requests of every kind, and frames to everybody.
 *
 * A daemon without its network listens on a real socket; each input is a connection of its own, which is told to be a
 * task first. Input: messages of { kind, length, bytes }. Kinds below REQUESTS are requests with these bytes as body,
 * others are frames whose header is made from the bytes. Requests that start or kill processes are only parsed.
 */
#include "fuzz.h"
#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../../src/core/buf.h"
#include "../../src/core/dsig.h"
#include "../../src/core/frame.h"
#include "../../src/core/log.h"
#include "../../src/core/proto.h"
#include "../../src/pvmd/clients.h"
#include "../../src/pvmd/context.h"
#include "../../src/pvmd/daemon.h"
#include "../../src/pvmd/hosts.h"
#include "../../src/pvmd/info.h"
#include "../../src/pvmd/mailbox.h"
#include "../../src/pvmd/multicast.h"
#include "../../src/pvmd/notify.h"
#include "../../src/pvmd/order.h"
#include "../../src/pvmd/output.h"
#include "../../src/pvmd/siblings.h"
#include "../../src/pvmd/watch.h"

enum { REQUESTS = PVMI_TM_SIBLINGS - PVMI_TM_CONNECT + 1, MESSAGES_MAX = 16 };

static void quiet(enum pvmi_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

static void remove_socket(void)
{
    unlink(pvmd.socket_path);
}

static void start_daemon(void)
{
    static char path[100];
    snprintf(path, sizeof path, "/tmp/dpvm-fuzz-%d", (int)getpid());
    pvmi_log_to(quiet, NULL, PVMI_LOG_DEBUG);
    pvmd = (struct pvmd_daemon){.host_index = 1, .master_index = 1, .host_name = "fuzz", .socket_path = path};
    pvmd.loop = ev_default_loop(0);
    pvmd_host_set_state(pvmd_host_new(1, 1, "fuzz"), PVMD_HOST_UP);
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
    MUST(!pvmd_clients_start(path));
    atexit(remove_socket);
}

static void let_daemon_work(void)
{
    for (int i = 0; i < 4; i++)
        ev_run(pvmd.loop, EVRUN_NOWAIT);
}

/* ---- the task ---- */

static int connection = -1;

static int connect_task(void)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    strcpy(sun.sun_path, pvmd.socket_path);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return connect(connection, (struct sockaddr *)&sun, sizeof sun);
}

static void send_frame(const struct pvmi_frame_header *h, const uint8_t *payload)
{
    uint8_t wire[PVMI_FRAME_HEADER_BYTES + 256];
    pvmi_frame_encode(h, wire);
    memcpy(wire + PVMI_FRAME_HEADER_BYTES, payload, h->length);
    send(connection, wire, PVMI_FRAME_HEADER_BYTES + h->length, MSG_NOSIGNAL);
    let_daemon_work();
}

static void send_request(uint32_t tag, const uint8_t *body, size_t length)
{
    struct pvmi_frame_header h = {.length = (uint32_t)length,
                                  .body_length = length,
                                  .dst = PVMI_TID_DAEMON,
                                  .src = pvmd_tasks ? pvmd_tasks->tid : 0,
                                  .ctx = PVMI_CTX_TM,
                                  .tag = (int32_t)tag,
                                  .wid = 1};
    send_frame(&h, body);
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
    send_request(PVMI_TM_CONNECT, b.data, b.length);
    pvmi_buf_free(&b);
    MUST(pvmd_tasks);
}

/* ---- what it says ---- */

static void only_parse(const uint8_t *body, size_t length)
{
    struct pvmi_buf b;
    struct pvmd_order order;
    pvmi_buf_view(&b, body, length);
    pvmd_order_get(&b, &order);
    pvmd_order_free(&order);
}

static void say_request(uint32_t tag, const uint8_t *body, size_t length)
{
    if (tag == PVMI_TM_SPAWN)
        only_parse(body, length);
    else if (tag != PVMI_TM_SENDSIG && tag != PVMI_TM_HALT)
        send_request(tag, body, length);
}

static void say_frame(const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    pvmi_tid own = pvmd_tasks ? pvmd_tasks->tid : 0;
    const pvmi_tid receivers[] = {own,     PVMI_TID_DAEMON, PVMI_TID_DAEMON | 0x40000, PVMI_TID_MULTICAST | 0x40001,
                                  0x40000, 0x80001,         PVMI_TID_DAEMON | 0x80000, 0};
    const uint32_t contexts[] = {0, PVMI_CTX_TM, PVMI_CTX_TC, PVMI_CTX_DM};
    struct pvmi_frame_header h = {
        .src = own, .dst = receivers[fuzz_byte(&in) % 8], .ctx = contexts[fuzz_byte(&in) % 4]};
    h.flags = fuzz_byte(&in) % 2;
    h.tag = (int32_t)(PVMI_TC_HOLD + fuzz_byte(&in) % 4);
    h.offset = fuzz_byte(&in);
    h.length = h.flags ? 0 : (uint32_t)in.left;
    h.body_length = h.offset + h.length + fuzz_byte(&in) % 3;
    if (in.left < h.length)
        h.length = (uint32_t)in.left;
    send_frame(&h, in.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!pvmd.loop)
        start_daemon();
    MUST(!connect_task());
    let_daemon_work();
    introduce();
    struct fuzz_input in = {data, size};
    for (int i = 0; i < MESSAGES_MAX && in.left; i++) {
        uint8_t kind = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        if (kind < REQUESTS)
            say_request(PVMI_TM_CONNECT + kind, in.data, length);
        else
            say_frame(in.data, length);
        in.data += length;
        in.left -= length;
    }
    close(connection);
    let_daemon_work();
    MUST(!pvmd_tasks);
    return 0;
}
