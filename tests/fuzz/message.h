/* message.h - a message from the input, as if a task had sent it, to be unpacked next. */
#ifndef FUZZ_MESSAGE_H
#define FUZZ_MESSAGE_H

#include <string.h>
#include "core/message/dsig.h"
#include "core/message/message.h"
#include "libpvm/engine/buffer.h"
#include "fuzz.h"

/* Makes it the active receive buffer; frees the previous one. Returns its mid. */
static inline int fuzz_receive(int from, int tag, const uint8_t *body, size_t length)
{
    struct pvmc_frame_header h = {
        .src = (pvmc_tid)from, .tag = tag, .body_length = length, .enc = PVMC_ENC_DEFAULT, .dsig = pvmc_dsig_own()};
    struct pvmc_message *m = pvmc_message_from_header(&h);
    if (length)
        memcpy(m->mem->data, body, length);
    if (pvmi_receive_buffer.mid)
        pvmi_buffer_free(pvmi_receive_buffer.mid);
    int mid = pvmi_buffer_add(m);
    pvmi_buffer_select_receive(mid);
    return mid;
}

static inline void fuzz_receive_end(void)
{
    if (pvmi_receive_buffer.mid)
        pvmi_buffer_free(pvmi_receive_buffer.mid);
}

#endif
