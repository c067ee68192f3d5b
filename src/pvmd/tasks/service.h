/*
 * service.h - SM messages between this daemon and the tasks with a duty: the resource manager, the hoster and the
 * tasker. They are ordinary messages of packed values, as existing programs of that kind expect; man pvm_reg_rm lists
 * them.
 *
 * Malformed messages, and messages from tasks without the duty, are logged, counted and dropped.
 */
#ifndef PVMD_SERVICE_H
#define PVMD_SERVICE_H

#include <stdbool.h>
#include "core/message/frame.h"
#include "core/message/message.h"

#define PVMD_SERVICE_TEXT_MAX  (64u << 10) /* bytes of a text in an SM message */
#define PVMD_SERVICE_COUNT_MAX (64u << 10) /* texts in a list of them */

/* Whether a frame belongs to an SM message, by its tag alone. */
bool pvmd_service_is(const struct pvmc_frame_header *h);

/* Processes a frame of an SM message for this daemon, from a task of this host or through another daemon. */
void pvmd_service_frame(const struct pvmc_frame *f);

/* Handles a complete message of an authorized task. Returns 0, or a PVMC_E code for the log if it is malformed. */
typedef int pvmd_service_handler(struct pvmc_message *m);

/* Registers a message's handler, and `may_send`, which tells whether a task has the duty. */
void pvmd_service_handle(int tag, bool (*may_send)(pvmc_tid src), pvmd_service_handler *handler);

/* Drops this task's unfinished message. */
void pvmd_service_forget(pvmc_tid src);

/* Drops all unfinished messages, at the daemon's end. */
void pvmd_service_stop(void);

/* ---- building messages: NULL is passed on, so that only the last call need be checked ---- */

/* A message with that tag; wid 0: not a question. NULL: out of memory. */
struct pvmc_message *pvmd_service_new(int tag, int32_t wid);
void pvmd_service_put_int(struct pvmc_message **m, int value);
void pvmd_service_put_text(struct pvmc_message **m, const char *text);

/* Sends the message and releases the reference. False: memory had run out, and nothing was sent. */
bool pvmd_service_send(struct pvmc_message *m, pvmc_tid dst);

/* ---- reading: *rc is 0 or the first error; after that 0, NULL ---- */

int pvmd_service_get_int(struct pvmc_message *m, int *rc);
char *pvmd_service_get_text(struct pvmc_message *m, int *rc); /* for the caller to free */

/* Reads a count and as many texts into a list that ends with NULL. The caller frees each text, and the list. */
char **pvmd_service_get_texts(struct pvmc_message *m, uint32_t *count, int *rc);

#endif
