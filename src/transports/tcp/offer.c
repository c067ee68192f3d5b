/* offer.c - offers, hellos and welcomes: their bytes, their secrets. */
#include "offer.h"
#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/log.h"

#define VERSION      2
#define FLAG_TLS     1           /* of a hello or welcome */
#define FLAG_TRUSTED 1           /* of an address */
#define HELLO        0x48545644u /* "DVTH" */
#define WELCOME      0x57545644u /* "DVTW" */

/* ---- the offer ---- */

static void put_address(struct pvmc_buf *b, const union pvmw_address *a, bool trusted)
{
    const uint8_t *bytes;
    size_t n = pvmw_address_number(a, &bytes);
    pvmc_buf_put_u8(b, n == 4 ? 4 : 6);
    pvmc_buf_put_u8(b, trusted ? FLAG_TRUSTED : 0);
    pvmc_buf_put_u16(b, pvmw_address_port(a));
    pvmc_buf_put_u32(b, n == 4 ? 0 : a->v6.sin6_scope_id);
    pvmc_buf_put_bytes(b, bytes, n);
}

int pvmt_tcp_offer_encode(const struct pvmt_tcp_offer *o, uint8_t blob[PVMT_OFFER_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, VERSION);
    pvmc_buf_put_u8(&b, (uint8_t)o->mode);
    pvmc_buf_put_u16(&b, (uint16_t)o->count);
    pvmc_buf_put_bytes(&b, o->host, sizeof o->host);
    pvmc_buf_put_bytes(&b, o->ticket.id, sizeof o->ticket.id);
    pvmc_buf_put_bytes(&b, o->ticket.secret, sizeof o->ticket.secret);
    for (unsigned i = 0; i < o->count; i++)
        put_address(&b, &o->addresses[i], o->trusted[i]);
    int rc = pvmc_buf_error(&b) ? pvmc_buf_error(&b) : b.length > PVMT_OFFER_MAX ? PVMC_ELIMIT : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    if (b.data)
        explicit_bzero(b.data, b.length);
    pvmc_buf_free(&b);
    return rc;
}

static int get_address(struct pvmc_buf *b, union pvmw_address *a, bool *trusted)
{
    uint8_t family = pvmc_buf_get_u8(b), flags = pvmc_buf_get_u8(b);
    uint16_t port = pvmc_buf_get_u16(b);
    uint32_t scope = pvmc_buf_get_u32(b);
    memset(a, 0, sizeof *a);
    *trusted = flags & FLAG_TRUSTED;
    if ((family != 4 && family != 6) || flags & ~FLAG_TRUSTED || !port)
        return PVMC_EFORMAT;
    if (family == 4) {
        a->v4.sin_family = AF_INET;
        pvmc_buf_get_bytes_to(b, &a->v4.sin_addr, sizeof a->v4.sin_addr);
    } else {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_scope_id = scope;
        pvmc_buf_get_bytes_to(b, &a->v6.sin6_addr, sizeof a->v6.sin6_addr);
    }
    pvmw_address_set_port(a, port);
    return 0;
}

int pvmt_tcp_offer_decode(const uint8_t *blob, size_t length, struct pvmt_tcp_offer *o)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint8_t version = pvmc_buf_get_u8(&b), mode = pvmc_buf_get_u8(&b);
    unsigned count = pvmc_buf_get_u16(&b);
    if (!pvmc_buf_error(&b) && version != VERSION)
        return PVMC_EVERSION;
    if (mode >= PVMT_TCP_TLS_MODES || !count || count > PVMT_TCP_OFFERED_MAX)
        return PVMC_EFORMAT;
    o->mode = mode;
    pvmc_buf_get_bytes_to(&b, o->host, sizeof o->host);
    pvmc_buf_get_bytes_to(&b, o->ticket.id, sizeof o->ticket.id);
    pvmc_buf_get_bytes_to(&b, o->ticket.secret, sizeof o->ticket.secret);
    for (unsigned i = 0; i < count; i++)
        if (get_address(&b, &o->addresses[i], &o->trusted[i]))
            return PVMC_EFORMAT;
    o->count = count;
    return pvmc_buf_end(&b) ? PVMC_EFORMAT : 0;
}

