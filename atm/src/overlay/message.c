/* message.c - messages of the overlay to octets and back. */
#include "message.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"
#include "network/signal.h"

enum { VERSION = 1, SEQUENCE_BITS = 24 };

const char *pvma_overlay_type_name(enum pvma_overlay_type type)
{
    static const char *const names[] = {"?",     "DATA",    "ACK",     "RESOLVE", "ADDRESS",
                                        "SETUP", "CONNECT", "RELEASE", "RELEASED"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "?";
}

/* ---- writing ---- */

static void put_route(struct pvmc_buf *b, const struct pvma_overlay_message *m)
{
    pvmc_buf_put_u32(b, m->number);
    pvma_signal_put_address(b, m->caller);
    pvma_signal_put_address(b, m->called);
    pvmc_buf_put_u16(b, m->origin);
    pvmc_buf_put_u16(b, m->server);
    pvmc_buf_put_u16(b, m->hops);
    pvmc_buf_put_u8(b, m->turned);
    pvmc_buf_put_u8(b, m->second);
}

static void put_body(struct pvmc_buf *b, const struct pvma_overlay_message *m)
{
    switch (m->type) {
    case PVMA_OVERLAY_RESOLVE:
        put_route(b, m);
        break;
    case PVMA_OVERLAY_ADDRESS:
        put_route(b, m);
        pvmc_buf_put_u8(b, m->direct);
        pvmc_buf_put_u8(b, m->cause);
        break;
    case PVMA_OVERLAY_SETUP:
        put_route(b, m);
        pvmc_buf_put_u32(b, m->asap);
        pvma_signal_put_contract(b, &m->contract);
        break;
    case PVMA_OVERLAY_CONNECT:
        pvmc_buf_put_u16(b, m->hops);
        pvma_signal_put_contract(b, &m->contract);
        break;
    case PVMA_OVERLAY_RELEASE:
        pvmc_buf_put_u8(b, m->cause);
        break;
    case PVMA_OVERLAY_DATA:
    case PVMA_OVERLAY_ACK:
    case PVMA_OVERLAY_RELEASED:
        break;
    }
}

size_t pvma_overlay_encode(const struct pvma_overlay_message *m, uint8_t wire[PVMA_OVERLAY_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u8(&b, (uint8_t)m->type);
    pvmc_buf_put_u16(&b, m->mid);
    pvmc_buf_put_u32(&b, (uint32_t)m->epoch << SEQUENCE_BITS | (m->sequence & PVMA_OVERLAY_SEQUENCE));
    put_body(&b, m);
    size_t length = b.length; /* the longest, SETUP, has 124 octets */
    if (length && !pvmc_buf_error(&b))
        memcpy(wire, b.data, length);
    pvmc_buf_free(&b);
    return length;
}

/* ---- reading ---- */

static bool get_flag(struct pvmc_buf *b, bool *flag)
{
    uint8_t value = pvmc_buf_get_u8(b);
    *flag = value;
    return value <= 1;
}

static bool get_route(struct pvmc_buf *b, struct pvma_overlay_message *m)
{
    m->number = pvmc_buf_get_u32(b);
    m->caller = pvma_signal_get_address(b);
    m->called = pvma_signal_get_address(b);
    m->origin = pvmc_buf_get_u16(b);
    m->server = pvmc_buf_get_u16(b);
    m->hops = pvmc_buf_get_u16(b);
    bool good = get_flag(b, &m->turned);
    return get_flag(b, &m->second) && good;
}

/* Reads the part that depends on the type; false for a value that no message has. */
static bool get_body(struct pvmc_buf *b, struct pvma_overlay_message *m)
{
    bool good = true;
    switch (m->type) {
    case PVMA_OVERLAY_RESOLVE:
        return get_route(b, m);
    case PVMA_OVERLAY_ADDRESS:
        good = get_route(b, m);
        good = get_flag(b, &m->direct) && good;
        m->cause = pvmc_buf_get_u8(b);
        return good;
    case PVMA_OVERLAY_SETUP:
        good = get_route(b, m);
        m->asap = pvmc_buf_get_u32(b);
        return pvma_signal_get_contract(b, &m->contract) && good && m->mid;
    case PVMA_OVERLAY_CONNECT:
        m->hops = pvmc_buf_get_u16(b);
        return pvma_signal_get_contract(b, &m->contract) && m->mid;
    case PVMA_OVERLAY_RELEASE:
        m->cause = pvmc_buf_get_u8(b);
        return m->mid;
    case PVMA_OVERLAY_RELEASED:
        return m->mid;
    case PVMA_OVERLAY_ACK:
        return true;
    case PVMA_OVERLAY_DATA:
        break;
    }
    return false;
}

int pvma_overlay_decode(struct pvma_overlay_message *m, const uint8_t *wire, size_t length)
{
    struct pvmc_buf b;
    memset(m, 0, sizeof *m);
    pvmc_buf_view(&b, wire, length);
    if (pvmc_buf_get_u8(&b) != VERSION)
        return length ? PVMC_EVERSION : PVMC_ESHORT;
    m->type = (enum pvma_overlay_type)pvmc_buf_get_u8(&b);
    m->mid = pvmc_buf_get_u16(&b);
    uint32_t word = pvmc_buf_get_u32(&b);
    m->epoch = (uint8_t)(word >> SEQUENCE_BITS);
    m->sequence = word & PVMA_OVERLAY_SEQUENCE;
    if (m->type == PVMA_OVERLAY_DATA)
        return pvmc_buf_error(&b) ? pvmc_buf_error(&b) : m->mid ? 0 : PVMC_EFORMAT;
    bool good = get_body(&b, m);
    int error = pvmc_buf_end(&b);
    return error ? error : good ? 0 : PVMC_EFORMAT;
}
