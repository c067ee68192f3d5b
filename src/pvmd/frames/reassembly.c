/* reassembly.c - see reassembly.h. */
#include "reassembly.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

void pvmd_reassembly_clear(struct pvmd_reassembly *r)
{
    pvmc_message_unref(r->incoming);
    *r = (struct pvmd_reassembly){0};
}

static int begin(struct pvmd_reassembly *r, const struct pvmc_frame_header *h)
{
    if (h->offset)
        return PVMC_EFORMAT;
    if (h->body_length > PVMC_BUF_MAX)
        return PVMC_ELIMIT;
    r->incoming = pvmc_message_from_header(h);
    return r->incoming ? 0 : PVMC_ENOMEM;
}

static void place(struct pvmd_reassembly *r, const struct pvmc_frame *f)
{
    for (unsigned i = 0; i < f->piece_count; i++) {
        memcpy(r->incoming->mem->data + r->placed, f->pieces[i].iov_base, f->pieces[i].iov_len);
        r->placed += f->pieces[i].iov_len;
    }
}

int pvmd_reassembly_add(struct pvmd_reassembly *r, const struct pvmc_frame *f, struct pvmc_message **whole)
{
    *whole = NULL;
    if (f->h.flags & PVMC_FRAME_ABORT) {
        pvmd_reassembly_clear(r);
        return 0;
    }
    int rc = r->incoming ? 0 : begin(r, &f->h);
    if (rc)
        return rc;
    if (f->h.offset != r->placed || f->h.body_length != r->incoming->length)
        return PVMC_EFORMAT;
    place(r, f);
    if (pvmc_frame_is_last(&f->h)) {
        *whole = r->incoming;
        *r = (struct pvmd_reassembly){0};
    }
    return 0;
}
