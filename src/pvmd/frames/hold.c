/* hold.c - see hold.h. */
#include "hold.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "relay.h"
#include "pvmd/base/stats.h"

/* The source is this host's daemon by its own tid, not 0x80000000, since the frame may overtake those of an answer. */
void pvmd_hold_tell(pvmc_tid sender, pvmc_tid receiver, bool hold)
{
    struct pvmc_frame_header h = {.length = sizeof receiver,
                                  .body_length = sizeof receiver,
                                  .src = PVMC_TID_DAEMON | pvmd_host_tid(),
                                  .dst = sender,
                                  .ctx = PVMC_CTX_TC,
                                  .tag = (int32_t)(hold ? PVMC_TC_HOLD : PVMC_TC_RELEASE)};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    if (!f)
        return;
    uint8_t *body = f->pieces[0].iov_base;
    for (unsigned i = 0; i < sizeof receiver; i++)
        body[i] = (uint8_t)(receiver >> 8 * i);
    if (hold)
        pvmd_stats.holds++;
    pvmd_relay(f, 0);
    pvmc_frame_unref(f);
}
