/* writer.c - the writer's end of a channel to an endpoint of this host, see local.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "wire/rights.h"
#include "net/local.h"

#define TRY_US 1000 /* between two tries to connect */

static void disconnect(struct dpi_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    dpi_local_unmap(&w->map);
}

void dpi_writer_free(struct dpi_writer *w)
{
    if (!w)
        return;
    disconnect(w);
    free(w);
}

/* ---- connecting ---- */

static int send_hello(const struct dpi_endpoint *e, int fd, int memory)
{
    struct dpi_local_hello h = {DPI_LOCAL_MAGIC, e->port.point.node, e->port.point.point, e->mode != DP_RAW};
    struct iovec piece = {&h, sizeof h};
    union pvmw_rights_room room;
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    pvmw_rights_attach(&message, &room, &memory, 1);
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof h ? 0 : PVMC_EAGAIN;
}

static int connect_socket(const struct dpi_endpoint *e, const struct dpi_peer *p, struct dpi_writer *w)
{
    struct sockaddr_un name;
    unsigned length = dpi_local_name(e, p->point, &name);
    w->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (w->fd < 0)
        return PVMC_ENOMEM;
    if (connect(w->fd, (struct sockaddr *)&name, length))
        return PVMC_EAGAIN;
    return dpi_local_is_trusted(w->fd) ? 0 : PVMC_EDENIED;
}

static int send_memory(const struct dpi_endpoint *e, struct dpi_writer *w)
{
    int memory = dpi_local_memory();
    if (memory < 0)
        return PVMC_ENOMEM;
    int rc = dpi_local_map(memory, &w->map);
    if (!rc) {
        w->map.area->asleep = 1;
        pvmw_ring_tx_init(&w->tx, w->map.cells, DPI_LOCAL_SHIFT, &w->map.area->taken);
        rc = send_hello(e, w->fd, memory);
    }
    close(memory);
    return rc;
}

static int connect_to(const struct dpi_endpoint *e, const struct dpi_peer *p, struct dpi_writer *w)
{
    int rc = connect_socket(e, p, w);
    if (!rc)
        rc = send_memory(e, w);
    if (rc)
        disconnect(w);
    return rc;
}

/* ---- writing ---- */

static bool is_alive(const struct dpi_writer *w)
{
    uint8_t byte;
    return recv(w->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/* False: no room. */
static bool put(struct dpi_writer *w, const void *data, uint32_t length)
{
    uint32_t count = pvmw_cells_of(sizeof(struct dpi_local_cell) + length);
    uint8_t *cell = pvmw_ring_reserve(&w->tx, count);
    if (!cell && pvmw_ring_refresh(&w->tx))
        cell = pvmw_ring_reserve(&w->tx, count);
    if (!cell)
        return false;
    memcpy(cell + sizeof(struct dpi_local_cell), data, length);
    uint32_t word = pvmw_ring_finish(&w->tx, PVMW_RECORD_WHOLE, count, length);
    __atomic_store_n((uint32_t *)cell, word, __ATOMIC_SEQ_CST);
    return true;
}

/* False: the reader is gone. */
static bool ring_bell(struct dpi_writer *w)
{
    if (!__atomic_load_n(&w->map.area->asleep, __ATOMIC_SEQ_CST) ||
        !__atomic_exchange_n(&w->map.area->asleep, 0, __ATOMIC_SEQ_CST))
        return true;
    return send(w->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN;
}

/* The reader is gone. Returns whether it left messages unread. */
static bool lose(struct dpi_writer *w)
{
    bool unread = __atomic_load_n(&w->map.area->taken, __ATOMIC_ACQUIRE) != w->tx.head;
    disconnect(w);
    return unread;
}

static int write_connected(const struct dpi_endpoint *e, struct dpi_writer *w, const void *data, uint32_t length)
{
    if (!put(w, data, length)) {
        if (is_alive(w))
            return PVMC_EAGAIN;
    } else if (ring_bell(w)) {
        return 0;
    }
    return lose(w) && e->mode != DP_RAW ? PVMC_ESHORT : PVMC_EAGAIN;
}

static int reach(const struct dpi_endpoint *e, const struct dpi_peer *p, struct dpi_writer *w)
{
    int64_t now_us = pvmc_clock_us();
    int rc = PVMC_EAGAIN;
    if (now_us >= w->try_us) {
        rc = connect_to(e, p, w);
        w->try_us = now_us + TRY_US;
    }
    if (rc != PVMC_EAGAIN || e->mode == DP_RAW) {
        w->give_up_us = 0;
        return rc;
    }
    if (!w->give_up_us)
        w->give_up_us = now_us + pvmc_config_us(PVMC_SETTING_DP_TIMEOUT);
    if (now_us < w->give_up_us)
        return PVMC_EAGAIN;
    w->give_up_us = 0;
    return PVMC_EUNREACHABLE;
}

int dpi_writer_put(struct dpi_endpoint *e, struct dpi_peer *p, const void *data, uint32_t length)
{
    if (!p->writer && !(p->writer = calloc(1, sizeof *p->writer)))
        return PVMC_ENOMEM;
    struct dpi_writer *w = p->writer;
    if (!w->map.area)
        w->fd = -1;
    if (w->fd < 0) {
        int rc = reach(e, p, w);
        if (rc)
            return rc == PVMC_EAGAIN && e->mode == DP_RAW ? 0 : rc;
    }
    int rc = write_connected(e, w, data, length);
    if (rc == PVMC_EAGAIN && w->fd < 0)
        return e->mode == DP_RAW ? 0 : PVMC_EAGAIN;
    e->counts.local += !rc;
    return rc;
}
