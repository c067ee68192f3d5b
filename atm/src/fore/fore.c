/* fore.c - the calls of fore_atm.h. The network process has the state; packets arrive on the endpoint's descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"
#include "channel.h"
#include "endpoint.h"

#define DATA_HEAD_BYTES 9 /* header of a DATA message, before the packet */

void atm_error(const char *text)
{
    fprintf(stderr, "%s: %s\n", text, strerror(atm_errno));
}

struct pvma_fore_endpoint *pvma_fore_endpoint_enter(int fd)
{
    if (pvma_fore_enter())
        return NULL;
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_find(fd);
    if (e && !e->orphaned)
        return e;
    pvma_fore_leave(-1, e ? ENETDOWN : EBADF);
    return NULL;
}

/* ---- opening and closing ---- */

int atm_open(const char *device, int flags, Atm_info *info)
{
    if (pvma_fore_enter())
        return -1;
    struct pvma_fore_message ask = {.type = PVMA_FORE_OPEN}, reply;
    if (device && *device != '/') /* a path, such as /dev/fa0, named an adapter in old programs */
        snprintf(ask.host, sizeof ask.host, "%s", device);
    int fd = -1, error = pvma_fore_ask(&ask, &reply, &fd);
    if (!error && fd < 0)
        error = EMFILE; /* the kernel dropped the descriptor: this process has none left */
    if (!error && flags & O_NONBLOCK && fcntl(fd, F_SETFL, O_NONBLOCK))
        error = errno;
    struct pvma_fore_endpoint *e = error ? NULL : pvma_fore_endpoint_new(fd, reply.endpoint);
    if (e)
        e->mtu = reply.mtu;
    else if (!error)
        error = ENOMEM;
    if (error && fd >= 0)
        close(fd);
    if (!error && info)
        info->mtu = (int)reply.mtu;
    return pvma_fore_leave(fd, error);
}

/* Closes an endpoint whose network has ended: only this process's side is left. */
static int close_orphan(int fd)
{
    pvma_fore_lock();
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_find(fd);
    if (e)
        pvma_fore_endpoint_free(e);
    return pvma_fore_leave(0, e ? 0 : EBADF);
}

int atm_close(int fd)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return close_orphan(fd);
    struct pvma_fore_message tell = {.type = PVMA_FORE_CLOSE, .endpoint = e->number};
    pvma_fore_endpoint_free(e);
    return pvma_fore_leave(0, pvma_fore_tell(&tell));
}

int atm_bind(int fd, Atm_sap asap, Atm_sap *asap_ret, int qlen)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (e->bound || qlen < 0)
        return pvma_fore_leave(-1, EINVAL);
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_BIND, .endpoint = e->number, .number = (uint32_t)qlen};
    ask.address.asap = asap;
    int error = pvma_fore_ask(&ask, &reply, NULL);
    e->bound = !error;
    if (!error && asap_ret)
        *asap_ret = reply.address.asap;
    return pvma_fore_leave(0, error);
}

int atm_gethostbyname(const char *hostname, Atm_address *dest)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_RESOLVE};
    if (!hostname || strlen(hostname) >= sizeof ask.host)
        return pvma_fore_fail(ENOENT);
    if (pvma_fore_enter())
        return -1;
    strcpy(ask.host, hostname);
    int error = pvma_fore_ask(&ask, &reply, NULL);
    if (!error)
        *dest = reply.address.nsap;
    return pvma_fore_leave(0, error);
}

/* ---- receiving ---- */

/* With the real clock the descriptor blocks like any other, and other threads may call in the meantime. */
static ssize_t record_in_real_time(int fd, struct msghdr *msg)
{
    pvma_fore_leave(0, 0);
    ssize_t n = recvmsg(fd, msg, 0);
    return n < 0 ? pvma_fore_fail(errno) : n;
}

