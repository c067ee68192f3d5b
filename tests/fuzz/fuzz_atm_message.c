/* fuzz_atm_message.c - what programs and the simulated network say to each other, and offers of the transport atm. */
#include "fuzz.h"
#include <string.h>
#include "../../src/atm/fore/message.h"
#include "../../src/transports/atm/offer.h"

/* What is read is written again as the same bytes; data follow the head. */
static void message(const uint8_t *data, size_t size)
{
    struct pvmi_atm_message m;
    uint8_t head[PVMI_ATM_HEAD_MAX];
    if (pvmi_atm_message_decode(data, size, &m))
        return;
    size_t length = pvmi_atm_message_encode(&m, head);
    MUST(length && length + m.length == size);
    MUST(!memcmp(head, data, length));
    MUST(!m.length || m.data == data + length);
}

static void offer(const uint8_t *data, size_t size)
{
    struct pvmi_atm_offer o;
    uint8_t blob[PVMI_OFFER_MAX];
    if (pvmi_atm_offer_decode(data, size, &o))
        return;
    MUST(o.mtu >= PVMI_ATM_MTU_MIN && o.incarnation);
    MUST(pvmi_atm_offer_encode(&o, blob) == (int)size && !memcmp(blob, data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    message(data, size);
    offer(data, size);
    return 0;
}
