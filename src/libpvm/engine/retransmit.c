/* retransmit.c - see retransmit.h. */
#include "retransmit.h"
#include "core/error.h"

struct pvmc_frame *pvmi_retransmit_copy(struct pvmc_frame *f)
{
    bool copied = !f->mem && f->h.length && f->h.body_length <= PVMI_RETRANSMIT_COPY_BYTES;
    return copied ? pvmc_frame_share(f) : pvmc_frame_ref(f);
}

int pvmi_retransmit_keep(struct pvmw_window *w, struct pvmc_frame *f)
{
    struct pvmc_frame *kept = pvmi_retransmit_copy(f);
    int rc = kept ? pvmw_window_add(w, kept) : PVMC_ENOMEM;
    pvmc_frame_unref(kept);
    return rc;
}
