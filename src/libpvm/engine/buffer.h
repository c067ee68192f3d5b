/*
 * buffer.h - message buffers as programs see them: small numbers (mids), and which two of them are active.
 */
#ifndef PVMI_BUFFER_H
#define PVMI_BUFFER_H

#include "core/message/message.h"
#include "inbox.h"
#include "libpvm/base/active.h"

/* Gives a message a number, the smallest free one last freed first; takes over the reference. mid or PVMC_ENOMEM. */
int pvmi_buffer_add(struct pvmc_message *m);

/* The number of a message that still waits in the inbox, given when it has none. mid or PVMC_ENOMEM. */
int pvmi_buffer_of_waiting(struct pvmi_waiting *w);

/* The waiting message behind a mid has been taken out of the inbox: the mid stays, and owns the reference now. */
void pvmi_buffer_taken(int mid);

/* The message, or NULL if there is no such number. */
struct pvmc_message *pvmi_buffer_find(int mid);

/* As pvmi_buffer_find(), with the codes of the public calls: PvmBadParam for mid <= 0, PvmNoSuchBuf. */
int pvmi_buffer_get(int mid, struct pvmc_message **m);

/*
 * Empties the active send buffer for a message in that encoding and gives it a new number, if nothing else refers to
 * its message. The new mid, PVMC_ENOMEM, or 0 when it cannot be.
 */
int pvmi_buffer_renew_send(uint32_t enc);

/* Appends the body of a message to another, in-place data as it is now. 0 or PVMC_ENOMEM, with `to` as it was. */
int pvmi_buffer_append(struct pvmc_message *to, const struct pvmc_message *from);

/* Frees number and reference; deselects it if active, takes it out of the inbox if it waits there. */
void pvmi_buffer_free(int mid);

/* Make a buffer active; 0: none. The old one stays. Returns the old mid. The number must exist. */
int pvmi_buffer_select_send(int mid);
int pvmi_buffer_select_receive(int mid);

#endif
