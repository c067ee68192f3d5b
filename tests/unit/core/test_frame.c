/* test_frame.c - the wire format of frame headers, and the reference counts of frames. */
#include "core/error.h"
#include "core/message/frame.h"
#include "tests/unit/unit.h"

static const struct pvmc_frame_header sample = {
    .flags = 0,
    .length = 0x00010203,
    .dst = 0x00040001,
    .src = 0x00080002,
    .seq = 0xfffffffe,
    .tag = -2,
    .ctx = 0x7ffff,
    .wid = 5,
    .enc = 0x10000000,
    .dsig = 0x00408c41,
    .body_length = 0x0000000112345678,
    .offset = 0x0000000100000000,
    .crc = -1,
};

static const uint8_t golden[PVMC_FRAME_HEADER_BYTES] = {
    0x44, 0x56, 0x01, 0x00, 0x03, 0x02, 0x01, 0x00, 0x01, 0x00, 0x04, 0x00, 0x02, 0x00, 0x08, 0x00,
    0xfe, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00, 0x05, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x10, 0x41, 0x8c, 0x40, 0x00, 0x78, 0x56, 0x34, 0x12, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
};

START_TEST(encoding_gives_the_documented_bytes)
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    memset(wire, 0xaa, sizeof wire);
    pvmc_frame_encode(&sample, wire);
    ck_assert_mem_eq(wire, golden, sizeof wire);
}
END_TEST

START_TEST(decoding_reads_them_back)
{
    struct pvmc_frame_header h;
    ck_assert_int_eq(pvmc_frame_decode(golden, &h), 0);
    ck_assert_uint_eq(h.length, sample.length);
    ck_assert_uint_eq(h.dst, sample.dst);
    ck_assert_uint_eq(h.src, sample.src);
    ck_assert_uint_eq(h.seq, sample.seq);
    ck_assert_int_eq(h.tag, sample.tag);
    ck_assert_uint_eq(h.ctx, sample.ctx);
    ck_assert_int_eq(h.wid, sample.wid);
    ck_assert_uint_eq(h.enc, sample.enc);
    ck_assert_uint_eq(h.dsig, sample.dsig);
    ck_assert_uint_eq(h.body_length, sample.body_length);
    ck_assert_uint_eq(h.offset, sample.offset);
    ck_assert_int_eq(h.crc, sample.crc);
    ck_assert(!pvmc_frame_is_last(&h));
}
END_TEST

static int decode_with(size_t offset, uint8_t byte)
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    struct pvmc_frame_header h;
    memcpy(wire, golden, sizeof wire);
    wire[offset] = byte;
    return pvmc_frame_decode(wire, &h);
}

START_TEST(foreign_bytes_are_refused)
{
    ck_assert_int_eq(decode_with(0, 0x45), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(1, 0), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(2, 2), PVMC_EVERSION);
    ck_assert_int_eq(decode_with(2, 0), PVMC_EVERSION);
    ck_assert_int_eq(decode_with(3, 32), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(60, 1), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(63, 1), PVMC_EFORMAT);
}
END_TEST

static int decode_lengths(uint8_t flags, uint32_t length, uint64_t offset, uint64_t body_length)
{
    struct pvmc_frame_header h = sample, out;
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    h.flags = flags;
    h.length = length;
    h.offset = offset;
    h.body_length = body_length;
    pvmc_frame_encode(&h, wire);
    return pvmc_frame_decode(wire, &out);
}

START_TEST(lengths_must_agree)
{
    uint32_t most = PVMC_FRAME_PAYLOAD_MAX;
    ck_assert_int_eq(decode_lengths(0, 0, 0, 0), 0);
    ck_assert_int_eq(decode_lengths(0, most, 0, most), 0);
    ck_assert_int_eq(decode_lengths(0, most + 1, 0, most + 1), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(0, 1, 10, 11), 0);
    ck_assert_int_eq(decode_lengths(0, 1, 10, 10), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(0, 1, 11, 10), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(0, 2, UINT64_MAX, 1), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(0, 2, UINT64_MAX - 1, UINT64_MAX), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(0, 1, UINT64_MAX - 1, UINT64_MAX), 0);
    ck_assert_int_eq(decode_lengths(0, 0, 0, 5), PVMC_EFORMAT); /* brings nothing */
    ck_assert_int_eq(decode_lengths(PVMC_FRAME_ABORT, 0, 2, 5), 0);
    ck_assert_int_eq(decode_lengths(PVMC_FRAME_ABORT, 1, 2, 5), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(PVMC_FRAME_ABORT, 0, 6, 5), PVMC_EFORMAT);
}
END_TEST

START_TEST(streams_tell_their_length_at_the_end)
{
    enum { STREAM = PVMC_FRAME_STREAM, BOTH = PVMC_FRAME_STREAM | PVMC_FRAME_ABORT };
    uint64_t open = PVMC_FRAME_LENGTH_OPEN;
    ck_assert_int_eq(decode_lengths(STREAM, 10, 0, open), 0);
    ck_assert_int_eq(decode_lengths(STREAM, 10, 10, open), 0);
    ck_assert_int_eq(decode_lengths(STREAM, 10, 20, 30), 0);
    ck_assert_int_eq(decode_lengths(STREAM, 0, 30, 30), 0); /* nothing was left to send */
    ck_assert_int_eq(decode_lengths(STREAM, 10, 0, 30), 0); /* known from the start */
    ck_assert_int_eq(decode_lengths(STREAM, 0, 10, open), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(STREAM, 0, 10, 30), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(STREAM, 10, 0, 10), PVMC_EFORMAT); /* a whole message is no stream */
    ck_assert_int_eq(decode_lengths(STREAM, 0, 0, 0), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(STREAM, 10, open - 10, open), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(STREAM, 10, 25, 30), PVMC_EFORMAT);
    ck_assert_int_eq(decode_lengths(BOTH, 0, 10, open), 0);
    ck_assert_int_eq(decode_lengths(BOTH, 1, 10, open), PVMC_EFORMAT);
}
END_TEST

