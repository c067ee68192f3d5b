/*
 * assured.h - the stream of an assured endpoint: a connection of atm/src/assured over the network, or, within a host,
 * bytes that inside.c passes on.
 *
 * The program asks for bytes (READ) and gives some (WRITE). Its descriptor gets NEWS when there is something to ask for
 * or room again; one NEWS is there at most, until the program asks. So a slow program fills windows, not memory.
 */
#ifndef PVMA_SERVE_ASSURED_H
#define PVMA_SERVE_ASSURED_H

#include "endpoint.h"

/* An endpoint has been opened. */
void pvma_assured_open(struct pvma_endpoint *e);

/* Chooses the protocol of an endpoint that is not connected. Returns 0 or an errno. */
int pvma_assured_choose(struct pvma_endpoint *e, uint32_t protocol);

/* The endpoint has been connected over the network. */
void pvma_assured_begin(struct pvma_endpoint *e);

/* Takes as many bytes as there is room for, *taken. If not all, the endpoint hears of room. Returns 0 or an errno. */
int pvma_assured_write(struct pvma_endpoint *e, const uint8_t *data, size_t bytes, uint32_t item, size_t *taken);

/* Reads at most `most` bytes; 0: the end of the stream. Returns 0 or an errno; EAGAIN: none now. */
int pvma_assured_read(struct pvma_endpoint *e, uint8_t *to, size_t most, size_t *got);

/* The program wants to know when so many bytes have come. */
void pvma_assured_set_low_water(struct pvma_endpoint *e, uint32_t bytes);

/* Whether the protocol still needs the network, for bytes that the program has written. */
bool pvma_assured_is_unsent(const struct pvma_endpoint *e);

/* The program has closed the endpoint, which is kept until its bytes have arrived. What comes for it is dropped. */
void pvma_assured_linger(struct pvma_endpoint *e);

/* The call is over; `clean`: all bytes had arrived. Bytes that came can still be read. */
void pvma_assured_end(struct pvma_endpoint *e, bool clean);

/* Frees what the endpoint has of the stream. */
void pvma_assured_free(struct pvma_endpoint *e);

/* ---- for inside.c ---- */

/* Bytes have come for the endpoint; the window that it writes into has room again. */
void pvma_assured_came(struct pvma_endpoint *e);
void pvma_assured_room(struct pvma_endpoint *e);

#endif
