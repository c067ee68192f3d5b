/* http.c - see http.h. */
#include "wire/http/http.h"
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STREAM_BLOCK_BYTES (128 * 1024)
#define WAIT_MAX_MS        60000
#define TURNS_MAX          32

struct stream {
    struct pvmw_http_server *server;
    struct MHD_Connection *connection;
    uint64_t position;
    bool sleeps, cut;
    struct stream *prev, *next;
};

struct pvmw_http_server {
    struct MHD_Daemon *daemon;
    const struct pvmw_http_rules *rules;
    struct stream *streams;
    unsigned stream_count;
};

/* What libmicrohttpd keeps for us between the parts of one request. */
struct pending {
    char *body;
    size_t bytes;
};

/* ---- streams ---- */

static void link_stream(struct pvmw_http_server *s, struct stream *stream)
{
    stream->next = s->streams;
    if (s->streams)
        s->streams->prev = stream;
    s->streams = stream;
    s->stream_count++;
}

static void drop_stream(void *arg)
{
    struct stream *stream = arg;
    struct pvmw_http_server *s = stream->server;
    if (stream->prev)
        stream->prev->next = stream->next;
    else
        s->streams = stream->next;
    if (stream->next)
        stream->next->prev = stream->prev;
    s->stream_count--;
    free(stream);
}

/* libmicrohttpd asks for more. With nothing to send it would ask without end, so the connection sleeps meanwhile. */
static ssize_t read_stream(void *arg, uint64_t total, char *to, size_t room)
{
    (void)total;
    struct stream *stream = arg;
    const struct pvmw_http_rules *rules = stream->server->rules;
    long bytes = rules->feed(rules->arg, stream->position, to, room);
    if (bytes < 0 || stream->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    stream->position += (uint64_t)bytes;
    if (bytes == 0) {
        stream->sleeps = true;
        MHD_suspend_connection(stream->connection);
    }
    return bytes;
}

static struct MHD_Response *open_stream(struct pvmw_http_server *s, struct MHD_Connection *c, uint64_t position)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct stream){.server = s, .connection = c, .position = position};
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, stream, drop_stream);
    if (!r)
        free(stream);
    else
        link_stream(s, stream);
    return r;
}

static void wake_stream(struct stream *stream)
{
    if (stream->sleeps) {
        stream->sleeps = false;
        MHD_resume_connection(stream->connection);
    }
}

