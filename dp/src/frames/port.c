/* port.c - TPACKET_V2. Version 3 delivers frames in blocks, which took 500 us when measured. */
#include "port.h"
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"

#define BLOCK_MIN_BYTES (64u << 10)
#define PIECES_MAX      20
#define FRAMES_AT_ONCE  64
#define SKIPPED         0x40000000u /* our mark in a slot's status: the kernel then sees a slot that is not free */

static unsigned round_up(unsigned bytes, unsigned unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* A slot holds the kernel's header and a whole frame; a block is a number of pages that hold slots. */
static void measure(struct dpi_port *p, unsigned frames)
{
    unsigned headers = round_up(TPACKET2_HDRLEN + DPI_ETHERNET_BYTES + 32, TPACKET_ALIGNMENT);
    p->frame_bytes = round_up(headers + (unsigned)p->interface.mtu, 64);
    p->per_block = p->frame_bytes < BLOCK_MIN_BYTES ? BLOCK_MIN_BYTES / p->frame_bytes : 1;
    p->block_bytes = round_up(p->per_block * p->frame_bytes, (unsigned)sysconf(_SC_PAGESIZE));
    p->per_block = p->block_bytes / p->frame_bytes;
    p->frames = round_up(frames, p->per_block);
    p->ring_bytes = (size_t)p->frames / p->per_block * p->block_bytes;
}

static int map_ring(struct dpi_port *p)
{
    int version = TPACKET_V2;
    struct tpacket_req request = {.tp_block_size = p->block_bytes,
                                  .tp_block_nr = p->frames / p->per_block,
                                  .tp_frame_size = p->frame_bytes,
                                  .tp_frame_nr = p->frames};
    if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version))
        return PVMC_ESYSTEM;
    if (setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request))
        return errno == ENOMEM ? PVMC_ENOMEM : PVMC_ESYSTEM;
    void *ring = mmap(NULL, p->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, p->fd, 0);
    if (ring == MAP_FAILED)
        return PVMC_ENOMEM;
    p->ring = ring;
    p->next = p->oldest = (struct dpi_cursor){.slot = p->ring, .left = p->per_block};
    return 0;
}

int dpi_port_open(struct dpi_port *p, int fd, const struct dpi_interface *interface, uint16_t ethertype,
                  struct dpi_point point, unsigned frames)
{
    *p = (struct dpi_port){.fd = fd, .interface = *interface, .ethertype = ethertype, .point = point};
    measure(p, frames < 2 ? 2 : frames < DPI_FRAMES_MAX ? frames : DPI_FRAMES_MAX);
    int rc = map_ring(p);
    if (rc)
        dpi_port_close(p);
    return rc;
}

static void unmap_ring(struct dpi_port *p)
{
    if (p->ring)
        munmap(p->ring, p->ring_bytes);
    p->ring = NULL;
}

int dpi_port_resize(struct dpi_port *p, unsigned frames)
{
    struct tpacket_req none = {.tp_block_size = 0};
    unmap_ring(p);
    p->held = 0;
    if (setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &none, sizeof none))
        return PVMC_ESYSTEM;
    measure(p, frames < 2 ? 2 : frames < DPI_FRAMES_MAX ? frames : DPI_FRAMES_MAX);
    return map_ring(p);
}

void dpi_port_close(struct dpi_port *p)
{
    unmap_ring(p);
    close(p->fd);
    p->fd = -1;
}

static void advance(const struct dpi_port *p, struct dpi_cursor *c)
{
    c->slot += p->frame_bytes;
    if (--c->left)
        return;
    if (++c->block == p->frames / p->per_block)
        c->block = 0;
    c->slot = p->ring + (size_t)c->block * p->block_bytes;
    c->left = p->per_block;
}

static uint32_t *status_of(uint8_t *slot)
{
    return &((struct tpacket2_hdr *)slot)->tp_status;
}

