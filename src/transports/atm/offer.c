/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "../../core/buf.h"
#include "../../core/error.h"

#define VERSION 2

int pvmi_atm_offer_encode(const struct pvmi_atm_offer *o, uint8_t blob[PVMI_OFFER_MAX])
{
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u8(&b, VERSION);
    pvmi_buf_put_u8(&b, (uint8_t)o->aal);
    pvmi_buf_put_u32(&b, o->mtu);
    pvmi_buf_put_u32(&b, o->incarnation);
    pvmi_buf_put_u32(&b, o->endpoint.asap);
    pvmi_buf_put_bytes(&b, o->endpoint.nsap.addr, sizeof o->endpoint.nsap.addr);
    pvmi_buf_put_u32(&b, o->leaf_asap);
    int rc = pvmi_buf_error(&b) ? pvmi_buf_error(&b) : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmi_buf_free(&b);
    return rc;
}

int pvmi_atm_offer_decode(const uint8_t *blob, size_t length, struct pvmi_atm_offer *o)
{
    struct pvmi_buf b;
    pvmi_buf_view(&b, blob, length);
    uint8_t version = pvmi_buf_get_u8(&b), aal = pvmi_buf_get_u8(&b);
    *o = (struct pvmi_atm_offer){.aal = (Aal_type)aal};
    o->mtu = pvmi_buf_get_u32(&b);
    o->incarnation = pvmi_buf_get_u32(&b);
    o->endpoint.asap = pvmi_buf_get_u32(&b);
    const uint8_t *nsap = pvmi_buf_get_bytes(&b, sizeof o->endpoint.nsap.addr);
    o->leaf_asap = pvmi_buf_get_u32(&b);
    if (pvmi_buf_end(&b))
        return PVMI_EFORMAT;
    if (version != VERSION)
        return PVMI_EVERSION;
    memcpy(o->endpoint.nsap.addr, nsap, sizeof o->endpoint.nsap.addr);
    bool good = aal >= aal_type_3 && aal <= aal_type_5 && o->mtu >= PVMI_ATM_MTU_MIN && o->mtu <= UINT16_MAX;
    return good && o->incarnation && o->endpoint.asap ? 0 : PVMI_EFORMAT;
}
