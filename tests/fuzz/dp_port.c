/* dp_port.c - see dp_port.h. */
#include "dp_port.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "../../src/core/log.h"
#include "../../src/dp/node.h"
#include "../../src/dp/open.h"
#include "../../src/dp/table.h"
#include "../../src/transports/dp/helper.h"
#include "dp.h"

enum { SLOTS = 128, MTU = 1500 };

const uint8_t fuzz_hardware[6] = {2, 0, 0, 0, 0, 1};

/* ---- the ring ---- */

static struct {
    uint8_t *frame; /* of exactly its length, so that reading beyond it is seen */
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

static void give_back_oldest(struct pvmi_dp_port *p)
{
    free(slots[oldest++ % SLOTS].frame);
    p->held--;
}

static void give_back_skipped(struct pvmi_dp_port *p)
{
    while (oldest != next && slots[oldest % SLOTS].skipped)
        give_back_oldest(p);
}

bool pvmi_dp_port_has_next(struct pvmi_dp_port *p)
{
    while (next != end && slots[next % SLOTS].skipped) {
        next++;
        p->held++;
        give_back_skipped(p);
    }
    return next != end;
}

const uint8_t *pvmi_dp_port_next(struct pvmi_dp_port *p, size_t *length)
{
    if (!pvmi_dp_port_has_next(p))
        return NULL;
    unsigned i = next++ % SLOTS;
    p->held++;
    p->last = slots[i].frame;
    *length = slots[i].length;
    return slots[i].frame;
}

void pvmi_dp_port_skip(struct pvmi_dp_port *p)
{
    slots[(next - 1) % SLOTS].skipped = true;
    give_back_skipped(p);
}

void pvmi_dp_port_give_back(struct pvmi_dp_port *p, unsigned n)
{
    while (n-- && oldest != next) {
        give_back_oldest(p);
        give_back_skipped(p);
    }
}

void pvmi_dp_port_peruse(struct pvmi_dp_port *p, bool (*take)(void *arg, const uint8_t *frame, size_t length),
                         void *arg)
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

int pvmi_dp_port_put(struct pvmi_dp_port *p, const uint8_t *frame, size_t length)
{
    const uint8_t *own = frame + PVMI_DP_HEADERS_BYTES;
    MUST(length >= PVMI_DP_HEADERS_BYTES && length <= FUZZ_FRAME_MAX && p->fd >= 0);
    if (frame[PVMI_DP_ETHERNET_BYTES + 1] == PVMI_DP_HELLO)
        hello = (uint32_t)own[0] << 24 | (uint32_t)own[1] << 16 | (uint32_t)own[2] << 8 | own[3];
    return 0;
}

int pvmi_dp_port_put_many(struct pvmi_dp_port *p, const struct iovec *frames, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pvmi_dp_port_put(p, frames[i].iov_base, frames[i].iov_len);
    return (int)count;
}

int pvmi_dp_port_gather(struct pvmi_dp_port *p, const struct iovec *pieces, unsigned count)
{
    (void)p, (void)pieces, (void)count;
    return 0;
}

int pvmi_dp_port_send(struct pvmi_dp_port *p, const struct pvmi_dp_message *m, const uint8_t hardware[6],
                      const struct iovec *pieces, unsigned count)
{
    (void)p, (void)m, (void)hardware, (void)pieces, (void)count;
    return 0;
}

unsigned pvmi_dp_port_dropped(struct pvmi_dp_port *p)
{
    (void)p;
    return 0;
}

/* ---- life ---- */

uint16_t fuzz_node(void)
{
    return (uint16_t)(1 + getpid() % 60000);
}

int pvmi_dp_helper_open(const struct pvmi_dp_interface *interface, uint16_t ethertype, struct pvmi_dp_point *point)
{
    (void)interface, (void)ethertype, (void)point;
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int pvmi_dp_port_open(struct pvmi_dp_port *p, int fd, const struct pvmi_dp_interface *interface, uint16_t ethertype,
                      struct pvmi_dp_point point, unsigned frames)
{
    (void)frames;
    *p = (struct pvmi_dp_port){
        .fd = fd, .interface = *interface, .ethertype = ethertype, .point = point, .frames = SLOTS};
    oldest = next = end = 0;
    hello = 0;
    return 0;
}

int pvmi_dp_port_resize(struct pvmi_dp_port *p, unsigned frames)
{
    (void)p, (void)frames;
    return 0;
}

void pvmi_dp_port_close(struct pvmi_dp_port *p)
{
    while (oldest != end)
        free(slots[oldest++ % SLOTS].frame);
    close(p->fd);
    p->fd = -1;
}

int pvmi_node_find(const char *ifname, struct pvmi_node *out)
{
    (void)ifname;
    *out = (struct pvmi_node){
        .interface = {.name = "fuzz", .index = 1, .mtu = MTU}, .ethertype = PVMI_DP_ETHERTYPE, .id = fuzz_node()};
    memcpy(out->interface.hardware, fuzz_hardware, sizeof fuzz_hardware);
    return pvmi_nart_open(NULL, &out->nart);
}

static void quiet(enum pvmi_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

struct pvmi_endpoint *fuzz_endpoint_open(int mode)
{
    pvmi_log_to(quiet, NULL, PVMI_LOG_DEBUG);
    int fd = dp_open(FUZZ_NODE_POINT);
    MUST(fd >= 0 && !dp_mode(fd, mode) && !dp_spin(fd, 1) && !fcntl(fd, F_SETFL, O_NONBLOCK));
    return pvmi_endpoint_of(fd);
}

void fuzz_endpoint_close(struct pvmi_endpoint *e)
{
    pvmi_open_undo(pvmi_table_take(e->fd));
}
