/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

#define MAGIC         0x44525644u /* "DVRD" */
#define VERSION       1
#define FLAG_ETHERNET 1
#define NUMBER_MAX    0xffffffu
#define MTU_MAX       5 /* enum ibv_mtu */

int pvmt_rdma_offer_encode(const struct pvmt_rdma_offer *o, uint8_t blob[PVMT_OFFER_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, MAGIC);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u8(&b, o->ethernet ? FLAG_ETHERNET : 0);
    pvmc_buf_put_u16(&b, o->lid);
    pvmc_buf_put_u32(&b, o->queue);
    pvmc_buf_put_u32(&b, o->first);
    pvmc_buf_put_u8(&b, o->mtu);
    pvmc_buf_put_u8(&b, o->reads);
    pvmc_buf_put_u16(&b, o->credits);
    pvmc_buf_put_bytes(&b, o->gid, sizeof o->gid);
    pvmc_buf_put_bytes(&b, o->token, sizeof o->token);
    int rc = pvmc_buf_error(&b) ? pvmc_buf_error(&b) : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmc_buf_free(&b);
    return rc;
}

int pvmt_rdma_offer_decode(const uint8_t *blob, size_t length, struct pvmt_rdma_offer *o)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint32_t magic = pvmc_buf_get_u32(&b);
    uint8_t version = pvmc_buf_get_u8(&b), flags = pvmc_buf_get_u8(&b);
    o->ethernet = flags & FLAG_ETHERNET;
    o->lid = pvmc_buf_get_u16(&b);
    o->queue = pvmc_buf_get_u32(&b);
    o->first = pvmc_buf_get_u32(&b);
    o->mtu = pvmc_buf_get_u8(&b);
    o->reads = pvmc_buf_get_u8(&b);
    o->credits = pvmc_buf_get_u16(&b);
    pvmc_buf_get_bytes_to(&b, o->gid, sizeof o->gid);
    pvmc_buf_get_bytes_to(&b, o->token, sizeof o->token);
    if (pvmc_buf_end(&b) || magic != MAGIC)
        return PVMC_EFORMAT;
    if (version != VERSION)
        return PVMC_EVERSION;
    bool sound = !(flags & ~FLAG_ETHERNET) && o->queue && o->queue <= NUMBER_MAX && o->first <= NUMBER_MAX && o->mtu &&
                 o->mtu <= MTU_MAX && o->reads && o->credits >= 2;
    return sound ? 0 : PVMC_EFORMAT;
}
