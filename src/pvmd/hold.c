/* hold.c - see hold.h. */
#include <stdbool.h>
#include "hold.h"
#include "../core/buf.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "output.h"
#include "queue.h"
#include "relay.h"
#include "stats.h"

/* Comes from this host's daemon by name, not from 0x80000000: it may overtake the frames of an answer. */
void pvmd_hold_tell(pvmi_tid sender, pvmi_tid receiver, bool hold)
{
    struct pvmi_frame_header h = {.length = sizeof receiver,
                                  .body_length = sizeof receiver,
                                  .src = PVMI_TID_DAEMON | pvmd_host_tid(),
                                  .dst = sender,
                                  .ctx = PVMI_CTX_TC,
                                  .tag = (int32_t)(hold ? PVMI_TC_HOLD : PVMI_TC_RELEASE)};
    struct pvmi_frame *f = pvmi_frame_alloc(&h);
    if (!f)
        return;
    uint8_t *body = f->pieces[0].iov_base;
    for (unsigned i = 0; i < sizeof receiver; i++)
        body[i] = (uint8_t)(receiver >> 8 * i);
    if (hold)
        pvmd_stats.holds++;
    pvmd_relay(f, 0);
    pvmi_frame_unref(f);
}

void pvmd_hold_receive(const struct pvmi_frame *f)
{
    struct pvmi_buf body;
    pvmi_buf_view(&body, f->piece_count ? f->pieces[0].iov_base : NULL, f->piece_count ? f->pieces[0].iov_len : 0);
    pvmi_tid receiver = pvmi_buf_get_u32(&body);
    if (pvmi_buf_end(&body))
        pvmi_log(PVMI_LOG_WARNING, "ignored a malformed HOLD or RELEASE from t%x", f->h.src);
    else
        pvmd_output_hold(receiver, f->h.tag == (int32_t)PVMI_TC_HOLD);
}
