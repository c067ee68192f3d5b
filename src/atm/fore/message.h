/*
 * message.h - what programs and the network process say to each other. Byte by byte in doc/protocol.md.
 *
 * A program has one connection to the network process (SOCK_SEQPACKET, one message in each record), by which it asks,
 * sends and waits, in the order in which it does so. Each Fore endpoint has one more descriptor, which the network
 * process made and passed: packets and callers come by it, so it polls readable when there are some, and it ends when
 * the connection does.
 *
 * Both sides read with pvmi_atm_message_decode(), which checks everything that can be checked without state.
 */
#ifndef PVMI_ATM_MESSAGE_H
#define PVMI_ATM_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include "fore_atm.h"

#define PVMI_ATM_MAGIC         0x4d544144 /* "DATM" */
#define PVMI_ATM_VERSION       2
#define PVMI_ATM_PDU_MAX       65535
#define PVMI_ATM_MESSAGE_BYTES (PVMI_ATM_PDU_MAX + 64) /* largest message */
#define PVMI_ATM_NAME_MAX      64                      /* of a host, with its NUL */
#define PVMI_ATM_NEVER         INT64_MAX

/*
 * X(name, fields): the fields in their order, letters of the table in message.c. From the program: `c` first, what its
 * computation cost since its last message.
 */
#define PVMI_ATM_MESSAGES(X)                                                                                           \
    /* from the program */                                                                                             \
    X(HELLO, "nvh")       /* number: the magic; version; host: which it is on, "": the network chooses */              \
    X(OPEN, "ch")         /* an endpoint, at a host, "": its own. REPLY with its number, and its descriptor */         \
    X(BIND, "cean")       /* asap (0: any), number: callers that may wait. REPLY with the address */                   \
    X(CONNECT, "ceaqlfn") /* REPLY when it is done, with what was selected; number 1: at once, CONNECTED follows */    \
    X(ACCEPT, "ceonqf")   /* caller `number` of endpoint, for endpoint `other`. REPLY */                               \
    X(REJECT, "cen")      /* REPLY */                                                                                  \
    X(SEND, "ced")        /* no answer */                                                                              \
    X(CLOSE, "ce")        /* no answer */                                                                              \
    X(RESOLVE, "ch")      /* REPLY with the address */                                                                 \
    X(TIME, "c")          /* REPLY with the program's time */                                                          \
    X(WAIT, "cnt")     /* its wait number `number` begins, until time (its own is earlier: only until that). WAKE */   \
    X(RESUME, "n")     /* it has been woken by something else. No answer */                                            \
    X(LOCAL, "pgk")    /* to and from process `process` it has given and taken so many bytes. No answer */             \
    X(EXPECT, "p")     /* a process that it has started and that will come. No answer */                               \
    X(SLEEP, "cntpgk") /* WAIT and LOCAL in one; bytes given to it by another process end the wait, too. WAKE */       \
    X(KNOWS, "cp")     /* REPLY: 0 if that process observes, else ESRCH */                                             \
    /* to the program */                                                                                               \
    X(WELCOME, "nvshatm") /* number: of the client; which clock; its host's name and address; time; MTU */             \
    X(REPLY, "reatqm")    /* error, an errno or 0; MTU: of OPEN */                                                     \
    X(WAKE, "ntg")        /* wait `number` is over; given: more by a process than taken, in bytes */                   \
    /* by the descriptor of an endpoint */                                                                             \
    X(DATA, "td")                                                                                                      \
    X(CALLER, "naqlf")                                                                                                 \
    X(CONNECTED, "rq") /* the end of a CONNECT of number 1 */                                                          \
    /* to the program, in place of WELCOME */                                                                          \
    X(REFUSED, "rd") /* error, an errno; ENOENT: no such host, and the data name those that there are */

enum pvmi_atm_message_type {
    PVMI_ATM_NONE = 0,
#define X(name, fields) PVMI_ATM_##name,
    PVMI_ATM_MESSAGES(X)
#undef X
        PVMI_ATM_MESSAGE_TYPES
};

struct pvmi_atm_message {
    enum pvmi_atm_message_type type;
    int64_t cost_ns;
    int64_t time_ns;
    uint32_t endpoint, other;
    uint32_t number;
    uint32_t version, clock, mtu;
    int32_t error;
    Atm_endpoint address;
    Atm_qos qos;
    Aal_type aal;
    Atm_dataflow dataflow;
    char host[PVMI_ATM_NAME_MAX];
    uint32_t process;
    uint64_t given, taken;
    const uint8_t *data; /* when read: in the bytes that were decoded */
    uint32_t length;
};

/* Writes all of it but the data, which follow: bytes written. to has room for PVMI_ATM_HEAD_MAX. */
#define PVMI_ATM_HEAD_MAX 192
size_t pvmi_atm_message_encode(const struct pvmi_atm_message *m, uint8_t to[PVMI_ATM_HEAD_MAX]);

/* PVMI_EFORMAT, PVMI_ESHORT, PVMI_ELIMIT; *m is then not to be used. */
int pvmi_atm_message_decode(const uint8_t *bytes, size_t length, struct pvmi_atm_message *m);

/*
 * Sends it, and a descriptor unless fd is -1, by a socket. 0, PVMI_EAGAIN: no room now, PVMI_EDOWN: the other side is
 * gone. `wait`: waits for room.
 */
int pvmi_atm_message_send(int socket, const struct pvmi_atm_message *m, int fd, int wait);

/*
 * Receives one into bytes[size] and decodes it. 0: *fd, if not NULL, is a descriptor that came, or -1; PVMI_EAGAIN:
 * there is none (never if `wait`); PVMI_EDOWN: the other side is gone; PVMI_EFORMAT and the like.
 */
int pvmi_atm_message_receive(int socket, uint8_t *bytes, size_t size, struct pvmi_atm_message *m, int *fd, int wait);

#endif
