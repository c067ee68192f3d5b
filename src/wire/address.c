/*
 * address.c - IP addresses with ports. Uses inet_pton() and the like instead of getaddrinfo(), because libpvm3 is also
 * linked statically and must not load name services then.
 */
#include "address.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "interfaces.h"

static bool is_v6(const union pvmw_address *a)
{
    return a->any.sa_family == AF_INET6;
}

int pvmw_address_from(const struct sockaddr *sa, union pvmw_address *a)
{
    memset(a, 0, sizeof *a);
    if (sa->sa_family == AF_INET) {
        memcpy(&a->v4, sa, sizeof a->v4);
        return 0;
    }
    if (sa->sa_family != AF_INET6)
        return PVMC_EUNSUPPORTED;
    struct sockaddr_in6 v6;
    memcpy(&v6, sa, sizeof v6);
    if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
        a->v6 = v6;
        return 0;
    }
    a->v4.sin_family = AF_INET;
    a->v4.sin_port = v6.sin6_port;
    memcpy(&a->v4.sin_addr, &v6.sin6_addr.s6_addr[12], sizeof a->v4.sin_addr);
    return 0;
}

/* ---- text ---- */

/* The number of an interface from its name or digits; false if it is neither. */
static bool parse_scope(const char *text, uint32_t *scope)
{
    char *end;
    *scope = if_nametoindex(text);
    if (*scope)
        return true;
    unsigned long number = strtoul(text, &end, 10);
    *scope = (uint32_t)number;
    return isdigit((unsigned char)*text) && !*end && number <= UINT32_MAX;
}

static int parse_v6(const char *ip, struct sockaddr_in6 *v6)
{
    char number[INET6_ADDRSTRLEN];
    const char *scope = strchrnul(ip, '%');
    size_t length = (size_t)(scope - ip);
    if (length >= sizeof number)
        return PVMC_EFORMAT;
    memcpy(number, ip, length);
    number[length] = '\0';
    if (inet_pton(AF_INET6, number, &v6->sin6_addr) != 1 || (*scope && !parse_scope(scope + 1, &v6->sin6_scope_id)))
        return PVMC_EFORMAT;
    v6->sin6_family = AF_INET6;
    return 0;
}

int pvmw_address_parse(const char *ip, uint16_t port, union pvmw_address *a)
{
    union pvmw_address raw = {.v4 = {.sin_family = AF_INET}};
    if (strpbrk(ip, " \t\n\v\f\r")) /* inet_aton() would ignore what follows */
        return PVMC_EFORMAT;
    if (!inet_aton(ip, &raw.v4.sin_addr)) {
        memset(&raw, 0, sizeof raw);
        if (parse_v6(ip, &raw.v6))
            return PVMC_EFORMAT;
    }
    pvmw_address_set_port(&raw, port);
    return pvmw_address_from(&raw.any, a) ? PVMC_EFORMAT : 0;
}

void pvmw_address_ip(const union pvmw_address *a, char *ip, size_t size)
{
    char number[INET6_ADDRSTRLEN] = "", scope[IF_NAMESIZE + 1] = "";
    const uint8_t *bytes;
    pvmw_address_number(a, &bytes);
    inet_ntop(is_v6(a) ? AF_INET6 : AF_INET, bytes, number, sizeof number);
    if (is_v6(a) && a->v6.sin6_scope_id) {
        char name[IF_NAMESIZE];
        if (pvmw_address_needs_scope(a) && if_indextoname(a->v6.sin6_scope_id, name))
            snprintf(scope, sizeof scope, "%%%s", name);
        else
            snprintf(scope, sizeof scope, "%%%u", a->v6.sin6_scope_id);
    }
    if (size && (size_t)snprintf(ip, size, "%s%s", number, scope) >= size)
        ip[0] = '\0';
}

const char *pvmw_address_text(const union pvmw_address *a, char text[PVMW_ADDRESS_TEXT])
{
    char ip[PVMW_ADDRESS_TEXT - 10];
    pvmw_address_ip(a, ip, sizeof ip);
    if (pvmw_address_port(a))
        snprintf(text, PVMW_ADDRESS_TEXT, is_v6(a) ? "[%s]:%u" : "%s:%u", ip, pvmw_address_port(a));
    else
        strcpy(text, ip);
    return text;
}

/* ---- parts ---- */

socklen_t pvmw_address_size(const union pvmw_address *a)
{
    return is_v6(a) ? sizeof a->v6 : sizeof a->v4;
}

