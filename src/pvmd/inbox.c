/* inbox.c - see inbox.h. */
#include "inbox.h"
#include <string.h>
#include "../core/buf.h"
#include "../core/error.h"

void pvmd_inbox_clear(struct pvmd_inbox *inbox)
{
    pvmi_message_unref(inbox->incoming);
    *inbox = (struct pvmd_inbox){0};
}

static int begin(struct pvmd_inbox *inbox, const struct pvmi_frame_header *h)
{
    if (h->offset)
        return PVMI_EFORMAT;
    if (h->body_length > PVMI_BUF_MAX)
        return PVMI_ELIMIT;
    inbox->incoming = pvmi_message_from_header(h);
    return inbox->incoming ? 0 : PVMI_ENOMEM;
}

static void place(struct pvmd_inbox *inbox, const struct pvmi_frame *f)
{
    for (unsigned i = 0; i < f->piece_count; i++) {
        memcpy(inbox->incoming->mem->data + inbox->placed, f->pieces[i].iov_base, f->pieces[i].iov_len);
        inbox->placed += f->pieces[i].iov_len;
    }
}

int pvmd_inbox_add(struct pvmd_inbox *inbox, const struct pvmi_frame *f, struct pvmi_message **whole)
{
    *whole = NULL;
    if (f->h.flags & PVMI_FRAME_ABORT) {
        pvmd_inbox_clear(inbox);
        return 0;
    }
    int rc = inbox->incoming ? 0 : begin(inbox, &f->h);
    if (rc)
        return rc;
    if (f->h.offset != inbox->placed || f->h.body_length != inbox->incoming->length)
        return PVMI_EFORMAT;
    place(inbox, f);
    if (pvmi_frame_is_last(&f->h)) {
        *whole = inbox->incoming;
        *inbox = (struct pvmd_inbox){0};
    }
    return 0;
}
