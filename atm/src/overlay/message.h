/*
 * message.h - what travels on the VCs of the overlay: signalling messages between neighbours, and packets of relayed
 * connections. Both begin with a header of 8 octets: version, type, MID (2), sequence number (3), epoch;
 * numbers are little-endian.
 *
 * The MID names a relayed connection on this VC, as that of AAL3/4 names a PDU among those that share a VC: servers
 * route by it, and a station learns from it who has sent a packet. The epoch changes each time that the VC has been
 * down, so that nothing from before is taken for something new.
 */
#ifndef PVMA_OVERLAY_MESSAGE_H
#define PVMA_OVERLAY_MESSAGE_H

#include "network/broker.h"

#define PVMA_OVERLAY_HEADER   8
#define PVMA_OVERLAY_MAX      256 /* octets of a signalling message */
#define PVMA_OVERLAY_SEQUENCE 0xffffffu

/* The numbers are on the wire. */
enum pvma_overlay_type {
    PVMA_OVERLAY_DATA = 1, /* a packet follows the header */
    PVMA_OVERLAY_ACK,      /* all messages before `sequence` have arrived */
    PVMA_OVERLAY_RESOLVE,  /* which server has the station `called`? */
    PVMA_OVERLAY_ADDRESS,  /* the answer, back the same way */
    PVMA_OVERLAY_SETUP,    /* a relayed connection, from server to server; takes a MID on each VC */
    PVMA_OVERLAY_CONNECT,  /* the called side accepts it */
    PVMA_OVERLAY_RELEASE,  /* it ends, for a cause; the MID is in use until the answer */
    PVMA_OVERLAY_RELEASED, /* the MID is free */
};

struct pvma_overlay_message {
    enum pvma_overlay_type type;
    uint16_t mid;
    uint8_t epoch;
    uint32_t sequence; /* of signalling on this VC, 24 bits */
    uint16_t hops;     /* VCs between servers that a question and its answer, a SETUP, or a CONNECT have crossed */
    /* RESOLVE, ADDRESS, SETUP */
    uint32_t number; /* of the caller's call */
    struct pvma_address caller, called;
    uint16_t origin, server; /* of the caller; ADDRESS, SETUP: of the called */
    bool turned;             /* ring: against the order of the servers */
    bool second;             /* ring: the other way round has failed */
    bool direct;             /* ADDRESS: the stations may have a VC of their own */
    uint8_t cause;           /* ADDRESS (0: found), RELEASE */
    /* SETUP, CONNECT */
    uint32_t asap;
    struct pvma_contract contract;
};

/* Encodes a message and returns its number of octets. Of DATA, that is only the header. */
size_t pvma_overlay_encode(const struct pvma_overlay_message *m, uint8_t wire[PVMA_OVERLAY_MAX]);

/* Decodes a message. Returns 0, or PVMC_ESHORT, PVMC_EFORMAT, PVMC_EVERSION; nothing is logged. The packet of a DATA
 * message is left alone. */
int pvma_overlay_decode(struct pvma_overlay_message *m, const uint8_t *wire, size_t length);

/* "RESOLVE", ...; "?" for an unknown type. */
const char *pvma_overlay_type_name(enum pvma_overlay_type type);

#endif
