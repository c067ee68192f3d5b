/*
 * mailbox.h - TM_MAILBOX: requests are checked where the task is, and carried out by the master (DM_MAILBOX), who also
 * keeps those that wait for an entry, and removes the entries of tasks that end.
 */
#ifndef PVMD_MAILBOX_H
#define PVMD_MAILBOX_H

#include "../core/buf.h"
#include "../core/tid.h"
#include "mailbox_store.h"

/* A request as it travels. */
struct pvmd_mailbox_request {
    int op; /* enum pvmi_mailbox_op */
    char name[PVMD_MAILBOX_NAME_MAX + 1];
    int index;
    uint32_t flags, enc, dsig;
    const uint8_t *data; /* in the buffer that was read */
    size_t length;
    pvmi_tid *spared; /* RESET; freed by pvmd_mailbox_request_free() */
    uint32_t spared_count;
};

/* Reads and checks one: 0 or a PVMI_E code; pvmd_mailbox_request_free() is due in both cases. */
int pvmd_mailbox_request_get(struct pvmi_buf *b, struct pvmd_mailbox_request *m);
void pvmd_mailbox_request_free(struct pvmd_mailbox_request *m);

void pvmd_mailbox_start(void);
void pvmd_mailbox_stop(void);

#endif
