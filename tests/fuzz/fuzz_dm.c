/*
 * fuzz_dm.c - the daemon against malicious daemons: every message between daemons, its frames, and requests of a task
 * meanwhile, so that there are requests to answer.
 *
 * Input: a byte that selects the master, then records { kind, sender, length, bytes }. Kinds below MESSAGES are DM
 * messages with these bytes as body; the next kinds are requests of a task, then frames whose header is made from the
 * bytes, and last link events.
 */
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include "core/message/dsig.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "pvmd/hosts/join.h"
#include "pvmd/launch/startup.h"
#include "pvmd/frames/relay.h"
#include "pvmd/net/machine.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/tasks.h"
#include "daemon.h"
#include "pvmproto.h"

enum {
    FIRST_ROW = PVMD_DM_PETITION - PVMD_DM_ANSWER + 1,
    MESSAGES = FIRST_ROW + PVMD_DM_MANAGER - PVMD_DM_EXEC + 1,
    REQUESTS = PVMC_TM_SIBLINGS - PVMC_TM_CONNECT + 1,
    FRAMES = 8,
    LINK_NEWS = 2,
    KEPT = MESSAGES + REQUESTS + FRAMES + LINK_NEWS, /* as in the kept inputs; what came later follows */
    KINDS = KEPT + 8,
    RECORDS_MAX = 16,
    HALF_BYTES = 64, /* longer messages are split into frames of this size */
};

static uint32_t tag_of(unsigned kind)
{
    return kind < FIRST_ROW ? PVMD_DM_ANSWER + kind : PVMD_DM_EXEC + (kind - FIRST_ROW);
}

static unsigned sender_of(uint8_t choice)
{
    return 2 + choice % (FUZZ_HOSTS - 1);
}

/*
 * Bits of `choice`: 0 and 1 select the sender; 2: the master forwards it; 3 and 4 select the wait id; 5: in several
 * frames.
 */
static void say_message(uint32_t tag, uint8_t choice, const uint8_t *body, size_t length)
{
    unsigned from = sender_of(choice & 3), link = choice & 4 ? pvmd.master_index : from;
    const int32_t wids[] = {0, 1, fuzz_asked(from), fuzz_asked(from)};
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    m->src = PVMC_TID_DAEMON | pvmc_tid_of_host_index(from);
    m->dst = PVMC_TID_DAEMON | pvmd_host_tid();
    m->tag = (int32_t)tag;
    m->wid = wids[choice >> 3 & 3];
    m->ctx = PVMC_CTX_DM;
    MUST(!length || !pvmc_message_pack_bytes(m, body, length));
    uint64_t offset = 0;
    do {
        struct pvmc_frame *f = pvmc_message_frame(m, offset, choice & 32 ? HALF_BYTES : PVMC_FRAME_PAYLOAD_MAX, 0);
        offset += f->h.length;
        pvmd_relay(f, link == pvmd.host_index ? from : link);
        pvmc_frame_unref(f);
    } while (offset < m->length);
    pvmc_message_unref(m);
}

/* DM_LAUNCH, whose order is these bytes, with a start text that this machine's master could have made. */
static void say_launch(uint8_t choice, const uint8_t *bytes, size_t length)
{
    struct pvmd_start_text t = {.machine = pvmd_secrets->own.machine,
                                .master_index = pvmd.master_index,
                                .master_incarnation = 1,
                                .master_name = "a",
                                .index = 99,
                                .incarnation = 1,
                                .name = "b",
                                .speed = 1,
                                .exec_path = "",
                                .working_dir = "",
                                .debugger = "",
                                .listen_ip = ""};
    char *text = pvmd_start_text_format(&t);
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_bytes(&body, bytes, length);
    pvmc_buf_put_string(&body, text);
    MUST(text && !pvmc_buf_error(&body));
    say_message(PVMD_DM_LAUNCH, choice, body.data, body.length);
    pvmc_buf_free(&body);
    free(text);
}

