/*
 * http.h - a small HTTP server for the metrics of a daemon and for `pvm web`: a module of its own (libdpvm_http.so),
 * because libmicrohttpd brings a TLS library along that programs without it should not load. It has no thread: its user
 * calls run() from a loop.
 */
#ifndef PVMW_HTTP_H
#define PVMW_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMW_HTTP_MODULE "libdpvm_http.so"
#define PVMW_HTTP_SYMBOL "pvmw_http"

struct pvmw_http_server;

enum pvmw_http_kind { PVMW_HTTP_HEADER, PVMW_HTTP_QUERY, PVMW_HTTP_COOKIE };

/* A complete request; valid while it is answered. */
struct pvmw_http_request {
    const char *method, *path; /* `path` is decoded, and without the query */
    const char *body;          /* not terminated */
    size_t body_bytes;
    void *connection; /* for value() */
};

struct pvmw_http_header {
    const char *name, *value;
};

/* The body is copied unless `lasts` (it stays as long as the process) or `owned` (the server calls free()). */
struct pvmw_http_reply {
    unsigned status;
    const char *type; /* NULL: without a body */
    const char *body;
    size_t body_bytes;
    bool lasts, owned;
    const struct pvmw_http_header *headers; /* `header_count` more; copied */
    unsigned header_count;
    bool streams;      /* instead of a body, sends what rules.feed() gives */
    uint64_t position; /* ... from here on */
};

struct pvmw_http_rules {
    unsigned connections_max, streams_max;
    unsigned silence_max_s; /* after which a connection is closed, unless it waits for feed() */
    size_t head_bytes_max, body_bytes_max;
    void *arg; /* of the two functions */

    /* Fills in the reply, which is all zero; status 0 closes the connection. */
    void (*answer)(void *arg, const struct pvmw_http_request *request, struct pvmw_http_reply *reply);

    /*
     * For streams, may be NULL: copies what follows `position`, at most `room` bytes. 0 if there is nothing yet, -1 if
     * it is lost, which ends the stream.
     */
    long (*feed)(void *arg, uint64_t position, char *to, size_t room);
};

struct pvmw_http {
    /* Takes over a listening socket; NULL when it cannot (the socket stays the caller's). `rules` must stay. */
    struct pvmw_http_server *(*open)(int fd, const struct pvmw_http_rules *rules);

    /* Readable whenever run() has something to do. */
    int (*fd)(struct pvmw_http_server *server);

    /* Serves without waiting. Returns after how many milliseconds it wants to be called again at the latest, or -1. */
    long (*run)(struct pvmw_http_server *server);

    /* feed() has more: streams go on with the next run(). Those whose position is lost are cut. */
    void (*wake)(struct pvmw_http_server *server);

    /* Number of streams. */
    unsigned (*streams)(const struct pvmw_http_server *server);

    /* A value of the request, such as a header; NULL if it has none. */
    const char *(*value)(const struct pvmw_http_request *request, enum pvmw_http_kind kind, const char *name);

    /* Closes the socket and all connections. */
    void (*close)(struct pvmw_http_server *server);
};

#endif
