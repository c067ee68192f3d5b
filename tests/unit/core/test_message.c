/* test_message.c - messages cut into frames and reassembled. */
#include "core/error.h"
#include "core/log.h"
#include "core/message/message.h"
#include "tests/unit/unit.h"
#include "pvm3.h"

static size_t in_use(void)
{
    size_t used, cached;
    pvmc_mem_usage(&used, &cached);
    return used;
}

static struct pvmc_message *new_message(uint32_t enc)
{
    struct pvmc_message *m = pvmc_message_new(enc);
    m->src = 0x40001;
    m->dst = 0x80002;
    m->tag = 42;
    m->ctx = 7;
    m->wid = 9;
    m->crc = 11;
    return m;
}

/* Cuts m into frames and builds the receiver's message; *frames is the number of frames. */
static struct pvmc_message *carry(struct pvmc_message *m, size_t payload_max, unsigned *frames)
{
    struct pvmc_message *got = NULL;
    uint64_t offset = 0, bytes = pvmc_message_bytes(m);
    *frames = 0;
    do {
        uint8_t wire[PVMC_FRAME_HEADER_BYTES];
        struct pvmc_frame_header h;
        struct pvmc_frame *f = pvmc_message_frame(m, offset, payload_max, 100 + *frames);
        pvmc_frame_encode(&f->h, wire);
        ck_assert_int_eq(pvmc_frame_decode(wire, &h), 0);
        ck_assert_uint_le(h.length, payload_max);
        ck_assert_uint_le(f->piece_count, PVMC_FRAME_PIECES_MAX);
        ck_assert_uint_eq(h.seq, 100 + *frames);
        ck_assert_uint_eq(h.offset, offset);
        if (!got)
            got = pvmc_message_from_header(&h);
        size_t done = 0;
        for (unsigned i = 0; i < f->piece_count; i++) {
            ck_assert_uint_gt(f->pieces[i].iov_len, 0);
            memcpy(got->mem->data + offset + done, f->pieces[i].iov_base, f->pieces[i].iov_len);
            done += f->pieces[i].iov_len;
        }
        ck_assert_uint_eq(done, h.length);
        offset += h.length;
        ck_assert_int_eq(pvmc_frame_is_last(&h), offset == bytes);
        pvmc_frame_unref(f);
        ++*frames;
    } while (offset < bytes);
    return got;
}

static void expect_same_header(const struct pvmc_message *a, const struct pvmc_message *b)
{
    ck_assert_uint_eq(a->src, b->src);
    ck_assert_uint_eq(a->dst, b->dst);
    ck_assert_int_eq(a->tag, b->tag);
    ck_assert_uint_eq(a->ctx, b->ctx);
    ck_assert_int_eq(a->wid, b->wid);
    ck_assert_int_eq(a->crc, b->crc);
    ck_assert_uint_eq(a->dsig, b->dsig);
}

START_TEST(a_new_message_is_empty)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    ck_assert_uint_eq(m->refs, 1);
    ck_assert_uint_eq(m->enc, PVMC_ENC_DEFAULT);
    ck_assert_uint_eq(m->dsig, pvmc_dsig_own());
    ck_assert_uint_eq(pvmc_message_bytes(m), 0);
    ck_assert_ptr_eq(pvmc_message_ref(m), m);
    pvmc_message_unref(m);
    ck_assert_uint_eq(m->refs, 1);
    pvmc_message_unref(m);
    pvmc_message_unref(NULL);
}
END_TEST

START_TEST(an_empty_message_is_one_frame)
{
    static const uint32_t encodings[] = {PVMC_ENC_DEFAULT, PVMC_ENC_INPLACE};
    for (int i = 0; i < 2; i++) {
        unsigned frames;
        struct pvmc_message *m = new_message(encodings[i]), *got = carry(m, 1000, &frames);
        ck_assert_uint_eq(frames, 1);
        ck_assert_uint_eq(got->length, 0);
        ck_assert_ptr_null(got->mem);
        expect_same_header(m, got);
        pvmc_message_unref(m);
        pvmc_message_unref(got);
    }
}
END_TEST

START_TEST(a_body_is_cut_and_put_together)
{
    enum { COUNT = 100000 };
    static int values[COUNT], back[COUNT];
    static const size_t cuts[] = {1000, 4080, 65536, 399999, 400000, 400001, PVMC_FRAME_PAYLOAD_MAX};
    for (int i = 0; i < COUNT; i++)
        values[i] = i * 3;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        unsigned frames;
        struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
        ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, values, COUNT, 1), 0);
        struct pvmc_message *got = carry(m, cuts[i], &frames);
        ck_assert_uint_eq(frames, (sizeof values + cuts[i] - 1) / cuts[i]);
        ck_assert_uint_eq(got->enc, PVMC_ENC_DEFAULT);
        expect_same_header(m, got);
        memset(back, 0, sizeof back);
        ck_assert_int_eq(pvmc_message_unpack(got, PVM_INT, back, COUNT, 1), 0);
        ck_assert_mem_eq(values, back, sizeof values);
        pvmc_message_unref(m);
        pvmc_message_unref(got);
        ck_assert_uint_eq(in_use(), 0);
    }
}
END_TEST

