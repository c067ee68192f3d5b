/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

#define MAGIC   0x464f5644u /* "DVOF" */
#define VERSION 1

int pvmt_ofi_offer_encode(const struct pvmt_ofi_offer *o, uint8_t blob[PVMT_OFFER_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, MAGIC);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u64(&b, o->key);
    pvmc_buf_put_u64(&b, o->lease_at);
    pvmc_buf_put_u64(&b, o->lease_rma_key);
    pvmc_buf_put_string(&b, o->provider);
    pvmc_buf_put_blob(&b, o->address, o->address_length);
    int rc = pvmc_buf_error(&b) ? pvmc_buf_error(&b) : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmc_buf_free(&b);
    return rc;
}

int pvmt_ofi_offer_decode(const uint8_t *blob, size_t length, struct pvmt_ofi_offer *o)
{
    struct pvmc_buf b;
    size_t address_length;
    pvmc_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint32_t magic = pvmc_buf_get_u32(&b);
    uint8_t version = pvmc_buf_get_u8(&b);
    o->key = pvmc_buf_get_u64(&b);
    o->lease_at = pvmc_buf_get_u64(&b);
    o->lease_rma_key = pvmc_buf_get_u64(&b);
    pvmc_buf_get_string_to(&b, o->provider, sizeof o->provider);
    const uint8_t *address = pvmc_buf_get_blob(&b, &address_length);
    if (pvmc_buf_end(&b) || magic != MAGIC)
        return PVMC_EFORMAT;
    if (version != VERSION)
        return PVMC_EVERSION;
    if (!o->key || !o->provider[0] || !address_length || address_length > sizeof o->address)
        return PVMC_EFORMAT;
    o->address_length = (unsigned)address_length;
    memcpy(o->address, address, address_length);
    return 0;
}
