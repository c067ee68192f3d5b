/* outlet.c - the writer's end of a channel to an endpoint of this host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/config.h"
#include "../core/error.h"
#include "../core/rights.h"
#include "local.h"

#define TRY_US 1000 /* between two looks whether the peer is there */

static void disconnect(struct pvmi_outlet *o)
{
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
    pvmi_local_unmap(&o->map);
}

void pvmi_outlet_free(struct pvmi_outlet *o)
{
    if (!o)
        return;
    disconnect(o);
    free(o);
}

/* ---- connecting ---- */

static int send_hello(const struct pvmi_endpoint *e, int fd, int memory)
{
    struct pvmi_local_hello h = {PVMI_LOCAL_MAGIC, e->port.point.node, e->port.point.point, e->mode != DP_RAW};
    struct iovec piece = {&h, sizeof h};
    union pvmi_rights_room room;
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    pvmi_rights_attach(&message, &room, memory);
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof h ? 0 : PVMI_EAGAIN;
}

static int knock(const struct pvmi_endpoint *e, const struct pvmi_peer *p, struct pvmi_outlet *o)
{
    struct sockaddr_un name;
    unsigned length = pvmi_local_name(e, p->point, &name);
    o->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (o->fd < 0)
        return PVMI_ENOMEM;
    if (connect(o->fd, (struct sockaddr *)&name, length))
        return PVMI_EAGAIN;
    return pvmi_local_is_friend(o->fd) ? 0 : PVMI_EDENIED;
}

static int hand_over(const struct pvmi_endpoint *e, struct pvmi_outlet *o)
{
    int memory = pvmi_local_memory();
    if (memory < 0)
        return PVMI_ENOMEM;
    int rc = pvmi_local_map(memory, &o->map);
    if (!rc) {
        o->map.area->asleep = 1;
        pvmi_ring_tx_init(&o->tx, o->map.cells, PVMI_LOCAL_SHIFT, &o->map.area->taken);
        rc = send_hello(e, o->fd, memory);
    }
    close(memory);
    return rc;
}

static int connect_to(const struct pvmi_endpoint *e, const struct pvmi_peer *p, struct pvmi_outlet *o)
{
    int rc = knock(e, p, o);
    if (!rc)
        rc = hand_over(e, o);
    if (rc)
        disconnect(o);
    return rc;
}

/* ---- writing ---- */

static bool is_alive(const struct pvmi_outlet *o)
{
    uint8_t byte;
    return recv(o->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/* False: no room. */
static bool put(struct pvmi_outlet *o, const void *data, uint32_t length)
{
    uint32_t count = pvmi_cells_of(sizeof(struct pvmi_local_cell) + length);
    uint8_t *cell = pvmi_ring_reserve(&o->tx, count);
    if (!cell && pvmi_ring_refresh(&o->tx))
        cell = pvmi_ring_reserve(&o->tx, count);
    if (!cell)
        return false;
    memcpy(cell + sizeof(struct pvmi_local_cell), data, length);
    uint32_t word = pvmi_ring_finish(&o->tx, PVMI_RECORD_WHOLE, count, length);
    __atomic_store_n((uint32_t *)cell, word, __ATOMIC_SEQ_CST);
    return true;
}

/* False: the reader is gone. */
static bool ring_bell(struct pvmi_outlet *o)
{
    if (!__atomic_load_n(&o->map.area->asleep, __ATOMIC_SEQ_CST) ||
        !__atomic_exchange_n(&o->map.area->asleep, 0, __ATOMIC_SEQ_CST))
        return true;
    return send(o->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN;
}

/* The reader is gone: whether it leaves messages unread. */
static bool lose(struct pvmi_outlet *o)
{
    bool unread = __atomic_load_n(&o->map.area->taken, __ATOMIC_ACQUIRE) != o->tx.head;
    disconnect(o);
    return unread;
}

static int write_connected(const struct pvmi_endpoint *e, struct pvmi_outlet *o, const void *data, uint32_t length)
{
    if (!put(o, data, length)) {
        if (is_alive(o))
            return PVMI_EAGAIN;
    } else if (ring_bell(o)) {
        return 0;
    }
    return lose(o) && e->mode != DP_RAW ? PVMI_ESHORT : PVMI_EAGAIN;
}

static int reach(const struct pvmi_endpoint *e, const struct pvmi_peer *p, struct pvmi_outlet *o)
{
    int64_t now_us = pvmi_clock_us();
    int rc = PVMI_EAGAIN;
    if (now_us >= o->try_us) {
        rc = connect_to(e, p, o);
        o->try_us = now_us + TRY_US;
    }
    if (rc != PVMI_EAGAIN || e->mode == DP_RAW) {
        o->give_up_us = 0;
        return rc;
    }
    if (!o->give_up_us)
        o->give_up_us = now_us + pvmi_config_us(PVMI_SETTING_DP_TIMEOUT);
    if (now_us < o->give_up_us)
        return PVMI_EAGAIN;
    o->give_up_us = 0;
    return PVMI_EUNREACHABLE;
}

int pvmi_outlet_write(struct pvmi_endpoint *e, struct pvmi_peer *p, const void *data, uint32_t length)
{
    if (!p->outlet && !(p->outlet = calloc(1, sizeof *p->outlet)))
        return PVMI_ENOMEM;
    struct pvmi_outlet *o = p->outlet;
    if (!o->map.area)
        o->fd = -1;
    if (o->fd < 0) {
        int rc = reach(e, p, o);
        if (rc)
            return rc == PVMI_EAGAIN && e->mode == DP_RAW ? 0 : rc;
    }
    int rc = write_connected(e, o, data, length);
    if (rc == PVMI_EAGAIN && o->fd < 0)
        return e->mode == DP_RAW ? 0 : PVMI_EAGAIN;
    e->counts.local += !rc;
    return rc;
}
