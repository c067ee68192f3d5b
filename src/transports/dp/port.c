/* port.c - TPACKET_V2: version 3 hands frames over by the block, which was measured to take 500 us. */
#include "port.h"
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../core/error.h"

#define BLOCK_MIN_BYTES (64u << 10)
#define PIECES_MAX      20

static unsigned round_up(unsigned bytes, unsigned unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Slots hold a whole frame behind the kernel's header; blocks are pages that hold a number of slots. */
static void measure(struct pvmi_dp_port *p, unsigned frames)
{
    unsigned headers = round_up(TPACKET2_HDRLEN + PVMI_DP_ETHERNET_BYTES + 32, TPACKET_ALIGNMENT);
    p->frame_bytes = round_up(headers + (unsigned)p->interface.mtu, 64);
    p->per_block = p->frame_bytes < BLOCK_MIN_BYTES ? BLOCK_MIN_BYTES / p->frame_bytes : 1;
    p->block_bytes = round_up(p->per_block * p->frame_bytes, (unsigned)sysconf(_SC_PAGESIZE));
    p->per_block = p->block_bytes / p->frame_bytes;
    p->frames = round_up(frames, p->per_block);
    p->ring_bytes = (size_t)p->frames / p->per_block * p->block_bytes;
}

static int map_ring(struct pvmi_dp_port *p)
{
    int version = TPACKET_V2;
    struct tpacket_req request = {.tp_block_size = p->block_bytes,
                                  .tp_block_nr = p->frames / p->per_block,
                                  .tp_frame_size = p->frame_bytes,
                                  .tp_frame_nr = p->frames};
    if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version))
        return PVMI_ESYSTEM;
    if (setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request))
        return errno == ENOMEM ? PVMI_ENOMEM : PVMI_ESYSTEM;
    void *ring = mmap(NULL, p->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, p->fd, 0);
    if (ring == MAP_FAILED)
        return PVMI_ENOMEM;
    p->ring = ring;
    return 0;
}

int pvmi_dp_port_open(struct pvmi_dp_port *p, int fd, const struct pvmi_dp_interface *interface, uint16_t ethertype,
                      struct pvmi_dp_point point, unsigned frames)
{
    *p = (struct pvmi_dp_port){.fd = fd, .interface = *interface, .ethertype = ethertype, .point = point};
    measure(p, frames < 2 ? 2 : frames < PVMI_DP_FRAMES_MAX ? frames : PVMI_DP_FRAMES_MAX);
    int rc = map_ring(p);
    if (rc)
        pvmi_dp_port_close(p);
    return rc;
}

void pvmi_dp_port_close(struct pvmi_dp_port *p)
{
    if (p->ring)
        munmap(p->ring, p->ring_bytes);
    close(p->fd);
    p->ring = NULL;
    p->fd = -1;
}

static struct tpacket2_hdr *slot(const struct pvmi_dp_port *p, unsigned index)
{
    return (struct tpacket2_hdr *)(p->ring + (size_t)(index / p->per_block) * p->block_bytes +
                                   (size_t)(index % p->per_block) * p->frame_bytes);
}

const uint8_t *pvmi_dp_port_next(struct pvmi_dp_port *p, size_t *length)
{
    if (p->held == p->frames)
        return NULL;
    struct tpacket2_hdr *h = slot(p, p->next);
    if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
        return NULL;
    bool whole = h->tp_snaplen == h->tp_len && h->tp_mac + h->tp_snaplen <= p->frame_bytes;
    *length = whole ? h->tp_snaplen : 0;
    p->next = p->next + 1 < p->frames ? p->next + 1 : 0;
    p->held++;
    return (const uint8_t *)h + h->tp_mac;
}

void pvmi_dp_port_give_back(struct pvmi_dp_port *p, unsigned n)
{
    for (; n-- && p->held; p->held--) {
        unsigned oldest = (p->next + p->frames - p->held) % p->frames;
        __atomic_store_n(&slot(p, oldest)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    }
}

static int send_error(int number)
{
    switch (number) {
    case EAGAIN:
    case ENOBUFS:
        return PVMI_EAGAIN;
    case ENETDOWN:
    case ENXIO:
    case ENODEV:
        return PVMI_EDOWN;
    case EMSGSIZE:
        return PVMI_ELIMIT;
    default:
        return PVMI_ESYSTEM;
    }
}

int pvmi_dp_port_send(struct pvmi_dp_port *p, const struct pvmi_dp_message *m, const uint8_t hardware[6],
                      const struct iovec *pieces, unsigned count)
{
    uint8_t headers[PVMI_DP_HEADERS_BYTES];
    struct iovec all[1 + PIECES_MAX] = {{headers, sizeof headers}};
    if (m->length > pvmi_dp_port_room(p) || count > PIECES_MAX)
        return PVMI_ELIMIT;
    pvmi_dp_message_encode(m, p->ethertype, hardware, p->interface.hardware, headers);
    memcpy(all + 1, pieces, count * sizeof *pieces);
    struct msghdr message = {.msg_iov = all, .msg_iovlen = 1 + count};
    return sendmsg(p->fd, &message, MSG_DONTWAIT) < 0 ? send_error(errno) : 0;
}

unsigned pvmi_dp_port_dropped(struct pvmi_dp_port *p)
{
    struct tpacket_stats statistics;
    socklen_t length = sizeof statistics;
    return getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) ? 0 : statistics.tp_drops;
}
