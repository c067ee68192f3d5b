/*
 * fuzz_dp_local.c - libdp's channel between endpoints of one host: a malicious peer sends anything, passes any
 * descriptor, and writes anything into the ring, even the ring of a channel that our endpoint has created.
 *
 * Input: a byte with the mode, then records { choice, length, bytes }.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/error.h"
#include "dp/src/net/local.h"
#include "dp/src/net/peer.h"
#include "dp.h"
#include "dp_port.h"

enum { RECORDS_MAX = 32, OTHER_POINT = 9 };

static struct dpi_endpoint *endpoint;

/* ---- the malicious peer ---- */

static int knocker = -1;
static struct dpi_local_map map;
static struct pvmw_ring_tx tx;

static void hang_up(void)
{
    if (knocker >= 0)
        close(knocker);
    knocker = -1;
    dpi_local_unmap(&map);
}

static void knock(void)
{
    struct sockaddr_un name;
    unsigned length = dpi_local_name(endpoint, endpoint->port.point, &name);
    hang_up();
    knocker = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    MUST(knocker >= 0);
    if (connect(knocker, (struct sockaddr *)&name, length))
        hang_up();
}

static void send_hello(const struct dpi_local_hello *h, size_t bytes, int fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } ancillary = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof fd);
    struct iovec iov = {(void *)h, bytes};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = &ancillary;
        msg.msg_controllen = sizeof ancillary.room;
    }
    sendmsg(knocker, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Like an honest writer, except for the changes from the bytes. */
static void introduce(uint8_t choice, struct fuzz_input *in)
{
    struct dpi_local_hello h = {DPI_LOCAL_MAGIC, fuzz_node(), OTHER_POINT, endpoint->mode != DP_RAW};
    int fd = choice & 16   ? open("/dev/null", O_RDWR | O_CLOEXEC)
             : choice & 32 ? memfd_create("fuzz", MFD_CLOEXEC)
             : choice & 64 ? -1
                           : dpi_local_memory();
    for (unsigned i = 0; i < in->left && i < sizeof h; i++)
        ((uint8_t *)&h)[i] ^= in->data[i];
    dpi_local_unmap(&map);
    if (fd >= 0 && !dpi_local_map(fd, &map))
        pvmw_ring_tx_init(&tx, map.cells, DPI_LOCAL_SHIFT, &map.area->taken);
    send_hello(&h, sizeof h - (choice & 128 ? 1 : 0), fd);
    if (fd >= 0)
        close(fd);
}

/* Its kind, its length, and bytes. */
static void publish(struct fuzz_input *in)
{
    uint32_t kind = fuzz_byte(in) & 15, length = fuzz_byte(in) | (uint32_t)fuzz_byte(in) << 8 | (kind & 8) << 13;
    uint32_t cells = pvmw_cells_of(sizeof(struct dpi_local_cell) + length);
    uint8_t *cell = map.area && pvmw_ring_refresh(&tx) ? pvmw_ring_reserve(&tx, cells) : NULL;
    if (!cell)
        return;
    if (in->left)
        memcpy(cell + 4, in->data, in->left);
    *(uint32_t *)(void *)cell =
        pvmw_ring_finish(&tx, kind < 9 ? PVMW_RECORD_WHOLE : (enum pvmw_record)kind, cells, length);
}

/* Writes anything into the ring where the next record is due, or into the words before it. */
static void scribble(struct fuzz_input *in)
{
    if (!map.area)
        return;
    uint8_t at = fuzz_byte(in);
    uint8_t *to = at & 128 ? (uint8_t *)map.area + (at & 127) : pvmw_ring_cell(map.cells, tx.mask, tx.head) + at;
    if (in->left)
        memcpy(to, in->data, in->left < 64 ? in->left : 64);
}

/* ---- the receiver of our endpoint's messages: it claims to have read data that was not sent ---- */

static int door = -1, visitor = -1;
static struct dpi_local_map theirs;

static void open_door(void)
{
    struct sockaddr_un name;
    unsigned length = dpi_local_name(endpoint, (struct dpi_point){fuzz_node(), OTHER_POINT}, &name);
    door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    MUST(!bind(door, (struct sockaddr *)&name, length) && !listen(door, 5));
}

static void let_in(void)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } ancillary;
    struct dpi_local_hello h;
    struct iovec iov = {&h, sizeof h};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
    int fd, new = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (new < 0)
        return;
    if (visitor >= 0)
        close(visitor);
    visitor = new;
    dpi_local_unmap(&theirs);
    if (recvmsg(visitor, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof h || !CMSG_FIRSTHDR(&msg))
        return;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    MUST(h.magic == DPI_LOCAL_MAGIC && !dpi_local_map(fd, &theirs));
    close(fd);
}

static void take(struct fuzz_input *in)
{
    let_in();
    if (theirs.area && in->left)
        memcpy(theirs.area, in->data, in->left < 16 ? in->left : 16);
}

static void close_door(void)
{
    if (visitor >= 0)
        close(visitor);
    visitor = -1;
    dpi_local_unmap(&theirs);
    close(door);
}

/* ---- the program ---- */

static void read_some(bool keeps)
{
    static volatile char sink;
    char *message;
    for (int i = 0; i < 16; i++) {
        int length = dp_try(endpoint->fd, &message);
        if (length < 0)
            return;
        if (length)
            sink = sink ^ message[0] ^ message[length - 1];
        if (!keeps)
            dp_fsync(endpoint->fd, 1);
    }
}

static void write_some(unsigned count)
{
    static const char data[1400];
    dp_target(endpoint->fd, fuzz_node(), OTHER_POINT);
    for (unsigned i = 0; i < count; i++)
        dp_write(endpoint->fd, data, sizeof data);
}

static void do_record(uint8_t choice, const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    switch (choice & 7) {
    case 0:
        knock();
        introduce(choice & 8 ? choice : 0, &in);
        break;
    case 1:
        publish(&in);
        break;
    case 2:
        scribble(&in);
        break;
    case 3:
        send(knocker, bytes, length ? 1 : 0, MSG_NOSIGNAL | MSG_DONTWAIT);
        break;
    case 4:
        write_some(length % 8);
        break;
    case 5:
        take(&in);
        break;
    case 6:
        if (choice & 8)
            hang_up();
        break;
    default:
        read_some(choice & 8);
    }
    dpi_channel_accept(endpoint);
    dpi_channel_take(endpoint);
    dpi_channel_sleep(endpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    endpoint = fuzz_endpoint_open(fuzz_byte(&in) & 1 ? DP_RELIABLE : DP_RAW);
    open_door();
    for (int i = 0; i < RECORDS_MAX && in.left; i++) {
        uint8_t choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        do_record(choice, in.data, length);
        in.data += length;
        in.left -= length;
    }
    read_some(true);
    hang_up();
    close_door();
    fuzz_endpoint_close(endpoint);
    return 0;
}
