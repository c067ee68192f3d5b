/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

#define VERSION       1
#define FLAG_LOOPBACK 1
#define ROOM_MIN      256

static void put_place(struct pvmc_buf *b, const struct pvmt_dp_place *p)
{
    pvmc_buf_put_bytes(b, p->hardware, sizeof p->hardware);
    pvmc_buf_put_u16(b, p->point);
    pvmc_buf_put_u16(b, p->room);
    pvmc_buf_put_u16(b, p->loopback ? FLAG_LOOPBACK : 0);
}

int pvmt_dp_offer_encode(const struct pvmt_dp_offer *o, uint8_t blob[PVMT_OFFER_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u8(&b, (uint8_t)o->count);
    pvmc_buf_put_u16(&b, o->ethertype);
    pvmc_buf_put_u16(&b, o->node);
    pvmc_buf_put_u16(&b, 0);
    pvmc_buf_put_u32(&b, o->incarnation);
    pvmc_buf_put_bytes(&b, o->host, sizeof o->host);
    for (unsigned i = 0; i < o->count; i++)
        put_place(&b, &o->places[i]);
    int rc = pvmc_buf_error(&b) ? pvmc_buf_error(&b) : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmc_buf_free(&b);
    return rc;
}

static bool get_place(struct pvmc_buf *b, struct pvmt_dp_place *p)
{
    pvmc_buf_get_bytes_to(b, p->hardware, sizeof p->hardware);
    p->point = pvmc_buf_get_u16(b);
    p->room = pvmc_buf_get_u16(b);
    uint16_t flags = pvmc_buf_get_u16(b);
    p->loopback = flags & FLAG_LOOPBACK;
    return p->point && p->room >= ROOM_MIN && !(flags & ~FLAG_LOOPBACK) && !(p->hardware[0] & 1);
}

int pvmt_dp_offer_decode(const uint8_t *blob, size_t length, struct pvmt_dp_offer *o)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint8_t version = pvmc_buf_get_u8(&b);
    o->count = pvmc_buf_get_u8(&b);
    o->ethertype = pvmc_buf_get_u16(&b);
    o->node = pvmc_buf_get_u16(&b);
    uint16_t zero = pvmc_buf_get_u16(&b);
    o->incarnation = pvmc_buf_get_u32(&b);
    pvmc_buf_get_bytes_to(&b, o->host, sizeof o->host);
    if (!pvmc_buf_error(&b) && version != VERSION)
        return PVMC_EVERSION;
    if (!o->count || o->count > PVMT_DP_PLACES_MAX || !o->node || o->node == UINT16_MAX || !o->incarnation || zero)
        return PVMC_EFORMAT;
    for (unsigned i = 0; i < o->count; i++)
        if (!get_place(&b, &o->places[i]))
            return PVMC_EFORMAT;
    return pvmc_buf_end(&b) ? PVMC_EFORMAT : 0;
}
