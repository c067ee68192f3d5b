/*
 * buffer.h - message buffers as programs see them: small numbers (mids), and which two of them are active.
 */
#ifndef PVMI_BUFFER_H
#define PVMI_BUFFER_H

#include "../core/message.h"
#include "inbox.h"

struct pvmi_active {
    int mid; /* 0: none */
    struct pvmi_message *m;
};

extern struct pvmi_active pvmi_send_buffer;    /* what pvm_pk* fills */
extern struct pvmi_active pvmi_receive_buffer; /* what pvm_upk* reads */

/* Gives a message a number, the smallest free one last freed first; takes over the reference. mid or PVMI_ENOMEM. */
int pvmi_buffer_add(struct pvmi_message *m);

/* The number of a message that still waits in the inbox, given when it has none. mid or PVMI_ENOMEM. */
int pvmi_buffer_of_waiting(struct pvmi_waiting *w);

/* The waiting message behind a mid has been taken out of the inbox: the mid stays, and owns the reference now. */
void pvmi_buffer_taken(int mid);

/* The message, or NULL if there is no such number. */
struct pvmi_message *pvmi_buffer_find(int mid);

/* As pvmi_buffer_find(), with the codes of the public calls: PvmBadParam for mid <= 0, PvmNoSuchBuf. */
int pvmi_buffer_get(int mid, struct pvmi_message **m);

/* Appends the body of a message to another, in-place data as it is now. 0 or PVMI_ENOMEM, with `to` as it was. */
int pvmi_buffer_append(struct pvmi_message *to, const struct pvmi_message *from);

/* Frees number and reference; deselects it if active, takes it out of the inbox if it waits there. */
void pvmi_buffer_free(int mid);

/* Make a buffer active; 0: none. The old one stays. Returns the old mid. The number must exist. */
int pvmi_buffer_select_send(int mid);
int pvmi_buffer_select_receive(int mid);

#endif
