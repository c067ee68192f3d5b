/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

#define VERSION 3

int pvmt_atm_offer_encode(const struct pvmt_atm_offer *o, uint8_t blob[PVMT_OFFER_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u8(&b, (uint8_t)o->aal);
    pvmc_buf_put_u32(&b, o->mtu);
    pvmc_buf_put_u32(&b, o->incarnation);
    pvmc_buf_put_u32(&b, o->endpoint.asap);
    pvmc_buf_put_bytes(&b, o->endpoint.nsap.addr, sizeof o->endpoint.nsap.addr);
    pvmc_buf_put_u32(&b, o->leaf_asap);
    pvmc_buf_put_u8(&b, (uint8_t)o->protocol);
    int rc = pvmc_buf_error(&b) ? pvmc_buf_error(&b) : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmc_buf_free(&b);
    return rc;
}

int pvmt_atm_offer_decode(const uint8_t *blob, size_t length, struct pvmt_atm_offer *o)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, blob, length);
    uint8_t version = pvmc_buf_get_u8(&b), aal = pvmc_buf_get_u8(&b);
    *o = (struct pvmt_atm_offer){.aal = (Aal_type)aal};
    o->mtu = pvmc_buf_get_u32(&b);
    o->incarnation = pvmc_buf_get_u32(&b);
    o->endpoint.asap = pvmc_buf_get_u32(&b);
    const uint8_t *nsap = pvmc_buf_get_bytes(&b, sizeof o->endpoint.nsap.addr);
    o->leaf_asap = pvmc_buf_get_u32(&b);
    o->protocol = (Atm_protocol)pvmc_buf_get_u8(&b);
    if (pvmc_buf_end(&b))
        return PVMC_EFORMAT;
    if (version != VERSION)
        return PVMC_EVERSION;
    memcpy(o->endpoint.nsap.addr, nsap, sizeof o->endpoint.nsap.addr);
    bool good = aal >= aal_type_3 && aal <= aal_type_5 && o->mtu >= PVMT_ATM_MTU_MIN && o->mtu <= UINT16_MAX;
    good = good && o->protocol <= PVMT_ATM_PROTOCOL_MAX;
    return good && o->incarnation && o->endpoint.asap ? 0 : PVMC_EFORMAT;
}
