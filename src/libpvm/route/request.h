/*
 * request.h - questions to our daemon (TM messages) and their answers. Bodies are in doc/protocol.md.
 */
#ifndef PVMI_REQUEST_H
#define PVMI_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/buf.h"
#include "../core/message.h"

struct pvmi_answer {
    struct pvmi_message *m;
    struct pvmi_buf body; /* what follows the code */
};

/*
 * Asks and waits; meanwhile messages are taken in and handlers run. Returns the answer's code: PvmOk, a count, or a
 * PvmXxx or PVMI_E error. With `answer` the rest of the answer is in answer->body: read it, end with
 * pvmi_answer_end(), whatever the code was. `body` may be NULL (empty) and is freed here in any case.
 */
int pvmi_request(int tag, struct pvmi_buf *body, struct pvmi_answer *answer);

/* As pvmi_request(), for calls that do not wait in PVM: messages for the program are not taken in meanwhile. */
int pvmi_request_aside(int tag, struct pvmi_buf *body);

/* As pvmi_request(), for those that the daemon answers without others' help: PVMI_ETIMEOUT after limit_us. */
int pvmi_request_within(int tag, struct pvmi_buf *body, struct pvmi_answer *answer, int64_t limit_us);

/*
 * Asks the resource manager, which must be known. 0 and its reply; PVMI_EUNREACHABLE when it has ended or is another
 * one now; an error. answer NULL: none is expected. Called by manager.c.
 */
int pvmi_request_manager(struct pvmi_message *m, struct pvmi_message **answer);

/* A message of the manager: whether it is a reply, and then taken. Called by link.c. */
bool pvmi_request_take_reply(struct pvmi_message *m);

/* Frees the answer. 0, or PVMI_EFORMAT if its body was shorter or longer than what was read (logged). */
int pvmi_answer_end(struct pvmi_answer *answer);

/* Sends a message that has no answer. `body` is freed here in any case. */
int pvmi_request_one_way(int tag, struct pvmi_buf *body);

/* This thread has jumped out of calls of that level and above: what they have asked. Called by jump.c. */
void pvmi_request_left(unsigned level);

/* In a forked child: what other threads have asked. */
void pvmi_request_forget_others(void);

/* An answer came. Called by link.c; takes over the reference. */
void pvmi_request_take_answer(struct pvmi_message *m);

#endif
