/*
 * client.h - a client of the network: a program's connection, its pending commands, and its virtual time.
 *
 * Commands are carried out in order, each at the program's own time. Computing (reported with each message), the
 * host's driver and waiting advance that time.
 */
#ifndef PVMA_CLIENT_H
#define PVMA_CLIENT_H

#include <sys/types.h>
#include "commands.h"
#include "endpoint.h"
#include "serve.h"

struct pvma_client {
    struct pvma_watch watch;
    int fd; /* -1: the program is gone */
    pid_t pid;
    uint32_t number;           /* in the order of admission, from 1 */
    uint32_t task;             /* its number among PVM's tasks; 0: none */
    bool nameless;             /* a PVM task (it has asked for its daemon) that has not told its number yet */
    int64_t nameless_until_us; /* real time: CARRY does not wait longer for the number */
    uint64_t listed;           /* the last list of receivers in which it was */
    bool asked;                /* its CARRY must do with the receivers that are known now */
    struct pvma_host *host;    /* NULL: not admitted yet, or an observer (a daemon) */
    bool observer;
    bool cut;       /* the network ended the connection, and the program may still run */
    bool coming;    /* has said HELLO and waits for admission */
    uint64_t place; /* among announced processes; 0: was not announced */
    char *wish;     /* while `coming`: the host's name, "": any */
    size_t host_at; /* and which host of the network that is */
    bool quiet;     /* the program is blocked until it is answered */
    bool deaf;      /* its socket is not read now */
    pvma_ps clock;  /* its time */
    struct pvma_commands commands;
    bool busy;    /* the first command has begun and waits for the network */
    bool counted; /* the cost of the first command has been added to `clock` */
    bool waiting; /* in WAIT or SLEEP */
    bool sleeps;  /* in SLEEP: bytes from process `aside` end it */
    pid_t aside;
    bool news; /* something has arrived since the last WAKE */
    uint32_t wait_number;
    long long ticks;        /* processor time at the last inspection */
    struct pvma_event turn; /* the next command, or the end of a wait, is due */
    uint32_t last_endpoint;
    unsigned endpoint_count;
    size_t unread; /* bytes that may be waiting for it: endpoint.c counts them when they may be too many */
    struct pvma_endpoint *endpoints;
    struct pvma_client *prev, *next;
};

extern struct pvma_client *pvma_clients;

/* Takes over an accepted connection. */
void pvma_client_take(int fd);

/* Number of clients admitted or waiting for admission, without observers. */
unsigned pvma_client_count(void);

/* Whether some program computes, or is about to: virtual time stands still. */
bool pvma_client_any_runs(void);

/*
 * Virtual time, when no program runs: admits the next client, and wakes sleepers that were given bytes outside the
 * network, in an order that is the same in each run. Returns whether there was anything to do.
 */
bool pvma_client_settle(void);

/*
 * Whether a message by the daemons waits for a task that has just been started to say who it is: virtual time must not
 * go on then, in which the message would have to be under way already.
 */
bool pvma_client_carry_waits(void);

/* The program that is PVM's task of that number (not 0); NULL: there is none. */
struct pvma_client *pvma_client_of_task(uint32_t task);

/* Whether that process is connected, admitted or not. */
bool pvma_client_is_here(pid_t pid);

/* Whether there are programs, including those whose last commands are still being carried out. */
bool pvma_client_any(void);

/* Inspects clients that hold time. `expel`: cuts off those that used no processor time since the last inspection. */
void pvma_client_inspect(bool expel);

/* Cuts off a client that has held time for long by bytes of which their receiver knows nothing. */
void pvma_client_expel_doubtful(void);

/* Logs the clients that compute, or if none does, what each client waits for. */
void pvma_client_explain(int level);

/* Frees all clients. */
void pvma_client_free_all(void);

/* ---- for endpoint.c ---- */

/* Ends the first command: 0 or an errno; `reply` (may be NULL) is sent if the command has an answer. */
void pvma_client_done(struct pvma_client *c, int error, const struct pvma_fore_message *reply);

/* Retries the first command. */
void pvma_client_again(struct pvma_client *c);

/* A packet or a caller has arrived for the client. */
void pvma_client_tell(struct pvma_client *c);

#endif
