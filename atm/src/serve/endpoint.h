/*
 * endpoint.h - Fore endpoints in the network process: a service access point, waiting callers, a call, and the socket
 * that carries packets to the program.
 */
#ifndef PVMA_ENDPOINT_H
#define PVMA_ENDPOINT_H

#include "assured/connection.h"
#include "fore/message.h"
#include "serve.h"

struct pvma_client;
struct pvma_inside;

enum { PVMA_FURTHER = 2 }; /* circuits of an endpoint beside its first: backup and control */

struct pvma_circuits {
    struct pvma_call *call[PVMA_FURTHER]; /* NULL: none, or over */
    struct pvma_vc *vc[PVMA_FURTHER];     /* NULL: not connected yet */
};

/* An offered call that the program has not answered. */
struct pvma_caller {
    uint32_t number;
    struct pvma_endpoint *called;
    struct pvma_call *call;       /* NULL if the caller is on the same host: */
    struct pvma_endpoint *inside; /* then its endpoint */
    struct pvma_contract contract;
    struct pvma_call *further[PVMA_FURTHER]; /* see circuits.h */
    struct pvma_caller *prev, *next;
};

enum pvma_endpoint_state {
    PVMA_ENDPOINT_OPEN,
    PVMA_ENDPOINT_BOUND,
    PVMA_ENDPOINT_CONNECTING, /* waits for the network */
    PVMA_ENDPOINT_CONNECTED,
    PVMA_ENDPOINT_ENDED,   /* the peer has gone */
    PVMA_ENDPOINT_CLOSING, /* closed by the program, with packets still to be sent */
};

struct pvma_endpoint {
    struct pvma_client *client;
    struct pvma_host *host; /* usually the client's */
    uint32_t number;
    enum pvma_endpoint_state state;
    int fd;          /* the network's end of the socket; -1: closed by the program */
    uint32_t asap;   /* 0: not bound */
    uint32_t length; /* callers that may wait */
    bool listening;
    struct pvma_caller *callers;
    unsigned caller_count;
    struct pvma_call *call;     /* NULL: none */
    struct pvma_vc *vc;         /* NULL before it is connected */
    struct pvma_inside *inside; /* the connection within the host; NULL: none, or a call */
    bool calls;                 /* the calling side */
    bool early;                 /* its CONNECT was answered before the connection was made */
    bool sending;               /* the client waits for the processor to take a packet */
    bool stuck;                 /* the client waits for room in the send queue, or in the window */
    /* of an assured endpoint, see assured.h */
    enum pvma_protocol protocol;        /* PVMA_NATIVE: it sends and receives packets */
    struct pvma_connection *connection; /* NULL: not connected, or within the host */
    struct pvma_circuits circuits;      /* of a protocol that has several */
    size_t window;                      /* bytes */
    uint32_t offset;                    /* bytes written so far */
    size_t low_water;                   /* bytes that must have come before the program is told */
    bool told;                          /* there is NEWS on its descriptor */
    bool wants_room;                    /* a write was cut short */
    bool lost;                          /* it ended before all bytes had arrived */
    uint32_t owner;                     /* while it is closing: number of the client that closed it */
    struct pvma_event wake;             /* there is room; or, while it is closing: has all arrived? */
    struct pvma_endpoint *prev, *next;
};

/* Opens an endpoint of a client at a host. The caller passes *fd to the program and closes it. Returns 0 or an errno.
 */
int pvma_endpoint_open(struct pvma_client *client, struct pvma_host *host, int *fd, struct pvma_endpoint **out);

/* Closes an endpoint and its call, at once or when its packets are sent. The client's list no longer has it. */
void pvma_endpoint_close(struct pvma_endpoint *e);

/* Frees endpoints whose programs are gone and whose packets are not sent yet. For the end of the process. */
void pvma_endpoint_free_closing(void);

/* All return 0 or an errno. */
int pvma_endpoint_bind(struct pvma_endpoint *e, uint32_t asap, uint32_t length);
int pvma_endpoint_connect(struct pvma_endpoint *e, const struct pvma_fore_message *m);
int pvma_endpoint_accept(struct pvma_endpoint *e, struct pvma_endpoint *fresh, struct pvma_fore_message *m);
int pvma_endpoint_reject(struct pvma_endpoint *e, uint32_t number);

/*
 * Sends a packet. 0: the client continues when the processor has finished with it. PVMC_EAGAIN: the client continues
 * when there is room. Other errors: the packet is lost.
 */
int pvma_endpoint_send(struct pvma_endpoint *e, const uint8_t *data, size_t length);

/* ---- for circuits.c ---- */

/* A further circuit of an endpoint is connected; or, at the calling side, it cannot be. */
void pvma_endpoint_circuit_up(struct pvma_endpoint *e);
void pvma_endpoint_circuit_refused(struct pvma_endpoint *e, int cause);

/* ---- for assured.c ---- */

/* Sends a message to the program; false when the program's socket is full or closed. */
bool pvma_endpoint_tell(struct pvma_endpoint *e, const struct pvma_fore_message *m);

/* Frees a closing endpoint. */
void pvma_endpoint_let_go(struct pvma_endpoint *e);

/* ---- for inside.c ---- */

/* Reports a caller, which is copied, to a listening endpoint's program. False: no more callers can wait. */
bool pvma_endpoint_announce(struct pvma_endpoint *e, const struct pvma_caller *caller, const Atm_endpoint *from);
void pvma_endpoint_forget_caller(struct pvma_endpoint *e, struct pvma_caller *caller);

/* Report to an endpoint: a packet has arrived; the sender's call is over; the peer has gone,
 * for a reason of contract.h. */
void pvma_endpoint_deliver(struct pvma_endpoint *e, struct pvma_host *host, const uint8_t *data, size_t length);
void pvma_endpoint_call_over(struct pvma_endpoint *e);
void pvma_endpoint_end(struct pvma_endpoint *e, int cause);

/* The address of a host in the programs' format. */
Atm_address pvma_endpoint_nsap(const struct pvma_host *host);

#endif
