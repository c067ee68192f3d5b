/*
 * clients.h - the processes that are connected to this daemon's socket. A client becomes a task by TM_CONNECT. Its
 * frames are checked here (it may send in its own name only) and go to the relay or, if they are for the daemon, to
 * request.c.
 */
#ifndef PVMD_CLIENTS_H
#define PVMD_CLIENTS_H

#include <stdbool.h>
#include <ev.h>
#include "core/message/frame.h"
#include "pvmd/frames/reassembly.h"
#include "tasks.h"

/* Named by what the client waits for. Bits, so that tables can name several. */
enum pvmd_client_state {
    PVMD_CLIENT_NEW = 1,   /* for TM_CONNECT */
    PVMD_CLIENT_TASK = 2,  /* for frames and requests */
    PVMD_CLIENT_LEFT = 4,  /* for it to close its socket, after TM_EXIT */
    PVMD_CLIENT_OTHER = 8, /* for nothing: it has PVM 3.4's own library, and gets its refusal later */
};

/* Reasons for not reading from a client; bits, because several may apply. */
enum pvmd_pause {
    PVMD_PAUSE_OVERRUN = 1, /* it sends to receivers on hold */
    PVMD_PAUSE_ANSWERS = 2, /* it does not read the answers to its requests */
    PVMD_PAUSE_OTHER = 4,   /* it is in state OTHER */
};

struct pvmd_client {
    struct pvmt_endpoint *ep;
    enum pvmd_client_state state;
    unsigned pauses;                /* PVMD_PAUSE_* */
    struct pvmd_task *task;         /* in state TASK, else NULL */
    pid_t pid;                      /* as the kernel says */
    struct pvmc_frame *rx;          /* the incoming frame */
    struct pvmd_reassembly request; /* the incoming request */
    int descriptor;                 /* that came with it, while it is handled; -1: none */
    struct pvmc_frame *farewell;    /* the answer to TM_EXIT while the socket is full */
    ev_timer limit;                 /* for the states NEW, LEFT and OTHER */
    struct pvmc_bypass told;        /* its traffic as last reported by virtual_time.c */
    struct pvmd_client *prev, *next;
};

/* Listens on the socket `path`; pvmd.loop must exist. Returns 0 or a PVMC_E code, logged. */
int pvmd_clients_start(const char *path);

/* Closes the socket and all connections without telling the tasks. */
void pvmd_clients_stop(void);

/* The traffic to and from a client, including frames that wait for it. */
struct pvmc_bypass pvmd_client_traffic(const struct pvmd_client *c);

/* All clients, for DL_FOREACH. */
extern struct pvmd_client *pvmd_clients;

/* Processes everything that has arrived. Called by exec.c before it decides that a process ended without connecting. */
void pvmd_clients_progress(void);

/* Stops or resumes reading from the task, if it is connected. Frames for it are still sent. */
void pvmd_client_pause(const struct pvmd_task *task, enum pvmd_pause why, bool on);

/* Closes the connection for bad behaviour, which is logged and counted; the task ends. */
void pvmd_client_refuse(struct pvmd_client *c, const char *why);

/* Closes a task's connection in the loop's next turn, because memory has run out. */
void pvmd_client_cut(struct pvmd_client *c);

/* Makes the client a task: sends the answer to its TM_CONNECT, then all that waits for the task. */
void pvmd_client_enrolled(struct pvmd_client *c, struct pvmd_task *task, struct pvmc_frame *answer);

/* The client's task has ended by TM_EXIT: `answer` is the last frame for it. */
void pvmd_client_left(struct pvmd_client *c, struct pvmc_frame *answer);

#endif
