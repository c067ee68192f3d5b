/*
 * retransmit.h - the retransmit queue of a task: its limits, and the form in which frames are kept. The queue itself is
 * wire/window.h.
 *
 * A link whose transport is not `lossless` keeps each frame until it is acknowledged. When the link goes down, the rest
 * moves to the peer's window, which is sent by the daemon.
 */
#ifndef PVMI_RETRANSMIT_H
#define PVMI_RETRANSMIT_H

#include <stdbool.h>
#include "wire/window.h"

#define PVMI_RETRANSMIT_FRAMES_MAX 8192
#define PVMI_RETRANSMIT_BYTES_MAX  ((size_t)64 << 20)

/*
 * In-place data of messages up to this size is copied to be kept; the sender of a larger message waits until it is
 * acknowledged. The receiver acknowledges the end of each larger message at once.
 */
#define PVMI_RETRANSMIT_COPY_BYTES 65536

/* The receiver acknowledges after this many frames or bytes. */
#define PVMI_RETRANSMIT_ACK_FRAMES 64
#define PVMI_RETRANSMIT_ACK_BYTES  (256u << 10)

/* Whether frames must wait for acknowledgements. */
static inline bool pvmi_retransmit_is_full(const struct pvmw_window *w)
{
    return pvmw_window_count(w) >= PVMI_RETRANSMIT_FRAMES_MAX || w->bytes >= PVMI_RETRANSMIT_BYTES_MAX;
}

/*
 * The form in which f is kept and preferably sent, because its owner may change the data: a copy of a small in-place
 * message, else f. The caller gets a reference; NULL when out of memory.
 */
struct pvmc_frame *pvmi_retransmit_copy(struct pvmc_frame *f);

/* Adds f in that form. 0, or PVMC_ENOMEM with nothing changed. */
int pvmi_retransmit_keep(struct pvmw_window *w, struct pvmc_frame *f);

#endif
