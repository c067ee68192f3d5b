/*
 * offer.h - what the two sides of a link tell each other before the first frame. The bytes are in doc/protocol.md.
 *
 *  - the offer, which the daemons carry to the joining side: where the offering task listens, and a ticket;
 *  - the hello, the first bytes of the joining side on the connection: which offer, and half of its ticket;
 *  - the welcome, the first bytes of the offering side, after a good hello: the other half.
 *
 * With TLS the ticket never travels on the connection: it is the key of both, and the halves are zero.
 */
#ifndef PVMI_TCP_OFFER_H
#define PVMI_TCP_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../wire/tls.h"
#include "../host.h"
#include "../transport.h"
#include "address.h"
#include "secrecy.h"

#define PVMI_TCP_HOST_BYTES    PVMI_HOST_IDENTITY_BYTES
#define PVMI_TCP_ID_BYTES      PVMW_TLS_ID_BYTES
#define PVMI_TCP_TICKET_BYTES  PVMW_TLS_KEY_BYTES
#define PVMI_TCP_PROOF_BYTES   16 /* half of a ticket */
#define PVMI_TCP_OFFERED_MAX   16 /* addresses in an offer */
#define PVMI_TCP_HELLO_BYTES   40
#define PVMI_TCP_WELCOME_BYTES 24

struct pvmi_tcp_offer {
    enum pvmi_tcp_tls_mode mode;       /* what the offering side wants */
    uint8_t host[PVMI_TCP_HOST_BYTES]; /* identity: the same for tasks that share network interfaces */
    struct pvmw_tls_key ticket; /* its id names the offer, its secret is known to the two tasks and their daemons */
    unsigned count;
    union pvmi_tcp_address addresses[PVMI_TCP_OFFERED_MAX]; /* with ports; scopes are the offering host's */
    bool trusted[PVMI_TCP_OFFERED_MAX];                     /* the offering side trusts the network of this address */
};

/* Returns the number of bytes. */
int pvmi_tcp_offer_encode(const struct pvmi_tcp_offer *o, uint8_t blob[PVMI_OFFER_MAX]);

/* 0, PVMI_EFORMAT or PVMI_EVERSION. */
int pvmi_tcp_offer_decode(const uint8_t *blob, size_t length, struct pvmi_tcp_offer *o);

void pvmi_tcp_hello_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMI_TCP_HELLO_BYTES]);

/* The offer that a hello names and whether TLS follows: 0, PVMI_EFORMAT or PVMI_EVERSION. Its proof is not checked. */
int pvmi_tcp_hello_decode(const uint8_t wire[PVMI_TCP_HELLO_BYTES], uint8_t id[PVMI_TCP_ID_BYTES], bool *tls);

/* Whether the hello proves that its sender has the ticket; not for TLS, which proves it by itself. */
bool pvmi_tcp_hello_proves(const uint8_t wire[PVMI_TCP_HELLO_BYTES], const struct pvmw_tls_key *t);

void pvmi_tcp_welcome_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMI_TCP_WELCOME_BYTES]);

/* 0; PVMI_EFORMAT, PVMI_EVERSION; PVMI_EDENIED: it does not come from who made the offer. */
int pvmi_tcp_welcome_check(const uint8_t wire[PVMI_TCP_WELCOME_BYTES], const struct pvmw_tls_key *t, bool tls);

/* Draws a new ticket: 0 or PVMI_ESYSTEM, logged. */
int pvmi_tcp_ticket_draw(struct pvmw_tls_key *t);

#endif
