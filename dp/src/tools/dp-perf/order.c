/* order.c - orders and answers as bytes. */
#include "order.h"
#include <errno.h>
#include <string.h>
#include "core/buf.h"

enum { ORDER_MAGIC = 0x4470, ANSWER_MAGIC = 0x6470, VERSION = 1 };

static void put_place(struct pvmc_buf *b, const struct place *place)
{
    pvmc_buf_put_u16(b, place->nid);
    pvmc_buf_put_u16(b, place->dpid);
    pvmc_buf_put_u16(b, place->port);
    pvmc_buf_put_bytes(b, &place->ip, sizeof place->ip);
    pvmc_buf_put_bytes(b, place->hardware, sizeof place->hardware);
}

static void get_bytes(struct pvmc_buf *b, void *to, size_t bytes)
{
    const uint8_t *from = pvmc_buf_get_bytes(b, bytes);
    if (from)
        memcpy(to, from, bytes);
}

static void get_place(struct pvmc_buf *b, struct place *place)
{
    place->nid = pvmc_buf_get_u16(b);
    place->dpid = pvmc_buf_get_u16(b);
    place->port = pvmc_buf_get_u16(b);
    get_bytes(b, &place->ip, sizeof place->ip);
    get_bytes(b, place->hardware, sizeof place->hardware);
}

static int send_buf(int fd, struct pvmc_buf *b)
{
    int rc = pvmc_buf_error(b) ? -1 : dp_write(fd, b->data, (int)b->length);
    pvmc_buf_free(b);
    return rc < 0 ? -1 : 0;
}

static int malformed(void)
{
    errno = EPROTO;
    return -1;
}

int order_send(int fd, const struct order *order)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u16(&b, ORDER_MAGIC);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u8(&b, (uint8_t)order->exercise);
    pvmc_buf_put_u8(&b, order->carrier);
    pvmc_buf_put_u8(&b, order->spin);
    pvmc_buf_put_u32(&b, order->id);
    pvmc_buf_put_u32(&b, order->bytes);
    pvmc_buf_put_u32(&b, order->count);
    pvmc_buf_put_u32(&b, order->turns);
    put_place(&b, &order->place);
    return send_buf(fd, &b);
}

int order_parse(const void *message, size_t bytes, struct order *order)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, message, bytes);
    bool ours = pvmc_buf_get_u16(&b) == ORDER_MAGIC;
    ours &= pvmc_buf_get_u8(&b) == VERSION;
    order->exercise = pvmc_buf_get_u8(&b);
    order->carrier = pvmc_buf_get_u8(&b);
    order->spin = pvmc_buf_get_u8(&b);
    order->id = pvmc_buf_get_u32(&b);
    order->bytes = pvmc_buf_get_u32(&b);
    order->count = pvmc_buf_get_u32(&b);
    order->turns = pvmc_buf_get_u32(&b);
    get_place(&b, &order->place);
    if (pvmc_buf_end(&b) || !ours || order->exercise < EXERCISE_ECHO || order->exercise > EXERCISE_COMPUTE ||
        order->carrier >= CARRIERS || order->bytes > MESSAGE_BYTES_MAX || order->count > COUNT_MAX ||
        order->turns > TURNS_MAX)
        return malformed();
    return 0;
}

int answer_send(int fd, const struct answer *answer)
{
    struct pvmc_buf b;
    uint64_t figure_ps = answer->figure_us > 0 ? (uint64_t)(answer->figure_us * 1e6) : 0;
    pvmc_buf_init(&b);
    pvmc_buf_put_u16(&b, ANSWER_MAGIC);
    pvmc_buf_put_u32(&b, answer->id);
    pvmc_buf_put_i32(&b, answer->error);
    put_place(&b, &answer->place);
    pvmc_buf_put_u64(&b, figure_ps);
    return send_buf(fd, &b);
}

int answer_parse(const void *message, size_t bytes, struct answer *answer)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, message, bytes);
    bool ours = pvmc_buf_get_u16(&b) == ANSWER_MAGIC;
    answer->id = pvmc_buf_get_u32(&b);
    answer->error = pvmc_buf_get_i32(&b);
    get_place(&b, &answer->place);
    answer->figure_us = (double)pvmc_buf_get_u64(&b) / 1e6;
    return pvmc_buf_end(&b) || !ours || answer->error < 0 ? malformed() : 0;
}
