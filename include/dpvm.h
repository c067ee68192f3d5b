/*
 * dpvm.h - what dpvm adds to the C interface of PVM 3.4 (pvm3.h). Programs that use it do not run with another PVM.
 */
#ifndef DPVM_H
#define DPVM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- further flags of pvm_spawn() ---- */
#define PvmTaskStreams   0x1000 /* standard error apart from standard output; the status of processes that end */
#define PvmTaskInput     0x2000 /* the first task reads what pvm_input() sends; others have no input */
#define PvmTaskInputAll  0x4000 /* all of them */
#define PvmTaskDirectory 0x8000 /* fail if the directory of `where` cannot be entered */

/* Marks in messages with the output of tasks that were spawned with PvmTaskStreams; see pvm_spawn(3). */
#define PvmOutputError  (-3)
#define PvmOutputStatus (-4)

#define PVM_INPUT_MAX 65536

int pvm_input(int tid, const void *data, int n);
const char *pvm_spawnerr(void);
const char *pvm_addhosterr(int i);
int pvm_rotate(void); /* replaces the machine's secret: the number of hosts, which have the new one */

/* ---- values where they lie in the message's memory ---- */
void *pvm_upkview(void *view, int type, int n, void **items);
int pvm_freeview(void *view);

/* ---- a message that leaves while it is packed; see pvm_initsendto(3) ---- */
int pvm_initsendto(int encoding, int tid, int tag);

/* ---- tokens, with which daemons join by themselves; see pvm_newtoken(3) ---- */
enum pvmtokenstate { PvmTokenGood, PvmTokenExpired, PvmTokenUsedUp, PvmTokenRevoked };

struct pvmtokeninfo {
    char *ti_id; /* names it, and is no secret */
    enum pvmtokenstate ti_state;
    int ti_uses;    /* left; -1: any number */
    int ti_seconds; /* left; -1: without limit */
};

int pvm_newtoken(int uses, int seconds, char **token, char **address);
int pvm_tokens(int *ntoken, struct pvmtokeninfo **tokens);
int pvm_revoke(const char *id);

/* ---- how many tasks a host wants, or all together (0) ---- */
int pvm_hostslots(int host);

/* ---- what hosts and tasks are doing; see pvm_usage(3) ---- */
enum pvmdoes {
    PvmDoesUnknown = -1, /* the task has not enrolled, or its PVM does not tell */
    PvmDoesWork,         /* it is in no call that waits */
    PvmDoesReceive,
    PvmDoesSend,
    PvmDoesAsk, /* its daemon or resource manager */
    PvmDoesMeet /* other members of a group */
};

/* Since the task enrolled. A message to several tasks counts once for each. */
struct pvmrouteusage {
    const char *ru_name; /* "daemon" or a transport, such as "shm" */
    long long ru_sent, ru_sent_bytes;
    long long ru_received, ru_received_bytes;
};

struct pvmtaskusage {
    int tu_tid, tu_pid;
    int tu_state;                         /* of its process, as in ps: 'R', 'S' ...; '?': unknown */
    long long tu_cpu_us, tu_memory_bytes; /* of its process */
    enum pvmdoes tu_does;
    int tu_peer, tu_tag;                    /* whom and what it waits for; -1: anybody, anything */
    long long tu_waits_us;                  /* for how long it has slept in that call */
    long long tu_waiting, tu_waiting_bytes; /* messages that it has not received yet, as far as it has seen */
    long long tu_queue_bytes;               /* more of them, which its daemon holds */
    int tu_nroute;
    struct pvmrouteusage *tu_routes; /* only those that it has used */
};

struct pvmhostusage {
    int hu_tid, hu_pid; /* of its daemon */
    long long hu_daemon_cpu_us, hu_daemon_memory_bytes;
    int hu_processors;
    double hu_load;       /* processes that want to run: the average over a minute */
    long long hu_busy_us; /* CPU time of all its processors since it was started */
    long long hu_memory_bytes, hu_available_bytes;
    long long hu_relayed, hu_relayed_bytes; /* frames that its daemon has relayed */
    int hu_ntask;
    struct pvmtaskusage *hu_tasks;
};

int pvm_usage(int where, int *nhost, struct pvmhostusage **hosts);

#ifdef __cplusplus
}
#endif

#endif
