/*
 * address.h - Internet addresses: this host's own, the user's choice among them (PVM_TCP_IF), and how they are written.
 */
#ifndef PVMI_TCP_ADDRESS_H
#define PVMI_TCP_ADDRESS_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMI_TCP_LOCAL_MAX  64 /* addresses of this host that are looked at */
#define PVMI_TCP_TEXT_BYTES 80 /* "[address%scope]:port" and NUL */

union pvmi_tcp_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6; /* sin6_scope_id: the interface of a link-local address */
};

/* An address of an interface that is up. */
struct pvmi_tcp_local {
    union pvmi_tcp_address address; /* port 0 */
    unsigned prefix;                /* bits that are the same in its subnet */
    char interface[IF_NAMESIZE];
};

/*
 * Fills in this host's addresses that `choice` allows: names of interfaces and addresses, separated by commas; "": all.
 * Returns their number or a PVMI_E code: PVMI_ENOTFOUND when there are addresses but the choice allows none of them.
 */
int pvmi_tcp_locals(const char *choice, struct pvmi_tcp_local out[PVMI_TCP_LOCAL_MAX]);

/* Bytes of the address alone, 4 or 16, and where they are. */
size_t pvmi_tcp_address_bytes(const union pvmi_tcp_address *a, const uint8_t **bytes);

/* Of the whole sockaddr. */
socklen_t pvmi_tcp_address_size(const union pvmi_tcp_address *a);

uint16_t pvmi_tcp_address_port(const union pvmi_tcp_address *a);
void pvmi_tcp_address_set_port(union pvmi_tcp_address *a, uint16_t port);

/* The same address, whatever the port and scope. */
bool pvmi_tcp_address_same(const union pvmi_tcp_address *a, const union pvmi_tcp_address *b);
bool pvmi_tcp_address_is_loopback(const union pvmi_tcp_address *a);
bool pvmi_tcp_address_is_link_local(const union pvmi_tcp_address *a); /* of IPv6: they need a scope */

/* Whether the address lies in the subnet of one of ours. */
bool pvmi_tcp_local_reaches(const struct pvmi_tcp_local *own, const union pvmi_tcp_address *a);

/* "192.0.2.7:4000", "[fe80::1%2]:4000"; without ":port" when it is 0. Returns text. */
const char *pvmi_tcp_address_text(const union pvmi_tcp_address *a, char text[PVMI_TCP_TEXT_BYTES]);

#endif
