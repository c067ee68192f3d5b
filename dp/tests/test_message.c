/* test_message.c - the format of Directed Messages. */
#include "core/error.h"
#include "dp/src/frames/message.h"
#include "unit.h"

static const uint8_t to[6] = {2, 0, 0, 0, 0, 1}, from[6] = {2, 0, 0, 0, 0, 2};
static const struct dpi_message message = {
    .kind = DPI_DATA, .to = {0x1234, 0x5678}, .from = {0x0102, 0x0304}, .length = 5};
static const uint8_t golden[DPI_HEADERS_BYTES + 5] = {2, 0,    0,    0, 0,   1,   2,   0,    0,    0,    0,
                                                      2, 0x88, 0xb5, 1, 1,   0,   5,   0x12, 0x34, 0x56, 0x78,
                                                      1, 2,    3,    4, 'h', 'e', 'l', 'l',  'o'};

START_TEST(golden_bytes)
{
    uint8_t wire[DPI_HEADERS_BYTES];
    dpi_message_encode(&message, DPI_ETHERTYPE, to, from, wire);
    ck_assert_mem_eq(wire, golden, sizeof wire);
}
END_TEST

START_TEST(what_is_written_is_read)
{
    struct dpi_message m;
    ck_assert_int_eq(dpi_message_decode(golden, sizeof golden, &m), 0);
    ck_assert_int_eq(m.kind, message.kind);
    ck_assert_uint_eq(m.to.node, 0x1234);
    ck_assert_uint_eq(m.to.point, 0x5678);
    ck_assert_uint_eq(m.from.node, 0x0102);
    ck_assert_uint_eq(m.from.point, 0x0304);
    ck_assert_uint_eq(m.length, 5);
}
END_TEST

START_TEST(malformed_frames_are_refused)
{
    struct dpi_message m;
    uint8_t frame[sizeof golden];
    for (size_t length = 0; length < sizeof golden; length++)
        ck_assert_int_eq(dpi_message_decode(golden, length, &m), PVMC_EFORMAT);
    memcpy(frame, golden, sizeof frame);
    frame[DPI_ETHERNET_BYTES] = 2;
    ck_assert_int_eq(dpi_message_decode(frame, sizeof frame, &m), PVMC_EVERSION);
    for (unsigned kind = 0; kind < 256; kind++) {
        memcpy(frame, golden, sizeof frame);
        frame[DPI_ETHERNET_BYTES + 1] = (uint8_t)kind;
        bool known = kind >= DPI_DATA && kind <= DPI_HELLO;
        ck_assert_int_eq(dpi_message_decode(frame, sizeof frame, &m), known ? 0 : PVMC_EFORMAT);
    }
}
END_TEST

/* Short frames are padded on the wire. */
START_TEST(padding_is_not_data)
{
    uint8_t frame[60] = {0};
    struct dpi_message m;
    memcpy(frame, golden, sizeof golden);
    ck_assert_int_eq(dpi_message_decode(frame, sizeof frame, &m), 0);
    ck_assert_uint_eq(m.length, 5);
}
END_TEST

UNIT_MAIN("dp_message", golden_bytes, what_is_written_is_read, malformed_frames_are_refused, padding_is_not_data)
