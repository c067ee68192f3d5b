/*
 * test_stream.c - frames over a stream: pieces of any size, queues, destinations, stopping, descriptors, foreign bytes.
 */
#include "wire/stream.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"
#include "core/message/frame_wire.h"
#include "unit.h"

enum { PAYLOAD_MAX = 1 << 20, SCRATCH = 4096 };

static struct pvmw_stream a, b; /* a sends, b receives */
static uint8_t scratch[SCRATCH], place[PAYLOAD_MAX];
static unsigned frames, taken, descriptors, signals;
static uint32_t refused_seq, stop_seq, end_seq;
static bool wrong;

static uint8_t byte_of(uint32_t seq, size_t i)
{
    return (uint8_t)(seq * 13 + i + i / 251);
}

static uint8_t *on_place(struct pvmw_stream *s)
{
    if (s->rx.seq == end_seq)
        pvmw_stream_end(s);
    return s->rx.seq == refused_seq ? NULL : place;
}

static void on_done(struct pvmw_stream *s)
{
    wrong |= s->rx.seq != frames++;
    for (size_t i = 0; i < s->rx.length; i++)
        wrong |= place[i] != byte_of(s->rx.seq, i);
    s->stopped = s->rx.seq == stop_seq;
}

static void on_descriptor(struct pvmw_stream *s, int fd)
{
    wrong |= fd < 0 || fcntl(fd, F_GETFD) < 0 || !(s->rx.flags & PVMC_FRAME_FD);
    close(fd);
    descriptors++;
}

static int on_header(struct pvmw_stream *s)
{
    if (s->header[0] != 'S')
        return pvmc_frame_decode(s->header, &s->rx);
    signals++;
    return PVMW_STREAM_NO_FRAME;
}

static const struct pvmw_stream_owner many = {.place = on_place,
                                              .done = on_done,
                                              .descriptor = on_descriptor,
                                              .queue_max = PVMW_STREAM_QUEUE_MAX,
                                              .queue_bytes = 4 << 20,
                                              .large_bytes = 8192};
static const struct pvmw_stream_owner one = {
    .decode = on_header, .place = on_place, .done = on_done, .descriptor = on_descriptor, .queue_max = 1};

/* Takes whole frames but each third, which comes by on_place() and on_done(). */
static size_t on_take(struct pvmw_stream *s, const uint8_t *wire, size_t count)
{
    struct pvmc_frame_glance g;
    (void)s;
    if (frames % 3 == 2 || !pvmc_frame_glance(wire, &g) || g.length > count - PVMC_FRAME_HEADER_BYTES)
        return 0;
    for (size_t i = 0; i < g.length; i++)
        wrong |= wire[PVMC_FRAME_HEADER_BYTES + i] != byte_of(frames, i);
    frames++;
    taken++;
    return PVMC_FRAME_HEADER_BYTES + g.length;
}

static const struct pvmw_stream_owner taking = {
    .take = on_take, .place = on_place, .done = on_done, .queue_max = 1, .large_bytes = 8192};

static void setup(enum pvmw_stream_kind kind, const struct pvmw_stream_owner *owner)
{
    int pair[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    a = b = (struct pvmw_stream){0};
    pvmw_stream_init(&a, kind, owner, pair[0]);
    pvmw_stream_init(&b, kind, owner, pair[1]);
    frames = taken = descriptors = signals = 0;
    refused_seq = stop_seq = end_seq = UINT32_MAX;
    wrong = false;
}

static void teardown(void)
{
    pvmw_stream_end(&a);
    pvmw_stream_end(&b);
    close(a.fd);
    close(b.fd);
    ck_assert(!wrong);
}

static struct pvmc_frame *frame(uint32_t seq, uint32_t length)
{
    struct pvmc_frame *f =
        pvmc_frame_alloc(&(struct pvmc_frame_header){.seq = seq, .length = length, .body_length = length});
    for (size_t i = 0; i < length; i++)
        f->mem->data[i] = byte_of(seq, i);
    return f;
}

static int send_frame(uint32_t seq, uint32_t length)
{
    struct pvmc_frame *f = frame(seq, length);
    int rc = pvmw_stream_send(&a, f);
    pvmc_frame_unref(f);
    return rc;
}

/* Reads everything available. Returns the last result. */
static ssize_t read_all(void)
{
    bool drained;
    ssize_t rc;
    while ((rc = pvmw_stream_read(&b, scratch, sizeof scratch, &drained)) > 0 && !b.stopped && !b.ended)
        ;
    return rc;
}

static void drain(void)
{
    while (!pvmw_stream_flush(&a))
        ck_assert_int_ge(read_all(), 0);
    ck_assert_int_ge(read_all(), 0);
}

START_TEST(frames_of_any_size_come_through)
{
    static const uint32_t sizes[] = {0, 1, 63, 64, 1024, 1025, 4000, 8192, 8193, 100000, 0, PAYLOAD_MAX, 5};
    for (unsigned kind = PVMW_STREAM_PLAIN; kind <= PVMW_STREAM_RIGHTS; kind++) {
        setup(kind, &many);
        uint64_t bytes = 0;
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            ck_assert_int_eq(send_frame(i, sizes[i]), 0);
            bytes += PVMC_FRAME_HEADER_BYTES + (uint64_t)sizes[i];
        }
        drain();
        ck_assert_uint_eq(frames, sizeof sizes / sizeof *sizes);
        ck_assert_uint_eq(a.given, bytes);
        ck_assert_uint_eq(b.taken, bytes);
        teardown();
    }
}
END_TEST

