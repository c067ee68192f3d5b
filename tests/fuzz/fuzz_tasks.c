/*
 * fuzz_tasks.c - the daemon against a malicious task: requests of every kind, and frames to any receiver.
 *
 * Each input is a new connection, which is enrolled as a task first. Input: messages { kind, length, bytes }. Kinds
 * below REQUESTS are requests with these bytes as body, others are frames whose header is made from the bytes.
 */
#include <string.h>
#include "core/message/proto.h"
#include "pvmd/tasks/tasks.h"
#include "daemon.h"

enum { REQUESTS = PVMC_TM_SIBLINGS - PVMC_TM_CONNECT + 1, MESSAGES_MAX = 16 };

static void say_frame(const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    pvmc_tid own = pvmd_task_by_tid(FUZZ_TASK) ? FUZZ_TASK : 0;
    const pvmc_tid receivers[] = {own,     PVMC_TID_DAEMON, PVMC_TID_DAEMON | 0x40000, PVMC_TID_MULTICAST | 0x40001,
                                  0x40000, 0x80001,         PVMC_TID_DAEMON | 0x80000, 0};
    const uint32_t contexts[] = {0, PVMC_CTX_TM, PVMC_CTX_TC, PVMC_CTX_DM};
    struct pvmc_frame_header h = {
        .src = own, .dst = receivers[fuzz_byte(&in) % 8], .ctx = contexts[fuzz_byte(&in) % 4]};
    h.flags = fuzz_byte(&in) % 2;
    h.tag = (int32_t)(PVMC_TC_HOLD + fuzz_byte(&in) % 4);
    h.offset = fuzz_byte(&in);
    uint8_t rest = fuzz_byte(&in) % 3;
    h.length = h.flags ? 0 : (uint32_t)in.left;
    h.body_length = h.offset + h.length + rest;
    fuzz_task_frame(&h, in.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_daemon_start(1);
    fuzz_task_connect();
    struct fuzz_input in = {data, size};
    for (int i = 0; i < MESSAGES_MAX && in.left; i++) {
        uint8_t kind = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        if (kind < REQUESTS)
            fuzz_task_request(PVMC_TM_CONNECT + kind, in.data, length);
        else
            say_frame(in.data, length);
        in.data += length;
        in.left -= length;
    }
    fuzz_task_close();
    MUST(!pvmd_task_by_tid(FUZZ_TASK));
    fuzz_daemon_stop();
    return 0;
}
