/* message.c - see message.h. */
#include "message.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/buf.h"
#include "core/error.h"
#include "wire/rights.h"

static const char *const fields_of[PVMA_FORE_MESSAGE_TYPES] = {
#define X(name, fields) [PVMA_FORE_##name] = fields,
    PVMA_FORE_MESSAGES(X)
#undef X
};

/* ---- fields ---- */

/* The 32-bit member of a message for a field; NULL for a field of another type. */
static uint32_t *word_of(struct pvma_fore_message *m, char field)
{
    switch (field) {
    case 'e':
        return &m->endpoint;
    case 'o':
        return &m->other;
    case 'n':
        return &m->number;
    case 'i':
        return &m->item;
    case 'v':
        return &m->version;
    case 's':
        return &m->clock;
    case 'm':
        return &m->mtu;
    case 'p':
        return &m->process;
    default:
        return NULL;
    }
}

static uint64_t *long_of(struct pvma_fore_message *m, char field)
{
    switch (field) {
    case 'c':
        return (uint64_t *)&m->cost_ns;
    case 't':
        return (uint64_t *)&m->time_ns;
    case 'g':
        return &m->given;
    case 'k':
        return &m->taken;
    default:
        return NULL;
    }
}

static void put_qos(struct pvmc_buf *b, const Atm_qos *q)
{
    const Atm_range *all[] = {&q->peak_bandwidth, &q->mean_bandwidth, &q->mean_burst};
    for (int i = 0; i < 3; i++) {
        pvmc_buf_put_u32(b, all[i]->target);
        pvmc_buf_put_u32(b, all[i]->minimum);
    }
}

static void get_qos(struct pvmc_buf *b, Atm_qos *q)
{
    Atm_range *all[] = {&q->peak_bandwidth, &q->mean_bandwidth, &q->mean_burst};
    for (int i = 0; i < 3; i++) {
        all[i]->target = pvmc_buf_get_u32(b);
        all[i]->minimum = pvmc_buf_get_u32(b);
        if (all[i]->minimum > all[i]->target)
            b->error = b->error ? b->error : PVMC_EFORMAT;
    }
}

static void put_field(struct pvmc_buf *b, struct pvma_fore_message *m, char field)
{
    if (word_of(m, field))
        pvmc_buf_put_u32(b, *word_of(m, field));
    else if (long_of(m, field))
        pvmc_buf_put_u64(b, *long_of(m, field));
    else if (field == 'a') {
        pvmc_buf_put_u32(b, m->address.asap);
        pvmc_buf_put_bytes(b, m->address.nsap.addr, sizeof m->address.nsap.addr);
    } else if (field == 'q')
        put_qos(b, &m->qos);
    else if (field == 'l')
        pvmc_buf_put_u8(b, (uint8_t)m->aal);
    else if (field == 'f')
        pvmc_buf_put_u8(b, (uint8_t)m->dataflow);
    else if (field == 'r')
        pvmc_buf_put_i32(b, m->error);
    else if (field == 'h')
        pvmc_buf_put_string(b, m->host);
}

static bool is_aal(uint8_t value)
{
    return value >= aal_type_3 && value <= aal_type_5;
}

static void get_kinds(struct pvmc_buf *b, struct pvma_fore_message *m, char field)
{
    uint8_t value = pvmc_buf_get_u8(b);
    bool good = field == 'l' ? is_aal(value) : value <= multicast;
    if (!good && !b->error)
        b->error = PVMC_EFORMAT;
    if (field == 'l')
        m->aal = (Aal_type)value;
    else
        m->dataflow = (Atm_dataflow)value;
}

static void get_address(struct pvmc_buf *b, Atm_endpoint *address)
{
    address->asap = pvmc_buf_get_u32(b);
    const uint8_t *nsap = pvmc_buf_get_bytes(b, sizeof address->nsap.addr);
    if (nsap)
        memcpy(address->nsap.addr, nsap, sizeof address->nsap.addr);
}

static void get_field(struct pvmc_buf *b, struct pvma_fore_message *m, char field)
{
    if (word_of(m, field))
        *word_of(m, field) = pvmc_buf_get_u32(b);
    else if (long_of(m, field))
        *long_of(m, field) = pvmc_buf_get_u64(b);
    else if (field == 'a')
        get_address(b, &m->address);
    else if (field == 'q')
        get_qos(b, &m->qos);
    else if (field == 'l' || field == 'f')
        get_kinds(b, m, field);
    else if (field == 'r')
        m->error = pvmc_buf_get_i32(b);
    else if (field == 'h')
        pvmc_buf_get_string_to(b, m->host, sizeof m->host);
    else if (field == 'd') {
        m->length = (uint32_t)pvmc_buf_left(b);
        m->data = pvmc_buf_get_bytes(b, m->length);
    }
}

/* ---- messages ---- */

size_t pvma_fore_message_encode(const struct pvma_fore_message *m, uint8_t to[PVMA_FORE_HEAD_MAX])
{
    struct pvma_fore_message copy = *m;
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, (uint8_t)m->type);
    for (const char *field = fields_of[m->type]; *field; field++)
        put_field(&b, &copy, *field);
    size_t length = pvmc_buf_error(&b) ? 0 : b.length;
    if (length)
        memcpy(to, b.data, length);
    pvmc_buf_free(&b);
    return length;
}

int pvma_fore_message_decode(const uint8_t *bytes, size_t length, struct pvma_fore_message *m)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, bytes, length);
    *m = (struct pvma_fore_message){.type = pvmc_buf_get_u8(&b)};
    if (m->type == PVMA_FORE_NONE || m->type >= PVMA_FORE_MESSAGE_TYPES)
        return PVMC_EFORMAT;
    for (const char *field = fields_of[m->type]; *field; field++)
        get_field(&b, m, *field);
    if (m->cost_ns < 0 || m->time_ns < 0)
        return PVMC_EFORMAT;
    return pvmc_buf_end(&b);
}

/* ---- sockets ---- */

static int system_error(void)
{
    if (errno == EAGAIN || errno == ENOBUFS)
        return PVMC_EAGAIN;
    return errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN ? PVMC_EDOWN : PVMC_ESYSTEM;
}

int pvma_fore_message_send(int socket, const struct pvma_fore_message *m, int fd, int wait)
{
    uint8_t head[PVMA_FORE_HEAD_MAX];
    union pvmw_rights_room room;
    struct iovec pieces[] = {{head, pvma_fore_message_encode(m, head)}, {(void *)m->data, m->data ? m->length : 0}};
    struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = 2};
    if (!pieces[0].iov_len)
        return PVMC_ENOMEM;
    pvmw_rights_attach(&msg, &room, &fd, 1);
    ssize_t n;
    do
        n = sendmsg(socket, &msg, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    while (n < 0 && errno == EINTR);
    return n < 0 ? system_error() : 0;
}

int pvma_fore_message_receive(int socket, uint8_t *bytes, size_t size, struct pvma_fore_message *m, int *fd, int wait)
{
    union pvmw_rights_room room;
    struct iovec piece = {bytes, size};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    ssize_t n;
    do
        n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return system_error();
    int came;
    pvmw_rights_take(&msg, &came, 1);
    int rc = !n ? PVMC_EDOWN : msg.msg_flags & MSG_TRUNC ? PVMC_ELIMIT : pvma_fore_message_decode(bytes, (size_t)n, m);
    if (!rc && fd)
        *fd = came;
    else if (came >= 0)
        close(came);
    return rc;
}