/* A reader that is too slow blocks in its socket, so the socket is what has to end. */
static void cut_if_lost(struct stream *stream)
{
    const struct pvmw_http_rules *rules = stream->server->rules;
    char scrap;
    if (stream->cut || rules->feed(rules->arg, stream->position, &scrap, 1) >= 0)
        return;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(stream->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    stream->cut = true;
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
}

static void wake(struct pvmw_http_server *s)
{
    for (struct stream *stream = s->streams; stream; stream = stream->next) {
        cut_if_lost(stream);
        wake_stream(stream);
    }
}

static unsigned streams(const struct pvmw_http_server *s)
{
    return s->stream_count;
}

/* ---- answers ---- */

static struct MHD_Response *make_response(struct pvmw_http_server *s, struct MHD_Connection *c,
                                          const struct pvmw_http_reply *reply)
{
    if (reply->streams)
        return open_stream(s, c, reply->position);
    enum MHD_ResponseMemoryMode mode = reply->owned   ? MHD_RESPMEM_MUST_FREE
                                       : reply->lasts ? MHD_RESPMEM_PERSISTENT
                                                      : MHD_RESPMEM_MUST_COPY;
    struct MHD_Response *r = MHD_create_response_from_buffer(reply->body_bytes, (void *)reply->body, mode);
    if (!r && reply->owned)
        free((void *)reply->body);
    return r;
}

static enum MHD_Result send_reply(struct pvmw_http_server *s, struct MHD_Connection *c,
                                  const struct pvmw_http_reply *reply)
{
    struct MHD_Response *r = reply->status ? make_response(s, c, reply) : NULL;
    if (!r)
        return MHD_NO; /* closes the connection */
    if (reply->type)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    for (unsigned i = 0; i < reply->header_count; i++)
        MHD_add_response_header(r, reply->headers[i].name, reply->headers[i].value);
    enum MHD_Result result = MHD_queue_response(c, reply->status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result answer_request(struct pvmw_http_server *s, struct MHD_Connection *c, const char *path,
                                      const char *method, const struct pending *p)
{
    struct pvmw_http_request request = {method, path, p->body, p->bytes, c};
    struct pvmw_http_reply reply = {0};
    s->rules->answer(s->rules->arg, &request, &reply);
    if (reply.streams && (!s->rules->feed || s->stream_count >= s->rules->streams_max))
        reply = (struct pvmw_http_reply){.status = MHD_HTTP_SERVICE_UNAVAILABLE};
    return send_reply(s, c, &reply);
}

/* False: too long, or out of memory. */
static bool append(struct pending *p, const char *body, size_t bytes, size_t bytes_max)
{
    char *longer = bytes <= bytes_max - p->bytes ? realloc(p->body, p->bytes + bytes) : NULL;
    if (!longer)
        return false;
    memcpy(longer + p->bytes, body, bytes);
    p->body = longer;
    p->bytes += bytes;
    return true;
}

/* libmicrohttpd calls this once with the head of a request, and again for the parts of its body and for its end. */
static enum MHD_Result take(void *arg, struct MHD_Connection *c, const char *path, const char *method,
                            const char *version, const char *body, size_t *bytes, void **state)
{
    struct pvmw_http_server *s = arg;
    struct pending *p = *state;
    (void)version;
    if (!p) {
        *state = calloc(1, sizeof *p);
        return *state ? MHD_YES : MHD_NO;
    }
    if (!*bytes)
        return answer_request(s, c, path, method, p);
    if (!append(p, body, *bytes, s->rules->body_bytes_max))
        return MHD_NO;
    *bytes = 0;
    return MHD_YES;
}

static void forget(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
    struct pending *p = *state;
    (void)arg, (void)c, (void)why;
    if (p)
        free(p->body);
    free(p);
    *state = NULL;
}

static const char *value(const struct pvmw_http_request *request, enum pvmw_http_kind kind, const char *name)
{
    static const enum MHD_ValueKind kinds[] = {[PVMW_HTTP_HEADER] = MHD_HEADER_KIND,
                                               [PVMW_HTTP_QUERY] = MHD_GET_ARGUMENT_KIND,
                                               [PVMW_HTTP_COOKIE] = MHD_COOKIE_KIND};
    return MHD_lookup_connection_value(request->connection, kinds[kind], name);
}

/* ---- the server ---- */

static struct pvmw_http_server *open_server(int fd, const struct pvmw_http_rules *rules)
{
    struct pvmw_http_server *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->rules = rules;
    s->daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, take, s, MHD_OPTION_LISTEN_SOCKET, fd,
                         MHD_OPTION_CONNECTION_LIMIT, rules->connections_max, MHD_OPTION_CONNECTION_TIMEOUT,
                         rules->silence_max_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, rules->head_bytes_max,
                         MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
    if (s->daemon)
        return s;
    free(s);
    return NULL;
}

static int fd_of(struct pvmw_http_server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static unsigned connections(struct pvmw_http_server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

static long run(struct pvmw_http_server *s)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    unsigned before;
    bool waits;
    int turns = 0;
    do { /* A turn sends one block of each stream. After some have closed it listens again, if it was full. */
        before = connections(s);
        MHD_run(s->daemon);
        waits = MHD_get_timeout(s->daemon, &wait_ms) == MHD_YES;
    } while (connections(s) < before || (waits && wait_ms == 0 && ++turns < TURNS_MAX));
    if (!waits)
        return -1;
    return wait_ms < WAIT_MAX_MS ? (long)wait_ms : WAIT_MAX_MS;
}

/* libmicrohttpd must not be stopped while connections are suspended. */
static void close_server(struct pvmw_http_server *s)
{
    for (struct stream *stream = s->streams; stream; stream = stream->next) {
        stream->cut = true;
        wake_stream(stream);
    }
    if (s->streams)
        MHD_run(s->daemon);
    MHD_stop_daemon(s->daemon);
    free(s);
}

extern __attribute__((visibility("default"))) const struct pvmw_http pvmw_http;
const struct pvmw_http pvmw_http = {open_server, fd_of, run, wake, streams, value, close_server};
