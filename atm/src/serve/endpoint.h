/*
 * endpoint.h - Fore endpoints as the network process has them: a service access point, callers that wait, a call, and
 * the socket by which packets go to the program.
 */
#ifndef PVMA_ENDPOINT_H
#define PVMA_ENDPOINT_H

#include "../fore/message.h"
#include "serve.h"

struct pvma_client;
struct pvma_inside;

/* Of an offered call that the program has not answered. */
struct pvma_caller {
    uint32_t number;
    struct pvma_endpoint *called;
    struct pvma_call *call;       /* NULL: an endpoint of the same host calls, */
    struct pvma_endpoint *inside; /* which is this one */
    struct pvma_contract contract;
    struct pvma_caller *prev, *next;
};

enum pvma_endpoint_state {
    PVMA_ENDPOINT_OPEN,
    PVMA_ENDPOINT_BOUND,
    PVMA_ENDPOINT_CONNECTING, /* waits for the network */
    PVMA_ENDPOINT_CONNECTED,
    PVMA_ENDPOINT_ENDED,   /* the other side has gone */
    PVMA_ENDPOINT_CLOSING, /* the program has closed it, and packets still leave */
};

struct pvma_endpoint {
    struct pvma_client *client;
    struct pvma_host *host; /* mostly the client's */
    uint32_t number;
    enum pvma_endpoint_state state;
    int fd;          /* our end; -1: the program has closed it */
    uint32_t asap;   /* 0: not bound */
    uint32_t length; /* callers that may wait */
    bool listening;
    struct pvma_caller *callers;
    unsigned caller_count;
    struct pvma_call *call;     /* NULL: none */
    struct pvma_vc *vc;         /* NULL before it is connected */
    struct pvma_inside *inside; /* the connection within the host; NULL: none, or a call */
    bool calls;                 /* it is the one that connects */
    bool early;                 /* its client does not wait for the connection */
    bool sending;               /* the client waits for the processor to take a packet */
    bool stuck;                 /* the client waits for room in the send queue */
    struct pvma_endpoint *prev, *next;
};

/* A new endpoint of a client at a host; *fd is the program's end, which the caller passes on and closes. 0 or an errno.
 */
int pvma_endpoint_open(struct pvma_client *client, struct pvma_host *host, int *fd, struct pvma_endpoint **out);

/* Closes it and its call, at once or when its packets have left; the endpoint is the list's no more. */
void pvma_endpoint_close(struct pvma_endpoint *e);

/* Those whose programs are gone and whose packets have not left: freed at the end. */
void pvma_endpoint_free_closing(void);

/* All 0 or an errno. */
int pvma_endpoint_bind(struct pvma_endpoint *e, uint32_t asap, uint32_t length);
int pvma_endpoint_connect(struct pvma_endpoint *e, const struct pvmi_atm_message *m);
int pvma_endpoint_accept(struct pvma_endpoint *e, struct pvma_endpoint *fresh, struct pvmi_atm_message *m);
int pvma_endpoint_reject(struct pvma_endpoint *e, uint32_t number);

/*
 * Sends a packet: 0, and the client goes on when the processor is through with it; PVMI_EAGAIN: when there is room;
 * other errors: it is lost.
 */
int pvma_endpoint_send(struct pvma_endpoint *e, const uint8_t *data, size_t length);

/* ---- for inside.c ---- */

/* Tells a listening endpoint's program of a caller, which is copied. False: it takes no more. */
bool pvma_endpoint_announce(struct pvma_endpoint *e, const struct pvma_caller *caller, const Atm_endpoint *from);
void pvma_endpoint_forget_caller(struct pvma_endpoint *e, struct pvma_caller *caller);

/* A packet has come; its sender's call is over; the other side has gone. */
void pvma_endpoint_deliver(struct pvma_endpoint *e, struct pvma_host *host, const uint8_t *data, size_t length);
void pvma_endpoint_call_over(struct pvma_endpoint *e);
void pvma_endpoint_end(struct pvma_endpoint *e);

/* Addresses as programs know them. */
Atm_address pvma_endpoint_nsap(const struct pvma_host *host);

#endif
