/*
 * place.h - where an HTTP server listens, as users write it.
 */
#ifndef PVMW_HTTP_PLACE_H
#define PVMW_HTTP_PLACE_H

#include "wire/address.h"

/* "9480" (at this host's loopback address), "10.1.2.3:9480" or "[fd00::1]:9480". 0, or PVMC_EFORMAT. */
int pvmw_http_place_parse(const char *text, union pvmw_address *a);

/* Listens there: a descriptor, or a negative errno. Port 0 becomes the port that was free. */
int pvmw_http_place_listen(union pvmw_address *a);

#endif
