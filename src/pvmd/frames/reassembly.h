/*
 * reassembly.h - reassembles control messages for this daemon from their frames: one message per sender at a time, of
 * at most PVMC_BUF_MAX bytes.
 */
#ifndef PVMD_REASSEMBLY_H
#define PVMD_REASSEMBLY_H

#include <stdint.h>
#include "core/message/frame.h"
#include "core/message/message.h"

struct pvmd_reassembly {
    struct pvmc_message *incoming; /* NULL between messages */
    uint64_t placed;               /* bytes of it that have arrived */
};

/*
 * Adds a frame. 0, and *whole is the message if that was its last frame (the caller owns the reference), else NULL;
 * PVMC_EFORMAT if it does not follow the last one, PVMC_ELIMIT, PVMC_ENOMEM.
 */
int pvmd_reassembly_add(struct pvmd_reassembly *r, const struct pvmc_frame *f, struct pvmc_message **whole);

/* Drops what is unfinished. */
void pvmd_reassembly_clear(struct pvmd_reassembly *r);

#endif
