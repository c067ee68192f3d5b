/* carrier.c - the table of carriers, and the properties of the link. */
#include "carrier.h"
#include <dp.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

const struct carrier carriers[CARRIERS] = {
    [CARRIER_RAW] = {"raw", false, DP_RAW, dp_end_open, dp_end_meet, dp_end_send, NULL, dp_end_take, dp_end_close},
    [CARRIER_RELIABLE] = {"reliable", true, DP_RELIABLE, dp_end_open, dp_end_meet, dp_end_send, NULL, dp_end_take,
                          dp_end_close},
    [CARRIER_GO_BACK_N] = {"go-back-n", true, DP_GO_BACK_N, dp_end_open, dp_end_meet, dp_end_send, NULL, dp_end_take,
                           dp_end_close},
    [CARRIER_UDP] = {"udp", false, 0, udp_end_open, udp_end_meet, udp_end_send, NULL, udp_end_take, socket_end_close},
    [CARRIER_TCP] = {"tcp", true, 0, tcp_end_open, tcp_end_meet, tcp_end_send, NULL, tcp_end_take, socket_end_close},
    [CARRIER_FRAMES] = {"frames", false, 0, frames_end_open, frames_end_meet, frames_end_send, frames_end_send_many,
                        frames_end_take, frames_end_close},
};

int end_open(struct end *end, int which, const struct wire *wire, bool spin, bool passive, uint32_t room)
{
    *end = (struct end){.carrier = &carriers[which],
                        .wire = wire,
                        .spin = spin,
                        .passive = passive,
                        .fd = -1,
                        .listener = -1,
                        .room = room,
                        .here = {.nid = wire->nid, .ip = wire->ip}};
    memcpy(end->here.hardware, wire->hardware, sizeof end->here.hardware);
    if (end->carrier->open(end) == 0)
        return 0;
    int error = errno;
    end_close(end);
    errno = error;
    return -1;
}

void end_close(struct end *end)
{
    if (end->carrier)
        end->carrier->close(end);
    *end = (struct end){.fd = -1, .listener = -1};
}

int end_send_many(struct end *end, const char *message, size_t bytes, long count)
{
    if (end->carrier->send_many)
        return end->carrier->send_many(end, message, bytes, count);
    for (long i = 0; i < count; i++)
        if (end->carrier->send(end, message, bytes, true) < 0)
            return -1;
    return 0;
}

int wire_find(int fd, struct wire *wire)
{
    struct dpaddress address;
    struct ifreq request = {0};
    if (dp_address(fd, &address) < 0)
        return -1;
    *wire = (struct wire){.nid = (uint16_t)address.nid};
    memcpy(wire->interface, address.interface, sizeof wire->interface);
    memcpy(wire->hardware, address.hardware, sizeof wire->hardware);
    memcpy(request.ifr_name, address.interface, sizeof request.ifr_name);
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && ioctl(s, SIOCGIFADDR, &request) == 0)
        wire->ip = ((struct sockaddr_in *)&request.ifr_addr)->sin_addr.s_addr;
    int rc = s < 0 ? -1 : ioctl(s, SIOCGIFMTU, &request);
    wire->mtu = request.ifr_mtu;
    if (s >= 0)
        close(s);
    return rc;
}
