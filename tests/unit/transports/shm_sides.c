/* shm_sides.c - see shm_sides.h. */
#include "shm_sides.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct pvmt_transport_ops *ops;
struct side a, b;

static uint8_t *on_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    s->place = realloc(s->place, h->length + 1ul);
    return s->place;
}

static void on_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    s->done++;
    s->length = h->length;
}

static int on_whole(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    struct side *s = arg;
    memcpy(on_place(arg, ep, h), data, h->length);
    on_done(arg, ep, h);
    if (mem && s->keep)
        s->kept[s->kept_count++] = mem;
    else
        pvmc_mem_unref(mem);
    return 0;
}

static void on_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    (void)ep;
}

static void on_down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct side *s = arg;
    (void)ep;
    s->down++;
    s->reason = reason;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = on_place, .rx_done = on_done, .rx_whole = on_whole, .tx_ready = on_ready, .down = on_down};

struct pvmt_shm_link *link_of(const struct side *s)
{
    return (struct pvmt_shm_link *)s->ep;
}

void drive(void)
{
    for (int i = 0; i < 20; i++) {
        ops->arm(a.transport); /* so that the sockets are polled */
        ops->arm(b.transport);
        ops->progress(a.transport);
        ops->progress(b.transport);
    }
}

void meet(void)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), 0);
    drive();
    ck_assert_int_eq(link_of(&a)->state, PVMT_LINK_UP);
}

void open_sides(void)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    ops = pvmt_transport_find("shm");
    ck_assert_int_eq(pvmc_mem_use_arenas(), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &a, &a.transport), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &b, &b.transport), 0);
    meet();
}

void part(void)
{
    ops->disconnect(a.ep);
    ops->disconnect(b.ep);
    a.ep = b.ep = NULL;
    a.down = b.down = a.done = b.done = 0;
}

void finish(void)
{
    size_t in_use, cached;
    ops->close(a.transport);
    ops->close(b.transport);
    free(a.place);
    free(b.place);
    pvmc_mem_trim();
    pvmc_mem_usage(&in_use, &cached);
    ck_assert_uint_eq(in_use, 0);
}

struct pvmc_frame *frame_make(uint32_t length, uint8_t value)
{
    struct pvmc_frame_header h = {.length = length, .body_length = length, .dst = 1, .src = 2};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    memset(f->mem->data, value, length);
    return f;
}

int send_bytes(struct side *s, uint32_t length, uint8_t value)
{
    struct pvmc_frame *f = frame_make(length, value);
    int rc = ops->send(s->ep, f);
    pvmc_frame_unref(f);
    return rc;
}

unsigned mappings_of(const char *name)
{
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, name) != NULL;
    fclose(maps);
    return count;
}
