/*
 * raw.h - a task without libpvm: it implements the unix protocol (doc/protocol.md, sections 1 and 2) itself, so it can
 * send what no library sends. Integers on the wire are little-endian; these tests run where that is the machine's
 * order.
 */
#ifndef RAW_H
#define RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_CTX_TC 0x7ffffu
#define RAW_CTX_TM 0x7fffeu
#define RAW_DAEMON 0x80000000u

enum raw_flag { RAW_ABORT = 1, RAW_FD = 2, RAW_AGAIN = 4, RAW_STREAM = 16 };

/* Messages to the daemon: TM_... in doc/protocol.md. */
enum raw_request {
    RAW_CONNECT = 0x80010001,
    RAW_EXIT,
    RAW_ADDHOSTS,
    RAW_DELHOSTS,
    RAW_CONFIG,
    RAW_MSTAT,
    RAW_HALT,
    RAW_TICKLE,
    RAW_SPAWN,
    RAW_PSTAT,
    RAW_SENDSIG,
    RAW_TASKS,
    RAW_MULTICAST,
    RAW_NOTIFY,
    RAW_MAILBOX,
    RAW_HOSTSYNC,
    RAW_SETOPT,
    RAW_CONTEXT,
    RAW_REGISTER,
    RAW_SIBLINGS,
};

/* In wire format. */
struct raw_header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t length, dst, src, seq;
    int32_t tag;
    uint32_t ctx;
    int32_t wid;
    uint32_t enc, dsig;
    uint64_t body_length, offset;
    int32_t crc;
    uint32_t reserved;
};

struct raw_task {
    int fd;
    uint32_t tid;
    int32_t wid;     /* of the latest request */
    int patience_ms; /* limit of waiting for a daemon that does not read; -1: none */
};

/* The body of a message, appended to step by step. */
struct raw_body {
    uint8_t *data;
    size_t length, capacity;
};

/* A task of the daemon whose socket is in PVMSOCK, or whose address file is in PVM_TMP. A failure ends the test. */
void raw_connect(struct raw_task *t);
void raw_close(struct raw_task *t);

/* A header from t for a payload that is a whole message; its fields may be changed before it is sent. */
struct raw_header raw_header(const struct raw_task *t, uint32_t dst, uint32_t seq, uint32_t length);

/* Writes a frame, with zeros when `payload` is NULL. False when the daemon has closed, or has not read for too long. */
bool raw_send(struct raw_task *t, const struct raw_header *h, const void *payload);

/* A request in frames of up to 1 MiB; returns its wid. */
int32_t raw_request(struct raw_task *t, uint32_t tag, const struct raw_body *body);

/* The code of the answer to request `wid`; other messages are dropped. */
int32_t raw_answer(struct raw_task *t, int32_t wid);

/* Sends a request and returns the code of its answer. */
int32_t raw_ask(struct raw_task *t, uint32_t tag, const struct raw_body *body);

void raw_put_u8(struct raw_body *b, uint8_t value);
void raw_put_u32(struct raw_body *b, uint32_t value);
void raw_put_bytes(struct raw_body *b, const void *data, size_t length);
void raw_put_string(struct raw_body *b, const char *text);
void raw_free(struct raw_body *b);

#endif