/* In virtual time, packets that are due now arrive only after a wait, which may be short. */
static ssize_t record_in_virtual_time(int fd, struct msghdr *msg)
{
    bool blocks = !(fcntl(fd, F_GETFL) & O_NONBLOCK), waited = false;
    int error = 0;
    ssize_t n;
    while (!error && (n = recvmsg(fd, msg, MSG_DONTWAIT)) < 0) {
        error = errno == EAGAIN && (blocks || !waited) ? pvma_fore_wait(blocks ? -1 : 0) : errno;
        waited = true;
    }
    return pvma_fore_leave(error ? -1 : (int)n, error);
}

/* Receives the next record of a descriptor, blocking if the descriptor does, and leaves the library. Bytes or -1. */
static ssize_t next_record(int fd, struct msghdr *msg)
{
    return pvma_fore_is_virtual() ? record_in_virtual_time(fd, msg) : record_in_real_time(fd, msg);
}

int atm_recv(int fd, char *buf, int len)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (len < 0 || !e->connected || !e->receives)
        return pvma_fore_leave(-1, len < 0 ? EINVAL : e->connected ? EOPNOTSUPP : ENOTCONN);
    if (e->protocol)
        return pvma_fore_assured_recv(e, buf, len);
    uint8_t head[DATA_HEAD_BYTES];
    struct iovec pieces[] = {{head, sizeof head}, {buf, (size_t)len}};
    struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = 2};
    ssize_t n = next_record(fd, &msg);
    if (n <= 0)
        return (int)n;
    if (n < DATA_HEAD_BYTES || head[0] != PVMA_FORE_DATA)
        return pvma_fore_fail(EPROTO);
    return (int)n - DATA_HEAD_BYTES;
}

int atm_listen(int fd, int *conn_id, Atm_endpoint *calling, Atm_qos *qos, Aal_type *aal)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (!e->bound || e->connected)
        return pvma_fore_leave(-1, EINVAL);
    uint8_t bytes[PVMA_FORE_HEAD_MAX];
    struct iovec piece = {bytes, sizeof bytes};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};
    struct pvma_fore_message caller;
    ssize_t n = next_record(fd, &msg);
    if (n <= 0)
        return n ? -1 : pvma_fore_fail(ENETDOWN);
    if (pvma_fore_message_decode(bytes, (size_t)n, &caller) || caller.type != PVMA_FORE_CALLER)
        return pvma_fore_fail(EPROTO);
    if (conn_id)
        *conn_id = (int)caller.number;
    if (calling)
        *calling = caller.address;
    if (qos)
        *qos = caller.qos;
    if (aal)
        *aal = caller.aal;
    return 0;
}

/* ---- connecting ---- */

static bool is_aal(Aal_type aal)
{
    return aal >= aal_type_3 && aal <= aal_type_5;
}

static bool is_range(const Atm_range *r)
{
    return r->minimum <= r->target;
}

static bool is_qos(const Atm_qos *qos)
{
    return is_range(&qos->peak_bandwidth) && is_range(&qos->mean_bandwidth) && is_range(&qos->mean_burst);
}

static void select_qos(Atm_qos_sel *sel, const Atm_qos *qos)
{
    if (sel)
        *sel = (Atm_qos_sel){.peak_bandwidth = qos->peak_bandwidth.target,
                             .mean_bandwidth = qos->mean_bandwidth.target,
                             .mean_burst = qos->mean_burst.target};
}

/* Finishes a background connect if its result has arrived. Returns 0 or an errno; EALREADY: not yet. */
static int finish_connect(struct pvma_fore_endpoint *e, Atm_qos_sel *sel)
{
    uint8_t bytes[PVMA_FORE_HEAD_MAX];
    struct pvma_fore_message m;
    int error = pvma_fore_is_virtual() ? pvma_fore_wait(0) : 0;
    int rc = error ? 0 : pvma_fore_message_receive(e->fd, bytes, sizeof bytes, &m, NULL, false);
    if (error || rc == PVMC_EAGAIN)
        return error ? error : EALREADY;
    if (rc || m.type != PVMA_FORE_CONNECTED)
        return rc == PVMC_EDOWN ? ECONNABORTED : EPROTO;
    e->connecting = false;
    if (!m.error)
        pvma_fore_endpoint_connected(e, e->dataflow, true);
    select_qos(sel, &m.qos);
    return m.error;
}

