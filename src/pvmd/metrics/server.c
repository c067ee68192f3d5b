/* server.c - where metrics are served, and when the server of http.h runs. */
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "http.h"
#include "metrics.h"
#include "pvmd/base/self.h"
#include "transports/module.h"
#include "wire/address.h"
#include "wire/socket.h"

#define MODULE   "libdpvm_metrics.so"
#define LOOPBACK "127.0.0.1"
#define WAITING  16
#define TEXT_MAX 128

static const struct pvmd_http *http;
static struct pvmd_http_server *server; /* NULL: not served */
static ev_io readable;
static ev_timer due;

/* "9480", "10.1.2.3:9480", "[fd00::1]:9480". 0, or PVMC_EFORMAT. */
static int parse(const char *text, union pvmw_address *a)
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

int pvmd_metrics_check(char *why, size_t size)
{
    union pvmw_address a;
    const char *text = pvmc_config_text(PVMC_SETTING_METRICS);
    if (!*text || !parse(text, &a))
        return 0;
    snprintf(why, size,
             "not started: PVM_METRICS=%.100s: it must be a port of this host's loopback address, such as 9480, or an "
             "address with a port, such as 10.1.2.3:9480, 0.0.0.0:9480 or [::]:9480",
             text);
    return PVMC_EPARAM;
}

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
    char text[PVMW_ADDRESS_TEXT];
    server = http->open(fd, pvmd_metrics_page);
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
    if (!*setting || parse(setting, &a))
        return;
    void *module = pvmt_module_load(MODULE, "PVM_METRICS", why, sizeof why);
    http = module ? pvmt_module_symbol(module, PVMD_HTTP_SYMBOL) : NULL;
    if (!http) {
        pvmc_log(PVMC_LOG_WARNING, "no metrics: %s", module ? MODULE " is none of ours" : why);
        return;
    }
    unsigned port = pvmw_address_port(&a);
    int fd = pvmw_socket_listen(
        &a, &(struct pvmw_socket_listen){.backlog = WAITING, .low = port, .count = 1, .v4_too = true});
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
