/*
 * fuzz_dp.c - Directed Messages: frames of any kind from the network to an endpoint of libdp, raw or reliable, which
 * writes and reads meanwhile.
 *
 * Input: a byte with the mode, then records { choice, length, bytes }. Most bytes form frames with valid headers and
 * checksums, since nothing else passes; some are used as whole frames.
 */
#include <string.h>
#include "dp/src/net/discovery.h"
#include "dp/src/net/hello.h"
#include "wire/reliable/state.h"
#include "dp.h"
#include "dp_port.h"

enum { RECORDS_MAX = 48, PEERS = 3 };

static const uint8_t peer_hardware[6] = {2, 0, 0, 0, 0, 7};

static struct dpi_endpoint *endpoint;

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* ---- a decoded frame lies within its bytes ---- */

static void check_decoder(const uint8_t *frame, size_t length)
{
    struct dpi_message m;
    if (dpi_message_decode(frame, length, &m))
        return;
    MUST(length >= DPI_HEADERS_BYTES && m.length <= length - DPI_HEADERS_BYTES);
    MUST(m.kind >= DPI_DATA && m.kind <= DPI_HELLO);
}

/* ---- frames of peers ---- */

static size_t make_headers(uint8_t *frame, enum dpi_kind kind, uint8_t choice, size_t length)
{
    struct dpi_message m = {.kind = kind,
                            .to = {fuzz_node(), FUZZ_NODE_POINT},
                            .from = {(uint16_t)(60001 + choice % PEERS), 9},
                            .length = (uint16_t)length};
    dpi_message_encode(&m, DPI_ETHERTYPE, fuzz_hardware, peer_hardware, frame);
    return DPI_HEADERS_BYTES + length;
}

static size_t make_discovery(uint8_t *frame, uint8_t choice)
{
    enum { CHECKSUM_AT = 8 };
    size_t length = make_headers(frame, choice & 4 ? DPI_WHO : DPI_HERE, choice, DPI_DISCOVERY_BYTES);
    uint8_t *body = frame + DPI_HEADERS_BYTES;
    memset(body, 0, DPI_DISCOVERY_BYTES);
    memcpy(body, peer_hardware, sizeof peer_hardware);
    put32(body + CHECKSUM_AT, dpi_discovery_checksum(frame, CHECKSUM_AT));
    return length;
}

/* The peers' number is 5; ours is the one that we announced. */
static size_t make_hello(uint8_t *frame, uint8_t choice, struct fuzz_input *in)
{
    enum { FLAGS_AT = 8, CHECKSUM_AT = 12 };
    size_t length = make_headers(frame, DPI_HELLO, choice, DPI_HELLO_BYTES);
    uint8_t *body = frame + DPI_HEADERS_BYTES;
    memset(body, 0, DPI_HELLO_BYTES);
    put32(body, 5u + (choice >> 4 & 1));
    body[FLAGS_AT] = fuzz_byte(in) & 31;
    put32(body + 4, choice & 4 ? fuzz_hello_sent() : fuzz_byte(in));
    put32(body + CHECKSUM_AT, dpi_discovery_checksum(frame, CHECKSUM_AT));
    return length;
}

/* A packet of the reliability layer, with valid checksum and incarnations. */
static size_t make_packet(uint8_t *frame, uint8_t choice, struct fuzz_input *in)
{
    uint8_t *packet = frame + DPI_HEADERS_BYTES;
    uint32_t own = fuzz_hello_sent();
    struct packet_header h = {.to = own, .from = 5};
    h.flags = fuzz_byte(in);
    h.number = h.from + (uint32_t)(int8_t)fuzz_byte(in);
    h.ack = own + (uint32_t)(int8_t)fuzz_byte(in);
    h.limit = own + fuzz_byte(in);
    pvmw_reliable_encode(&h, packet);
    if (in->left)
        memcpy(packet + PVMW_RELIABLE_HEADER_BYTES, in->data, in->left);
    struct iovec payload = {packet + PVMW_RELIABLE_HEADER_BYTES, in->left};
    h.checksum = pvmw_reliable_checksum(packet, &payload, 1);
    pvmw_reliable_encode(&h, packet);
    return make_headers(frame, DPI_RELIABLE, choice, PVMW_RELIABLE_HEADER_BYTES + in->left);
}

static void arrive(uint8_t choice, const uint8_t *bytes, size_t length)
{
    uint8_t frame[FUZZ_FRAME_MAX];
    struct fuzz_input in = {bytes, length};
    size_t made = 0;
    switch (choice >> 5 & 3) {
    case 0:
        made = make_discovery(frame, choice);
        break;
    case 1:
        made = make_hello(frame, choice, &in);
        break;
    case 2:
        made = make_packet(frame, choice, &in);
        break;
    default:
        made = make_headers(frame, DPI_DATA, choice, length);
        if (length)
            memcpy(frame + DPI_HEADERS_BYTES, bytes, length);
    }
    fuzz_port_put(frame, made);
}

/* ---- the program ---- */

static int read_one(int call, char **message)
{
    int node, point;
    return call == 0   ? dp_try(endpoint->fd, message)
           : call == 1 ? dp_read(endpoint->fd, message)
                       : dp_read_from(endpoint->fd, message, &node, &point);
}

static void read_all(bool keeps)
{
    static volatile char sink;
    char *message;
    for (int i = 0; i < 64; i++) {
        int length = read_one(i % 3, &message);
        if (length < 0)
            break;
        if (length)
            sink = sink ^ message[0] ^ message[length - 1];
        if (!keeps)
            dp_fsync(endpoint->fd, 1);
    }
}

static void do_record(uint8_t choice, const uint8_t *bytes, size_t length)
{
    static const char data[4 * 255];
    switch (choice & 15) {
    case 12:
        check_decoder(bytes, length);
        fuzz_port_put(bytes, length);
        break;
    case 13:
        dp_target(endpoint->fd, 60001 + length % PEERS, 9);
        dp_write(endpoint->fd, data, (int)(length * 4));
        break;
    case 14:
        read_all(length & 1);
        break;
    case 15:
        dp_work(endpoint->fd);
        break;
    default:
        arrive(choice, bytes, length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int modes[] = {DP_RAW, DP_RELIABLE, DP_GO_BACK_N, DP_RELIABLE};
    struct fuzz_input in = {data, size};
    endpoint = fuzz_endpoint_open(modes[fuzz_byte(&in) % 4]);
    for (int i = 0; i < RECORDS_MAX && in.left; i++) {
        uint8_t choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        do_record(choice, in.data, length);
        in.data += length;
        in.left -= length;
    }
    read_all(true);
    fuzz_endpoint_close(endpoint);
    return 0;
}
