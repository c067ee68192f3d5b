/* carrier_dp.c - messages over libdp. */
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "carrier.h"
#include "tools/dp-perf/watchdog.h"

enum { DPID_FIRST = 40000, DPIDS = 2000, SPARE_MESSAGES = 16 };

static int open_free_point(const char *interface)
{
    int fd = -1;
    errno = EADDRINUSE;
    for (int i = 0; fd < 0 && errno == EADDRINUSE && i < DPIDS; i++)
        fd = dp_open_on(interface, DPID_FIRST + i);
    return fd;
}

/* Enlarges a raw endpoint's pool for all messages that may arrive before they are read. */
static int make_room(struct end *end)
{
    struct dpmmap pool = {0};
    if (end->carrier->lossless || dp_mmap(end->fd, &pool) < 0)
        return end->carrier->lossless ? 0 : -1;
    uint32_t most = (uint32_t)(ROOM_BYTES_MAX / (pool.bytes / pool.messages)), wanted = end->room + SPARE_MESSAGES;
    pool.messages = wanted < most ? wanted : most;
    return dp_mmap(end->fd, &pool);
}

int dp_end_open(struct end *end)
{
    struct dpaddress address;
    end->fd = open_free_point(end->wire->interface);
    if (end->fd < 0 || make_room(end) < 0 || dp_mode(end->fd, end->carrier->mode) < 0 ||
        dp_address(end->fd, &address) < 0)
        return -1;
    end->longest = address.message_bytes;
    end->here.dpid = (uint16_t)address.dpid;
    if (end->spin && (dp_spin(end->fd, 1) < 0 || fcntl(end->fd, F_SETFL, O_NONBLOCK) < 0))
        return -1;
    return 0;
}

int dp_end_meet(struct end *end)
{
    return dp_target(end->fd, end->peer.nid, end->peer.dpid);
}

int dp_end_send(struct end *end, const char *message, size_t bytes, bool wait)
{
    for (;;) {
        if (dp_write(end->fd, message, (int)bytes) >= 0) {
            watchdog_moved();
            return 1;
        }
        if (errno == EAGAIN && !wait)
            return 0;
        if ((errno == EAGAIN && watchdog_check() < 0) || (errno != EAGAIN && !watchdog_again()))
            return -1;
    }
}

static int read_one(struct end *end, char **address, bool wait)
{
    return end->spin || !wait ? dp_try(end->fd, address) : dp_read(end->fd, address);
}

int dp_end_take(struct end *end, size_t bytes, bool wait)
{
    char *address;
    (void)bytes;
    for (;;) {
        if (read_one(end, &address, wait) >= 0) {
            watchdog_moved();
            memcpy(&end->head, address, sizeof end->head); /* there is memory behind a shorter message, too */
            dp_fsync(end->fd, 1);
            return 1;
        }
        if (errno == EAGAIN && !wait)
            return 0;
        if ((errno == EAGAIN && watchdog_check() < 0) || (errno != EAGAIN && !watchdog_again()))
            return -1;
    }
}

void dp_end_close(struct end *end)
{
    if (end->fd >= 0)
        dp_close(end->fd);
}
