/*
 * clients.h - the processes that are connected to this daemon's socket. Each becomes a task by TM_CONNECT; what it
 * sends is then checked here (it speaks only for itself) and goes to relay.c or, for the daemon itself, to request.c.
 */
#ifndef PVMD_CLIENTS_H
#define PVMD_CLIENTS_H

#include <stdbool.h>
#include <ev.h>
#include "../core/frame.h"
#include "inbox.h"
#include "tasks.h"

/* The value says what the client is waited for. Bits, so that tables can name several. */
enum pvmd_client_state {
    PVMD_CLIENT_NEW = 1,   /* for TM_CONNECT */
    PVMD_CLIENT_TASK = 2,  /* for frames and requests */
    PVMD_CLIENT_LEFT = 4,  /* for its end of the socket to close, after TM_EXIT */
    PVMD_CLIENT_OTHER = 8, /* for nothing: it has PVM 3.4's own library, and pauses before it may try again */
};

/* Why a client is not read. Bits, since there may be several reasons. */
enum pvmd_pause {
    PVMD_PAUSE_OVERRUN = 1, /* it sends to whom it was told to hold */
    PVMD_PAUSE_ANSWERS = 2, /* it asks, and does not read the answers */
    PVMD_PAUSE_OTHER = 4,   /* it is in state OTHER */
};

struct pvmd_client {
    struct pvmi_endpoint *ep;
    enum pvmd_client_state state;
    unsigned pauses;             /* PVMD_PAUSE_* */
    struct pvmd_task *task;      /* in state TASK, else NULL */
    pid_t pid;                   /* as the kernel says */
    struct pvmi_frame *rx;       /* the frame that comes in */
    struct pvmd_inbox inbox;     /* the request that comes in */
    struct pvmi_frame *farewell; /* the answer to TM_EXIT while the socket is full */
    ev_timer limit;              /* for the states NEW, LEFT and OTHER */
    struct pvmi_aside told;      /* what virtual.c has told of its traffic */
    struct pvmd_client *prev, *next;
};

/* Listens on the socket `path`. 0 or a PVMI_E code, logged. pvmd.loop must exist. */
int pvmd_clients_start(const char *path);

/* Closes socket and connections; tasks are not told. */
void pvmd_clients_stop(void);

/* What has gone to and from a client, or is kept for it. */
struct pvmi_aside pvmd_client_traffic(const struct pvmd_client *c);

/* All clients, for DL_FOREACH. */
extern struct pvmd_client *pvmd_clients;

/* Takes in what has arrived. Called by exec.c before it decides that a process ended without having connected. */
void pvmd_clients_progress(void);

/* Stops or goes on reading what the task sends; nothing that waits for it is touched. Without connection: nothing. */
void pvmd_client_pause(const struct pvmd_task *task, enum pvmd_pause why, bool on);

/* Closes the connection for bad behaviour: logs and counts it, and ends the task. */
void pvmd_client_refuse(struct pvmd_client *c, const char *why);

/* Closes a task's connection at the loop's next turn, for want of memory. */
void pvmd_client_cut(struct pvmd_client *c);

/* The client is a task from now on: sends the answer to its TM_CONNECT before all that may wait for the task. */
void pvmd_client_enrolled(struct pvmd_client *c, struct pvmd_task *task, struct pvmi_frame *answer);

/* The client's task has ended by TM_EXIT: this answer is the last thing it is sent. */
void pvmd_client_left(struct pvmd_client *c, struct pvmi_frame *answer);

#endif
