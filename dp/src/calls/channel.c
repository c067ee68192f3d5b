/* channel.c - the reader's end of channels from endpoints of this host. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../core/error.h"
#include "../core/rights.h"
#include "local.h"

enum { BACKLOG = 128, BURST = 16 };

int pvmi_channel_open_door(struct pvmi_endpoint *e)
{
    struct sockaddr_un name;
    unsigned length = pvmi_local_name(e, e->port.point, &name);
    e->door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (e->door < 0)
        return PVMI_ELIMIT;
    if (bind(e->door, (struct sockaddr *)&name, length))
        return errno == EADDRINUSE ? PVMI_EEXISTS : PVMI_ESYSTEM;
    return listen(e->door, BACKLOG) ? PVMI_ESYSTEM : 0;
}

/* ---- who knocks ---- */

/* The descriptor of the memory, now ours; PVMI_EAGAIN: it has not come; PVMI_EFORMAT: something else has. */
static int receive_hello(int fd, struct pvmi_local_hello *h)
{
    struct iovec piece = {h, sizeof *h};
    union pvmi_rights_room room;
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EAGAIN)
        return PVMI_EAGAIN;
    int memory = n < 0 ? -1 : pvmi_rights_take(&message);
    if (memory >= 0 && n == sizeof *h && h->magic == PVMI_LOCAL_MAGIC)
        return memory;
    if (memory >= 0)
        close(memory);
    return PVMI_EFORMAT;
}

static bool is_welcome(const struct pvmi_endpoint *e, const struct pvmi_local_hello *h)
{
    return h->node == e->port.point.node && h->point && !h->reliable == (e->mode == DP_RAW);
}

/* Who knocks is connected before he says who he is. */
static void introduce(struct pvmi_endpoint *e, struct pvmi_channel *c)
{
    struct pvmi_local_hello h;
    int memory = receive_hello(c->fd, &h);
    if (memory == PVMI_EAGAIN)
        return;
    c->ended = memory < 0 || !is_welcome(e, &h) || pvmi_local_map(memory, &c->map);
    if (memory >= 0)
        close(memory);
    if (c->ended) {
        e->counts.refused++;
        return;
    }
    c->from = (struct pvmi_dp_point){h.node, h.point};
    pvmi_ring_rx_init(&c->rx, c->map.cells, PVMI_LOCAL_SHIFT, &c->map.area->taken);
}

static bool is_open(const struct pvmi_channel *c)
{
    return c->map.area && !c->ended;
}

static bool enter(struct pvmi_endpoint *e, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    struct pvmi_channel *c = NULL;
    if (!pvmi_local_is_friend(fd) || pvmi_endpoint_make_inbox(e) || !(c = calloc(1, sizeof *c)) ||
        epoll_ctl(e->fd, EPOLL_CTL_ADD, fd, &event)) {
        free(c);
        return false;
    }
    c->fd = fd;
    c->next = e->channels;
    e->channels = c;
    introduce(e, c);
    return true;
}

void pvmi_channel_accept(struct pvmi_endpoint *e)
{
    int fd;
    while ((fd = accept4(e->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        if (!enter(e, fd)) {
            e->counts.refused++;
            close(fd);
        }
}

/* ---- messages ---- */

static uint32_t cells_of(uint32_t length)
{
    return pvmi_cells_of(sizeof(struct pvmi_local_cell) + length);
}

/* One message into the inbox. False: there is none, or no memory. */
static bool take(struct pvmi_endpoint *e, struct pvmi_channel *c)
{
    uint32_t word, length;
    const uint8_t *cell = is_open(c) ? pvmi_ring_peek(&c->rx, &word) : NULL;
    if (!cell)
        return false;
    length = pvmi_word_length(word);
    if (pvmi_word_kind(word) != PVMI_RECORD_WHOLE || length > UINT16_MAX) {
        c->ended = true;
        e->counts.refused++;
        return false;
    }
    struct pvmi_arrival a = {(uint8_t *)cell + sizeof(struct pvmi_local_cell), length, c->from, PVMI_IN_CHANNEL, c};
    if (!pvmi_inbox_add(&e->inbox, &a))
        return false;
    c->held++;
    pvmi_ring_advance(&c->rx, cells_of(length));
    return true;
}

void pvmi_channel_release(struct pvmi_channel *c, uint32_t length)
{
    c->held--;
    c->released += cells_of(length);
    __atomic_store_n(c->rx.taken, c->released, __ATOMIC_RELEASE);
}

static void end(struct pvmi_channel *c)
{
    pvmi_local_unmap(&c->map);
    close(c->fd);
    free(c);
}

void pvmi_channel_take(struct pvmi_endpoint *e)
{
    for (struct pvmi_channel **at = &e->channels, *c; (c = *at);) {
        if (!c->map.area && !c->ended)
            introduce(e, c);
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

bool pvmi_channel_waits(const struct pvmi_endpoint *e)
{
    uint32_t word;
    for (const struct pvmi_channel *c = e->channels; c; c = c->next)
        if (is_open(c) && pvmi_ring_peek(&c->rx, &word))
            return true;
    return false;
}

/* Takes the bytes that rang; false: there will be no more. */
static bool hush(const struct pvmi_channel *c)
{
    uint8_t bytes[16];
    ssize_t n;
    while ((n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        ;
    return n < 0 && errno == EAGAIN;
}

bool pvmi_channel_sleep(struct pvmi_endpoint *e)
{
    bool waits = false;
    for (struct pvmi_channel *c = e->channels; c; c = c->next) {
        uint32_t word;
        if (!is_open(c))
            continue;
        bool lives = hush(c);
        __atomic_store_n(&c->map.area->asleep, 1, __ATOMIC_SEQ_CST);
        bool more = pvmi_ring_peek(&c->rx, &word);
        c->ended = !lives && !more;
        waits |= more;
    }
    return waits;
}

void pvmi_channel_close_all(struct pvmi_endpoint *e)
{
    struct pvmi_channel *c;
    while ((c = e->channels)) {
        e->channels = c->next;
        end(c);
    }
}
