/*
 * partial.h - a message that is received from its first frame on: its sender may still be packing it. Its frames have
 * the flag PVMC_FRAME_STREAM.
 *
 * The message is there at once. `length` is what has come of its body, and grows; `partial` says that there is more to
 * come, or why there is not. Who needs bytes behind `length` waits for frames (libpvm/route/remainder.h).
 *
 * There are two kinds of streams. The frames of pvm_initsendto() have PVMC_FRAME_LENGTH_OPEN for the length until the
 * sender has packed everything; at least the last one has the right one. A message of known length, which a transport
 * with the attribute `early` carries in several frames, has it in all frames.
 */
#ifndef PVMC_PARTIAL_H
#define PVMC_PARTIAL_H

#include <stdbool.h>
#include <stdint.h>
#include "frame.h"
#include "message.h"

#define PVMC_PARTIAL_GROWS 1 /* pvmc_message.partial; a negative number is a PVMC_E code: no more comes */

/* The stream of one sender; all 0: none is open. */
struct pvmc_partial {
    struct pvmc_message *m; /* with a reference; NULL: what comes of it is dropped */
    uint64_t placed;        /* bytes that have come */
    uint64_t body_length;   /* as in the last frame's header */
    bool open;              /* its first frame has come, its last has not */
};

/* Whether h may be the next frame of the stream, or the first of a new one. 0 or PVMC_EFORMAT. */
int pvmc_partial_check(const struct pvmc_partial *s, const struct pvmc_frame_header *h);

/*
 * The place for the payload of a frame that has been checked and is no ABORT; the first one makes the message. NULL:
 * the payload is to be dropped. Without memory for it s->m becomes NULL: *rest is then its reference, now the caller's,
 * or NULL if there was no message yet.
 */
uint8_t *pvmc_partial_place(struct pvmc_partial *s, const struct pvmc_frame_header *h, struct pvmc_message **rest);

/* The payload is there, or dropped. True: it was the last frame, and the message is whole. */
bool pvmc_partial_add(struct pvmc_partial *s, const struct pvmc_frame_header *h);

#endif
