/*
 * payload.h - the octets of a PDU that is being sent. A PDU with the same octets as the one before it on its VC shares
 * them: a sender that fills its queue with copies of one PDU takes the memory of one.
 */
#ifndef PVMA_PAYLOAD_H
#define PVMA_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

struct pvma_payload {
    unsigned refs;
    size_t length;
    uint8_t data[];
};

/*
 * Returns a payload with these octets, for its user to drop: the one in *last if it has them, else a new one, which
 * becomes *last. *last is a reference, too; NULL: none yet.
 */
struct pvma_payload *pvma_payload_share(struct pvma_payload **last, const void *data, size_t length);

/* Gives up a reference; the last one frees the octets. NULL is allowed. */
void pvma_payload_drop(struct pvma_payload *payload);

#endif
