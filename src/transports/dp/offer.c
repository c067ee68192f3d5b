/* offer.c - see offer.h. */
#include "offer.h"
#include <string.h>
#include "../../core/buf.h"
#include "../../core/error.h"

#define VERSION       1
#define FLAG_LOOPBACK 1
#define ROOM_MIN      256

static void put_place(struct pvmi_buf *b, const struct pvmi_dp_place *p)
{
    pvmi_buf_put_bytes(b, p->hardware, sizeof p->hardware);
    pvmi_buf_put_u16(b, p->point);
    pvmi_buf_put_u16(b, p->room);
    pvmi_buf_put_u16(b, p->loopback ? FLAG_LOOPBACK : 0);
}

int pvmi_dp_offer_encode(const struct pvmi_dp_offer *o, uint8_t blob[PVMI_OFFER_MAX])
{
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u8(&b, VERSION);
    pvmi_buf_put_u8(&b, (uint8_t)o->count);
    pvmi_buf_put_u16(&b, o->ethertype);
    pvmi_buf_put_u16(&b, o->node);
    pvmi_buf_put_u16(&b, 0);
    pvmi_buf_put_u32(&b, o->incarnation);
    pvmi_buf_put_bytes(&b, o->host, sizeof o->host);
    for (unsigned i = 0; i < o->count; i++)
        put_place(&b, &o->places[i]);
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

static bool get_place(struct pvmi_buf *b, struct pvmi_dp_place *p)
{
    get_bytes(b, p->hardware, sizeof p->hardware);
    p->point = pvmi_buf_get_u16(b);
    p->room = pvmi_buf_get_u16(b);
    uint16_t flags = pvmi_buf_get_u16(b);
    p->loopback = flags & FLAG_LOOPBACK;
    return p->point && p->room >= ROOM_MIN && !(flags & ~FLAG_LOOPBACK) && !(p->hardware[0] & 1);
}

int pvmi_dp_offer_decode(const uint8_t *blob, size_t length, struct pvmi_dp_offer *o)
{
    struct pvmi_buf b;
    pvmi_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint8_t version = pvmi_buf_get_u8(&b);
    o->count = pvmi_buf_get_u8(&b);
    o->ethertype = pvmi_buf_get_u16(&b);
    o->node = pvmi_buf_get_u16(&b);
    uint16_t zero = pvmi_buf_get_u16(&b);
    o->incarnation = pvmi_buf_get_u32(&b);
    get_bytes(&b, o->host, sizeof o->host);
    if (!pvmi_buf_error(&b) && version != VERSION)
        return PVMI_EVERSION;
    if (!o->count || o->count > PVMI_DP_PLACES_MAX || !o->node || o->node == UINT16_MAX || !o->incarnation || zero)
        return PVMI_EFORMAT;
    for (unsigned i = 0; i < o->count; i++)
        if (!get_place(&b, &o->places[i]))
            return PVMI_EFORMAT;
    return pvmi_buf_end(&b) ? PVMI_EFORMAT : 0;
}