START_TEST(bytes_come_one_by_one)
{
    uint8_t wire[2 * PVMC_FRAME_HEADER_BYTES + 100];
    setup(PVMW_STREAM_PLAIN, &many);
    ck_assert_int_eq(send_frame(0, 100), 0);
    ck_assert_int_eq(send_frame(1, 0), 0);
    ck_assert_int_eq(recv(b.fd, wire, sizeof wire, 0), sizeof wire);
    for (size_t i = 0; i < sizeof wire; i++) {
        ck_assert_uint_eq(frames, i >= PVMC_FRAME_HEADER_BYTES + 100);
        ck_assert_int_eq(send(a.fd, wire + i, 1, 0), 1);
        ck_assert_int_eq(read_all(), 0);
    }
    ck_assert_uint_eq(frames, 2);
    teardown();
}
END_TEST

START_TEST(queues_are_bounded)
{
    uint32_t taken = 0;
    setup(PVMW_STREAM_PLAIN, &many);
    while (!send_frame(taken, 100000))
        taken++;
    ck_assert_uint_eq(a.queued, PVMW_STREAM_QUEUE_MAX);
    ck_assert(pvmw_stream_waits(&a));
    drain();
    ck_assert(!pvmw_stream_waits(&a));
    ck_assert_uint_eq(frames, taken);
    teardown();
    setup(PVMW_STREAM_PLAIN, &one);
    for (taken = 0; !send_frame(taken, 100000);)
        taken++;
    ck_assert_uint_le(a.queued, 1); /* the rest of a frame that has begun */
    drain();
    ck_assert_uint_eq(frames, taken);
    teardown();
}
END_TEST

START_TEST(corked_streams_queue)
{
    setup(PVMW_STREAM_PLAIN, &many);
    a.corked = true;
    ck_assert_int_eq(send_frame(0, 10), 0);
    ck_assert_int_eq(send_frame(1, 10), 0);
    ck_assert_int_eq(read_all(), 0);
    ck_assert_uint_eq(frames, 0);
    a.corked = false;
    drain();
    ck_assert_uint_eq(frames, 2);
    teardown();
}
END_TEST

START_TEST(refused_frames_are_dropped)
{
    setup(PVMW_STREAM_PLAIN, &many);
    refused_seq = 7;
    ck_assert_int_eq(send_frame(7, 50000), 0);
    ck_assert_int_eq(send_frame(0, 100), 0);
    drain();
    ck_assert_uint_eq(frames, 1);
    teardown();
}
END_TEST

START_TEST(stopped_streams_go_on_where_they_were)
{
    setup(PVMW_STREAM_RIGHTS, &many);
    stop_seq = 1;
    for (uint32_t seq = 0; seq < 5; seq++)
        ck_assert_int_eq(send_frame(seq, 100), 0);
    read_all();
    ck_assert_uint_eq(frames, 2);
    ck_assert_ptr_nonnull(b.unread);
    ck_assert_int_eq(pvmw_stream_resume(&b), 0); /* stopped still */
    b.stopped = false;
    ck_assert_int_gt(pvmw_stream_resume(&b), 0);
    ck_assert_uint_eq(frames, 5);
    ck_assert_ptr_null(b.unread);
    teardown();
}
END_TEST

START_TEST(owners_may_end_it_in_between)
{
    setup(PVMW_STREAM_RIGHTS, &many);
    end_seq = 2;
    for (uint32_t seq = 0; seq < 5; seq++)
        ck_assert_int_eq(send_frame(seq, 100), 0);
    read_all();
    ck_assert_uint_eq(frames, 2);
    teardown();
}
END_TEST

START_TEST(descriptors_come_with_their_frames)
{
    setup(PVMW_STREAM_RIGHTS, &many);
    for (uint32_t seq = 0; seq < 6; seq++) {
        struct pvmc_frame *f = frame(seq, seq % 3 ? 20 : 3000);
        if (seq % 2) {
            f->h.flags |= PVMC_FRAME_FD;
            f->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        }
        ck_assert_int_eq(pvmw_stream_send(&a, f), 0);
        pvmc_frame_unref(f);
    }
    drain();
    ck_assert_uint_eq(frames, 6);
    ck_assert_uint_eq(descriptors, 3);
    teardown();
}
END_TEST