/* A frame that the link layer passes: with a valid header. */
static void say_frame(unsigned from, const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    const pvmc_tid receivers[] = {FUZZ_TASK,
                                  PVMC_TID_DAEMON | 0x40000,
                                  FUZZ_SPAWNED_TASK,
                                  PVMC_TID_DAEMON,
                                  0x80001,
                                  PVMC_TID_MULTICAST | 0x80001u,
                                  0,
                                  PVMC_TID_DAEMON | 0x80000};
    const uint32_t contexts[] = {0, PVMC_CTX_TM, PVMC_CTX_TC, PVMC_CTX_DM};
    const int32_t tags[] = {(int32_t)PVMC_TC_HOLD,      (int32_t)PVMC_TC_RELEASE, SM_EXEC, SM_ADD, SM_HANDOFF, SM_TASKX,
                            (int32_t)PVMD_DM_MULTICAST, (int32_t)PVMD_DM_ANSWER};
    struct pvmc_frame_header h = {.enc = PVMC_ENC_DEFAULT, .dsig = pvmc_dsig_own()};
    h.dst = receivers[fuzz_byte(&in) % 8];
    h.ctx = contexts[fuzz_byte(&in) % 4];
    h.tag = tags[fuzz_byte(&in) % 8];
    h.src = pvmc_tid_of_host_index(from) | fuzz_byte(&in) % 4;
    h.flags = fuzz_byte(&in) % 4 & PVMC_FRAME_ABORT;
    h.wid = fuzz_byte(&in) % 2;
    h.offset = fuzz_byte(&in) % 64;
    uint8_t rest = fuzz_byte(&in) % 64;
    h.length = h.flags ? 0 : (uint32_t)in.left;
    h.body_length = h.offset + h.length + rest;
    if (pvmc_frame_check(&h))
        return;
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    if (h.length)
        memcpy(f->pieces[0].iov_base, in.data, h.length);
    pvmd_relay(f, from);
    pvmc_frame_unref(f);
}

static void tell_of_link(unsigned host, bool up)
{
    if (!pvmd_host_any(host))
        return; /* a host that has left has no link */
    if (up)
        pvmd_join_link_up(host);
    else
        pvmd_join_link_lost(host, "the cable is cut");
}

/*
 * A task is told of each sibling once, however long the list is. It is not connected, so all messages to it are queued
 * here.
 */
static void check_siblings(void)
{
    struct pvmd_task *task = pvmd_task_by_tid(FUZZ_SPAWNED_TASK);
    unsigned told = 0;
    for (struct pvmc_frame *f; task && (f = pvmd_queue_first(&task->queue)); pvmd_queue_pop(&task->queue))
        told += f->h.src == PVMC_TID_DAEMON && f->h.tag == (int32_t)PVMC_TC_SIBLINGS;
    MUST(told <= 1);
}

static void say(unsigned kind, uint8_t choice, const uint8_t *bytes, size_t length)
{
    unsigned from = sender_of(choice & 3);
    if (kind < MESSAGES)
        say_message(tag_of(kind), choice, bytes, length);
    else if (kind < MESSAGES + REQUESTS)
        fuzz_task_request(PVMC_TM_CONNECT + kind - MESSAGES, bytes, length);
    else if (kind < MESSAGES + REQUESTS + FRAMES)
        say_frame(from, bytes, length);
    else if (kind < KEPT)
        tell_of_link(from, kind % 2);
    else if (kind == KEPT)
        say_message(PVMD_DM_INPUT, choice, bytes, length);
    else if (kind == KEPT + 1)
        fuzz_task_request(PVMC_TM_INPUT, bytes, length);
    else if (kind == KEPT + 2)
        say_message(PVMD_DM_SECRET, choice, bytes, length);
    else if (kind == KEPT + 3)
        say_message(PVMD_DM_ROTATE, choice, bytes, length);
    else if (kind == KEPT + 4)
        fuzz_task_request(PVMC_TM_ROTATE, bytes, length);
    else if (kind == KEPT + 5)
        say_message(PVMD_DM_LAUNCH, choice, bytes, length);
    else if (kind == KEPT + 6)
        say_launch(choice, bytes, length);
    else
        say_message(PVMD_DM_LAUNCH_END, choice, bytes, length);
    fuzz_daemon_work();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    fuzz_daemon_start(1 + fuzz_byte(&in) % 2);
    fuzz_task_connect();
    fuzz_task_spawned();
    for (int i = 0; i < RECORDS_MAX && in.left && !pvmd.ending; i++) {
        unsigned kind = fuzz_byte(&in) % KINDS;
        uint8_t choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        say(kind, choice, in.data, length);
        in.data += length;
        in.left -= length;
    }
    check_siblings();
    fuzz_task_close();
    fuzz_daemon_stop();
    return 0;
}
