/* fuzz_dp_offer.c - offers of dp links: an accepted offer encodes to the same bytes again. */
#include <string.h>
#include "transports/dp/offer.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pvmt_dp_offer o;
    uint8_t again[PVMT_OFFER_MAX];
    if (pvmt_dp_offer_decode(data, size, &o))
        return 0;
    MUST(o.count >= 1 && o.count <= PVMT_DP_PLACES_MAX && o.node && o.incarnation);
    int n = pvmt_dp_offer_encode(&o, again);
    MUST(n > 0 && (size_t)n == size && !memcmp(again, data, size));
    return 0;
}
