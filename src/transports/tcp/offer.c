/* offer.c - offers, hellos and welcomes: their bytes, their secrets. */
#include "offer.h"
#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include "../../core/buf.h"
#include "../../core/error.h"
#include "../../core/log.h"

#define VERSION      2
#define FLAG_TLS     1           /* of a hello or welcome */
#define FLAG_TRUSTED 1           /* of an address */
#define HELLO        0x48545644u /* "DVTH" */
#define WELCOME      0x57545644u /* "DVTW" */

/* ---- the offer ---- */

static void put_address(struct pvmi_buf *b, const union pvmi_tcp_address *a, bool trusted)
{
    const uint8_t *bytes;
    size_t n = pvmi_tcp_address_bytes(a, &bytes);
    pvmi_buf_put_u8(b, n == 4 ? 4 : 6);
    pvmi_buf_put_u8(b, trusted ? FLAG_TRUSTED : 0);
    pvmi_buf_put_u16(b, pvmi_tcp_address_port(a));
    pvmi_buf_put_u32(b, n == 4 ? 0 : a->v6.sin6_scope_id);
    pvmi_buf_put_bytes(b, bytes, n);
}

int pvmi_tcp_offer_encode(const struct pvmi_tcp_offer *o, uint8_t blob[PVMI_OFFER_MAX])
{
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u8(&b, VERSION);
    pvmi_buf_put_u8(&b, (uint8_t)o->mode);
    pvmi_buf_put_u16(&b, (uint16_t)o->count);
    pvmi_buf_put_bytes(&b, o->host, sizeof o->host);
    pvmi_buf_put_bytes(&b, o->ticket.id, sizeof o->ticket.id);
    pvmi_buf_put_bytes(&b, o->ticket.secret, sizeof o->ticket.secret);
    for (unsigned i = 0; i < o->count; i++)
        put_address(&b, &o->addresses[i], o->trusted[i]);
    int rc = pvmi_buf_error(&b) ? pvmi_buf_error(&b) : b.length > PVMI_OFFER_MAX ? PVMI_ELIMIT : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    if (b.data)
        explicit_bzero(b.data, b.length);
    pvmi_buf_free(&b);
    return rc;
}

static void get_bytes(struct pvmi_buf *b, uint8_t *to, size_t n)
{
    const uint8_t *from = pvmi_buf_get_bytes(b, n);
    if (from)
        memcpy(to, from, n);
}

static int get_address(struct pvmi_buf *b, union pvmi_tcp_address *a, bool *trusted)
{
    uint8_t family = pvmi_buf_get_u8(b), flags = pvmi_buf_get_u8(b);
    uint16_t port = pvmi_buf_get_u16(b);
    uint32_t scope = pvmi_buf_get_u32(b);
    memset(a, 0, sizeof *a);
    *trusted = flags & FLAG_TRUSTED;
    if ((family != 4 && family != 6) || flags & ~FLAG_TRUSTED || !port)
        return PVMI_EFORMAT;
    if (family == 4) {
        a->v4.sin_family = AF_INET;
        get_bytes(b, (uint8_t *)&a->v4.sin_addr, sizeof a->v4.sin_addr);
    } else {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_scope_id = scope;
        get_bytes(b, (uint8_t *)&a->v6.sin6_addr, sizeof a->v6.sin6_addr);
    }
    pvmi_tcp_address_set_port(a, port);
    return 0;
}

