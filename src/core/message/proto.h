/*
 * proto.h - the numbers of the control protocols: task to daemon (TM), daemon to daemon (DM), task to task (TC).
 *
 * A control message is an ordinary frame stream in a system context. Its tag is the message number, its wid matches an
 * answer to its request. Bodies are written and read with the checked buffer (little-endian, no data signature), except
 * for TC bodies that user programs may read: those are packed values. doc/protocol.md describes all bodies.
 */
#ifndef PVMC_PROTO_H
#define PVMC_PROTO_H

#define PVMC_TASK_PROTOCOL   1 /* version of the TM messages */
#define PVMC_DAEMON_PROTOCOL 6 /* version of the DM messages */

#define PVMC_MULTICAST_MAX 65536 /* receivers of one PVMC_TM_MULTICAST */

/* System contexts */
#define PVMC_CTX_TC 0x7ffffu /* task to task, and output collection */
#define PVMC_CTX_TM 0x7fffeu /* task to its daemon and back */
#define PVMC_CTX_SG 0x7fffdu /* static groups */
#define PVMC_CTX_DG 0x7fffcu /* dynamic groups */
#define PVMC_CTX_DM 0x7fffbu /* daemon to daemon */

/* Task <-> its daemon. Each is a request, answered with the same tag and wid unless marked "one way". */
enum pvmc_tm {
    PVMC_TM_CONNECT = 0x80010001, /* first message of a task */
    PVMC_TM_EXIT,                 /* pvm_exit: answered after the daemon has dropped the task */
    PVMC_TM_ADDHOSTS,
    PVMC_TM_DELHOSTS,
    PVMC_TM_CONFIG,
    PVMC_TM_MSTAT,
    PVMC_TM_HALT,
    PVMC_TM_TICKLE,
    PVMC_TM_SPAWN,
    PVMC_TM_PSTAT,
    PVMC_TM_SENDSIG,
    PVMC_TM_TASKS,
    PVMC_TM_MULTICAST, /* one way: receivers of the following frames to this multicast tid */
    PVMC_TM_NOTIFY,
    PVMC_TM_MAILBOX,
    PVMC_TM_HOSTSYNC,
    PVMC_TM_SETOPT, /* options the daemon must know (output, trace, no-reset); one way except for PvmSelfTraceTid */
    PVMC_TM_CONTEXT,
    PVMC_TM_REGISTER, /* become resource manager, hoster, tasker or tracer */
    PVMC_TM_SIBLINGS, /* one way: tasks that a resource manager started for us; the daemon tells them of each other */
    PVMC_TM_INPUT,    /* standard input for a task */
    PVMC_TM_USAGE,    /* what hosts and tasks are doing */
    PVMC_TM_TOKEN,    /* tokens, with which daemons join by themselves */
    PVMC_TM_ROTATE,   /* replaces the machine's secret */
    PVMC_TM_LEAVE,    /* this host leaves the machine once its tasks have ended; answered whenever something changes */
    PVMC_TM_SLOTS,    /* how many tasks hosts want */
};

/* In the flags of TM_SPAWN, which have those of pvm_spawn() and dpvm.h, too: the answer has the reason for failures. */
#define PVMC_SPAWN_WHY 0x40000000

/* Bytes of one TM_INPUT. */
#define PVMC_INPUT_MAX 65536

/* Task <-> task, and daemon -> task: all one way, context PVMC_CTX_TC. */
enum pvmc_tc {
    PVMC_TC_OUTPUT = 0x80030005,   /* output of a child: packed int tid, int n, bytes; see PVMC_OUTPUT_* */
    PVMC_TC_SIBLINGS = 0x80030010, /* daemon -> spawned task: packed int n, int tids[n], also -1 for failed ones */
    PVMC_TC_HOLD = 0x80030020,     /* daemon -> task: buf u32 tid: stop sending to this task, or to this host's tasks */
    PVMC_TC_RELEASE,               /* daemon -> task: buf u32 tid: resume sending */
    PVMC_TC_GONE,                  /* daemon -> task: buf u32 host tid: host left; drop holds and unfinished messages */
    PVMC_TC_MANAGER,               /* daemon -> task: buf u32 tid: the resource manager to ask from now on; 0: none */
    /*
     * Task -> task, always in one frame. Over the daemon route:
     */
    PVMC_TC_OFFER =
        0x80030030, /* buf u32 attempt, u8 count, count x (string transport, u32 n, n bytes): direct links that
                       the sender offers, best first; the frame may carry a descriptor for the local one */
    PVMC_TC_ANSWER, /* buf u32 attempt, i32 code, string transport, u32 n, n bytes of reply: the offer that was
                       accepted (code 0), or why none was (PVMC_E code, transport "" and n 0) */
    /* Over the direct link itself: */
    PVMC_TC_ACK,   /* empty; the header's seq is the next expected number: all before it have arrived. wid 1: asks
                      for an ACK in return */
    PVMC_TC_ENDED, /* daemon -> task, requested by TM_NOTIFY: packed int tid: the task has left */
    PVMC_TC_ROUTES =
        0x80030040, /* task -> task: packed int context, int tag of the answer: the traffic by each route */
};

/* Special values of n in an output message (those of PVM) */
enum pvmc_output_mark {
    PVMC_OUTPUT_EOF = 0,
    PVMC_OUTPUT_SPAWN = -1, /* packed int parent tid follows */
    PVMC_OUTPUT_NEW = -2,   /* packed int parent tid follows */
    /* dpvm's own, only of tasks spawned with PvmTaskStreams, and only to the collector named in the spawn */
    PVMC_OUTPUT_ERROR = -3,  /* packed int n and n bytes of standard error follow */
    PVMC_OUTPUT_STATUS = -4, /* packed int wait status follows: the process has ended; before EOF */
};

/* How far a host's leaving is, in the answer to PVMC_TM_LEAVE */
enum pvmc_leave_stage {
    PVMC_LEAVE_WAITS = 1, /* for its tasks to end by themselves */
    PVMC_LEAVE_TOLD,      /* ... on SIGTERM */
    PVMC_LEAVE_KILLED,    /* ... on SIGKILL */
    PVMC_LEAVE_FLUSHES,   /* for the other hosts to have got what it sent */
    PVMC_LEAVE_GOES,      /* for the master to dismiss it */
    PVMC_LEAVE_LEFT,      /* for nothing: its daemon ends */
};

#define PVMC_LEAVER_NAME         "pvmd3 --leave" /* of the task that asks, for which nobody waits */
#define PVMC_LEAVE_GRACE_SETTING UINT64_MAX      /* in TM_LEAVE: PVM_LEAVE_TIMEOUT */

/* Operations of PVMC_TM_MAILBOX */
enum pvmc_mailbox_op {
    PVMC_MAILBOX_PUT = 1,
    PVMC_MAILBOX_REMOVE,
    PVMC_MAILBOX_GET,
    PVMC_MAILBOX_NAMES,
    PVMC_MAILBOX_RESET,
};

/* Operations of PVMC_TM_TOKEN */
enum pvmc_token_op { PVMC_TOKEN_MAKE = 1, PVMC_TOKEN_LIST, PVMC_TOKEN_REVOKE };

/* Roles for PVMC_TM_REGISTER */
enum pvmc_register_role {
    PVMC_ROLE_RM = 1,
    PVMC_ROLE_HOSTER,
    PVMC_ROLE_TASKER,
    PVMC_ROLE_TRACER,
};

#endif
