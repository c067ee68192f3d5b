/* payload.c - see payload.h. */
#include "payload.h"
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"

void pvma_payload_drop(struct pvma_payload *payload)
{
    if (payload && !--payload->refs)
        free(payload);
}

struct pvma_payload *pvma_payload_share(struct pvma_payload **last, const void *data, size_t length)
{
    struct pvma_payload *p = *last;
    if (!p || p->length != length || (length && memcmp(p->data, data, length))) {
        p = pvma_new(sizeof *p + length);
        p->length = length;
        if (length)
            memcpy(p->data, data, length);
        pvma_payload_drop(*last);
        p->refs = 1;
        *last = p;
    }
    p->refs++;
    return p;
}