START_TEST(owners_may_have_headers_of_their_own)
{
    uint8_t header[PVMC_FRAME_HEADER_BYTES] = {'S'};
    struct pvmc_frame *f = frame(0, 5000);
    setup(PVMW_STREAM_PLAIN, &one);
    ck_assert_int_eq(pvmw_stream_send_as(&a, NULL, header), 0);
    pvmc_frame_encode(&f->h, header);
    ck_assert_int_eq(pvmw_stream_send_as(&a, f, header), 0);
    header[0] = 'S';
    ck_assert_int_eq(pvmw_stream_send_as(&a, NULL, header), 0);
    drain();
    ck_assert_uint_eq(signals, 2);
    ck_assert_uint_eq(frames, 1);
    pvmc_frame_unref(f);
    teardown();
}
END_TEST

START_TEST(foreign_bytes_are_told)
{
    uint8_t foreign[PVMC_FRAME_HEADER_BYTES] = "GET / HTTP/1.1";
    setup(PVMW_STREAM_PLAIN, &many);
    ck_assert_int_eq(send(a.fd, foreign, sizeof foreign, 0), sizeof foreign);
    ck_assert_int_eq(read_all(), PVMC_EFORMAT);
    ck_assert_int_eq(memcmp(b.header, foreign, sizeof foreign), 0);
    b.drops = true;
    ck_assert_int_eq(send_frame(0, 100), 0);
    ck_assert_int_eq(read_all(), 0);
    ck_assert_uint_eq(frames, 0);
    teardown();
}
END_TEST

START_TEST(ends_are_told_apart)
{
    setup(PVMW_STREAM_PLAIN, &many);
    ck_assert_int_eq(send_frame(0, 100), 0);
    shutdown(a.fd, SHUT_WR);
    ck_assert_int_eq(read_all(), PVMC_ESHORT);
    teardown();
    setup(PVMW_STREAM_PLAIN, &many);
    ck_assert_int_eq(send(a.fd, "VD", 2, 0), 2);
    shutdown(a.fd, SHUT_WR);
    ck_assert_int_eq(read_all(), PVMC_EDOWN); /* within a frame */
    shutdown(b.fd, SHUT_RDWR);
    ck_assert_int_eq(send_frame(0, 10), PVMC_EDOWN);
    ck_assert(a.broken);
    teardown();
}
END_TEST

START_TEST(whole_frames_can_be_taken_from_the_buffer)
{
    static const uint32_t lengths[] = {8, 0, 100, 3000, 5000, 1, 1000, 1000, 1000, 1000, 0, 7};
    unsigned count = sizeof lengths / sizeof *lengths;
    setup(PVMW_STREAM_RIGHTS, &taking);
    for (unsigned i = 0; i < count; i++)
        ck_assert_int_eq(send_frame(i, lengths[i]), 0);
    ck_assert_int_eq(read_all(), 0);
    ck_assert_uint_eq(frames, count);
    ck_assert_uint_gt(taken, 0);
    ck_assert_uint_lt(taken, count);
    teardown();
}
END_TEST

/* A frame in the wire format that the socket accepts only in part is finished by flushing. */
START_TEST(wire_frames_may_be_written_in_part)
{
    static uint8_t wire[PVMC_FRAME_HEADER_BYTES + PAYLOAD_MAX];
    int small = 4096;
    setup(PVMW_STREAM_RIGHTS, &one);
    setsockopt(a.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    struct pvmc_frame *f = frame(0, PAYLOAD_MAX);
    pvmc_frame_encode(&f->h, wire);
    memcpy(wire + PVMC_FRAME_HEADER_BYTES, f->mem->data, PAYLOAD_MAX);
    pvmc_frame_unref(f);
    ck_assert_int_eq(pvmw_stream_send_wire(&a, wire, sizeof wire), 0);
    ck_assert_uint_eq(a.queued, 1);
    ck_assert_int_eq(pvmw_stream_send_wire(&a, wire, sizeof wire), PVMC_EAGAIN);
    memset(wire, 0, sizeof wire);
    drain();
    ck_assert_uint_eq(frames, 1);
    ck_assert_uint_eq(a.given, sizeof wire);
    teardown();
}
END_TEST

UNIT_MAIN("stream", frames_of_any_size_come_through, bytes_come_one_by_one, queues_are_bounded, corked_streams_queue,
          refused_frames_are_dropped, stopped_streams_go_on_where_they_were, owners_may_end_it_in_between,
          descriptors_come_with_their_frames, owners_may_have_headers_of_their_own, foreign_bytes_are_told,
          ends_are_told_apart, whole_frames_can_be_taken_from_the_buffer, wire_frames_may_be_written_in_part)
