/*
 * signal.h - signalling messages and their encoding. Modelled on Q.2931 and Fore's SPANS, in a format of our own:
 * version, type, call, party, caller, called, then the fields of the type (signal.c).
 */
#ifndef PVMA_SIGNAL_H
#define PVMA_SIGNAL_H

#include "call.h"

#define PVMA_SIGNAL_VERSION 1
#define PVMA_SIGNAL_MAX     256 /* octets of a message */
#define PVMA_PARTY_ALL      0xffff

/* The numbers are on the wire. */
enum pvma_signal_type {
    PVMA_SETUP = 1, /* offers a call or a party of one */
    PVMA_CONNECT,   /* accepts it, with the bandwidth granted */
    PVMA_RELEASE,   /* a party, or all, is refused, leaves or is dropped */
    PVMA_ADD_PARTY, /* one more leaf; becomes a SETUP where its path leaves the tree */
};

struct pvma_signal {
    enum pvma_signal_type type;
    uint32_t call;  /* number from the caller's host; unique together with `caller` */
    uint16_t party; /* 0: the call's first */
    struct pvma_address caller, called;
    uint32_t asap;                 /* SETUP, ADD_PARTY */
    uint16_t vpi, vci;             /* SETUP: on this link, from the caller to the called */
    uint16_t back_vpi, back_vci;   /* duplex: the other direction */
    struct pvma_contract contract; /* SETUP: `wanted` is what fits so far; CONNECT: what was granted */
    uint8_t cause;                 /* RELEASE */
};

/* Encodes a message and returns its number of octets. */
size_t pvma_signal_encode(const struct pvma_signal *signal, uint8_t wire[PVMA_SIGNAL_MAX]);

/* Decodes a message. Returns 0, or PVMC_ESHORT, PVMC_EFORMAT, PVMC_EVERSION; nothing is logged. */
int pvma_signal_decode(struct pvma_signal *signal, const uint8_t *wire, size_t length);

/* Parts of messages, for those of the overlay, too. Reading a contract returns false for values that no contract has.
 */
struct pvmc_buf;
void pvma_signal_put_address(struct pvmc_buf *b, struct pvma_address address);
struct pvma_address pvma_signal_get_address(struct pvmc_buf *b);
void pvma_signal_put_contract(struct pvmc_buf *b, const struct pvma_contract *contract);
bool pvma_signal_get_contract(struct pvmc_buf *b, struct pvma_contract *contract);

/* "SETUP", ...; "?" for an unknown type. */
const char *pvma_signal_name(enum pvma_signal_type type);

#endif