START_TEST(a_frame_is_never_over_its_limit)
{
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
    pvmc_message_room(m, 3 << 20);
    static const size_t limits[] = {1, PVMC_FRAME_PAYLOAD_MAX, (3 << 20) - 1, 3 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct pvmc_frame *f = pvmc_message_frame(m, 0, limits[i], 0);
        ck_assert_uint_eq(f->h.length, limits[i] < 3 << 20 ? limits[i] : 3 << 20);
        pvmc_frame_unref(f);
    }
    pvmc_message_unref(m);
}
END_TEST

START_TEST(frames_outlive_their_message)
{
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
    pvmc_message_pack_bytes(m, "hello", 5);
    struct pvmc_frame *f = pvmc_message_frame(m, 0, 100, 0);
    pvmc_message_unref(m);
    ck_assert_mem_eq(f->pieces[0].iov_base, "hello", 5);
    pvmc_frame_unref(f);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(packing_after_sending_leaves_frames_alone)
{
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
    pvmc_message_pack_bytes(m, "hello", 5);
    struct pvmc_frame *f = pvmc_message_frame(m, 0, 100, 0);
    uint8_t *sent = f->pieces[0].iov_base;
    pvmc_message_pack_bytes(m, " world", 6);
    ck_assert_ptr_eq(f->pieces[0].iov_base, sent);
    ck_assert_mem_eq(sent, "hello", 5);
    ck_assert_ptr_ne(m->mem, f->mem);
    ck_assert_mem_eq(m->mem->data, "hello world", 11);
    pvmc_frame_unref(f);
    pvmc_message_unref(m);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(in_place_data_is_sent_from_where_it_is)
{
    double user[4] = {1, 2, 3, 4}, got[4];
    unsigned frames;
    struct pvmc_message *m = new_message(PVMC_ENC_INPLACE);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_DOUBLE, user, 4, 1), 0);
    ck_assert_uint_eq(m->inplace_length, sizeof user);
    ck_assert_uint_eq(m->length, 0);
    user[2] = 33; /* in-place data is read when sent, not when packed */
    struct pvmc_frame *f = pvmc_message_frame(m, 0, 1000, 0);
    ck_assert_ptr_eq(f->pieces[0].iov_base, user);
    ck_assert_ptr_null(f->mem);
    pvmc_frame_unref(f);
    struct pvmc_message *received = carry(m, 1000, &frames);
    ck_assert_uint_eq(received->enc, pvmc_dsig_own()); /* arrives as raw */
    ck_assert_int_eq(pvmc_message_unpack(received, PVM_DOUBLE, got, 4, 1), 0);
    ck_assert_mem_eq(got, user, sizeof user);
    pvmc_message_unref(m);
    pvmc_message_unref(received);
}
END_TEST

START_TEST(in_place_segments_are_cut_into_frames)
{
    enum { COUNT = 1000 };
    static uint8_t user[COUNT * 20], expected[COUNT * 20];
    static const size_t cuts[] = {1, 7, 64, 100, 5000, 1000000};
    for (size_t i = 0; i < sizeof user; i++)
        user[i] = (uint8_t)(i % 251);
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        struct pvmc_message *m = new_message(PVMC_ENC_INPLACE);
        size_t length = 0;
        unsigned frames;
        for (int i = 0; i < COUNT; i++) {
            int part = 1 + i % 19; /* at most 19 of 20: no two segments adjoin */
            ck_assert_int_eq(pvmc_message_pack(m, PVM_BYTE, user + i * 20, part, 1), 0);
            memcpy(expected + length, user + i * 20, part);
            length += part;
        }
        ck_assert_uint_eq(m->inplace_count, COUNT);
        struct pvmc_message *got = carry(m, cuts[c], &frames);
        ck_assert_uint_eq(got->length, length);
        ck_assert_mem_eq(got->mem->data, expected, length);
        ck_assert_uint_ge(frames, (COUNT + PVMC_FRAME_PIECES_MAX - 1) / PVMC_FRAME_PIECES_MAX);
        pvmc_message_unref(got);
        got = carry(m, cuts[c], &frames); /* to the next receiver: from the beginning */
        ck_assert_mem_eq(got->mem->data, expected, length);
        pvmc_message_unref(got);
        pvmc_message_unref(m);
    }
}
END_TEST

