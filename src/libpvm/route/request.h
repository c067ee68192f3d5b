/*
 * request.h - questions to our daemon (TM messages) and their answers. Bodies are in doc/protocol.md.
 */
#ifndef PVMI_REQUEST_H
#define PVMI_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/message/message.h"

struct pvmi_answer {
    struct pvmc_message *m;
    struct pvmc_buf body; /* what follows the code */
};

/*
 * Asks and waits; meanwhile messages are received and handlers run. Returns the answer's code: PvmOk, a count, or a
 * PvmXxx or PVMC_E error. With `answer`, the rest of the answer is in answer->body: read it and call pvmi_answer_end(),
 * whatever the code was. `body` may be NULL (empty) and is freed here in any case.
 */
int pvmi_request(int tag, struct pvmc_buf *body, struct pvmi_answer *answer);

/*
 * Asks, and has the rest of the answer read by read(), unless its code is an error. 0, or the first error of the code,
 * of read() and of pvmi_answer_end(); arg may then hold a part.
 */
int pvmi_request_read(int tag, struct pvmc_buf *body, int (*read)(struct pvmc_buf *answer, void *arg), void *arg);

/* Like pvmi_request(), but receives no messages for the program meanwhile: for calls that do not wait in PVM. */
int pvmi_request_aside(int tag, struct pvmc_buf *body);

/*
 * Like pvmi_request(), with a time limit, for questions that the daemon answers by itself: PVMC_ETIMEOUT after
 * limit_us. fd (-1: none) goes along with a body that is not NULL, and is closed.
 */
int pvmi_request_within(int tag, struct pvmc_buf *body, int fd, struct pvmi_answer *answer, int64_t limit_us);

/*
 * Asks the resource manager, which must be known. 0 and its reply; PVMC_EUNREACHABLE when it has ended or is no longer
 * the manager; or an error. With answer NULL no reply is expected. Called by manager.c.
 */
int pvmi_request_manager(struct pvmc_message *m, struct pvmc_message **answer);

/* Takes over m if it is a reply of the manager that a question waits for. */
bool pvmi_request_take_reply(struct pvmc_message *m);

/* Frees the answer. 0, or PVMC_EFORMAT if its body was shorter or longer than what was read (logged). */
int pvmi_answer_end(struct pvmi_answer *answer);

/* Sends a message that has no answer. `body` is freed here in any case. */
int pvmi_request_one_way(int tag, struct pvmc_buf *body);

/* This thread has jumped out of calls of that level and above: drops their questions. */
void pvmi_request_undo(unsigned level);

/* In a forked child: drops the questions of other threads. */
void pvmi_request_forget_others(void);

/* An answer has arrived; takes over the reference. */
void pvmi_request_take_answer(struct pvmc_message *m);

#endif