/* Gives back skipped slots, up to the first that was not skipped. */
static void give_back_skipped(struct dpi_port *p)
{
    for (; p->held && *status_of(p->oldest.slot) == SKIPPED; p->held--) {
        __atomic_store_n(status_of(p->oldest.slot), TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        advance(p, &p->oldest);
    }
}

/* The frame in a filled slot. */
static const uint8_t *frame_of(const struct dpi_port *p, uint8_t *slot, size_t *length)
{
    const struct tpacket2_hdr *h = (struct tpacket2_hdr *)slot;
    bool whole = h->tp_snaplen == h->tp_len && h->tp_mac + h->tp_snaplen <= p->frame_bytes;
    *length = whole ? h->tp_snaplen : 0;
    return slot + h->tp_mac;
}

/* Moves past slots that dpi_port_scan() released. */
static uint32_t status_of_next(struct dpi_port *p)
{
    uint32_t status;
    while ((status = __atomic_load_n(status_of(p->next.slot), __ATOMIC_ACQUIRE)) == SKIPPED && p->held < p->frames) {
        advance(p, &p->next);
        p->held++;
        give_back_skipped(p);
    }
    return status;
}

bool dpi_port_has_next(struct dpi_port *p)
{
    return status_of_next(p) & TP_STATUS_USER && p->held != p->frames;
}

const uint8_t *dpi_port_next(struct dpi_port *p, size_t *length)
{
    if (!dpi_port_has_next(p))
        return NULL;
    p->last = p->next.slot;
    advance(p, &p->next);
    __builtin_prefetch(p->next.slot);
    p->held++;
    return frame_of(p, p->last, length);
}

void dpi_port_scan(struct dpi_port *p, bool (*take)(void *arg, const uint8_t *frame, size_t length), void *arg)
{
    struct dpi_cursor c = p->next;
    for (unsigned left = p->frames - p->held; left; left--, advance(p, &c)) {
        uint32_t status = __atomic_load_n(status_of(c.slot), __ATOMIC_ACQUIRE);
        size_t length;
        if (status == SKIPPED)
            continue;
        if (!(status & TP_STATUS_USER))
            return;
        const uint8_t *frame = frame_of(p, c.slot, &length);
        if (take(arg, frame, length))
            *status_of(c.slot) = SKIPPED;
    }
}

void dpi_port_skip(struct dpi_port *p)
{
    *status_of(p->last) = SKIPPED;
    give_back_skipped(p);
}

void dpi_port_give_back(struct dpi_port *p, unsigned n)
{
    for (; n-- && p->held; p->held--) {
        __atomic_store_n(status_of(p->oldest.slot), TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        advance(p, &p->oldest);
        give_back_skipped(p);
    }
}

static int send_error(int number)
{
    switch (number) {
    case EAGAIN:
    case ENOBUFS:
        return PVMC_EAGAIN;
    case ENETDOWN:
    case ENXIO:
    case ENODEV:
        return PVMC_EDOWN;
    case EMSGSIZE:
        return PVMC_ELIMIT;
    default:
        return PVMC_ESYSTEM;
    }
}

int dpi_port_put(struct dpi_port *p, const uint8_t *frame, size_t length)
{
    return send(p->fd, frame, length, MSG_DONTWAIT) < 0 ? send_error(errno) : 0;
}

int dpi_port_gather(struct dpi_port *p, const struct iovec *pieces, unsigned count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = count};
    return sendmsg(p->fd, &message, MSG_DONTWAIT) < 0 ? send_error(errno) : 0;
}

int dpi_port_put_many(struct dpi_port *p, const struct iovec *frames, unsigned count)
{
    struct mmsghdr messages[FRAMES_AT_ONCE];
    if (count == 1) {
        int rc = dpi_port_put(p, frames->iov_base, frames->iov_len);
        return rc ? rc : 1;
    }
    if (count > FRAMES_AT_ONCE)
        count = FRAMES_AT_ONCE;
    for (unsigned i = 0; i < count; i++)
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = (struct iovec *)frames + i, .msg_iovlen = 1}};
    int n = sendmmsg(p->fd, messages, count, MSG_DONTWAIT);
    return n < 0 ? send_error(errno) : n;
}

int dpi_port_send(struct dpi_port *p, const struct dpi_message *m, const uint8_t hardware[6],
                  const struct iovec *pieces, unsigned count)
{
    uint8_t headers[DPI_HEADERS_BYTES];
    struct iovec all[1 + PIECES_MAX] = {{headers, sizeof headers}};
    if (m->length > dpi_port_room(p) || count > PIECES_MAX)
        return PVMC_ELIMIT;
    dpi_message_encode(m, p->ethertype, hardware, p->interface.hardware, headers);
    memcpy(all + 1, pieces, count * sizeof *pieces);
    return dpi_port_gather(p, all, 1 + count);
}

unsigned dpi_port_dropped(struct dpi_port *p)
{
    struct tpacket_stats statistics;
    socklen_t length = sizeof statistics;
    return getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) ? 0 : statistics.tp_drops;
}
