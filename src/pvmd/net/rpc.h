/*
 * rpc.h - questions between daemons and their answers (DM messages).
 *
 * A question to ourselves takes the same way, so that a duty is written once for tasks here and elsewhere. Its handler
 * is called from the loop soon after, never from inside pvmd_ask().
 */
#ifndef PVMD_RPC_H
#define PVMD_RPC_H

#include <stdint.h>
#include "core/buf.h"
#include "core/message/message.h"

enum pvmd_dm {
    PVMD_DM_ANSWER = 0x80020001, /* answer to the question with the same wid */
    /* one way, from the master */
    PVMD_DM_HOST_ADD,    /* a host joins: its row; answered when stored */
    PVMD_DM_HOST_UP,     /* it is a member now */
    PVMD_DM_HOST_REMOVE, /* it is none any more */
    PVMD_DM_PING,
    PVMD_DM_HALT,
    PVMD_DM_ADDHOSTS, /* to the master */
    PVMD_DM_DELHOSTS, /* to the master */
    PVMD_DM_HOSTSYNC,
    PVMD_DM_LINK_LOST, /* one way, through the master, between slaves that cannot reach each other */
    /* duties on tasks */
    PVMD_DM_EXEC = 0x80020100, /* start n tasks */
    PVMD_DM_PSTAT,
    PVMD_DM_SENDSIG,
    PVMD_DM_TASKS,
    PVMD_DM_WATCH,      /* tell us when the task ends */
    PVMD_DM_TASK_ENDED, /* one way: a watched task has ended */
    PVMD_DM_MULTICAST,  /* one way: receivers of the multicast frames that follow */
    PVMD_DM_OUTPUT,     /* one way, to the master: a line for the log */
    PVMD_DM_MAILBOX,    /* to the master */
    PVMD_DM_SIBLINGS,   /* one way: the tids of a finished spawn, for tasks of that host */
    PVMD_DM_CONTEXT_FREE,
    PVMD_DM_MANAGER,    /* to the master: another resource manager in place of this one */
    PVMD_DM_MANAGER_IS, /* one way, from the master: who it is */
};

/* A question that waits for its answer: copy it by value and keep it until then. */
struct pvmd_question {
    unsigned host_index; /* of the asker */
    int32_t wid;         /* 0: one way, no answer wanted */
};

/*
 * Called once for each question asked: with the answer's code and the rest of its body, or with PvmHostFail and an
 * empty body when the host is lost or never was a member.
 */
typedef void pvmd_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body);

/* Asks a host; `body` stays the caller's. answered NULL: one way. */
void pvmd_ask(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void *arg);

/* Asks all members, ourselves included; `answered` comes once for each, then `done` once. Either may be NULL. */
void pvmd_ask_all(enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void (*done)(void *arg),
                  void *arg);

/* One way to a host by way of the master's link: it overtakes what waits for a link of our own. */
void pvmd_ask_through_master(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body);

/* Answers: code and further fields (body may be NULL). Does nothing for one-way questions and lost hosts. */
void pvmd_answer(const struct pvmd_question *q, int code, const struct pvmc_buf *body);

/* Handles one DM message. Reads `body` and checks it with pvmc_buf_end(); returns a PVMC_E code for a malformed one. */
typedef int pvmd_dm_handler(const struct pvmd_question *q, struct pvmc_buf *body);

/* Registers the handler of a message; called by each duty's start-up. Messages without one are logged and counted. */
void pvmd_dm_handle(enum pvmd_dm what, pvmd_dm_handler *handler);

/*
 * A whole message in context DM for this daemon, as relay.c put it together; m stays the caller's. from_host is the
 * host whose link brought it (never a local task: relay.c refuses those), which is the only source to be believed.
 */
void pvmd_rpc_receive(unsigned from_host, struct pvmc_message *m);

/* A host left: questions to it fail with PvmHostFail. Called by leave.c after the table has changed. */
void pvmd_rpc_host_left(unsigned index);

/* The daemon's end: forgets all questions without a word, and all handlers. */
void pvmd_rpc_stop(void);

#endif
