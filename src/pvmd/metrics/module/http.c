/* http.c - see http.h. */
#include "pvmd/metrics/http.h"
#include <microhttpd.h>
#include <stdint.h>
#include <string.h>

#define CONNECTIONS_MAX    16
#define CONNECTION_LIMIT_S 10 /* of silence */
#define CONNECTION_MEMORY  (16 * 1024)
#define TYPE_OPEN_METRICS  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TYPE_PROMETHEUS    "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_TEXT          "text/plain; charset=utf-8"

static pvmd_http_page *make_page;

static enum MHD_Result reply(struct MHD_Connection *c, unsigned code, const char *type, struct MHD_Response *r)
{
    if (!r)
        return MHD_NO; /* closes the connection */
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result say(struct MHD_Connection *c, unsigned code, const char *text)
{
    return reply(c, code, TYPE_TEXT,
                 MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_metrics(struct MHD_Connection *c)
{
    const char *accepted = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    bool open_metrics = accepted && strstr(accepted, "application/openmetrics-text");
    size_t length = 0;
    char *page = make_page(open_metrics, &length);
    if (!page)
        return MHD_NO;
    return reply(c, MHD_HTTP_OK, open_metrics ? TYPE_OPEN_METRICS : TYPE_PROMETHEUS,
                 MHD_create_response_from_buffer(length, page, MHD_RESPMEM_MUST_FREE));
}

/* libmicrohttpd calls this once with the head of a request, and again for its body and its end. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_bytes, void **state)
{
    static char seen;
    (void)arg, (void)version, (void)body;
    if (!*state) {
        *state = &seen;
        return MHD_YES;
    }
    if (*body_bytes) { /* nobody needs it */
        *body_bytes = 0;
        return MHD_YES;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
        return say(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
    if (!strcmp(url, "/metrics"))
        return send_metrics(c);
    if (!strcmp(url, "/"))
        return say(c, MHD_HTTP_OK, "A daemon of dpvm. Its metrics are at /metrics.\n");
    return say(c, MHD_HTTP_NOT_FOUND, "There is only /metrics.\n");
}

static struct pvmd_http_server *open_server(int fd, pvmd_http_page *page)
{
    make_page = page;
    return (struct pvmd_http_server *)MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, answer, NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_LIMIT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
}

static int fd_of(struct pvmd_http_server *server)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info((struct MHD_Daemon *)server, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static unsigned connections(struct pvmd_http_server *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info((struct MHD_Daemon *)server, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

static long run(struct pvmd_http_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    unsigned before;
    do { /* once more after some have closed: only then it listens again, if it had as many as it may have */
        before = connections(server);
        MHD_run((struct MHD_Daemon *)server);
    } while (connections(server) < before);
    if (MHD_get_timeout((struct MHD_Daemon *)server, &wait_ms) != MHD_YES)
        return -1;
    return wait_ms < 60000 ? (long)wait_ms : 60000;
}

static void close_server(struct pvmd_http_server *server)
{
    MHD_stop_daemon((struct MHD_Daemon *)server);
}

extern __attribute__((visibility("default"))) const struct pvmd_http pvmd_http;
const struct pvmd_http pvmd_http = {open_server, fd_of, run, close_server};
