/*
 * tasks.h - the tasks of this host: their registry, and messages from the daemon to them.
 *
 * A task whose process we started exists until that process ends, as in PVM, so that its output and files are complete
 * when others learn of its exit; TM_EXIT alone does not end it. Any other task exists from its TM_CONNECT until its
 * TM_EXIT, or until its connection closes.
 */
#ifndef PVMD_TASKS_H
#define PVMD_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/buf.h"
#include "core/hash.h"
#include "core/message/message.h"
#include "core/message/tid.h"
#include "transports/transport.h"
#include "pvmd/frames/queue.h"
#include "pvmd/frames/unfinished.h"

#define PVMD_GROUP_SERVER "pvmgs" /* the name of the task, from wherever it is started */

/* Bits of ti_flag, as shown by PVM. */
enum pvmd_task_flag {
    PVMD_TASK_FORKED = 0x2,
    PVMD_TASK_CONNECTED = 0x4,
    PVMD_TASK_AUTH = 0x8,
    PVMD_TASK_CLOSING = 0x10,
    PVMD_TASK_RM = 0x100,
    PVMD_TASK_HOSTER = 0x200,
    PVMD_TASK_TASKER = 0x400,
    PVMD_TASK_TRACER = 0x800,
    PVMD_TASK_CUT = 0x1000, /* pvmd_task_cut() */
};

/* The destination of a task's output or trace. */
struct pvmd_collector {
    pvmc_tid tid; /* 0: none */
    uint32_t ctx;
    int32_t tag;
};

struct pvmd_task {
    pvmc_tid tid;
    int32_t parent; /* its tid, PvmNoParent, or PvmParentNotSet */
    unsigned flags;
    pid_t pid;
    char *name;               /* program, "" when unknown */
    struct pvmt_endpoint *ep; /* its socket; NULL before it connects */
    struct pvmd_queue queue;  /* outgoing frames */
    UT_hash_handle hh;
    struct pvmd_unfinished unfinished; /* the messages it is sending */
    struct pvmd_overrun *overruns;     /* the receivers for which it must hold */
    unsigned unanswered;               /* its requests */
    size_t unanswered_bytes;           /* of their bodies */
    unsigned contexts;                 /* created by it and not freed */
    int64_t started_us;     /* when we started its process, until it enrols; 0: we did not (pvmc_clock_us()) */
    uint32_t cookie;        /* PVMEPID of a process that we started, until it connects; else 0 */
    unsigned siblings_from; /* the host that still has to send it TC_SIBLINGS, or 0 */
    uint32_t context;       /* first context */
    struct pvmd_collector output, trace;
    int32_t spawn_flags;  /* PvmTask... of the spawn; -1: not spawned */
    pvmc_tid tasker;      /* the tasker that starts its process; 0: this daemon */
    bool was_tasker;      /* it is or was the tasker, and may have started tasks */
    bool exit_told;       /* the tasker has reported the end of the process */
    bool managed;         /* it asks the resource manager instead of us */
    int status, times[4]; /* of its ended process, as far as known: wait status; seconds and microseconds of user and
                             system time */
    bool running;         /* we started its process, which has not ended */
    struct pvmd_gauges *gauges; /* NULL: it shows none */
};

/* Whether this daemon, or a tasker for it, has started its process. */
static inline bool pvmd_task_is_spawned(const struct pvmd_task *task)
{
    return task->flags & PVMD_TASK_FORKED || task->tasker;
}

/* ---- the registry: tasks.c ---- */

/* All tasks of this host, for HASH_ITER; in order of their start. */
extern struct pvmd_task *pvmd_tasks;

/* A task of this host, or NULL. */
struct pvmd_task *pvmd_task_by_tid(pvmc_tid tid);

/* The task whose process we started with this PVMEPID and which has not connected yet, or NULL. */
struct pvmd_task *pvmd_task_by_cookie(uint32_t cookie);

/* A new task with a free tid and a copy of name. NULL if PVM_MAX_TASKS, tids or memory are used up (logged). */
struct pvmd_task *pvmd_task_new(const char *name);

/* After TM_EXIT, or when its connection has closed and is no longer its endpoint: the task ends, or waits for its
 * process to end. */
void pvmd_task_leave(struct pvmd_task *task);

/* Ends the task: removes it from the registry, tells all listeners, and frees it. Its endpoint stays. */
void pvmd_task_end(struct pvmd_task *task);

/* Sends SIGTERM to all. */
void pvmd_tasks_terminate(void);

/* Frees the registry when the daemon ends; tells nobody. */
void pvmd_tasks_stop(void);

/* ---- sending to tasks: tasks.c ---- */

/* Sends a frame to the task's socket at once, or appends it to the queue (takes a reference) if others are waiting. */
void pvmd_task_send(struct pvmd_task *task, struct pvmc_frame *f);

/*
 * Forwards a frame to a task of this host from the buffer into which it was read. False unless there is such a task and
 * it accepts the frame now: relay a copy instead.
 */
bool pvmd_task_forward(pvmc_tid dst, const uint8_t *wire, uint32_t payload_bytes);

/*
 * A message was lost because memory ran out. If its receiver is one of our tasks, it could wait for ever, so it loses
 * its connection in the loop's next turn, or as soon as it has one.
 */
void pvmd_task_cut(pvmc_tid tid);

/* The socket has room again: sends the queued frames. Once they are sent, the task's requests are read again. */
void pvmd_task_drain(struct pvmd_task *task);

/* Sends a message of this daemon; the body is a checked buffer (NULL: empty). */
void pvmd_task_tell(struct pvmd_task *task, uint32_t ctx, int32_t tag, int32_t wid, const struct pvmc_buf *body);

/* ---- requests: request.c ---- */

/* A task's request (TM message). A duty that answers later keeps a copy of it. */
struct pvmd_request {
    pvmc_tid tid;
    int32_t tag, wid;
    uint32_t bytes; /* of its body; 0 if it is one way */
};

/* Answers with an i32 code and the body (may be NULL), unless the task is gone or the request was one way. */
void pvmd_request_answer(const struct pvmd_request *r, int code, const struct pvmc_buf *body);

/* Handles one TM message: reads `body` up to pvmc_buf_end(). Returns 0, or a PVMC_E code if it is malformed. */
typedef int pvmd_tm_handler(const struct pvmd_request *r, struct pvmc_buf *body);

/* Registers the handler of a TM message. Called when a duty starts. */
void pvmd_tm_handle(int tag, pvmd_tm_handler *handler);

#endif
