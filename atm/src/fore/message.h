/*
 * message.h - the protocol between programs and the network process. doc/protocol.md describes it byte by byte.
 *
 * A program has one connection to the network process (SOCK_SEQPACKET, one message per record). Requests, packets and
 * waits go over it in order. Each Fore endpoint has another descriptor, made and passed by the network process. Packets
 * and callers arrive on it, so it polls readable when there are some, and it ends with the connection.
 *
 * Both sides read with pvma_fore_message_decode(), which checks everything that can be checked without state.
 */
#ifndef PVMA_ATM_MESSAGE_H
#define PVMA_ATM_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include "fore_atm.h"

#define PVMA_FORE_MAGIC         0x4d544144 /* "DATM" */
#define PVMA_FORE_VERSION       5
#define PVMA_FORE_PDU_MAX       65535
#define PVMA_FORE_MESSAGE_BYTES (PVMA_FORE_PDU_MAX + 64) /* largest message */
#define PVMA_FORE_NAME_MAX      64                       /* of a host name, with its NUL */
#define PVMA_FORE_NEVER         INT64_MAX

/*
 * X(name, fields): the fields in their order, letters of the table in message.c. In messages from the program, `c`
 * comes first: the cost of its computation since its last message.
 */
#define PVMA_FORE_MESSAGES(X)                                                                                          \
    /* from the program */                                                                                             \
    X(HELLO, "nvh")       /* number: the magic; version; host: its name, "": the network chooses */                    \
    X(OPEN, "ch")         /* an endpoint at a host, "": the program's. REPLY with its number and descriptor */         \
    X(BIND, "cean")       /* asap (0: any), number: callers that may wait. REPLY with the address */                   \
    X(CONNECT, "ceaqlfn") /* REPLY with the selected QoS when done; number 1: REPLY at once, CONNECTED later */        \
    X(ACCEPT, "ceonqf")   /* caller `number` of endpoint, for endpoint `other`. REPLY */                               \
    X(REJECT, "cen")      /* REPLY */                                                                                  \
    X(SEND, "ced")        /* no answer */                                                                              \
    X(CLOSE, "ce")        /* no answer */                                                                              \
    X(RESOLVE, "ch")      /* REPLY with the address */                                                                 \
    X(TIME, "c")          /* REPLY with the program's time */                                                          \
    X(WAIT, "cnt")        /* begins wait `number` until `time`; a time in the past means at once. WAKE */              \
    X(RESUME, "n")        /* the program was woken by another event. No answer */                                      \
    X(LOCAL, "pgk")       /* bytes given to and taken from process `process` outside the network. No answer */         \
    X(EXPECT, "p")        /* a process that was started and will connect. No answer */                                 \
    X(SLEEP, "cntpgk")    /* WAIT and LOCAL in one; bytes given by that process also end the wait. WAKE */             \
    X(KNOWS, "cp")        /* REPLY: 0 if that process observes, else ESRCH */                                          \
    X(TASK, "n")          /* number: of the PVM task that the program is. No answer */                                 \
    X(CARRY, "cgd")       /* given: bytes of a message by PVM's daemons; data: its receivers. REPLY */                 \
    X(UNDER_WAY, "cn")    /* REPLY; data: what the program hands over, and what is on its way, without the first n */  \
    X(ASSURE, "cen")      /* number: the protocol of an endpoint's connections, an Atm_protocol. REPLY */              \
    X(WRITE, "cenid")     /* number 0: waits until all is taken; item: bytes. REPLY with the number of bytes taken */  \
    X(READ, "cen")        /* at most `number` bytes. REPLY with the data; EAGAIN: none now; no data: the end */        \
    X(LOW_WATER, "cen")   /* NEWS come when `number` bytes have. No answer */                                          \
    /* to the program */                                                                                               \
    X(WELCOME, "nvshatm") /* number: of the client; clock; its host's name and address; time; MTU */                   \
    X(REPLY, "reatqmnd")  /* error, an errno or 0; MTU: of OPEN; number: of WRITE; data: of UNDER_WAY, READ */         \
    X(WAKE, "ntg")        /* wait `number` is over; given: bytes given by the process and not yet taken */             \
    /* on the descriptor of an endpoint */                                                                             \
    X(DATA, "td")                                                                                                      \
    X(CALLER, "naqlf")                                                                                                 \
    X(CONNECTED, "rq") /* the result of a CONNECT with number 1 */                                                     \
    X(NEWS, "t") /* of an assured connection: bytes have come, or there is room. Not again before READ or WRITE */     \
    /* to the program, in place of WELCOME */                                                                          \
    X(REFUSED, "rd") /* error, an errno; ENOENT: no such host, and the data list the hosts */

enum pvma_fore_message_type {
    PVMA_FORE_NONE = 0,
#define X(name, fields) PVMA_FORE_##name,
    PVMA_FORE_MESSAGES(X)
#undef X
        PVMA_FORE_MESSAGE_TYPES
};

struct pvma_fore_message {
    enum pvma_fore_message_type type;
    int64_t cost_ns;
    int64_t time_ns;
    uint32_t endpoint, other;
    uint32_t number, item;
    uint32_t version, clock, mtu;
    int32_t error;
    Atm_endpoint address;
    Atm_qos qos;
    Aal_type aal;
    Atm_dataflow dataflow;
    char host[PVMA_FORE_NAME_MAX];
    uint32_t process;
    uint64_t given, taken;
    const uint8_t *data; /* after decoding: inside the decoded bytes */
    uint32_t length;
};

/* Encodes everything but the data, which follow; returns the length. `to` holds PVMA_FORE_HEAD_MAX bytes. */
#define PVMA_FORE_HEAD_MAX 192
size_t pvma_fore_message_encode(const struct pvma_fore_message *m, uint8_t to[PVMA_FORE_HEAD_MAX]);

/* Returns 0, or PVMC_EFORMAT, PVMC_ESHORT, PVMC_ELIMIT; *m is undefined then. */
int pvma_fore_message_decode(const uint8_t *bytes, size_t length, struct pvma_fore_message *m);

/*
 * Sends a message over a socket, with a descriptor unless fd is -1. `wait`: blocks until there is room. Returns 0,
 * PVMC_EAGAIN: no room now, or PVMC_EDOWN: the peer is gone.
 */
int pvma_fore_message_send(int socket, const struct pvma_fore_message *m, int fd, int wait);

/*
 * Receives a message into bytes[size] and decodes it. 0: *fd, if not NULL, is its descriptor or -1. PVMC_EAGAIN: none
 * now (never if `wait`); PVMC_EDOWN: the peer is gone; or an error of pvma_fore_message_decode().
 */
int pvma_fore_message_receive(int socket, uint8_t *bytes, size_t size, struct pvma_fore_message *m, int *fd, int wait);

#endif