/* ---- hello and welcome ---- */

struct wire_opening {
    uint32_t magic;
    uint8_t version, flags;
    uint16_t zero;
};

static void put_opening(uint8_t *wire, uint32_t magic, bool tls)
{
    struct wire_opening w = {.magic = htole32(magic), .version = VERSION, .flags = tls ? FLAG_TLS : 0};
    memcpy(wire, &w, sizeof w);
}

static int get_opening(const uint8_t *wire, uint32_t magic, bool *tls)
{
    struct wire_opening w;
    memcpy(&w, wire, sizeof w);
    if (le32toh(w.magic) != magic)
        return PVMC_EFORMAT;
    if (w.version != VERSION)
        return PVMC_EVERSION;
    *tls = w.flags & FLAG_TLS;
    return w.flags & ~FLAG_TLS || w.zero ? PVMC_EFORMAT : 0;
}

/* In constant time. */
static bool same_proof(const uint8_t *a, const uint8_t *b)
{
    uint8_t differs = 0;
    for (unsigned i = 0; i < PVMT_TCP_PROOF_BYTES; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}

#define OPENING_BYTES sizeof(struct wire_opening)

_Static_assert(OPENING_BYTES + PVMT_TCP_ID_BYTES + PVMT_TCP_PROOF_BYTES == PVMT_TCP_HELLO_BYTES, "hello");
_Static_assert(OPENING_BYTES + PVMT_TCP_PROOF_BYTES == PVMT_TCP_WELCOME_BYTES, "welcome");
_Static_assert(2 * PVMT_TCP_PROOF_BYTES == PVMT_TCP_TICKET_BYTES, "two halves");

void pvmt_tcp_hello_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMT_TCP_HELLO_BYTES])
{
    memset(wire, 0, PVMT_TCP_HELLO_BYTES);
    put_opening(wire, HELLO, tls);
    memcpy(wire + OPENING_BYTES, t->id, PVMT_TCP_ID_BYTES);
    if (!tls)
        memcpy(wire + OPENING_BYTES + PVMT_TCP_ID_BYTES, t->secret, PVMT_TCP_PROOF_BYTES);
}

int pvmt_tcp_hello_decode(const uint8_t wire[PVMT_TCP_HELLO_BYTES], uint8_t id[PVMT_TCP_ID_BYTES], bool *tls)
{
    memcpy(id, wire + OPENING_BYTES, PVMT_TCP_ID_BYTES);
    return get_opening(wire, HELLO, tls);
}

bool pvmt_tcp_hello_proves(const uint8_t wire[PVMT_TCP_HELLO_BYTES], const struct pvmw_tls_key *t)
{
    return same_proof(wire + OPENING_BYTES + PVMT_TCP_ID_BYTES, t->secret);
}

void pvmt_tcp_welcome_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMT_TCP_WELCOME_BYTES])
{
    memset(wire, 0, PVMT_TCP_WELCOME_BYTES);
    put_opening(wire, WELCOME, tls);
    if (!tls)
        memcpy(wire + OPENING_BYTES, t->secret + PVMT_TCP_PROOF_BYTES, PVMT_TCP_PROOF_BYTES);
}

int pvmt_tcp_welcome_check(const uint8_t wire[PVMT_TCP_WELCOME_BYTES], const struct pvmw_tls_key *t, bool tls)
{
    bool has_tls;
    int rc = get_opening(wire, WELCOME, &has_tls);
    if (rc)
        return rc;
    if (has_tls != tls)
        return PVMC_EFORMAT;
    return tls || same_proof(wire + OPENING_BYTES, t->secret + PVMT_TCP_PROOF_BYTES) ? 0 : PVMC_EDENIED;
}

/* ---- secrets ---- */

int pvmt_tcp_ticket_draw(struct pvmw_tls_key *t)
{
    if (getrandom(t, sizeof *t, 0) == sizeof *t)
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "getrandom() failed: no direct TCP link can be offered");
    return PVMC_ESYSTEM;
}
