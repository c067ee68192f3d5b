/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "../../core/buf.h"
#include "../../core/error.h"

#define MAGIC         0x44525644u /* "DVRD" */
#define VERSION       1
#define FLAG_ETHERNET 1
#define NUMBER_MAX    0xffffffu
#define MTU_MAX       5 /* enum ibv_mtu */

int pvmi_rdma_offer_encode(const struct pvmi_rdma_offer *o, uint8_t blob[PVMI_OFFER_MAX])
{
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, MAGIC);
    pvmi_buf_put_u8(&b, VERSION);
    pvmi_buf_put_u8(&b, o->ethernet ? FLAG_ETHERNET : 0);
    pvmi_buf_put_u16(&b, o->lid);
    pvmi_buf_put_u32(&b, o->queue);
    pvmi_buf_put_u32(&b, o->first);
    pvmi_buf_put_u8(&b, o->mtu);
    pvmi_buf_put_u8(&b, o->reads);
    pvmi_buf_put_u16(&b, o->credits);
    pvmi_buf_put_bytes(&b, o->gid, sizeof o->gid);
    pvmi_buf_put_bytes(&b, o->token, sizeof o->token);
    int rc = pvmi_buf_error(&b) ? pvmi_buf_error(&b) : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmi_buf_free(&b);
    return rc;
}

static void get_bytes(struct pvmi_buf *b, uint8_t *to, size_t n)
{
    const uint8_t *from = pvmi_buf_get_bytes(b, n);
    if (from)
        memcpy(to, from, n);
}

int pvmi_rdma_offer_decode(const uint8_t *blob, size_t length, struct pvmi_rdma_offer *o)
{
    struct pvmi_buf b;
    pvmi_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint32_t magic = pvmi_buf_get_u32(&b);
    uint8_t version = pvmi_buf_get_u8(&b), flags = pvmi_buf_get_u8(&b);
    o->ethernet = flags & FLAG_ETHERNET;
    o->lid = pvmi_buf_get_u16(&b);
    o->queue = pvmi_buf_get_u32(&b);
    o->first = pvmi_buf_get_u32(&b);
    o->mtu = pvmi_buf_get_u8(&b);
    o->reads = pvmi_buf_get_u8(&b);
    o->credits = pvmi_buf_get_u16(&b);
    get_bytes(&b, o->gid, sizeof o->gid);
    get_bytes(&b, o->token, sizeof o->token);
    if (pvmi_buf_end(&b) || magic != MAGIC)
        return PVMI_EFORMAT;
    if (version != VERSION)
        return PVMI_EVERSION;
    bool sound = !(flags & ~FLAG_ETHERNET) && o->queue && o->queue <= NUMBER_MAX && o->first <= NUMBER_MAX && o->mtu &&
                 o->mtu <= MTU_MAX && o->reads && o->credits >= 2;
    return sound ? 0 : PVMI_EFORMAT;
}
