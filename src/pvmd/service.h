/*
 * service.h - SM messages: between this daemon and the tasks that do duties for it, the resource manager, the hoster
 * and the tasker. Ordinary messages of packed values, as existing programs of that kind expect them; man pvm_reg_rm
 * lists them.
 *
 * Only who has a duty is listened to. What others send, and what is malformed, is logged, counted and dropped.
 */
#ifndef PVMD_SERVICE_H
#define PVMD_SERVICE_H

#include <stdbool.h>
#include "../core/frame.h"
#include "../core/message.h"

#define PVMD_SERVICE_TEXT_MAX  (64u << 10) /* bytes of a text in an SM message */
#define PVMD_SERVICE_COUNT_MAX (64u << 10) /* texts in a list of them */

/* Whether a frame belongs to an SM message, by its tag alone. */
bool pvmd_service_is(const struct pvmi_frame_header *h);

/* A frame of an SM message for this daemon, from a task of this host or by another daemon. */
void pvmd_service_frame(const struct pvmi_frame *f);

/* Takes a whole message from a task that may send it. A PVMI_E code: malformed, for the log. */
typedef int pvmd_service_handler(struct pvmi_message *m);

/* Registers a message's handler and `may_send`, which knows who has the duty. */
void pvmd_service_handle(int tag, bool (*may_send)(pvmi_tid src), pvmd_service_handler *handler);

/* What this task has begun to send will not be finished. */
void pvmd_service_forget(pvmi_tid src);

/* Drops all that is unfinished: the daemon's end. */
void pvmd_service_stop(void);

/* ---- making messages: NULL is passed on, so that only the last call need be checked ---- */

/* A message of ours with that tag; wid 0: none asked. NULL when out of memory. */
struct pvmi_message *pvmd_service_new(int tag, int32_t wid);
void pvmd_service_put_int(struct pvmi_message **m, int value);
void pvmd_service_put_text(struct pvmi_message **m, const char *text);

/* Sends it and gives up the reference. False: out of memory on the way, nothing was sent. */
bool pvmd_service_send(struct pvmi_message *m, pvmi_tid dst);

/* ---- reading: *rc is 0 or the first error; after that 0, NULL ---- */

int pvmd_service_get_int(struct pvmi_message *m, int *rc);
char *pvmd_service_get_text(struct pvmi_message *m, int *rc); /* for the caller to free */

/* A count, and so many texts in a list that ends with NULL; free each and the list. */
char **pvmd_service_get_texts(struct pvmi_message *m, uint32_t *count, int *rc);

#endif
