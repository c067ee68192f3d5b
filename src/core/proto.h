/*
 * proto.h - the numbers of the control protocols: task to daemon (TM), daemon to daemon (DM), task to task (TC).
 *
 * A control message is an ordinary frame stream in a system context; its tag says which message, its wid ties an answer
 * to its request, its body is written and read with the checked buffer (little-endian, no data signature), except TC
 * bodies that user programs may read, which are packed values. Bodies are described in doc/protocol.md.
 */
#ifndef PVMI_PROTO_H
#define PVMI_PROTO_H

#define PVMI_TASK_PROTOCOL   1 /* version of the TM messages */
#define PVMI_DAEMON_PROTOCOL 2 /* version of the DM messages */

#define PVMI_MULTICAST_MAX 65536 /* receivers of one PVMI_TM_MULTICAST */

/* System contexts */
#define PVMI_CTX_TC 0x7ffffu /* task to task, and output collection */
#define PVMI_CTX_TM 0x7fffeu /* task to its daemon and back */
#define PVMI_CTX_SG 0x7fffdu /* static groups */
#define PVMI_CTX_DG 0x7fffcu /* dynamic groups */
#define PVMI_CTX_DM 0x7fffbu /* daemon to daemon */

/* Task <-> its daemon: each is a request with an answer of the same tag and wid, unless marked "one way". */
enum pvmi_tm {
    PVMI_TM_CONNECT = 0x80010001, /* first message of a task */
    PVMI_TM_EXIT,                 /* pvm_exit: answered when the daemon has dropped the task */
    PVMI_TM_ADDHOSTS,
    PVMI_TM_DELHOSTS,
    PVMI_TM_CONFIG,
    PVMI_TM_MSTAT,
    PVMI_TM_HALT,
    PVMI_TM_TICKLE,
    PVMI_TM_SPAWN,
    PVMI_TM_PSTAT,
    PVMI_TM_SENDSIG,
    PVMI_TM_TASKS,
    PVMI_TM_MULTICAST, /* one way: receivers of the frames that follow to this multicast tid */
    PVMI_TM_NOTIFY,
    PVMI_TM_MAILBOX,
    PVMI_TM_HOSTSYNC,
    PVMI_TM_SETOPT, /* options the daemon must know (output, trace, no-reset); one way but for PvmSelfTraceTid */
    PVMI_TM_CONTEXT,
    PVMI_TM_REGISTER, /* become resource manager, hoster, tasker or tracer */
    PVMI_TM_SIBLINGS, /* one way: what a resource manager started for us, for them to be told of each other */
};

/* Task <-> task, and daemon -> task: all one way, context PVMI_CTX_TC. */
enum pvmi_tc {
    PVMI_TC_OUTPUT = 0x80030005,   /* output of a child: packed int tid, int n, bytes; see PVMI_OUTPUT_* */
    PVMI_TC_SIBLINGS = 0x80030010, /* daemon -> spawned task: packed int n, int tids[n], also -1 for failed ones */
    PVMI_TC_HOLD = 0x80030020,     /* daemon -> task: buf u32 tid: stop sending to this task, or to this host's tasks */
    PVMI_TC_RELEASE,               /* daemon -> task: buf u32 tid: go on */
    PVMI_TC_GONE,                  /* daemon -> task: buf u32 host tid: host left; drop holds and unfinished messages */
    PVMI_TC_MANAGER,               /* daemon -> task: buf u32 tid: the resource manager to ask from now on; 0: none */
    /*
     * Task -> task, always in one frame. By the daemon route:
     */
    PVMI_TC_OFFER =
        0x80030030, /* buf u32 attempt, u8 count, count x (string transport, u32 n, n bytes): direct links that
                       the sender offers, best first; the frame may bring a descriptor for the local one */
    PVMI_TC_ANSWER, /* buf u32 attempt, i32 code, string transport, u32 n, n bytes of reply: the offer that was
                       joined (code 0), or why none was (PVMI_E code, transport "" and n 0) */
    /* By the direct link itself: */
    PVMI_TC_ACK,   /* empty; the header's seq is the next number that is due: all before it have come. wid 1: asks for
                      one in return */
    PVMI_TC_ENDED, /* daemon -> task, as asked for by TM_NOTIFY: packed int tid: the task has left */
    PVMI_TC_ROUTES =
        0x80030040, /* task -> task: packed int context, int tag of the answer, which tells what went by which route */
};

/* n of an output message, when it is not a byte count (values of PVM) */
enum pvmi_output_mark {
    PVMI_OUTPUT_EOF = 0,
    PVMI_OUTPUT_SPAWN = -1, /* packed int parent tid follows */
    PVMI_OUTPUT_NEW = -2,   /* packed int parent tid follows */
};

/* Operations of PVMI_TM_MAILBOX */
enum pvmi_mailbox_op {
    PVMI_MAILBOX_PUT = 1,
    PVMI_MAILBOX_REMOVE,
    PVMI_MAILBOX_GET,
    PVMI_MAILBOX_NAMES,
    PVMI_MAILBOX_RESET,
};

/* What PVMI_TM_REGISTER asks to become */
enum pvmi_register_role {
    PVMI_ROLE_RM = 1,
    PVMI_ROLE_HOSTER,
    PVMI_ROLE_TASKER,
    PVMI_ROLE_TRACER,
};

#endif
