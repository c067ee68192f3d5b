/*
 * buffer.h - message buffers as programs see them: small numbers (mids), and which two of them are active.
 */
#ifndef PVMI_BUFFER_H
#define PVMI_BUFFER_H

#include "core/message/message.h"
#include "inbox.h"
#include "libpvm/base/active.h"

/*
 * Assigns a number to a message: the free one that was freed last, else the next; takes over the reference. mid or
 * PVMC_ENOMEM.
 */
int pvmi_buffer_add(struct pvmc_message *m);

/* The number of a message that waits in the inbox; assigns one if it has none. mid or PVMC_ENOMEM. */
int pvmi_buffer_of_waiting(struct pvmi_waiting *w);

/* The message with this mid was taken out of the inbox: the buffer keeps its mid and now owns the reference. */
void pvmi_buffer_taken(int mid);

/* The message, or NULL if there is no such number. */
struct pvmc_message *pvmi_buffer_find(int mid);

/* Like pvmi_buffer_find(), with the codes of the public calls: PvmBadParam for mid <= 0, PvmNoSuchBuf. */
int pvmi_buffer_get(int mid, struct pvmc_message **m);

/*
 * Empties the active send buffer for a new message in that encoding and assigns a new number, if nothing else refers to
 * its message and a number is free. The new mid, or 0 when that is impossible.
 */
int pvmi_buffer_renew_send(uint32_t enc);

/* Appends the body of a message to another, with the current in-place data. 0 or PVMC_ENOMEM, with `to` unchanged. */
int pvmi_buffer_append(struct pvmc_message *to, const struct pvmc_message *from);

/* Frees number and reference. Deselects an active buffer; removes a waiting message from the inbox. */
void pvmi_buffer_free(int mid);

/* Make a buffer active; 0: none. The previous one is kept. Returns the previous mid. The number must exist. */
int pvmi_buffer_select_send(int mid);
int pvmi_buffer_select_receive(int mid);

#endif
