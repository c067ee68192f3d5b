/*
 * inbox.h - puts the frames of control messages for this daemon together: one inbox for each sender, one message at a
 * time, of at most PVMI_BUF_MAX bytes.
 */
#ifndef PVMD_INBOX_H
#define PVMD_INBOX_H

#include <stdint.h>
#include "../core/frame.h"
#include "../core/message.h"

struct pvmd_inbox {
    struct pvmi_message *incoming; /* NULL between messages */
    uint64_t placed;               /* bytes of it that are there */
};

/*
 * Adds a frame. 0, and *whole is the message if that was its last frame (the caller owns the reference), else NULL;
 * PVMI_EFORMAT if it does not go on where the last one ended, PVMI_ELIMIT, PVMI_ENOMEM.
 */
int pvmd_inbox_add(struct pvmd_inbox *inbox, const struct pvmi_frame *f, struct pvmi_message **whole);

/* Drops what is unfinished. */
void pvmd_inbox_clear(struct pvmd_inbox *inbox);

#endif
