/* door.c - see door.h. */
#include "door.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#define HEADER_TOKEN "X-Dpvm-Token"

enum { SECRET_BYTES = 32, NAME_MAX_BYTES = 256 };

static bool make_secret(char text[DOOR_TOKEN_CHARS + 1])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[SECRET_BYTES + 1] = {0};

    if (getrandom(bytes, SECRET_BYTES, 0) != SECRET_BYTES)
        return false;
    for (int i = 0; i < DOOR_TOKEN_CHARS; i++) {
        int bit = i * 6;
        unsigned pair = (unsigned)bytes[bit / 8] << 8 | bytes[bit / 8 + 1];
        text[i] = digits[pair >> (10 - bit % 8) & 63];
    }
    text[DOOR_TOKEN_CHARS] = '\0';
    return true;
}

bool door_make(struct door *d, const char *host, unsigned port)
{
    snprintf(d->host, sizeof(d->host), "%s", host);
    snprintf(d->cookie, sizeof(d->cookie), "dpvm-web-%u", port);
    return make_secret(d->token) && make_secret(d->key);
}

/* The time does not depend on where they differ. */
static bool equals(const char secret[DOOR_TOKEN_CHARS + 1], const char *given)
{
    unsigned char difference = 0;

    if (given == NULL || strlen(given) != DOOR_TOKEN_CHARS)
        return false;
    for (int i = 0; i < DOOR_TOKEN_CHARS; i++)
        difference |= (unsigned char)(secret[i] ^ given[i]);
    return difference == 0;
}

static bool is_our_name(const struct door *d, const char *name)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};
    char own[NAME_MAX_BYTES] = "";

    for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
        if (strcasecmp(name, loopback[i]) == 0)
            return true;
    gethostname(own, sizeof(own) - 1);
    return strcasecmp(name, d->host) == 0 || (*own != '\0' && strcasecmp(name, own) == 0);
}

/* NAME, NAME:PORT, [ADDRESS]:PORT. Any port: it may be the near end of a tunnel. */
static bool is_our_authority(const struct door *d, const char *text)
{
    char name[NAME_MAX_BYTES];
    const char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');
    size_t length = end == NULL ? strlen(text) : (size_t)(end - text) + (*text == '[');

    if (length >= sizeof(name))
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return is_our_name(d, name);
}

/* Browsers name the site that makes a request; other programs do not. */
static bool is_from_our_page(const struct pvmw_http *http, const struct pvmw_http_request *request)
{
    const char *origin = http->value(request, PVMW_HTTP_HEADER, "Origin");
    const char *host = http->value(request, PVMW_HTTP_HEADER, "Host");
    const char *name = origin != NULL ? strstr(origin, "://") : NULL;

    return origin == NULL || (name != NULL && strcasecmp(name + 3, host) == 0);
}

enum door_verdict door_judge(const struct door *d, const struct pvmw_http *http,
                             const struct pvmw_http_request *request)
{
    const char *host = http->value(request, PVMW_HTTP_HEADER, "Host");

    if (host == NULL || !is_our_authority(d, host) || !is_from_our_page(http, request))
        return DOOR_FOREIGN;
    if (equals(d->token, http->value(request, PVMW_HTTP_HEADER, HEADER_TOKEN)) ||
        equals(d->token, http->value(request, PVMW_HTTP_COOKIE, d->cookie)))
        return DOOR_OPEN;
    bool at_entrance = strcmp(request->path, "/") == 0 && strcmp(request->method, "GET") == 0;
    return at_entrance && equals(d->token, http->value(request, PVMW_HTTP_QUERY, "token")) ? DOOR_ENTRANCE
                                                                                           : DOOR_NO_TOKEN;
}

bool door_may_change(const struct door *d, const struct pvmw_http *http, const struct pvmw_http_request *request)
{
    const char *given = http->value(request, PVMW_HTTP_HEADER, HEADER_TOKEN);

    return equals(d->key, given) || equals(d->token, given);
}
