/* dp_port.c - see dp_port.h. */
#include "dp_port.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "core/log.h"
#include "dp/src/frames/node.h"
#include "dp/src/calls/open.h"
#include "dp/src/calls/table.h"
#include "dp/src/frames/helper.h"
#include "dp.h"

enum { SLOTS = 128, MTU = 1500 };

const uint8_t fuzz_hardware[6] = {2, 0, 0, 0, 0, 1};

/* ---- the ring ---- */

static struct {
    uint8_t *frame; /* of exactly its length, so that a read past the end is detected */
    size_t length;
    bool skipped;
} slots[SLOTS];

static unsigned oldest, next, end; /* count frames */
static uint32_t hello;

void fuzz_port_put(const uint8_t *frame, size_t length)
{
    if (end - oldest == SLOTS)
        return;
    unsigned i = end++ % SLOTS;
    slots[i].frame = malloc(length ? length : 1);
    slots[i].length = length;
    slots[i].skipped = false;
    if (length)
        memcpy(slots[i].frame, frame, length);
}

static void give_back_oldest(struct dpi_port *p)
{
    free(slots[oldest++ % SLOTS].frame);
    p->held--;
}

static void give_back_skipped(struct dpi_port *p)
{
    while (oldest != next && slots[oldest % SLOTS].skipped)
        give_back_oldest(p);
}

bool dpi_port_has_next(struct dpi_port *p)
{
    while (next != end && slots[next % SLOTS].skipped) {
        next++;
        p->held++;
        give_back_skipped(p);
    }
    return next != end;
}

const uint8_t *dpi_port_next(struct dpi_port *p, size_t *length)
{
    if (!dpi_port_has_next(p))
        return NULL;
    unsigned i = next++ % SLOTS;
    p->held++;
    p->last = slots[i].frame;
    *length = slots[i].length;
    return slots[i].frame;
}

void dpi_port_skip(struct dpi_port *p)
{
    slots[(next - 1) % SLOTS].skipped = true;
    give_back_skipped(p);
}

void dpi_port_give_back(struct dpi_port *p, unsigned n)
{
    while (n-- && oldest != next) {
        give_back_oldest(p);
        give_back_skipped(p);
    }
}

void dpi_port_scan(struct dpi_port *p, bool (*take)(void *arg, const uint8_t *frame, size_t length), void *arg)
{
    (void)p;
    for (unsigned i = next; i != end; i++)
        if (!slots[i % SLOTS].skipped && take(arg, slots[i % SLOTS].frame, slots[i % SLOTS].length))
            slots[i % SLOTS].skipped = true;
}

/* ---- sending ---- */

uint32_t fuzz_hello_sent(void)
{
    return hello;
}

int dpi_port_put(struct dpi_port *p, const uint8_t *frame, size_t length)
{
    const uint8_t *own = frame + DPI_HEADERS_BYTES;
    MUST(length >= DPI_HEADERS_BYTES && length <= FUZZ_FRAME_MAX && p->fd >= 0);
    if (frame[DPI_ETHERNET_BYTES + 1] == DPI_HELLO)
        hello = (uint32_t)own[0] << 24 | (uint32_t)own[1] << 16 | (uint32_t)own[2] << 8 | own[3];
    return 0;
}

int dpi_port_put_many(struct dpi_port *p, const struct iovec *frames, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        dpi_port_put(p, frames[i].iov_base, frames[i].iov_len);
    return (int)count;
}

int dpi_port_gather(struct dpi_port *p, const struct iovec *pieces, unsigned count)
{
    (void)p, (void)pieces, (void)count;
    return 0;
}

int dpi_port_send(struct dpi_port *p, const struct dpi_message *m, const uint8_t hardware[6],
                  const struct iovec *pieces, unsigned count)
{
    (void)p, (void)m, (void)hardware, (void)pieces, (void)count;
    return 0;
}

unsigned dpi_port_dropped(struct dpi_port *p)
{
    (void)p;
    return 0;
}

/* ---- life ---- */

uint16_t fuzz_node(void)
{
    return (uint16_t)(1 + getpid() % 60000);
}

int dpi_helper_open(const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point)
{
    (void)interface, (void)ethertype, (void)point;
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int dpi_port_open(struct dpi_port *p, int fd, const struct dpi_interface *interface, uint16_t ethertype,
                  struct dpi_point point, unsigned frames)
{
    (void)frames;
    *p = (struct dpi_port){.fd = fd, .interface = *interface, .ethertype = ethertype, .point = point, .frames = SLOTS};
    oldest = next = end = 0;
    hello = 0;
    return 0;
}

int dpi_port_resize(struct dpi_port *p, unsigned frames)
{
    (void)p, (void)frames;
    return 0;
}

void dpi_port_close(struct dpi_port *p)
{
    while (oldest != end)
        free(slots[oldest++ % SLOTS].frame);
    close(p->fd);
    p->fd = -1;
}

int dpi_node_find(const char *ifname, struct dpi_node *out)
{
    (void)ifname;
    *out = (struct dpi_node){
        .interface = {.name = "fuzz", .index = 1, .mtu = MTU}, .ethertype = DPI_ETHERTYPE, .id = fuzz_node()};
    memcpy(out->interface.hardware, fuzz_hardware, sizeof fuzz_hardware);
    return dpi_nart_open(NULL, &out->nart);
}

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

struct dpi_endpoint *fuzz_endpoint_open(int mode)
{
    pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
    int fd = dp_open(FUZZ_NODE_POINT);
    MUST(fd >= 0 && !dp_mode(fd, mode) && !dp_spin(fd, 1) && !fcntl(fd, F_SETFL, O_NONBLOCK));
    return dpi_endpoint_of(fd);
}

void fuzz_endpoint_close(struct dpi_endpoint *e)
{
    dpi_open_undo(dpi_table_take(e->fd));
}
