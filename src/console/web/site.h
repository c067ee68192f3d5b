/*
 * site.h - the server of `pvm web`: the files of the page, the state, the stream of changes, and control. doc/web.md
 * describes what each path gives.
 */
#ifndef WEB_SITE_H
#define WEB_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include "wire/address.h"

/* Listens. False after a message. `url` gets the page's. */
bool site_open(union pvmw_address *at, bool control, char *url, size_t size);

/* Sends what has changed to those who look. */
void site_tell_changes(void);

/* Whether anybody looks. */
bool site_is_watched(void);

/* A descriptor that is readable when site_serve() has something to do. */
int site_fd(void);

/* Serves without waiting. Milliseconds after which it wants to be called again at the latest, or -1. */
long site_serve(void);

void site_close(void);

#endif