size_t pvmw_address_number(const union pvmw_address *a, const uint8_t **bytes)
{
    *bytes = is_v6(a) ? (const uint8_t *)&a->v6.sin6_addr : (const uint8_t *)&a->v4.sin_addr;
    return is_v6(a) ? sizeof a->v6.sin6_addr : sizeof a->v4.sin_addr;
}

uint16_t pvmw_address_port(const union pvmw_address *a)
{
    return ntohs(is_v6(a) ? a->v6.sin6_port : a->v4.sin_port);
}

void pvmw_address_set_port(union pvmw_address *a, uint16_t port)
{
    if (is_v6(a))
        a->v6.sin6_port = htons(port);
    else
        a->v4.sin_port = htons(port);
}

/* ---- comparing, kinds ---- */

bool pvmw_address_shares(const union pvmw_address *a, const union pvmw_address *b, unsigned prefix)
{
    const uint8_t *x, *y;
    pvmw_address_number(a, &x);
    pvmw_address_number(b, &y);
    unsigned whole = prefix / 8, rest = prefix % 8;
    return a->any.sa_family == b->any.sa_family && !memcmp(x, y, whole) &&
           (!rest || !((x[whole] ^ y[whole]) >> (8 - rest)));
}

bool pvmw_address_same(const union pvmw_address *a, const union pvmw_address *b)
{
    const uint8_t *bytes;
    return pvmw_address_shares(a, b, 8 * (unsigned)pvmw_address_number(a, &bytes));
}

bool pvmw_address_is_loopback(const union pvmw_address *a)
{
    return is_v6(a) ? IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr) : ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool pvmw_address_needs_scope(const union pvmw_address *a)
{
    return is_v6(a) && IN6_IS_ADDR_LINKLOCAL(&a->v6.sin6_addr);
}

bool pvmw_address_is_link_local(const union pvmw_address *a)
{
    return pvmw_address_needs_scope(a) || (!is_v6(a) && ntohl(a->v4.sin_addr.s_addr) >> 16 == 0xa9fe); /* 169.254/16 */
}

bool pvmw_ip_is_loopback(const char *ip)
{
    union pvmw_address a;
    return !pvmw_address_parse(ip, 0, &a) && pvmw_address_is_loopback(&a);
}

/* ---- lists ---- */

void pvmw_addresses_add(struct pvmw_addresses *l, const union pvmw_address *a)
{
    for (unsigned i = 0; i < l->count; i++)
        if (!memcmp(&l->list[i], a, sizeof *a))
            return;
    if (l->count < PVMW_ADDRESS_MAX)
        l->list[l->count++] = *a;
}

void pvmw_addresses_add_own(struct pvmw_addresses *l, uint16_t port)
{
    struct pvmw_interface own[PVMW_INTERFACES_MAX];
    int count = pvmw_interfaces("", own);
    for (int i = 0; i < count; i++) {
        union pvmw_address *a = &own[i].address;
        if (pvmw_address_is_loopback(a) || pvmw_address_is_link_local(a))
            continue;
        pvmw_address_set_port(a, port);
        pvmw_addresses_add(l, a);
    }
}

void pvmw_addresses_format(const struct pvmw_addresses *l, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < l->count; i++) {
        char one[PVMW_ADDRESS_TEXT];
        pvmw_address_text(&l->list[i], one);
        if (used + strlen(one) + 2 > size)
            return;
        used += (size_t)sprintf(text + used, "%s%s", used ? "," : "", one);
    }
}

/* "ip:port" or "[ip]:port", changed while being read. */
static int parse_one(char *text, union pvmw_address *a)
{
    char *colon = strrchr(text, ':');
    if (!colon)
        return PVMC_EFORMAT;
    *colon = '\0';
    char *end;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end || port == 0 || port > UINT16_MAX)
        return PVMC_EFORMAT;
    if (text[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        text++;
    }
    return pvmw_address_parse(text, (uint16_t)port, a);
}

int pvmw_addresses_parse(const char *text, struct pvmw_addresses *l)
{
    l->count = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        char one[PVMW_ADDRESS_TEXT];
        union pvmw_address a;
        if (length >= sizeof one)
            return PVMC_EFORMAT;
        memcpy(one, text, length);
        one[length] = '\0';
        if (parse_one(one, &a))
            return PVMC_EFORMAT;
        pvmw_addresses_add(l, &a);
        text += length + (text[length] == ',');
    }
    return l->count ? 0 : PVMC_EFORMAT;
}
