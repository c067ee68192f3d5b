/*
 * assured.c - the calls of fore_atm.h on assured connections. The network process has the protocol and the bytes: here
 * each call is a question to it. The descriptor only tells that there is something to ask for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include "channel.h"
#include "endpoint.h"

#define SEND_MAX  (1 << 20) /* of one atm_send() */
#define WRITE_MAX 65520     /* of one question: whole items of 1, 2, 4, 8 and 16 bytes */
#define NEWS_MAX  64        /* bytes, more than a NEWS has */

int atm_assure(int fd, Atm_protocol protocol)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (e->connected || e->connecting)
        return pvma_fore_leave(-1, EINVAL);
    struct pvma_fore_message reply,
        ask = {.type = PVMA_FORE_ASSURE, .endpoint = e->number, .number = (uint32_t)protocol};
    int error = pvma_fore_ask(&ask, &reply, NULL);
    if (!error) {
        e->protocol = protocol;
        e->item = e->low_water = 1;
    }
    return pvma_fore_leave(0, error);
}

int atm_item(int fd, u_int bytes)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (!e->protocol || !bytes || bytes > ATM_ITEM_MAX)
        return pvma_fore_leave(-1, e->protocol ? EINVAL : EOPNOTSUPP);
    e->item = bytes;
    return pvma_fore_leave(0, 0);
}

int atm_low_water(int fd, u_int bytes)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (!e->protocol || !e->connected || !bytes)
        return pvma_fore_leave(-1, !e->protocol ? EOPNOTSUPP : !e->connected ? ENOTCONN : EINVAL);
    struct pvma_fore_message tell = {.type = PVMA_FORE_LOW_WATER, .endpoint = e->number, .number = bytes};
    int error = e->low_water == bytes ? 0 : pvma_fore_tell(&tell);
    e->low_water = bytes;
    return pvma_fore_leave(0, error);
}

static bool blocks(const struct pvma_fore_endpoint *e)
{
    return !(fcntl(e->fd, F_GETFL) & O_NONBLOCK);
}

/* ---- news ---- */

/* Takes what the descriptor has told, before asking: news that come later remain, or come again. */
static void take_news(int fd)
{
    uint8_t bytes[NEWS_MAX];
    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

/* ---- sending ---- */

/* Bytes of the next question: whole items, unless those are the last. */
static uint32_t portion(const struct pvma_fore_endpoint *e, uint32_t left)
{
    return left <= WRITE_MAX ? left : WRITE_MAX - WRITE_MAX % e->item;
}

int pvma_fore_assured_send(struct pvma_fore_endpoint *e, const char *buf, int len)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_WRITE, .endpoint = e->number, .item = e->item};
    uint32_t done = 0;
    int error = 0;
    if (len <= 0 || len > SEND_MAX)
        return pvma_fore_leave(-1, len <= 0 ? EINVAL : EMSGSIZE);
    ask.number = !blocks(e);
    do {
        ask.data = (const uint8_t *)buf + done;
        ask.length = portion(e, (uint32_t)len - done);
        take_news(e->fd);
        error = pvma_fore_ask(&ask, &reply, NULL);
        if (!error && reply.number > ask.length)
            error = EPROTO;
        done += error ? 0 : reply.number;
    } while (!error && done < (uint32_t)len && reply.number == ask.length);
    return done ? pvma_fore_leave((int)done, 0) : pvma_fore_leave(-1, error);
}

/* ---- receiving ---- */

/* Asks for the next bytes. Returns their number and 0 in *error, or an errno there. */
static int ask_for_bytes(struct pvma_fore_endpoint *e, char *buf, int len, int *error)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_READ, .endpoint = e->number, .number = (uint32_t)len};
    take_news(e->fd);
    *error = pvma_fore_ask(&ask, &reply, NULL);
    if (!*error && reply.length > (uint32_t)len)
        *error = EPROTO;
    if (*error)
        return -1;
    memcpy(buf, reply.data, reply.length);
    return (int)reply.length;
}

/* With the real clock: sleeps without the lock. NULL: the endpoint is no longer there, and the lock is released. */
static struct pvma_fore_endpoint *await_news(int fd)
{
    struct pollfd set = {.fd = fd, .events = POLLIN};
    pvma_fore_leave(0, 0);
    poll(&set, 1, -1);
    return pvma_fore_endpoint_enter(fd);
}

/* In virtual time, what is due now arrives only after a wait, which may be short. */
int pvma_fore_assured_recv(struct pvma_fore_endpoint *e, char *buf, int len)
{
    int fd = e->fd, error, n;
    bool wait = blocks(e), waited = false;
    if (!len)
        return pvma_fore_leave(-1, EINVAL);
    while ((n = ask_for_bytes(e, buf, len, &error)) < 0 && error == EAGAIN) {
        if (!wait && (waited || !pvma_fore_is_virtual()))
            break;
        if (!pvma_fore_is_virtual()) {
            e = await_news(fd);
            if (!e)
                return -1;
            continue;
        }
        int failed = pvma_fore_wait(wait ? -1 : 0);
        if (failed)
            return pvma_fore_leave(-1, failed);
        waited = true;
    }
    return pvma_fore_leave(n, error);
}
