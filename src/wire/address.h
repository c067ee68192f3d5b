/*
 * address.h - an IP address with its port, IPv4 or IPv6, and lists of addresses in the order in which they are tried.
 */
#ifndef PVMW_ADDRESS_H
#define PVMW_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PVMW_ADDRESS_TEXT 80 /* bytes of an address with port as text, NUL included */
#define PVMW_ADDRESS_MAX  16 /* entries of a list */

union pvmw_address {
    struct sockaddr any; /* sa_family 0: no address */
    struct sockaddr_in v4;
    struct sockaddr_in6 v6; /* sin6_scope_id: the interface of a link-local address */
};

struct pvmw_addresses {
    unsigned count;
    union pvmw_address list[PVMW_ADDRESS_MAX];
};

/* ---- one address ---- */

/* Reads numbers such as "10.1.2.3" or "fe80::1%eth0"; never asks a name server. 0 or PVMC_EFORMAT. */
int pvmw_address_parse(const char *ip, uint16_t port, union pvmw_address *a);

/* Copies what accept(), getaddrinfo() and the like return; IPv4 in IPv6 becomes IPv4. 0, or PVMC_EUNSUPPORTED. */
int pvmw_address_from(const struct sockaddr *sa, union pvmw_address *a);

/* The numbers alone, without port, to ip[size]; "" if they do not fit. */
void pvmw_address_ip(const union pvmw_address *a, char *ip, size_t size);

/* "10.1.2.3:4000", "[fd00::1]:4000"; without ":port" and brackets when the port is 0. Returns text. */
const char *pvmw_address_text(const union pvmw_address *a, char text[PVMW_ADDRESS_TEXT]);

uint16_t pvmw_address_port(const union pvmw_address *a);
void pvmw_address_set_port(union pvmw_address *a, uint16_t port);

/* Bytes of the sockaddr, for system calls. */
socklen_t pvmw_address_size(const union pvmw_address *a);

/* Bytes of the IP number alone, 4 or 16, and where they are. */
size_t pvmw_address_number(const union pvmw_address *a, const uint8_t **bytes);

/* Whether both are the same IP number, whatever the port and scope. */
bool pvmw_address_same(const union pvmw_address *a, const union pvmw_address *b);

/* Whether the first `prefix` bits of both are the same. */
bool pvmw_address_shares(const union pvmw_address *a, const union pvmw_address *b, unsigned prefix);

bool pvmw_address_is_loopback(const union pvmw_address *a);
bool pvmw_address_is_link_local(const union pvmw_address *a);

/* Link-local of IPv6: leads nowhere without the number of an interface. */
bool pvmw_address_needs_scope(const union pvmw_address *a);

/* Whether the text is a loopback address; false for a text that is no address. */
bool pvmw_ip_is_loopback(const char *ip);

/* ---- lists ---- */

/* Appends a, unless the list has it or is full. */
void pvmw_addresses_add(struct pvmw_addresses *l, const union pvmw_address *a);

/* Appends the addresses of this machine's interfaces that are up, with `port`, except loopback and link-local ones. */
void pvmw_addresses_add_own(struct pvmw_addresses *l, uint16_t port);

/* As a comma list, to text[size], and back. Writing stops before what does not fit. Reading: 0 or PVMC_EFORMAT. */
void pvmw_addresses_format(const struct pvmw_addresses *l, char *text, size_t size);
int pvmw_addresses_parse(const char *text, struct pvmw_addresses *l);

#endif
