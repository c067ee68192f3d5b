/* channel.c - the reader's end of channels from endpoints of the same host. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/error.h"
#include "wire/rights.h"
#include "net/local.h"

enum { BACKLOG = 128, BURST = 16 };

int dpi_channel_listen(struct dpi_endpoint *e)
{
    struct sockaddr_un name;
    unsigned length = dpi_local_name(e, e->port.point, &name);
    e->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (e->listener < 0)
        return PVMC_ELIMIT;
    if (bind(e->listener, (struct sockaddr *)&name, length))
        return errno == EADDRINUSE ? PVMC_EEXISTS : PVMC_ESYSTEM;
    return listen(e->listener, BACKLOG) ? PVMC_ESYSTEM : 0;
}

/* ---- writers that connect ---- */

/* Returns the descriptor of the memory, which we own; PVMC_EAGAIN: it has not arrived; PVMC_EFORMAT: not a hello. */
static int receive_hello(int fd, struct dpi_local_hello *h)
{
    struct iovec piece = {h, sizeof *h};
    union pvmw_rights_room room;
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EAGAIN)
        return PVMC_EAGAIN;
    int memory = -1;
    if (n >= 0)
        pvmw_rights_take(&message, &memory, 1);
    if (memory >= 0 && n == sizeof *h && h->magic == DPI_LOCAL_MAGIC)
        return memory;
    if (memory >= 0)
        close(memory);
    return PVMC_EFORMAT;
}

static bool is_welcome(const struct dpi_endpoint *e, const struct dpi_local_hello *h)
{
    return h->node == e->port.point.node && h->point && !h->reliable == (e->mode == DP_RAW);
}

/* The hello may arrive later than the connection. */
static void read_hello(struct dpi_endpoint *e, struct dpi_channel *c)
{
    struct dpi_local_hello h;
    int memory = receive_hello(c->fd, &h);
    if (memory == PVMC_EAGAIN)
        return;
    c->ended = memory < 0 || !is_welcome(e, &h) || dpi_local_map(memory, &c->map);
    if (memory >= 0)
        close(memory);
    if (c->ended) {
        e->counts.refused++;
        return;
    }
    c->from = (struct dpi_point){h.node, h.point};
    pvmw_ring_rx_init(&c->rx, c->map.cells, DPI_LOCAL_SHIFT, &c->map.area->taken);
}

static bool is_open(const struct dpi_channel *c)
{
    return c->map.area && !c->ended;
}

static bool add_channel(struct dpi_endpoint *e, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    struct dpi_channel *c = NULL;
    if (!dpi_local_is_trusted(fd) || dpi_endpoint_make_inbox(e) || !(c = calloc(1, sizeof *c)) ||
        epoll_ctl(e->fd, EPOLL_CTL_ADD, fd, &event)) {
        free(c);
        return false;
    }
    c->fd = fd;
    c->next = e->channels;
    e->channels = c;
    read_hello(e, c);
    return true;
}

void dpi_channel_accept(struct dpi_endpoint *e)
{
    int fd;
    while ((fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        if (!add_channel(e, fd)) {
            e->counts.refused++;
            close(fd);
        }
}

/* ---- messages ---- */

static uint32_t cells_of(uint32_t length)
{
    return pvmw_cells_of(sizeof(struct dpi_local_cell) + length);
}

/* Moves one message to the inbox. False: there is none, or out of memory. */
static bool take(struct dpi_endpoint *e, struct dpi_channel *c)
{
    uint32_t word, length;
    const uint8_t *cell = is_open(c) ? pvmw_ring_peek(&c->rx, &word) : NULL;
    if (!cell)
        return false;
    length = pvmw_word_length(word);
    if (pvmw_word_kind(word) != PVMW_RECORD_WHOLE || length > UINT16_MAX) {
        c->ended = true;
        e->counts.refused++;
        return false;
    }
    struct dpi_arrival a = {(uint8_t *)cell + sizeof(struct dpi_local_cell), length, c->from, DPI_IN_CHANNEL, c};
    if (!dpi_inbox_add(&e->inbox, &a))
        return false;
    c->held++;
    pvmw_ring_advance(&c->rx, cells_of(length));
    return true;
}

void dpi_channel_release(struct dpi_channel *c, uint32_t length)
{
    c->held--;
    c->released += cells_of(length);
    __atomic_store_n(c->rx.taken, c->released, __ATOMIC_RELEASE);
}

static void end(struct dpi_channel *c)
{
    dpi_local_unmap(&c->map);
    close(c->fd);
    free(c);
}

void dpi_channel_take(struct dpi_endpoint *e)
{
    for (struct dpi_channel **at = &e->channels, *c; (c = *at);) {
        if (!c->map.area && !c->ended)
            read_hello(e, c);
        for (int i = 0; i < BURST && take(e, c); i++)
            ;
        if (c->ended && !c->held) {
            *at = c->next;
            end(c);
        } else {
            at = &c->next;
        }
    }
}

bool dpi_channel_waits(const struct dpi_endpoint *e)
{
    uint32_t word;
    for (const struct dpi_channel *c = e->channels; c; c = c->next)
        if (is_open(c) && pvmw_ring_peek(&c->rx, &word))
            return true;
    return false;
}

/* Reads the bytes that rang the bell; false: the writer is gone. */
static bool hush(const struct dpi_channel *c)
{
    uint8_t bytes[16];
    ssize_t n;
    while ((n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        ;
    return n < 0 && errno == EAGAIN;
}

bool dpi_channel_sleep(struct dpi_endpoint *e)
{
    bool waits = false;
    for (struct dpi_channel *c = e->channels; c; c = c->next) {
        uint32_t word;
        if (!is_open(c))
            continue;
        bool lives = hush(c);
        __atomic_store_n(&c->map.area->asleep, 1, __ATOMIC_SEQ_CST);
        bool more = pvmw_ring_peek(&c->rx, &word);
        c->ended = !lives && !more;
        waits |= more;
    }
    return waits;
}

void dpi_channel_close_all(struct dpi_endpoint *e)
{
    struct dpi_channel *c;
    while ((c = e->channels)) {
        e->channels = c->next;
        end(c);
    }
}
