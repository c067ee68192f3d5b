/* claim.h - a message claims its receivers, so that with several threads the frames of one message stay together. */
#ifndef PVMI_CLAIM_H
#define PVMI_CLAIM_H

#include "core/message/message.h"
#include "libpvm/engine/peer.h"

/* The receivers of a message. */
struct pvmi_claim {
    struct pvmi_peer **peers; /* in use; claimed from pvmi_claim() on */
    unsigned count;
};

/* Waits for other threads' messages to these tasks, then claims the tasks. 0, or an error and nothing is claimed. */
int pvmi_claim(struct pvmi_claim *c);
void pvmi_claim_end(struct pvmi_claim *c);

/*
 * The message to send instead of m while the lock may be released, because another thread could free m or continue to
 * pack it. With a reference for the caller; NULL when out of memory.
 */
struct pvmc_message *pvmi_claim_message(struct pvmc_message *m);

#endif
