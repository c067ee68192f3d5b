/*
 * client.h - a program at the network: its connection, what it has asked for, and how far its time has come.
 *
 * Commands are done in the order in which they came, each at the program's own time, which computing (told with each
 * message), its host's driver and waiting move on.
 */
#ifndef PVMA_CLIENT_H
#define PVMA_CLIENT_H

#include <sys/types.h>
#include "endpoint.h"
#include "serve.h"

struct pvma_command {
    struct pvmi_atm_message message; /* its data are what follows this struct */
    struct pvma_command *next;
};

struct pvma_client {
    struct pvma_watch watch;
    int fd; /* -1: the program is gone */
    pid_t pid;
    uint32_t number;        /* in the order in which they were greeted, from 1 */
    struct pvma_host *host; /* NULL: not greeted yet, or an observer (a daemon) */
    bool observer;
    bool cut;       /* it is we who ended the connection, and the program may live on */
    bool coming;    /* has greeted, and waits for its turn to be greeted */
    uint64_t place; /* among those that were expected; 0: nobody did */
    char *wish;     /* while it comes: the host's name, "": any */
    bool quiet;     /* the program does nothing until we answer */
    bool deaf;      /* we do not read from it now */
    pvma_ps clock;  /* its time */
    struct pvma_command *commands, **tail;
    bool busy;    /* the first command has begun and waits for the network */
    bool counted; /* what the first command cost has been added */
    bool waiting; /* in WAIT or SLEEP */
    bool sleeps;  /* in SLEEP: what process `aside` gives it wakes it */
    pid_t aside;
    bool news; /* something has come since it was woken last */
    uint32_t wait_number;
    long long ticks;        /* of processor time that it had used, when last looked at */
    struct pvma_event turn; /* the next command, or the end of a wait, is due */
    uint32_t last_endpoint;
    struct pvma_endpoint *endpoints;
    struct pvma_client *prev, *next;
};

extern struct pvma_client *pvma_clients;

/* Takes over a connection that has come in. */
void pvma_client_take(int fd);

/* Clients that have said who they are, programs only. */
unsigned pvma_client_count(void);

/* Whether some program computes, or is about to: virtual time stands still. */
bool pvma_client_any_runs(void);

/*
 * Virtual time, when nobody runs: greets the next that has come, and wakes those that were given something aside. In an
 * order that is the same in each run. Whether there was anything to do.
 */
bool pvma_client_settle(void);

/* Whether that process is connected, or about to be greeted. */
bool pvma_client_is_here(pid_t pid);

/* Whether there are programs, be it that what they sent is still on its way. */
bool pvma_client_any(void);

/* Looks at those that hold time. `expel`: takes those off that have not used the processor since it looked last. */
void pvma_client_inspect(bool expel);

/* Writes to the log who computes or, if nobody does, who waits for what, and since when. */
void pvma_client_explain(int level);

/* Forgets all. */
void pvma_client_free_all(void);

/* ---- for endpoint.c ---- */

/* What the first command waited for has happened: 0 or an errno; `reply` (may be NULL) is sent to those that wait. */
void pvma_client_done(struct pvma_client *c, int error, const struct pvmi_atm_message *reply);

/* The first command is to be tried again. */
void pvma_client_again(struct pvma_client *c);

/* A packet or a caller has come for it. */
void pvma_client_tell(struct pvma_client *c);

#endif
