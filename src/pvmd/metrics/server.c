/* server.c - where metrics are served, and when the server of http.h runs. */
#include <ev.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "metrics.h"
#include "pvmd/base/self.h"
#include "transports/module.h"
#include "wire/http/http.h"
#include "wire/http/place.h"

#define CONNECTIONS_MAX   16
#define SILENCE_MAX_S     10
#define HEAD_MAX          (16 * 1024)
#define BODY_MAX          (16 * 1024) /* nobody needs one */
#define TYPE_OPEN_METRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TYPE_PROMETHEUS   "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_TEXT         "text/plain; charset=utf-8"

enum { OK = 200, NOT_FOUND = 404, NOT_ALLOWED = 405 };

static const struct pvmw_http *http;
static struct pvmw_http_server *server; /* NULL: not served */
static ev_io readable;
static ev_timer due;

int pvmd_metrics_check(char *why, size_t size)
{
    union pvmw_address a;
    const char *text = pvmc_config_text(PVMC_SETTING_METRICS);
    if (!*text || !pvmw_http_place_parse(text, &a))
        return 0;
    snprintf(why, size,
             "not started: PVM_METRICS=%.100s: it must be a port of this host's loopback address, such as 9480, or an "
             "address with a port, such as 10.1.2.3:9480, 0.0.0.0:9480 or [::]:9480",
             text);
    return PVMC_EPARAM;
}

/* ---- pages ---- */

static void say(struct pvmw_http_reply *reply, unsigned status, const char *text)
{
    *reply = (struct pvmw_http_reply){
        .status = status, .type = TYPE_TEXT, .body = text, .body_bytes = strlen(text), .lasts = true};
}

static void send_metrics(const struct pvmw_http_request *request, struct pvmw_http_reply *reply)
{
    const char *accepted = http->value(request, PVMW_HTTP_HEADER, "Accept");
    bool open_metrics = accepted && strstr(accepted, "application/openmetrics-text");
    size_t length = 0;
    char *page = pvmd_metrics_page(open_metrics, &length);
    if (page)
        *reply = (struct pvmw_http_reply){.status = OK,
                                          .type = open_metrics ? TYPE_OPEN_METRICS : TYPE_PROMETHEUS,
                                          .body = page,
                                          .body_bytes = length,
                                          .owned = true};
}

static void answer(void *arg, const struct pvmw_http_request *request, struct pvmw_http_reply *reply)
{
    static const struct pvmw_http_header allow = {"Allow", "GET, HEAD"};
    (void)arg;
    if (strcmp(request->method, "GET") && strcmp(request->method, "HEAD")) {
        say(reply, NOT_ALLOWED, "Only GET and HEAD.\n");
        reply->headers = &allow;
        reply->header_count = 1;
    } else if (!strcmp(request->path, "/metrics")) {
        send_metrics(request, reply);
    } else if (!strcmp(request->path, "/")) {
        say(reply, OK, "A daemon of dpvm. Its metrics are at /metrics.\n");
    } else {
        say(reply, NOT_FOUND, "There is only /metrics.\n");
    }
}

/* ---- the server in the daemon's loop ---- */

static void serve(void)
{
    long wait_ms = http->run(server);
    ev_timer_stop(pvmd.loop, &due);
    if (wait_ms < 0)
        return;
    ev_timer_set(&due, (double)wait_ms / 1000, 0.);
    ev_timer_start(pvmd.loop, &due);
}

static void readable_event(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop, (void)w, (void)events;
    serve();
}

static void due_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    serve();
}

static void open_server(int fd, const union pvmw_address *a)
{
    static const struct pvmw_http_rules rules = {.connections_max = CONNECTIONS_MAX,
                                                 .silence_max_s = SILENCE_MAX_S,
                                                 .head_bytes_max = HEAD_MAX,
                                                 .body_bytes_max = BODY_MAX,
                                                 .answer = answer};
    char text[PVMW_ADDRESS_TEXT];
    server = http->open(fd, &rules);
    if (!server) {
        close(fd);
        pvmc_log(PVMC_LOG_WARNING, "no metrics: libmicrohttpd does not start");
        return;
    }
    ev_io_init(&readable, readable_event, http->fd(server), EV_READ);
    ev_io_start(pvmd.loop, &readable);
    ev_timer_init(&due, due_event, 0., 0.);
    serve();
    pvmc_log(PVMC_LOG_INFO, "metrics at http://%s/metrics", pvmw_address_text(a, text));
}

void pvmd_metrics_start(void)
{
    union pvmw_address a;
    char why[512], text[PVMW_ADDRESS_TEXT];
    const char *setting = pvmc_config_text(PVMC_SETTING_METRICS);
    if (!*setting || pvmw_http_place_parse(setting, &a))
        return;
    void *module = pvmt_module_load(PVMW_HTTP_MODULE, "PVM_METRICS", why, sizeof why);
    http = module ? pvmt_module_symbol(module, PVMW_HTTP_SYMBOL) : NULL;
    if (!http) {
        pvmc_log(PVMC_LOG_WARNING, "no metrics: %s", module ? PVMW_HTTP_MODULE " is none of ours" : why);
        return;
    }
    int fd = pvmw_http_place_listen(&a);
    if (fd < 0)
        pvmc_log(PVMC_LOG_WARNING, "no metrics: cannot listen at %s: %s. Choose another port with PVM_METRICS",
                 pvmw_address_text(&a, text), strerror(-fd));
    else
        open_server(fd, &a);
}

void pvmd_metrics_stop(void)
{
    if (!server)
        return;
    ev_io_stop(pvmd.loop, &readable);
    ev_timer_stop(pvmd.loop, &due);
    http->close(server);
    server = NULL;
}
