/*
 * offer.h - the buffer of a waiting pvm_precv(). It is offered to the message that the call waits for, whose frames are
 * then placed there directly instead of being copied.
 */
#ifndef PVMI_OFFER_H
#define PVMI_OFFER_H

#include <stdbool.h>
#include "core/message/frame.h"
#include "core/memory/mem.h"
#include "inbox.h"

/*
 * Offers `size` bytes to the message that w waits for. While a message is being placed there, w->body names it and
 * nothing else satisfies w. False when another receive offers its buffer, or a message is still being placed in an
 * earlier one.
 */
bool pvmi_offer_begin(struct pvmi_wanted *w, void *data, size_t size);
void pvmi_offer_end(void);

/*
 * The offered buffer as message memory for the message that begins with h; the caller gets the reference. NULL: no
 * receive offers one, the message does not fit, or its format differs. If the reference is released before the message
 * is complete, the receive waits for any message again. Called by peer.c for the first frame of a message.
 */
struct pvmc_mem *pvmi_offer_claim(const struct pvmc_frame_header *h);

/* In a forked child: drops the offer of another thread. */
void pvmi_offer_forget_others(void);

#endif
