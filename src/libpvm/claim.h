/* claim.h - with several threads: one message at a time goes to a task, all its frames in a row. */
#ifndef PVMI_CLAIM_H
#define PVMI_CLAIM_H

#include "../core/message.h"
#include "peer.h"

/* The receivers of a message. */
struct pvmi_claim {
    struct pvmi_peer **peers; /* from pvmi_claim() on in use, and claimed */
    unsigned count;
};

/* Waits for other threads' messages to these tasks. 0 or an error, and nothing is claimed. */
int pvmi_claim(struct pvmi_claim *c);
void pvmi_claim_end(struct pvmi_claim *c);

/*
 * What is sent while the lock may be given back: another thread could free the message, or pack on. With the caller's
 * reference; NULL when out of memory.
 */
struct pvmi_message *pvmi_claim_message(struct pvmi_message *m);

#endif
