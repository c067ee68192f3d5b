/*
 * end_tcp.c - ends over a TCP connection: the bare socket, Sun RPC and PVM's direct route. See end.h.
 *
 * RPC: RFC 1057's headers and record marking, in fragments of the library's buffer. PVM: a message is split into
 * fragments as for the daemons, each with a header. Each fragment is a write() of its own.
 */
#include <stdlib.h>
#include <string.h>
#include "end.h"

enum {
    RPC_BUFFER = 4000, /* sendsize of clnttcp_create(): 0 means 4000 */
    RPC_MARK = 4,
    RPC_HEADER = 40, /* of a call without credentials; an answer's 24 are treated alike */
    PVM_HEADER = 16,
};

struct end_tcp {
    struct pvma_end end;
    struct pvma_tcp tcp;
    uint32_t fragment_bytes; /* of PVM's data */
};

static struct end_tcp *tcp_of(struct pvma_end *end)
{
    return PVMA_OF(end, struct end_tcp, end);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void free_end(struct pvma_end *end)
{
    pvma_tcp_free(&tcp_of(end)->tcp);
    free(tcp_of(end));
}

static void use(struct pvma_tcp *tcp, struct pvma_price price, uint32_t bytes)
{
    pvma_cpu_use(&tcp->station->cpu, pvma_price_of(price, bytes));
}

/* ---- socket ---- */

static void socket_send(struct pvma_end *end, const void *data, uint32_t length)
{
    pvma_tcp_write(&tcp_of(end)->tcp, data, length);
}

static void socket_receive(struct pvma_end *end, void *data, uint32_t length)
{
    pvma_tcp_read(&tcp_of(end)->tcp, data, length);
}

/* ---- Sun RPC ---- */

static void put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* Writes a record: header and arguments, each item padded to 4 bytes, in fragments that begin with their length. */
static void rpc_send(struct pvma_end *end, const void *data, uint32_t length)
{
    struct pvma_tcp *tcp = &tcp_of(end)->tcp;
    uint32_t total = RPC_HEADER + (length + 3) / 4 * 4, room = RPC_BUFFER - RPC_MARK;
    uint8_t *record = pvma_new(total), fragment[RPC_BUFFER];

    memcpy(record + RPC_HEADER, data, length);
    use(tcp, (struct pvma_price){tcp->station->costs.rpc_call.fixed_us, 0}, 0);
    for (uint32_t at = 0; at < total; at += room) {
        uint32_t piece = least(room, total - at);

        put32(fragment, piece | (at + piece == total ? 1u << 31 : 0));
        memcpy(fragment + RPC_MARK, record + at, piece);
        use(tcp, (struct pvma_price){0, tcp->station->costs.rpc_call.byte_us}, piece);
        pvma_tcp_write(tcp, fragment, RPC_MARK + piece);
    }
    free(record);
}

static void rpc_receive(struct pvma_end *end, void *data, uint32_t length)
{
    struct pvma_tcp *tcp = &tcp_of(end)->tcp;
    uint32_t total = RPC_HEADER + (length + 3) / 4 * 4, room = RPC_BUFFER - RPC_MARK;
    uint8_t *record = pvma_new(total), mark[RPC_MARK];

    for (uint32_t at = 0; at < total; at += room) {
        uint32_t piece = least(room, total - at);

        pvma_tcp_read(tcp, mark, RPC_MARK);
        pvma_tcp_read(tcp, record + at, piece);
        use(tcp, (struct pvma_price){0, tcp->station->costs.rpc_reply.byte_us}, piece);
    }
    use(tcp, (struct pvma_price){tcp->station->costs.rpc_reply.fixed_us, 0}, 0);
    memcpy(data, record + RPC_HEADER, length);
    free(record);
}

/* ---- PVM, direct ---- */

static void pvm_send(struct pvma_end *end, const void *data, uint32_t length)
{
    struct pvma_tcp *tcp = &tcp_of(end)->tcp;
    uint32_t room = tcp_of(end)->fragment_bytes, at = 0;
    uint8_t *fragment = pvma_new(PVM_HEADER + room);

    use(tcp, tcp->station->costs.pvm_send, length);
    if (length > 0)
        use(tcp, tcp->station->costs.pvm_data, 0);
    do {
        uint32_t piece = least(room, length - at);

        memcpy(fragment + PVM_HEADER, (const uint8_t *)data + at, piece);
        use(tcp, tcp->station->costs.pvm_fragment, 0);
        pvma_tcp_write(tcp, fragment, PVM_HEADER + piece);
        at += piece;
    } while (at < length);
    free(fragment);
}

static void pvm_receive(struct pvma_end *end, void *data, uint32_t length)
{
    struct pvma_tcp *tcp = &tcp_of(end)->tcp;
    uint32_t room = tcp_of(end)->fragment_bytes, at = 0;

    do {
        uint32_t piece = least(room, length - at);

        pvma_tcp_read(tcp, NULL, PVM_HEADER);
        pvma_tcp_read(tcp, (uint8_t *)data + at, piece);
        use(tcp, tcp->station->costs.pvm_fragment, 0);
        at += piece;
    } while (at < length);
    if (length > 0)
        use(tcp, tcp->station->costs.pvm_data, 0);
    use(tcp, tcp->station->costs.pvm_receive, length);
}

/* ---- construction ---- */

static void make(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                 const struct pvma_end *calls, struct pvma_end **a, struct pvma_end **b)
{
    struct end_tcp *one = pvma_new(sizeof *one), *two = pvma_new(sizeof *two);

    pvma_tcp_connect(&one->tcp, on_a, settings, &two->tcp, on_b, settings);
    one->end = two->end = *calls;
    *a = &one->end;
    *b = &two->end;
}

void pvma_end_tcp(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                  struct pvma_end **a, struct pvma_end **b)
{
    make(on_a, on_b, settings, &(struct pvma_end){socket_send, socket_receive, free_end}, a, b);
}

void pvma_end_rpc(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                  struct pvma_end **a, struct pvma_end **b)
{
    make(on_a, on_b, settings, &(struct pvma_end){rpc_send, rpc_receive, free_end}, a, b);
}

void pvma_end_pvm_direct(struct pvma_station *on_a, struct pvma_station *on_b, const struct pvma_tcp_settings *settings,
                         uint32_t fragment_bytes, struct pvma_end **a, struct pvma_end **b)
{
    make(on_a, on_b, settings, &(struct pvma_end){pvm_send, pvm_receive, free_end}, a, b);
    tcp_of(*a)->fragment_bytes = tcp_of(*b)->fragment_bytes = fragment_bytes;
}

struct pvma_tcp *pvma_end_socket(struct pvma_end *end)
{
    return &tcp_of(end)->tcp;
}