/* Requests the connection. Returns 0 or an errno. */
static int begin_connect(struct pvma_fore_endpoint *e, const Atm_endpoint *dest, const Atm_qos *qos, Atm_qos_sel *sel,
                         Aal_type aal, Atm_dataflow dataflow)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_CONNECT, .endpoint = e->number, .address = *dest};
    ask.aal = aal;
    ask.dataflow = dataflow;
    ask.number = fcntl(e->fd, F_GETFL) & O_NONBLOCK ? 1 : 0;
    if (qos)
        ask.qos = *qos;
    int error = pvma_fore_ask(&ask, &reply, NULL);
    if (!error) {
        pvma_fore_endpoint_connected(e, dataflow, true);
        select_qos(sel, &reply.qos);
    } else if (error == EINPROGRESS) {
        e->connecting = true;
        e->dataflow = dataflow;
    }
    return error;
}

int atm_connect(int fd, Atm_endpoint *dest, Atm_qos *qos, Atm_qos_sel *sel, Aal_type aal, Atm_dataflow dataflow)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    bool again = e->connected && e->dataflow == multicast && e->sends && dataflow == multicast;
    int error = !e->connected || again ? 0 : EISCONN;
    if (!dest || !e->bound || !is_aal(aal) || dataflow > multicast || (qos && !is_qos(qos)))
        error = EINVAL;
    if (!error && e->protocol && dataflow != duplex)
        error = EOPNOTSUPP;
    if (!error)
        error = e->connecting ? finish_connect(e, sel) : begin_connect(e, dest, qos, sel, aal, dataflow);
    return pvma_fore_leave(error ? -1 : 0, error);
}

int atm_accept(int fd, int fdnew, int conn_id, Atm_qos *qos, Atm_dataflow dataflow)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    struct pvma_fore_endpoint *fresh = pvma_fore_endpoint_find(fdnew);
    if (!fresh || fresh == e || dataflow > multicast || (qos && !is_qos(qos)))
        return pvma_fore_leave(-1, fresh ? EINVAL : EBADF);
    if (fresh->connected)
        return pvma_fore_leave(-1, EISCONN);
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_ACCEPT, .endpoint = e->number, .other = fresh->number};
    ask.number = (uint32_t)conn_id;
    ask.dataflow = dataflow;
    if (qos)
        ask.qos = *qos;
    int error = pvma_fore_ask(&ask, &reply, NULL);
    if (!error) {
        fresh->protocol = e->protocol;
        fresh->item = e->item;
        fresh->low_water = 1;
        pvma_fore_endpoint_connected(fresh, dataflow, false);
    }
    return pvma_fore_leave(0, error);
}

int atm_reject(int fd, int conn_id)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    struct pvma_fore_message reply,
        ask = {.type = PVMA_FORE_REJECT, .endpoint = e->number, .number = (uint32_t)conn_id};
    return pvma_fore_leave(0, pvma_fore_ask(&ask, &reply, NULL));
}

/* ---- sending ---- */

int atm_send(int fd, const char *buf, int len)
{
    struct pvma_fore_endpoint *e = pvma_fore_endpoint_enter(fd);
    if (!e)
        return -1;
    if (!e->connected || !e->sends)
        return pvma_fore_leave(-1, e->connected ? EOPNOTSUPP : ENOTCONN);
    if (e->protocol)
        return pvma_fore_assured_send(e, buf, len);
    if (len <= 0 || (uint32_t)len > e->mtu)
        return pvma_fore_leave(-1, len <= 0 ? EINVAL : EMSGSIZE);
    struct pvma_fore_message tell = {.type = PVMA_FORE_SEND, .endpoint = e->number};
    tell.data = (const uint8_t *)buf;
    tell.length = (uint32_t)len;
    return pvma_fore_leave(len, pvma_fore_tell(&tell));
}
