/*
 * rpc.h - requests between daemons and their answers (DM messages).
 *
 * A request to our own daemon takes the same path, so that a duty is written once for local and remote tasks. The loop
 * calls its handler soon after, never from inside pvmd_ask().
 */
#ifndef PVMD_RPC_H
#define PVMD_RPC_H

#include <stdint.h>
#include "core/buf.h"
#include "core/message/message.h"

enum pvmd_dm {
    PVMD_DM_ANSWER = 0x80020001, /* the answer to the request with the same wid */
    /* one way, from the master */
    PVMD_DM_HOST_ADD,    /* a host joins: its row; answered when stored */
    PVMD_DM_HOST_REMOVE, /* to this host: it is deleted; to others: it has not become a member */
    PVMD_DM_PING,
    PVMD_DM_HALT,
    PVMD_DM_ADDHOSTS, /* petition */
    PVMD_DM_DELHOSTS, /* petition */
    PVMD_DM_HOSTSYNC,
    PVMD_DM_LINK_COUNT, /* one way, through the master, between slaves that cannot reach each other */
    PVMD_DM_QUORUM,     /* one way: who leads, and changes of the tables that all members keep */
    PVMD_DM_TABLE_PART, /* one way, from the master: a part of such a table */
    PVMD_DM_PETITION,   /* to the master: carries a request that outlives the master */
    PVMD_DM_SECRET,     /* from the master: have you this secret? */
    PVMD_DM_ROTATE,     /* petition: replaces the machine's secret */
    PVMD_DM_LAUNCH,     /* from the master: run a launcher's command */
    PVMD_DM_LAUNCH_END, /* one way, from the master: the launched daemon is linked, or not wanted */
    PVMD_DM_LAST_OF_HOSTS = PVMD_DM_LAUNCH_END,
    /* duties on tasks */
    PVMD_DM_EXEC = 0x80020100, /* start n tasks */
    PVMD_DM_PSTAT,
    PVMD_DM_SENDSIG,
    PVMD_DM_TASKS,
    PVMD_DM_WATCH,      /* asks for a message when the task ends */
    PVMD_DM_TASK_ENDED, /* one way: a watched task has ended */
    PVMD_DM_MULTICAST,  /* one way: the receivers of the multicast frames that follow */
    PVMD_DM_OUTPUT,     /* one way, to the master: a line for the log */
    PVMD_DM_MAILBOX,    /* petition */
    PVMD_DM_SIBLINGS,   /* one way: the tids of a finished spawn, for tasks of that host */
    PVMD_DM_CONTEXT_FREE,
    PVMD_DM_MANAGER, /* petition: replaces the resource manager */
    PVMD_DM_INPUT,   /* standard input for a task */
    PVMD_DM_USAGE,   /* what this host and its tasks are doing */
    PVMD_DM_TOKEN,   /* petition: makes, lists or revokes tokens */
    PVMD_DM_DRAIN,   /* petition: the asker's host gets no more tasks */
    PVMD_DM_LAST = PVMD_DM_DRAIN,
};

/* A request that waits for its answer. A handler may copy it by value and answer later. */
struct pvmd_question {
    unsigned host_index; /* of the requester */
    int32_t wid;         /* 0: one way, no answer wanted */
};

/*
 * Called once per request: with the answer's code and the rest of its body, or with PvmHostFail and an empty body when
 * the host is lost or never was a member.
 */
typedef void pvmd_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body);

/* Sends a request to a host; `body` stays the caller's. answered NULL: one way. */
void pvmd_ask(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void *arg);

/*
 * Sends a request to all members, including our own daemon. `answered` is called once for each, then `done` once.
 * Either may be NULL.
 */
void pvmd_ask_all(enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void (*done)(void *arg),
                  void *arg);

/* Sends DM_LINK_COUNT to a slave through the master's link, beside the frames of the link to that slave. */
void pvmd_ask_through_master(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body);

/* Sends the answer: code and further fields (body may be NULL). Does nothing for one-way requests and lost hosts. */
void pvmd_answer(const struct pvmd_question *q, int code, const struct pvmc_buf *body);

/* Handles one DM message. Reads `body` and checks it with pvmc_buf_end(); returns a PVMC_E code for a malformed one. */
typedef int pvmd_dm_handler(const struct pvmd_question *q, struct pvmc_buf *body);

/* Registers the handler of a message; called by each duty's start-up. Messages without one are logged and counted. */
void pvmd_dm_handle(enum pvmd_dm what, pvmd_dm_handler *handler);

/*
 * Handles a complete message in context DM, as reassembled by relay.c; m stays the caller's. from_host is the host
 * whose link delivered it (never a local task: relay.c refuses those). Only this source is trusted.
 */
void pvmd_rpc_receive(unsigned from_host, struct pvmc_message *m);

/* A host has left: requests to it fail with PvmHostFail. Called by leave.c after the table has changed. */
void pvmd_rpc_host_left(unsigned index);

/* Drops all requests silently, and all handlers, when the daemon ends. */
void pvmd_rpc_stop(void);

#endif