START_TEST(adjoining_segments_are_one)
{
    int user[100];
    struct pvmc_message *m = new_message(PVMC_ENC_INPLACE);
    for (int i = 0; i < 100; i++) {
        user[i] = i;
        ck_assert_int_eq(pvmc_message_pack(m, PVM_INT, user + i, 1, 1), 0);
    }
    ck_assert_uint_eq(m->inplace_count, 1);
    ck_assert_uint_eq(m->inplace_length, sizeof user);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(in_place_segments_are_limited)
{
    char user[4];
    int status = 0;
    unsigned packed = 0;
    struct pvmc_message *m = new_message(PVMC_ENC_INPLACE);
    unit_log_start();
    while (!(status = pvmc_message_pack(m, PVM_BYTE, user + packed % 2 * 2, 1, 1)))
        packed++;
    ck_assert_int_eq(status, PVMC_ELIMIT);
    ck_assert_uint_eq(packed, PVMC_INPLACE_MAX);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_uint_eq(m->inplace_length, packed);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(beyond_4_gib)
{
    uint64_t bytes = ((uint64_t)4 << 30) + 1;
    if (bytes > SIZE_MAX)
        return; /* our own messages stay below this; larger ones from others are refused, see below */
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
    uint8_t *start = pvmc_message_room(m, bytes - 4); /* untouched: it needs address space, not memory */
    if (!start)
        ck_abort_msg("no room for 4 GiB of addresses");
    ck_assert_int_eq(pvmc_message_pack_bytes(m, "tail", 4), 0);
    ck_assert_uint_eq(pvmc_message_bytes(m), bytes);
    struct pvmc_frame *f = pvmc_message_frame(m, bytes - 3, 100, 0);
    ck_assert_uint_eq(f->h.length, 3);
    ck_assert_uint_eq(f->h.body_length, bytes);
    ck_assert_mem_eq(f->pieces[0].iov_base, "ail", 3);
    pvmc_frame_unref(f);
    char text[4];
    m->position = bytes - 4;
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, text, 4, 1), 0);
    ck_assert_mem_eq(text, "tail", 4);
    ck_assert_int_eq(pvmc_message_unpack(m, PVM_BYTE, text, 1, 1), PVMC_ESHORT);
    pvmc_message_unref(m);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(impossible_bodies_are_refused)
{
    unit_log_start();
    ck_assert_ptr_null(pvmc_message_from_header(&(struct pvmc_frame_header){.body_length = UINT64_MAX, .length = 1}));
    ck_assert_int_ge(unit_log.count, 1);
    ck_assert_uint_eq(in_use(), 0);
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
    ck_assert_ptr_null(pvmc_message_room(m, SIZE_MAX));
    if (sizeof(size_t) == 8) /* otherwise the allocation may succeed */
        ck_assert_ptr_null(pvmc_message_room(m, SIZE_MAX / 8));
    ck_assert_uint_eq(m->length, 0);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(in_place_does_not_arrive)
{
    struct pvmc_frame_header h = {.enc = PVMC_ENC_INPLACE, .dsig = 0x0658ef59, .body_length = 4, .length = 4};
    struct pvmc_message *m = pvmc_message_from_header(&h);
    ck_assert(!pvmc_message_is_inplace(m));
    ck_assert_uint_eq(m->enc, h.dsig);
    ck_assert_uint_eq(pvmc_message_bytes(m), 4);
    pvmc_message_unref(m);
}
END_TEST

/* As many views as arrays, all by one reference, which outlives the message. */
START_TEST(a_view_is_where_the_body_is)
{
    double two[2] = {1, 2}, *at = NULL, *again = NULL;
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT);
    pvmc_message_pack(m, PVM_DOUBLE, two, 2, 1);
    pvmc_message_pack(m, PVM_DOUBLE, two, 2, 1);
    struct pvmc_mem *view = pvmc_message_view(m, NULL, PVM_DOUBLE, 2, (void **)&at);
    ck_assert_ptr_nonnull(view);
    ck_assert_ptr_eq(at, m->mem->data);
    ck_assert_ptr_eq(pvmc_message_view(m, view, PVM_DOUBLE, 2, (void **)&again), view);
    ck_assert_ptr_eq(again, at + 2);
    ck_assert_ptr_null(pvmc_message_view(m, view, PVM_DOUBLE, 1, (void **)&again));
    pvmc_message_pack(m, PVM_DOUBLE, two, 1, 1); /* leaves the view alone */
    at[0] = 5;
    pvmc_message_unref(m);
    ck_assert(at[0] == 5 && at[1] == 2);
    ck_assert_uint_gt(in_use(), 0);
    pvmc_mem_unref(view);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

static void no_release(struct pvmc_mem *m)
{
    (void)m;
}

START_TEST(views_of_others_memory_are_refused)
{
    double two[2] = {1, 2};
    void *at;
    struct pvmc_message *m = new_message(PVMC_ENC_INPLACE);
    pvmc_message_pack(m, PVM_DOUBLE, two, 2, 1);
    ck_assert_ptr_null(pvmc_message_view(m, NULL, PVM_DOUBLE, 1, &at));
    pvmc_message_unref(m);

    m = new_message(PVMC_ENC_DEFAULT);
    pvmc_message_pack(m, PVM_BYTE, "123", 3, 1);
    pvmc_message_pack(m, PVM_DOUBLE, two, 2, 1);
    struct pvmc_message *twin = pvmc_message_twin(m, PVMC_ENC_DEFAULT);
    pvmc_message_share(twin, m);
    ck_assert_ptr_null(pvmc_message_view(m, NULL, PVM_BYTE, 1, &at));
    pvmc_message_unref(twin);
    m->mem->release = no_release; /* it is another task's */
    ck_assert_ptr_null(pvmc_message_view(m, NULL, PVM_BYTE, 1, &at));
    m->mem->release = NULL;
    ck_assert_ptr_null(pvmc_message_view(m, NULL, PVM_BYTE, -1, &at));
    ck_assert_ptr_null(pvmc_message_view(m, NULL, PVM_STR, 1, &at));
    struct pvmc_mem *view = pvmc_message_view(m, NULL, PVM_BYTE, 3, &at);
    ck_assert_ptr_nonnull(view);
    ck_assert_ptr_null(pvmc_message_view(m, view, PVM_DOUBLE, 1, &at)); /* misaligned */
    m->position = 0;
    m->dsig ^= 1;
    ck_assert_ptr_null(pvmc_message_view(m, view, PVM_INT, 1, &at)); /* to be converted */
    ck_assert_uint_eq(m->position, 0);
    pvmc_message_unref(m);
    pvmc_mem_unref(view);
}
END_TEST

static unsigned items_of(struct pvmc_message *m)
{
    struct pvmc_frame *f = pvmc_message_frame(m, 0, 1000, 1);
    unsigned bytes = f->items & -f->items; /* the smallest */
    pvmc_frame_unref(f);
    return bytes;
}

START_TEST(frames_tell_the_size_of_items)
{
    double x[4] = {0};
    struct pvmc_message *m = new_message(PVMC_ENC_DEFAULT), *inplace = new_message(PVMC_ENC_INPLACE);
    ck_assert_uint_eq(items_of(m), 0); /* nobody knows */
    ck_assert_int_eq(pvmc_message_pack(m, PVM_DCPLX, x, 2, 1), 0);
    ck_assert_uint_eq(items_of(m), 16);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_DOUBLE, x, 4, 1), 0);
    ck_assert_uint_eq(items_of(m), 8);
    ck_assert(pvmc_message_append(m, x, 4, 4));
    ck_assert_uint_eq(items_of(m), 4);
    ck_assert_int_eq(pvmc_message_pack(m, PVM_BYTE, x, 1, 1), 0);
    ck_assert_uint_eq(items_of(m), 1);
    pvmc_message_renew(m, PVMC_ENC_DEFAULT);
    ck_assert_uint_eq(items_of(m), 0);
    ck_assert_int_eq(pvmc_message_pack_string(m, "ab"), 0); /* what follows begins at any byte */
    ck_assert_uint_eq(items_of(m), 1);
    pvmc_message_renew(m, PVMC_ENC_DEFAULT);
    ck_assert_int_eq(pvmc_message_pack_bytes(m, x, 3), 0);
    ck_assert_uint_eq(items_of(m), 1);
    ck_assert_int_eq(pvmc_message_pack(inplace, PVM_DOUBLE, x, 4, 1), 0);
    ck_assert_uint_eq(items_of(inplace), 8);
    pvmc_message_unref(m);
    pvmc_message_unref(inplace);
}
END_TEST

UNIT_MAIN("message", frames_tell_the_size_of_items, a_new_message_is_empty, an_empty_message_is_one_frame,
          a_body_is_cut_and_put_together, a_frame_is_never_over_its_limit, frames_outlive_their_message,
          packing_after_sending_leaves_frames_alone, in_place_data_is_sent_from_where_it_is,
          in_place_segments_are_cut_into_frames, adjoining_segments_are_one, in_place_segments_are_limited,
          beyond_4_gib, impossible_bodies_are_refused, in_place_does_not_arrive, a_view_is_where_the_body_is,
          views_of_others_memory_are_refused)
