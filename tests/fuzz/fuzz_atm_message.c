/* fuzz_atm_message.c - messages between programs and the simulated network, and offers of the transport atm. */
#include "fuzz.h"
#include <string.h>
#include "atm/src/fore/message.h"
#include "transports/atm/offer.h"

/* An accepted message encodes to the same bytes again; data follow the header. */
static void message(const uint8_t *data, size_t size)
{
    struct pvma_fore_message m;
    uint8_t head[PVMA_FORE_HEAD_MAX];
    if (pvma_fore_message_decode(data, size, &m))
        return;
    size_t length = pvma_fore_message_encode(&m, head);
    MUST(length && length + m.length == size);
    MUST(!memcmp(head, data, length));
    MUST(!m.length || m.data == data + length);
}

static void offer(const uint8_t *data, size_t size)
{
    struct pvmt_atm_offer o;
    uint8_t blob[PVMT_OFFER_MAX];
    if (pvmt_atm_offer_decode(data, size, &o))
        return;
    MUST(o.mtu >= PVMT_ATM_MTU_MIN && o.incarnation);
    MUST(pvmt_atm_offer_encode(&o, blob) == (int)size && !memcmp(blob, data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    message(data, size);
    offer(data, size);
    return 0;
}
