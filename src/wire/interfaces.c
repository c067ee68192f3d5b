/* interfaces.c - see interfaces.h. */
#include "interfaces.h"
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>
#include "core/error.h"

bool pvmw_interface_reaches(const struct pvmw_interface *own, const union pvmw_address *a)
{
    return own->prefix && pvmw_address_shares(&own->address, a, own->prefix);
}

/* Whether the list `choice` names this interface or its address. */
static bool is_chosen(const char *choice, const struct pvmw_interface *own)
{
    char word[128], address[PVMW_ADDRESS_TEXT];
    pvmw_address_ip(&own->address, address, sizeof address);
    address[strcspn(address, "%")] = '\0';
    while (*choice) {
        size_t length = strcspn(choice, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), choice);
        word[strcspn(word, "%")] = '\0';
        if (!strcmp(word, own->name) || !strcmp(word, address))
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
    size_t n = pvmw_address_number((const union pvmw_address *)mask, &bytes);
    while (bits < 8 * n && bytes[bits / 8] & 0x80 >> bits % 8)
        bits++;
    return bits;
}

static bool fill(struct pvmw_interface *own, const struct ifaddrs *i)
{
    memset(own, 0, sizeof *own);
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || pvmw_address_from(i->ifa_addr, &own->address))
        return false;
    if (own->address.any.sa_family == AF_INET6 && !pvmw_address_needs_scope(&own->address))
        own->address.v6.sin6_scope_id = 0;
    own->prefix = prefix_of(i->ifa_netmask);
    snprintf(own->name, sizeof own->name, "%s", i->ifa_name);
    return true;
}

int pvmw_interfaces(const char *choice, struct pvmw_interface out[PVMW_INTERFACES_MAX])
{
    struct ifaddrs *list;
    if (getifaddrs(&list))
        return errno == EMFILE || errno == ENFILE ? PVMC_ELIMIT : PVMC_ESYSTEM;
    int n = 0;
    bool any = false;
    for (const struct ifaddrs *i = list; i && n < PVMW_INTERFACES_MAX; i = i->ifa_next) {
        if (!fill(&out[n], i))
            continue;
        any = true;
        if (!*choice || is_chosen(choice, &out[n]))
            n++;
    }
    freeifaddrs(list);
    return n || !any ? n : PVMC_ENOTFOUND;
}
