/*
 * tasks.h - the tasks of this host.
 */
#ifndef PVMD_TASKS_H
#define PVMD_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>
#include "../core/buf.h"
#include "../core/tid.h"
#include "../transports/transport.h"
#include "queue.h"

/* Bits of ti_flag, as PVM shows them. */
enum pvmd_task_flag {
    PVMD_TASK_FORKED = 0x2,
    PVMD_TASK_CONNECTED = 0x4,
    PVMD_TASK_AUTH = 0x8,
    PVMD_TASK_CLOSING = 0x10,
    PVMD_TASK_RM = 0x100,
    PVMD_TASK_HOSTER = 0x200,
    PVMD_TASK_TASKER = 0x400,
    PVMD_TASK_TRACER = 0x800,
};

struct pvmd_task {
    pvmi_tid tid;
    pvmi_tid parent; /* 0: none */
    unsigned flags;
    pid_t pid;
    char *name;                /* program, "" when unknown */
    struct pvmi_endpoint *ep;  /* its socket; NULL before it connects */
    struct pvmd_queue queue;   /* frames that wait for it */
    UT_hash_handle hh;
    /* further fields belong to tasks.c, spawn.c and output.c */
    uint32_t context;                 /* first context */
    pvmi_tid output_tid, trace_tid;   /* collectors, 0: none */
    uint32_t output_ctx, trace_ctx;
    int32_t output_tag, trace_tag;
    bool no_parent;                   /* spawned with PvmNoSpawnParent */
    bool no_reset;                    /* PvmNoReset */
    bool spawned;
    struct pvmd_output *output;       /* pipe of a spawned task's output, or NULL */
};

/* A task of this host, or NULL. */
struct pvmd_task *pvmd_task_by_tid(pvmi_tid tid);

/* All tasks of this host, for HASH_ITER. */
extern struct pvmd_task *pvmd_tasks;

/* A task's request (TM message) that waits for its answer: copy it by value and keep it until then. */
struct pvmd_request {
    pvmi_tid tid;
    int32_t tag, wid;
};

/* Answers: i32 code, then body (may be NULL). Does nothing if the task is gone or the request was one way. */
void pvmd_request_answer(const struct pvmd_request *r, int code, const struct pvmi_buf *body);

/* Handles one TM message: reads `body`, checks it with pvmi_buf_end(), returns a PVMI_E code for a malformed one. */
typedef int pvmd_tm_handler(const struct pvmd_request *r, struct pvmi_buf *body);

/* Registers the handler of a TM message; called by each duty's start-up. */
void pvmd_tm_handle(int tag, pvmd_tm_handler *handler);

#endif
