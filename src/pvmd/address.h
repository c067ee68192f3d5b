/*
 * address.h - an IP address and port, IPv4 or IPv6, and lists of them in the order in which they are tried.
 */
#ifndef PVMD_ADDRESS_H
#define PVMD_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PVMD_ADDRESS_TEXT 80 /* bytes of an address with port as text, NUL included */
#define PVMD_ADDRESS_MAX  16 /* entries of a list */

struct pvmd_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } u;
};

struct pvmd_addresses {
    unsigned count;
    struct pvmd_address list[PVMD_ADDRESS_MAX];
};

/* Reads numbers such as "10.1.2.3" or "fe80::1%eth0"; never asks a name server. 0 or PVMI_EFORMAT. */
int pvmd_address_parse(const char *ip, uint16_t port, struct pvmd_address *a);

/* From what accept(), getaddrinfo() and the like give; IPv4 in IPv6 becomes IPv4. 0, or PVMI_EUNSUPPORTED. */
int pvmd_address_from(const struct sockaddr *sa, struct pvmd_address *a);

/* The numbers alone, without port, to ip[size]. */
void pvmd_address_ip(const struct pvmd_address *a, char *ip, size_t size);

/* "10.1.2.3:4000" or "[fd00::1]:4000", in static storage until the next call. */
const char *pvmd_address_text(const struct pvmd_address *a);

uint16_t pvmd_address_port(const struct pvmd_address *a);
void pvmd_address_set_port(struct pvmd_address *a, uint16_t port);
socklen_t pvmd_address_bytes(const struct pvmd_address *a);

bool pvmd_address_is_loopback(const struct pvmd_address *a);
bool pvmd_address_is_link_local(const struct pvmd_address *a);

/* Whether numbers are a loopback address; false for texts that are none. */
bool pvmd_ip_is_loopback(const char *ip);

/* Appends a unless the list has it or is full. */
void pvmd_addresses_add(struct pvmd_addresses *l, const struct pvmd_address *a);

/* Appends the addresses of this machine's interfaces that are up, with `port`: neither loopback nor link-local ones. */
void pvmd_addresses_add_own(struct pvmd_addresses *l, uint16_t port);

/* As a comma list, to text[size], and back. Writing stops before what does not fit. Reading: 0 or PVMI_EFORMAT. */
void pvmd_addresses_format(const struct pvmd_addresses *l, char *text, size_t size);
int pvmd_addresses_parse(const char *text, struct pvmd_addresses *l);

#endif
