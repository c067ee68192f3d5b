/* assured.c - the bytes of a link whose circuit an assured protocol carries. */
#include <errno.h>
#include <string.h>
#include "core/error.h"
#include "atm_transport.h"

#define WRITE_MAX     65520 /* at once: whole items of 1, 2, 4, 8 and 16 bytes */
#define TRAILER_BYTES 16    /* of an SD of SSCOP, at most; PVM_ATM_MTU counts it */

static struct atm_transport *transport_of(const struct atm_link *l)
{
    return (struct atm_transport *)l->base.ep.transport;
}

/* Copies the first bytes of the pieces to the transport's packet. Returns their number. */
static size_t gather(struct atm_transport *t, const struct iovec *pieces, unsigned count, size_t most)
{
    size_t length = 0;
    for (unsigned i = 0; i < count && length < most; i++) {
        size_t n = pieces[i].iov_len < most - length ? pieces[i].iov_len : most - length;
        memcpy(t->packet + length, pieces[i].iov_base, n);
        length += n;
    }
    return length;
}

/* How much is written at once. SSCOP makes an SD of it, and a user may want short ones where cells are lost. */
static uint32_t portion(const struct atm_link *l, uint32_t item_bytes)
{
    uint32_t mtu = l->own.mtu < l->peer.mtu ? l->own.mtu : l->peer.mtu;
    if (l->own.protocol == atm_sscop && mtu < WRITE_MAX)
        return mtu - TRAILER_BYTES;
    return WRITE_MAX - WRITE_MAX % item_bytes;
}

static ssize_t write_bytes(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count, uint32_t item_bytes)
{
    struct atm_link *l = (struct atm_link *)ep;
    struct atm_transport *t = transport_of(l);
    if (!l->base.up || l->base.over)
        return l->base.over ? PVMC_EDOWN : 0;
    if (l->item_bytes != item_bytes && t->library->item(l->fd, item_bytes))
        return PVMC_EDOWN;
    l->item_bytes = item_bytes;
    size_t length = gather(t, pieces, count, portion(l, item_bytes));
    int n = t->library->send(l->fd, (const char *)t->packet, (int)length);
    return n >= 0 ? n : errno == EAGAIN ? 0 : PVMC_EDOWN;
}

static ssize_t read_bytes(struct pvmt_endpoint *ep, const uint8_t **bytes, bool *more)
{
    struct atm_link *l = (struct atm_link *)ep;
    struct atm_transport *t = transport_of(l);
    int n = t->library->recv(l->fd, (char *)t->arrived, sizeof t->arrived);
    *bytes = t->arrived;
    *more = n == sizeof t->arrived;
    if (n < 0)
        return errno == EAGAIN ? 0 : PVMC_EDOWN;
    return n ? n : PVMC_ESHORT;
}

static void await_bytes(struct pvmt_endpoint *ep, uint32_t bytes)
{
    struct atm_link *l = (struct atm_link *)ep;
    transport_of(l)->library->low_water(l->fd, bytes);
}

int pvmt_atm_assure(struct atm_link *l)
{
    struct atm_transport *t = transport_of(l);
    return t->protocol && t->library->assure(l->fd, t->protocol) ? PVMC_EUNSUPPORTED : 0;
}

int pvmt_atm_connect_assured(struct atm_link *l)
{
    static const struct pvmt_assured_carrier frames = {.write = write_bytes, .read = read_bytes, .await = await_bytes},
                                             cells = {.write = write_bytes,
                                                      .read = read_bytes,
                                                      .await = await_bytes,
                                                      .counts_items = true};
    return pvmt_datagram_connect_assured(&l->base, transport_of(l)->protocol == atm_sscop ? &frames : &cells);
}