START_TEST(the_last_frame_is_known)
{
    struct pvmc_frame_header h = {.offset = 10, .length = 5, .body_length = 15};
    ck_assert(pvmc_frame_is_last(&h));
    h.body_length = 16;
    ck_assert(!pvmc_frame_is_last(&h));
    h = (struct pvmc_frame_header){0};
    ck_assert(pvmc_frame_is_last(&h));
}
END_TEST

static size_t in_use(void)
{
    size_t used, cached;
    pvmc_mem_usage(&used, &cached);
    return used;
}

START_TEST(a_frame_keeps_its_memory)
{
    struct pvmc_mem *mem = pvmc_mem_new(100);
    struct pvmc_frame *f = pvmc_frame_new(&sample, pvmc_mem_ref(mem));
    ck_assert_uint_eq(f->refs, 1);
    ck_assert_uint_eq(f->piece_count, 0);
    ck_assert_uint_eq(f->h.seq, sample.seq);
    ck_assert_uint_eq(mem->refs, 2);
    ck_assert_ptr_eq(pvmc_frame_ref(f), f);
    pvmc_mem_unref(mem);
    pvmc_frame_unref(f);
    ck_assert_uint_ge(in_use(), 100);
    pvmc_frame_unref(f);
    ck_assert_uint_eq(in_use(), 0);
    pvmc_frame_unref(NULL);
}
END_TEST

START_TEST(a_received_frame_has_room)
{
    struct pvmc_frame *f = pvmc_frame_alloc(&sample), *empty;
    ck_assert_uint_eq(f->piece_count, 1);
    ck_assert_uint_eq(f->pieces[0].iov_len, sample.length);
    ck_assert_ptr_eq(f->pieces[0].iov_base, f->mem->data);
    memset(f->pieces[0].iov_base, 1, sample.length);
    pvmc_frame_unref(f);
    empty = pvmc_frame_alloc(&(struct pvmc_frame_header){0});
    ck_assert_uint_eq(empty->piece_count, 0);
    pvmc_frame_unref(empty);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(shared_frames_differ_in_their_header_only)
{
    struct pvmc_frame_header h = {.length = 10, .body_length = 10, .dst = 1};
    struct pvmc_frame *f = pvmc_frame_alloc(&h), *copy;
    copy = pvmc_frame_share(f);
    copy->h.dst = 2;
    ck_assert_uint_eq(f->h.dst, 1);
    ck_assert_ptr_eq(copy->mem, f->mem);
    ck_assert_uint_eq(f->mem->refs, 2);
    ck_assert_ptr_eq(copy->pieces[0].iov_base, f->pieces[0].iov_base);
    pvmc_frame_unref(f);
    memset(copy->pieces[0].iov_base, 7, 10);
    pvmc_frame_unref(copy);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(in_place_frames_are_shared_by_copy)
{
    char user[] = "abcdefghij";
    struct pvmc_frame *f = pvmc_frame_new(&(struct pvmc_frame_header){.length = 6, .body_length = 6}, NULL), *copy;
    pvmc_frame_add_piece(f, user + 1, 2);
    pvmc_frame_add_piece(f, user + 6, 4);
    copy = pvmc_frame_share(f);
    pvmc_frame_unref(f);
    memset(user, 'x', 10);
    ck_assert_uint_eq(copy->piece_count, 1);
    ck_assert_uint_eq(copy->pieces[0].iov_len, 6);
    ck_assert_mem_eq(copy->pieces[0].iov_base, "bcghij", 6);
    pvmc_frame_unref(copy);
}
END_TEST

START_TEST(many_frames_come_and_go)
{
    enum { COUNT = 500 };
    struct pvmc_frame *frames[COUNT];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            frames[i] = pvmc_frame_alloc(&(struct pvmc_frame_header){.length = 8, .body_length = 8, .seq = i});
            memcpy(frames[i]->pieces[0].iov_base, &frames[i], sizeof frames[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            ck_assert_uint_eq(frames[i]->h.seq, i);
            ck_assert_uint_eq(frames[i]->refs, 1);
            ck_assert_mem_eq(frames[i]->pieces[0].iov_base, &frames[i], sizeof frames[i]);
            pvmc_frame_unref(frames[i]);
        }
    }
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

UNIT_MAIN("frame", encoding_gives_the_documented_bytes, decoding_reads_them_back, foreign_bytes_are_refused,
          lengths_must_agree, streams_tell_their_length_at_the_end, the_last_frame_is_known, a_frame_keeps_its_memory,
          a_received_frame_has_room, shared_frames_differ_in_their_header_only, in_place_frames_are_shared_by_copy,
          many_frames_come_and_go)
