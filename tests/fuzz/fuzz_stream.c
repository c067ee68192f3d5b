/*
 * fuzz_stream.c - frames on a stream of foreign bytes, over a socket pair: in chunks, with descriptors, stopped and
 * resumed, dropped, and while our own frames wait for room.
 *
 * Input: a byte of options, a byte with the chunk size, then the bytes that the other side sends.
 */
#include "fuzz.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"
#include "wire/rights.h"
#include "wire/stream.h"

enum { RIGHTS = 1, SIGNALS = 2, STOPS = 4, DROPS = 8, SENDS = 16, ENDS = 32, PLACE_BYTES = 1 << 16 };

static uint8_t place[PLACE_BYTES], scratch[4096];
static uint8_t options;
static unsigned frames;

static int decode(struct pvmw_stream *s)
{
    return s->header[0] == 'S' ? PVMW_STREAM_NO_FRAME : pvmc_frame_decode(s->header, &s->rx);
}

static uint8_t *on_place(struct pvmw_stream *s)
{
    return s->rx.length <= sizeof place ? place : NULL;
}

static void on_descriptor(struct pvmw_stream *s, int fd)
{
    (void)s;
    MUST(fcntl(fd, F_GETFD) >= 0 || fd == -1);
    if (fd >= 0)
        close(fd);
}

static void on_done(struct pvmw_stream *s)
{
    MUST(s->rx.length <= sizeof place);
    frames++;
    s->stopped = options & STOPS && frames % 2;
    if (options & ENDS && frames == 3)
        pvmw_stream_end(s);
}

static const struct pvmw_stream_owner plain = {.place = on_place,
                                               .descriptor = on_descriptor,
                                               .done = on_done,
                                               .queue_max = PVMW_STREAM_QUEUE_MAX,
                                               .queue_bytes = 1 << 20,
                                               .large_bytes = 2048};
static const struct pvmw_stream_owner with_signals = {
    .decode = decode, .place = on_place, .done = on_done, .queue_max = 1, .large_bytes = 2048};

/* Sends as much as the socket accepts, with a descriptor if the stream allows some. */
static size_t give(int fd, const uint8_t *data, size_t size)
{
    struct iovec piece = {(void *)data, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    union pvmw_rights_room rights;
    if (options & RIGHTS)
        pvmw_rights_attach(&message, &rights, &fd, 1);
    ssize_t n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n > 0 ? (size_t)n : 0;
}

/* Sends a frame of ours, which is queued when the other side does not read. */
static void send_one(struct pvmw_stream *s)
{
    struct pvmc_frame *f = pvmc_frame_alloc(&(struct pvmc_frame_header){.length = 3000, .body_length = 3000});
    MUST(f);
    memset(f->mem->data, 0, 3000);
    int rc = pvmw_stream_send(s, f);
    MUST(rc == 0 || rc == PVMC_EAGAIN || rc == PVMC_EDOWN);
    pvmc_frame_unref(f);
    pvmw_stream_flush(s);
}

/* Reads until no bytes are left or they are malformed. False: the stream has ended. */
static bool take(struct pvmw_stream *s)
{
    bool drained = false;
    for (;;) {
        while (s->stopped && !s->ended) {
            s->stopped = false;
            if (pvmw_stream_resume(s) < 0)
                return false;
        }
        if (s->ended)
            return false;
        ssize_t n = pvmw_stream_read(s, scratch, sizeof scratch, &drained);
        if (n <= 0)
            return n == 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int pair[2];
    if (size < 2)
        return 0;
    options = data[0];
    frames = 0;
    size_t chunk = 1 + (size_t)data[1] * 16;
    MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair));
    struct pvmw_stream s = {.fd = 0};
    pvmw_stream_init(&s, options & RIGHTS ? PVMW_STREAM_RIGHTS : PVMW_STREAM_PLAIN,
                     options & SIGNALS ? &with_signals : &plain, pair[0]);
    s.drops = options & DROPS;
    bool on = true;
    for (size_t at = 2; on && at < size;) {
        size_t n = give(pair[1], data + at, size - at < chunk ? size - at : chunk);
        at += n;
        if (options & SENDS)
            send_one(&s);
        on = take(&s) && n;
    }
    close(pair[1]);
    if (on)
        take(&s);
    pvmw_stream_flush(&s);
    pvmw_stream_end(&s);
    close(pair[0]);
    return 0;
}
