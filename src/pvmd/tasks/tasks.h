/*
 * tasks.h - the tasks of this host: the registry, and what their daemon says to them.
 *
 * A task whose process we started exists until that process ends, as in PVM: who is told of its exit finds its output
 * and files complete. After its TM_EXIT it only waits for that. Any other task exists from its TM_CONNECT until its
 * TM_EXIT, or until its connection closes.
 */
#ifndef PVMD_TASKS_H
#define PVMD_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../core/buf.h"
#include "../core/hash.h"
#include "../core/message.h"
#include "../core/tid.h"
#include "../transports/transport.h"
#include "queue.h"
#include "unfinished.h"

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
    PVMD_TASK_CUT = 0x1000, /* pvmd_task_cut() */
};

/* Where a task's output or trace goes. */
struct pvmd_collector {
    pvmi_tid tid; /* 0: none */
    uint32_t ctx;
    int32_t tag;
};

struct pvmd_task {
    pvmi_tid tid;
    int32_t parent; /* its tid, PvmNoParent, or PvmParentNotSet */
    unsigned flags;
    pid_t pid;
    char *name;               /* program, "" when unknown */
    struct pvmi_endpoint *ep; /* its socket; NULL before it connects */
    struct pvmd_queue queue;  /* frames that wait for it */
    UT_hash_handle hh;
    struct pvmd_unfinished unfinished; /* what it is sending */
    struct pvmd_overrun *overruns;     /* the receivers that it was told to hold */
    unsigned unanswered;               /* requests of its */
    size_t unanswered_bytes;           /* of their bodies */
    unsigned contexts;                 /* that it has made, and nobody has freed */
    uint32_t cookie;                   /* PVMEPID of a process that we started, until it connects; else 0 */
    unsigned siblings_from;            /* the host whose daemon still owes it TC_SIBLINGS; 0: none does */
    uint32_t context;                  /* first context */
    struct pvmd_collector output, trace;
    int32_t spawn_flags;  /* PvmTask... of the spawn; -1: not spawned */
    pvmi_tid tasker;      /* who was told to start its process; 0: we are */
    bool was_tasker;      /* it is or was the tasker, and may have such tasks */
    bool exit_told;       /* by the tasker: the process has ended */
    bool managed;         /* it asks the resource manager that it was told of */
    int status, times[4]; /* of its ended process, as far as known: wait status; seconds and microseconds of user and
                             system time */
    bool running;         /* a process that we started, and whose end we shall notice */
};

/* ---- the registry: tasks.c ---- */

/* All tasks of this host, for HASH_ITER; in order of their start. */
extern struct pvmd_task *pvmd_tasks;

/* A task of this host, or NULL. */
struct pvmd_task *pvmd_task_by_tid(pvmi_tid tid);

/* The task whose process we started with this PVMEPID and which has not connected yet, or NULL. */
struct pvmd_task *pvmd_task_by_cookie(uint32_t cookie);

/* A new task with a free tid and a copy of name; NULL when PVM_MAX_TASKS, tids or memory are used up (logged). */
struct pvmd_task *pvmd_task_new(const char *name);

/* The task said TM_EXIT, or its connection, which is no longer its endpoint, closed: it ends, or waits for its process.
 */
void pvmd_task_leave(struct pvmd_task *task);

/* The task has ended: takes it off the registry, tells all who want to know, and frees it. Its endpoint stays. */
void pvmd_task_end(struct pvmd_task *task);

/* SIGTERM to all. */
void pvmd_tasks_terminate(void);

/* Frees the registry at the daemon's end; nobody is told. */
void pvmd_tasks_stop(void);

/* ---- sending to tasks: tasks.c ---- */

/* A frame for the task: to its socket at once if nothing waits before it, else to its queue. Takes a reference. */
void pvmd_task_send(struct pvmd_task *task, struct pvmi_frame *f);

/*
 * A message for this task, if it is one of ours, is lost for want of memory. It might wait for that for ever, so it
 * loses its connection at the loop's next turn, or as soon as it has one.
 */
void pvmd_task_cut(pvmi_tid tid);

/* The socket takes frames again: sends what waits. While too much of our answers does, the task is not read. */
void pvmd_task_drain(struct pvmd_task *task);

/* A message of this daemon with a checked-buffer body (NULL: empty). */
void pvmd_task_tell(struct pvmd_task *task, uint32_t ctx, int32_t tag, int32_t wid, const struct pvmi_buf *body);

/* ---- requests: request.c ---- */

/* A task's request (TM message) that waits for its answer: copy it by value and keep it until then. */
struct pvmd_request {
    pvmi_tid tid;
    int32_t tag, wid;
    uint32_t bytes; /* of its body; 0 if it is one way */
};

/* Answers: i32 code, then body (may be NULL). Does nothing if the task is gone or the request was one way. */
void pvmd_request_answer(const struct pvmd_request *r, int code, const struct pvmi_buf *body);

/* Handles one TM message: reads `body`, checks it with pvmi_buf_end(), returns a PVMI_E code for a malformed one. */
typedef int pvmd_tm_handler(const struct pvmd_request *r, struct pvmi_buf *body);

/* Registers the handler of a TM message; called by each duty's start-up. */
void pvmd_tm_handle(int tag, pvmd_tm_handler *handler);

#endif
