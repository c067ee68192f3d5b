/* link.c - the connection to our daemon, by the transport "unix". */
#include "link.h"
#include <string.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "../transports/transport.h"
#include "control.h"
#include "handler.h"
#include "inbox.h"
#include "peer.h"
#include "request.h"
#include "task.h"

/* A sender looks for TC_HOLD after so many bytes: the bound of what it can send past the daemon's high mark. */
#define LISTEN_BYTES (64u << 10)

static struct {
    struct pvmi_transport *transport;
    struct pvmi_endpoint *ep; /* NULL: down */
    uint32_t frame_max;
    bool refused;     /* a frame was refused: tx_ready comes */
    uint32_t unheard; /* bytes sent since we last listened */
} link;

/* ---- callbacks of the transport ---- */

static void drop_endpoint(void)
{
    struct pvmi_endpoint *ep = link.ep;
    link.ep = NULL;
    ep->transport->ops->disconnect(ep);
    pvmi_task_lost();
}

static uint8_t *rx_place(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    (void)arg;
    (void)ep;
    int status;
    uint8_t *place = pvmi_peer_place(h, &status);
    if (status)
        drop_endpoint();
    return place;
}

static void rx_done(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    (void)arg;
    (void)ep;
    struct pvmi_message *m = pvmi_peer_placed(h);
    if (m)
        pvmi_link_deliver(m);
}

static void tx_ready(void *arg, struct pvmi_endpoint *ep)
{
    (void)arg;
    (void)ep;
    link.refused = false;
}

static void down(void *arg, struct pvmi_endpoint *ep, int reason)
{
    (void)arg;
    (void)ep;
    pvmi_log(PVMI_LOG_INFO, "lost the daemon: %s", reason ? pvmi_error_text(reason) : "it closed the connection");
    drop_endpoint();
}

/* We never listen. */
static int accepted(void *arg, struct pvmi_endpoint *ep, const struct pvmi_credentials *who)
{
    (void)arg;
    (void)ep;
    (void)who;
    return PVMI_EDENIED;
}

static const struct pvmi_callbacks callbacks = {
    .accepted = accepted, .rx_place = rx_place, .rx_done = rx_done, .tx_ready = tx_ready, .down = down};

/* ---- what the rest of the library calls ---- */

void pvmi_link_deliver(struct pvmi_message *m)
{
    if (m->ctx == PVMI_CTX_TM && pvmi_tid_is_daemon(m->src))
        pvmi_request_take_answer(m);
    else if (m->ctx == PVMI_CTX_TC && pvmi_control_take(m))
        pvmi_message_unref(m);
    else if (!pvmi_handler_take(m))
        pvmi_inbox_put(m);
}

int pvmi_link_open(const char *path)
{
    const struct pvmi_transport_ops *ops = pvmi_transport_find("unix");
    memset(&link, 0, sizeof link);
    int rc = ops->open(NULL, &callbacks, NULL, &link.transport);
    if (rc)
        return rc;
    struct pvmi_attributes attributes;
    ops->query(link.transport, &attributes);
    link.frame_max = attributes.frame_max;
    rc = ops->connect(link.transport, (const uint8_t *)path, strlen(path), NULL, &link.ep);
    if (rc)
        pvmi_link_close();
    return rc;
}

void pvmi_link_close(void)
{
    if (link.transport)
        link.transport->ops->close(link.transport);
    memset(&link, 0, sizeof link);
}

bool pvmi_link_is_up(void)
{
    return link.ep;
}

uint32_t pvmi_link_frame_max(void)
{
    return link.frame_max;
}

int pvmi_link_send(struct pvmi_frame *f)
{
    if (link.unheard >= LISTEN_BYTES) {
        int rc = pvmi_link_progress();
        if (rc < 0)
            return rc;
    }
    if (!link.ep)
        return PVMI_EDOWN;
    int rc = link.transport->ops->send(link.ep, f);
    if (rc == PVMI_EAGAIN)
        link.refused = true;
    if (!rc)
        link.unheard += PVMI_FRAME_HEADER_BYTES + f->h.length;
    return rc;
}

bool pvmi_link_ready(void)
{
    return !link.ep || !link.refused;
}

bool pvmi_link_idle(void)
{
    return !link.ep || !link.transport->ops->pending(link.ep);
}

int pvmi_link_progress(void)
{
    if (!link.ep)
        return PVMI_EDOWN;
    link.unheard = 0;
    int n = link.transport->ops->progress(link.transport);
    return n > 0 || link.ep ? n : PVMI_EDOWN;
}

int pvmi_link_fd(void)
{
    return link.transport->ops->fd(link.transport);
}

int pvmi_link_arm(void)
{
    return link.transport->ops->arm(link.transport);
}
