/*
 * http.h - the small HTTP server of the metrics, in a module of its own (libdpvm_metrics.so), because libmicrohttpd
 * brings a TLS library along that a daemon without metrics should not load.
 */
#ifndef PVMD_METRICS_HTTP_H
#define PVMD_METRICS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define PVMD_HTTP_SYMBOL "pvmd_http"

struct pvmd_http_server; /* one */

/* Makes the page (metrics.h). */
typedef char *pvmd_http_page(bool open_metrics, size_t *length);

struct pvmd_http {
    /* Takes over a listening socket; NULL when it cannot (the socket stays the caller's). */
    struct pvmd_http_server *(*open)(int fd, pvmd_http_page *page);

    /* Readable whenever run() has something to do. */
    int (*fd)(struct pvmd_http_server *server);

    /* Serves without waiting. Returns after how many milliseconds it wants to be called again at the latest, or -1. */
    long (*run)(struct pvmd_http_server *server);

    /* Closes the socket and all connections. */
    void (*close)(struct pvmd_http_server *server);
};

#endif
