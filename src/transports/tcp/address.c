/* address.c - Internet addresses of this host. */
#include "address.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../core/error.h"

size_t pvmi_tcp_address_bytes(const union pvmi_tcp_address *a, const uint8_t **bytes)
{
    bool v4 = a->any.sa_family == AF_INET;
    *bytes = v4 ? (const uint8_t *)&a->v4.sin_addr : (const uint8_t *)&a->v6.sin6_addr;
    return v4 ? sizeof a->v4.sin_addr : sizeof a->v6.sin6_addr;
}

socklen_t pvmi_tcp_address_size(const union pvmi_tcp_address *a)
{
    return a->any.sa_family == AF_INET ? sizeof a->v4 : sizeof a->v6;
}

uint16_t pvmi_tcp_address_port(const union pvmi_tcp_address *a)
{
    return ntohs(a->any.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

void pvmi_tcp_address_set_port(union pvmi_tcp_address *a, uint16_t port)
{
    if (a->any.sa_family == AF_INET)
        a->v4.sin_port = htons(port);
    else
        a->v6.sin6_port = htons(port);
}

bool pvmi_tcp_address_same(const union pvmi_tcp_address *a, const union pvmi_tcp_address *b)
{
    const uint8_t *x, *y;
    return a->any.sa_family == b->any.sa_family &&
           !memcmp((pvmi_tcp_address_bytes(b, &y), y), (pvmi_tcp_address_bytes(a, &x), x),
                   pvmi_tcp_address_bytes(a, &x));
}

bool pvmi_tcp_address_is_loopback(const union pvmi_tcp_address *a)
{
    return a->any.sa_family == AF_INET ? ntohl(a->v4.sin_addr.s_addr) >> 24 == 127
                                       : IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

bool pvmi_tcp_address_is_link_local(const union pvmi_tcp_address *a)
{
    return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->v6.sin6_addr);
}

bool pvmi_tcp_local_reaches(const struct pvmi_tcp_local *own, const union pvmi_tcp_address *a)
{
    const uint8_t *x, *y;
    if (own->address.any.sa_family != a->any.sa_family || !own->prefix)
        return false;
    pvmi_tcp_address_bytes(&own->address, &x);
    pvmi_tcp_address_bytes(a, &y);
    unsigned whole = own->prefix / 8, rest = own->prefix % 8;
    return !memcmp(x, y, whole) && (!rest || !((x[whole] ^ y[whole]) >> (8 - rest)));
}

const char *pvmi_tcp_address_text(const union pvmi_tcp_address *a, char text[PVMI_TCP_TEXT_BYTES])
{
    char host[INET6_ADDRSTRLEN] = "?", scope[16] = "", port[8] = "";
    const uint8_t *bytes;
    bool v6 = a->any.sa_family == AF_INET6;
    pvmi_tcp_address_bytes(a, &bytes);
    inet_ntop(a->any.sa_family, bytes, host, sizeof host);
    if (v6 && a->v6.sin6_scope_id)
        snprintf(scope, sizeof scope, "%%%u", a->v6.sin6_scope_id);
    if (pvmi_tcp_address_port(a))
        snprintf(port, sizeof port, ":%u", pvmi_tcp_address_port(a));
    snprintf(text, PVMI_TCP_TEXT_BYTES, v6 && *port ? "[%s%s]%s" : "%s%s%s", host, scope, port);
    return text;
}

/* ---- this host's ---- */

/* Whether the list `choice` names this interface or its address. */
static bool is_chosen(const char *choice, const struct pvmi_tcp_local *own)
{
    char word[128], address[INET6_ADDRSTRLEN] = "";
    const uint8_t *bytes;
    pvmi_tcp_address_bytes(&own->address, &bytes);
    inet_ntop(own->address.any.sa_family, bytes, address, sizeof address);
    while (*choice) {
        size_t length = strcspn(choice, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), choice);
        char *scope = strchr(word, '%');
        if (scope)
            *scope = '\0';
        if (!strcmp(word, own->interface) || !strcmp(word, address))
            return true;
        choice += length + (choice[length] == ',');
    }
    return false;
}

static unsigned prefix_of(const struct sockaddr *mask)
{
    const uint8_t *bytes;
    unsigned bits = 0;
    if (!mask)
        return 0;
    size_t n = pvmi_tcp_address_bytes((const union pvmi_tcp_address *)mask, &bytes);
    while (bits < 8 * n && bytes[bits / 8] & 0x80 >> bits % 8)
        bits++;
    return bits;
}

static bool fill(struct pvmi_tcp_local *own, const struct ifaddrs *i)
{
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP))
        return false;
    memset(own, 0, sizeof *own);
    if (i->ifa_addr->sa_family == AF_INET)
        memcpy(&own->address.v4, i->ifa_addr, sizeof own->address.v4);
    else if (i->ifa_addr->sa_family == AF_INET6)
        memcpy(&own->address.v6, i->ifa_addr, sizeof own->address.v6);
    else
        return false;
    if (!pvmi_tcp_address_is_link_local(&own->address) && own->address.any.sa_family == AF_INET6)
        own->address.v6.sin6_scope_id = 0;
    own->prefix = prefix_of(i->ifa_netmask);
    snprintf(own->interface, sizeof own->interface, "%s", i->ifa_name);
    return true;
}

int pvmi_tcp_locals(const char *choice, struct pvmi_tcp_local out[PVMI_TCP_LOCAL_MAX])
{
    struct ifaddrs *list;
    if (getifaddrs(&list))
        return errno == EMFILE || errno == ENFILE ? PVMI_ELIMIT : PVMI_ESYSTEM;
    int n = 0;
    bool any = false;
    for (const struct ifaddrs *i = list; i && n < PVMI_TCP_LOCAL_MAX; i = i->ifa_next) {
        if (!fill(&out[n], i))
            continue;
        any = true;
        if (!*choice || is_chosen(choice, &out[n]))
            n++;
    }
    freeifaddrs(list);
    return n || !any ? n : PVMI_ENOTFOUND;
}
