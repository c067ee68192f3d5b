/*
 * offer.h - what the two sides of a link exchange before the first frame. The bytes are in doc/protocol.md.
 *
 *  - the offer, which the daemons carry to the joining side: where the offering task listens, and a ticket;
 *  - the hello, the first bytes of the joining side on the connection: which offer, and half of its ticket;
 *  - the welcome, the first bytes of the offering side, after a good hello: the other half.
 *
 * With TLS the ticket never travels on the connection: it is the key of both, and the halves are zero.
 */
#ifndef PVMT_TCP_OFFER_H
#define PVMT_TCP_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/tls.h"
#include "wire/host.h"
#include "transports/transport.h"
#include "wire/address.h"
#include "secrecy.h"

#define PVMT_TCP_HOST_BYTES    PVMW_HOST_IDENTITY_BYTES
#define PVMT_TCP_ID_BYTES      PVMW_TLS_ID_BYTES
#define PVMT_TCP_TICKET_BYTES  PVMW_TLS_KEY_BYTES
#define PVMT_TCP_PROOF_BYTES   16 /* half of a ticket */
#define PVMT_TCP_OFFERED_MAX   16 /* addresses in an offer */
#define PVMT_TCP_HELLO_BYTES   40
#define PVMT_TCP_WELCOME_BYTES 24

struct pvmt_tcp_offer {
    enum pvmt_tcp_tls_mode mode;       /* the offering side's setting */
    uint8_t host[PVMT_TCP_HOST_BYTES]; /* identity: equal for tasks that share network interfaces */
    struct pvmw_tls_key ticket; /* its id names the offer; only the two tasks and their daemons know its secret */
    unsigned count;
    union pvmw_address addresses[PVMT_TCP_OFFERED_MAX]; /* with ports; scopes are the offering host's */
    bool trusted[PVMT_TCP_OFFERED_MAX];                 /* the offering side trusts the network of this address */
};

/* Returns the number of bytes. */
int pvmt_tcp_offer_encode(const struct pvmt_tcp_offer *o, uint8_t blob[PVMT_OFFER_MAX]);

/* 0, PVMC_EFORMAT or PVMC_EVERSION. */
int pvmt_tcp_offer_decode(const uint8_t *blob, size_t length, struct pvmt_tcp_offer *o);

void pvmt_tcp_hello_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMT_TCP_HELLO_BYTES]);

/* The offer that a hello names and whether TLS follows: 0, PVMC_EFORMAT or PVMC_EVERSION. Its proof is not checked. */
int pvmt_tcp_hello_decode(const uint8_t wire[PVMT_TCP_HELLO_BYTES], uint8_t id[PVMT_TCP_ID_BYTES], bool *tls);

/* Whether the hello proves that its sender has the ticket. With TLS the handshake proves it instead. */
bool pvmt_tcp_hello_proves(const uint8_t wire[PVMT_TCP_HELLO_BYTES], const struct pvmw_tls_key *t);

void pvmt_tcp_welcome_encode(const struct pvmw_tls_key *t, bool tls, uint8_t wire[PVMT_TCP_WELCOME_BYTES]);

/* 0; PVMC_EFORMAT, PVMC_EVERSION; PVMC_EDENIED: the sender did not make the offer. */
int pvmt_tcp_welcome_check(const uint8_t wire[PVMT_TCP_WELCOME_BYTES], const struct pvmw_tls_key *t, bool tls);

/* Draws a new ticket: 0 or PVMC_ESYSTEM, logged. */
int pvmt_tcp_ticket_draw(struct pvmw_tls_key *t);

#endif
