/* address.c - IP addresses with ports. */
#include "address.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"

int pvmd_address_from(const struct sockaddr *sa, struct pvmd_address *a)
{
    memset(a, 0, sizeof *a);
    if (sa->sa_family == AF_INET) {
        memcpy(&a->u.v4, sa, sizeof a->u.v4);
        return 0;
    }
    if (sa->sa_family != AF_INET6)
        return PVMI_EUNSUPPORTED;
    struct sockaddr_in6 v6;
    memcpy(&v6, sa, sizeof v6);
    if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
        a->u.v6 = v6;
        return 0;
    }
    a->u.v4.sin_family = AF_INET;
    a->u.v4.sin_port = v6.sin6_port;
    memcpy(&a->u.v4.sin_addr, &v6.sin6_addr.s6_addr[12], sizeof a->u.v4.sin_addr);
    return 0;
}

int pvmd_address_parse(const char *ip, uint16_t port, struct pvmd_address *a)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found;
    if (!*ip || getaddrinfo(ip, NULL, &hints, &found))
        return PVMI_EFORMAT;
    int rc = pvmd_address_from(found->ai_addr, a);
    freeaddrinfo(found);
    if (!rc)
        pvmd_address_set_port(a, port);
    return rc ? PVMI_EFORMAT : 0;
}

socklen_t pvmd_address_bytes(const struct pvmd_address *a)
{
    return a->u.any.sa_family == AF_INET6 ? sizeof a->u.v6 : sizeof a->u.v4;
}

uint16_t pvmd_address_port(const struct pvmd_address *a)
{
    return ntohs(a->u.any.sa_family == AF_INET6 ? a->u.v6.sin6_port : a->u.v4.sin_port);
}

void pvmd_address_set_port(struct pvmd_address *a, uint16_t port)
{
    if (a->u.any.sa_family == AF_INET6)
        a->u.v6.sin6_port = htons(port);
    else
        a->u.v4.sin_port = htons(port);
}

void pvmd_address_ip(const struct pvmd_address *a, char *ip, size_t size)
{
    if (getnameinfo(&a->u.any, pvmd_address_bytes(a), ip, (socklen_t)size, NULL, 0, NI_NUMERICHOST) && size)
        ip[0] = '\0';
}

static void format(const struct pvmd_address *a, char text[PVMD_ADDRESS_TEXT])
{
    char ip[PVMD_ADDRESS_TEXT - 10];
    pvmd_address_ip(a, ip, sizeof ip);
    snprintf(text, PVMD_ADDRESS_TEXT, strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, pvmd_address_port(a));
}

const char *pvmd_address_text(const struct pvmd_address *a)
{
    static char text[PVMD_ADDRESS_TEXT];
    format(a, text);
    return text;
}

bool pvmd_address_is_loopback(const struct pvmd_address *a)
{
    if (a->u.any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&a->u.v6.sin6_addr);
    return ntohl(a->u.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool pvmd_address_is_link_local(const struct pvmd_address *a)
{
    if (a->u.any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LINKLOCAL(&a->u.v6.sin6_addr);
    return ntohl(a->u.v4.sin_addr.s_addr) >> 16 == 0xa9fe; /* 169.254/16 */
}

bool pvmd_ip_is_loopback(const char *ip)
{
    struct pvmd_address a;
    return !pvmd_address_parse(ip, 0, &a) && pvmd_address_is_loopback(&a);
}

void pvmd_addresses_add(struct pvmd_addresses *l, const struct pvmd_address *a)
{
    for (unsigned i = 0; i < l->count; i++)
        if (!memcmp(&l->list[i], a, sizeof *a))
            return;
    if (l->count < PVMD_ADDRESS_MAX)
        l->list[l->count++] = *a;
}

void pvmd_addresses_add_own(struct pvmd_addresses *l, uint16_t port)
{
    struct ifaddrs *all;
    if (getifaddrs(&all))
        return;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct pvmd_address a;
        if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || pvmd_address_from(i->ifa_addr, &a))
            continue;
        if (pvmd_address_is_loopback(&a) || pvmd_address_is_link_local(&a))
            continue;
        pvmd_address_set_port(&a, port);
        pvmd_addresses_add(l, &a);
    }
    freeifaddrs(all);
}

void pvmd_addresses_format(const struct pvmd_addresses *l, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < l->count; i++) {
        char one[PVMD_ADDRESS_TEXT];
        format(&l->list[i], one);
        if (used + strlen(one) + 2 > size)
            return;
        used += (size_t)sprintf(text + used, "%s%s", used ? "," : "", one);
    }
}

/* "ip:port" or "[ip]:port", changed while being read. */
static int parse_one(char *text, struct pvmd_address *a)
{
    char *colon = strrchr(text, ':');
    if (!colon)
        return PVMI_EFORMAT;
    *colon = '\0';
    char *end;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end || port == 0 || port > UINT16_MAX)
        return PVMI_EFORMAT;
    if (text[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        text++;
    }
    return pvmd_address_parse(text, (uint16_t)port, a);
}

int pvmd_addresses_parse(const char *text, struct pvmd_addresses *l)
{
    l->count = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        char one[PVMD_ADDRESS_TEXT];
        struct pvmd_address a;
        if (length >= sizeof one)
            return PVMI_EFORMAT;
        memcpy(one, text, length);
        one[length] = '\0';
        if (parse_one(one, &a))
            return PVMI_EFORMAT;
        pvmd_addresses_add(l, &a);
        text += length + (text[length] == ',');
    }
    return l->count ? 0 : PVMI_EFORMAT;
}