int pvmi_tcp_offer_decode(const uint8_t *blob, size_t length, struct pvmi_tcp_offer *o)
{
    struct pvmi_buf b;
    pvmi_buf_view(&b, blob, length);
    memset(o, 0, sizeof *o);
    uint8_t version = pvmi_buf_get_u8(&b), mode = pvmi_buf_get_u8(&b);
    unsigned count = pvmi_buf_get_u16(&b);
    if (!pvmi_buf_error(&b) && version != VERSION)
        return PVMI_EVERSION;
    if (mode >= PVMI_TCP_TLS_MODES || !count || count > PVMI_TCP_OFFERED_MAX)
        return PVMI_EFORMAT;
    o->mode = mode;
    get_bytes(&b, o->host, sizeof o->host);
    get_bytes(&b, o->ticket.id, sizeof o->ticket.id);
    get_bytes(&b, o->ticket.secret, sizeof o->ticket.secret);
    for (unsigned i = 0; i < count; i++)
        if (get_address(&b, &o->addresses[i], &o->trusted[i]))
            return PVMI_EFORMAT;
    o->count = count;
    return pvmi_buf_end(&b) ? PVMI_EFORMAT : 0;
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
        return PVMI_EFORMAT;
    if (w.version != VERSION)
        return PVMI_EVERSION;
    *tls = w.flags & FLAG_TLS;
    return w.flags & ~FLAG_TLS || w.zero ? PVMI_EFORMAT : 0;
}

/* Takes the same time wherever they differ. */
static bool same_proof(const uint8_t *a, const uint8_t *b)
{
    uint8_t differs = 0;
    for (unsigned i = 0; i < PVMI_TCP_PROOF_BYTES; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}

#define OPENING_BYTES sizeof(struct wire_opening)

_Static_assert(OPENING_BYTES + PVMI_TCP_ID_BYTES + PVMI_TCP_PROOF_BYTES == PVMI_TCP_HELLO_BYTES, "hello");
_Static_assert(OPENING_BYTES + PVMI_TCP_PROOF_BYTES == PVMI_TCP_WELCOME_BYTES, "welcome");
_Static_assert(2 * PVMI_TCP_PROOF_BYTES == PVMI_TCP_TICKET_BYTES, "two halves");

void pvmi_tcp_hello_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMI_TCP_HELLO_BYTES])
{
    memset(wire, 0, PVMI_TCP_HELLO_BYTES);
    put_opening(wire, HELLO, tls);
    memcpy(wire + OPENING_BYTES, t->id, PVMI_TCP_ID_BYTES);
    if (!tls)
        memcpy(wire + OPENING_BYTES + PVMI_TCP_ID_BYTES, t->secret, PVMI_TCP_PROOF_BYTES);
}

int pvmi_tcp_hello_decode(const uint8_t wire[PVMI_TCP_HELLO_BYTES], uint8_t id[PVMI_TCP_ID_BYTES], bool *tls)
{
    memcpy(id, wire + OPENING_BYTES, PVMI_TCP_ID_BYTES);
    return get_opening(wire, HELLO, tls);
}

bool pvmi_tcp_hello_proves(const uint8_t wire[PVMI_TCP_HELLO_BYTES], const struct pvmw_tls_key *t)
{
    return same_proof(wire + OPENING_BYTES + PVMI_TCP_ID_BYTES, t->secret);
}

void pvmi_tcp_welcome_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMI_TCP_WELCOME_BYTES])
{
    memset(wire, 0, PVMI_TCP_WELCOME_BYTES);
    put_opening(wire, WELCOME, tls);
    if (!tls)
        memcpy(wire + OPENING_BYTES, t->secret + PVMI_TCP_PROOF_BYTES, PVMI_TCP_PROOF_BYTES);
}

int pvmi_tcp_welcome_check(const uint8_t wire[PVMI_TCP_WELCOME_BYTES], const struct pvmw_tls_key *t, bool tls)
{
    bool has_tls;
    int rc = get_opening(wire, WELCOME, &has_tls);
    if (rc)
        return rc;
    if (has_tls != tls)
        return PVMI_EFORMAT;
    return tls || same_proof(wire + OPENING_BYTES, t->secret + PVMI_TCP_PROOF_BYTES) ? 0 : PVMI_EDENIED;
}

/* ---- secrets ---- */

int pvmi_tcp_ticket_draw(struct pvmw_tls_key *t)
{
    if (getrandom(t, sizeof *t, 0) == sizeof *t)
        return 0;
    pvmi_log(PVMI_LOG_ERROR, "getrandom gives no random bytes: no direct TCP link can be offered");
    return PVMI_ESYSTEM;
}
