/* place.c - see place.h. */
#include "place.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "wire/socket.h"

#define LOOPBACK "127.0.0.1"
#define WAITING  16
#define TEXT_MAX 128

int pvmw_http_place_parse(const char *text, union pvmw_address *a)
{
    char ip[TEXT_MAX] = LOOPBACK;
    const char *port = strrchr(text, ':');
    if (port && port - text < TEXT_MAX)
        snprintf(ip, sizeof ip, "%.*s", (int)(port - text), text);
    port = port ? port + 1 : text;
    size_t length = strlen(ip);
    char *number = ip;
    if (*ip == '[' && ip[length - 1] == ']') {
        ip[length - 1] = '\0';
        number++;
    } else if (strchr(ip, ':')) {
        return PVMC_EFORMAT; /* which part is the port? */
    }
    char *end;
    unsigned long value = strtoul(port, &end, 10);
    if (*end || *port < '0' || *port > '9' || value > UINT16_MAX)
        return PVMC_EFORMAT;
    return pvmw_address_parse(number, (uint16_t)value, a);
}

int pvmw_http_place_listen(union pvmw_address *a)
{
    return pvmw_socket_listen(
        a, &(struct pvmw_socket_listen){.backlog = WAITING, .low = pvmw_address_port(a), .count = 1, .v4_too = true});
}
