/*
 * door.h - who may see the page: whoever has the token of this start. Requests must also name a host that is ours, so
 * that another site's name that resolves to this address (DNS rebinding) gets nothing.
 */
#ifndef WEB_DOOR_H
#define WEB_DOOR_H

#include <stdbool.h>
#include "wire/http/http.h"

enum { DOOR_TOKEN_CHARS = 43 }; /* 256 bits, base64url */

struct door {
    char token[DOOR_TOKEN_CHARS + 1]; /* in the URL, the cookie, or the header X-Dpvm-Token */
    char key[DOOR_TOKEN_CHARS + 1];   /* the page's proof that it, and not another site, changes something */
    char cookie[32];                  /* its name, which has the port: cookies are for all ports of a host */
    char host[256];                   /* the name in the URL, beside loopback's and this computer's */
};

enum door_verdict {
    DOOR_OPEN,
    DOOR_ENTRANCE, /* open by the URL: redirect, so that the token does not stay there */
    DOOR_NO_TOKEN,
    DOOR_FOREIGN, /* asked under another name, or by another site */
};

/* Makes new secrets. False: the system has no random numbers. */
bool door_make(struct door *d, const char *host, unsigned port);

enum door_verdict door_judge(const struct door *d, const struct pvmw_http *http,
                             const struct pvmw_http_request *request);

/* Whether the request, which door_judge() has let in, may change something: it has the key or the token in a header. */
bool door_may_change(const struct door *d, const struct pvmw_http *http, const struct pvmw_http_request *request);

#endif
