/*
 * carrier_frames.c - plain Ethernet frames, as simply as possible: a raw socket, sendmmsg() of batches that bypass the
 * queueing discipline, and a TPACKET_V2 ring that is emptied in order. Without filter, header or error handling, it
 * shows the limits of the link.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "carrier.h"
#include "tools/dp-perf/watchdog.h"

enum { BATCH = 64, RING_HEADERS_BYTES = 96, BLOCK_BYTES_MIN = 65536 };

struct ring {
    uint8_t *memory;
    size_t bytes;
    unsigned frames, frame_bytes, next;
};

static int make_ring(struct end *end)
{
    struct ring *ring = end->ring = calloc(1, sizeof *ring);
    struct tpacket_req request = {.tp_frame_size = 2048};
    int version = TPACKET_V2;
    if (!ring)
        return -1;
    while (request.tp_frame_size < (unsigned)end->wire->mtu + ETHER_HDR_LEN + RING_HEADERS_BYTES)
        request.tp_frame_size *= 2;
    request.tp_block_size = request.tp_frame_size < BLOCK_BYTES_MIN ? BLOCK_BYTES_MIN : request.tp_frame_size;
    ring->bytes = ((size_t)end->room * request.tp_frame_size / request.tp_block_size + 2) * request.tp_block_size;
    if (ring->bytes > ROOM_BYTES_MAX)
        ring->bytes = ROOM_BYTES_MAX;
    request.tp_block_nr = (unsigned)(ring->bytes / request.tp_block_size);
    request.tp_frame_nr = (unsigned)(ring->bytes / request.tp_frame_size);
    if (setsockopt(end->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(end->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        return -1;
    ring->frames = request.tp_frame_nr;
    ring->frame_bytes = request.tp_frame_size;
    ring->memory = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, end->fd, 0);
    return ring->memory == MAP_FAILED ? -1 : 0;
}

int frames_end_open(struct end *end)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(FRAMES_ETHERTYPE),
                                  .sll_ifindex = (int)if_nametoindex(end->wire->interface)};
    int on = 1;
    end->longest = end->wire->mtu;
    end->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (end->fd < 0 || setsockopt(end->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) < 0 ||
        setsockopt(end->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on) < 0 || make_ring(end) < 0)
        return -1;
    return bind(end->fd, (struct sockaddr *)&address, sizeof address);
}

int frames_end_meet(struct end *end)
{
    (void)end;
    return 0;
}

/* The Ethernet header of frames to the peer. */
static struct ether_header header_of(const struct end *end)
{
    struct ether_header header = {.ether_type = htons(FRAMES_ETHERTYPE)};
    memcpy(header.ether_dhost, end->peer.hardware, ETHER_ADDR_LEN);
    memcpy(header.ether_shost, end->here.hardware, ETHER_ADDR_LEN);
    return header;
}

int frames_end_send_many(struct end *end, const char *message, size_t bytes, long count)
{
    struct ether_header header = header_of(end);
    struct iovec pieces[] = {{&header, sizeof header}, {(void *)(uintptr_t)message, bytes}};
    struct mmsghdr batch[BATCH];
    for (int i = 0; i < BATCH; i++)
        batch[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = pieces, .msg_iovlen = 2}};
    while (count > 0) {
        int n = sendmmsg(end->fd, batch, count < BATCH ? (unsigned)count : BATCH, 0);
        if (n < 0 && errno != ENOBUFS && errno != EAGAIN && !watchdog_again())
            return -1;
        if (n > 0)
            watchdog_moved();
        else if (watchdog_check() < 0)
            return -1;
        count -= n > 0 ? n : 0;
    }
    return 0;
}

int frames_end_send(struct end *end, const char *message, size_t bytes, bool wait)
{
    (void)wait;
    return frames_end_send_many(end, message, bytes, 1) < 0 ? -1 : 1;
}

int frames_end_take(struct end *end, size_t bytes, bool wait)
{
    struct ring *ring = end->ring;
    struct tpacket2_hdr *frame = (void *)(ring->memory + (size_t)ring->next * ring->frame_bytes);
    struct pollfd readable = {.fd = end->fd, .events = POLLIN};
    (void)bytes;
    while (!(__atomic_load_n(&frame->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
        if (!wait)
            return 0;
        if (!end->spin && poll(&readable, 1, -1) < 0 && !watchdog_again())
            return -1;
        if (watchdog_check() < 0)
            return -1;
    }
    watchdog_moved();
    memcpy(&end->head, (uint8_t *)frame + frame->tp_mac + ETHER_HDR_LEN, sizeof end->head);
    __atomic_store_n(&frame->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->next = (ring->next + 1) % ring->frames;
    return 1;
}

void frames_end_close(struct end *end)
{
    if (end->ring && end->ring->memory && end->ring->memory != MAP_FAILED)
        munmap(end->ring->memory, end->ring->bytes);
    free(end->ring);
    if (end->fd >= 0)
        close(end->fd);
}
