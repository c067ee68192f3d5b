/* routes.c - see routes.h. */
#include "routes.h"
#include <stdint.h>
#include <stdio.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/options.h"
#include "libpvm/engine/peer.h"
#include "send.h"
#include "libpvm/base/task.h"

#define ROUTE_BYTES 24

/* Peers are other tasks, and ourselves for messages to ourselves; daemons are not listed. */
static bool is_listed(const struct pvmi_peer *p)
{
    return pvmc_tid_is_task(p->tid) && !p->ended;
}

/* "daemon", or the transport's name, with "+tls" if the link is encrypted. */
static void route_of(const struct pvmi_peer *p, char route[ROUTE_BYTES])
{
    bool direct = p->link && p->link->state == PVMI_LINK_UP;
    const struct pvmt_transport_ops *ops = direct ? p->link->carrier->ops : NULL;
    bool encrypted = direct && ops->encrypts && ops->encrypts(p->link->ep);
    snprintf(route, ROUTE_BYTES, "%s%s", direct ? ops->name : "daemon", encrypted ? "+tls" : "");
}

static int pack_traffic(struct pvmc_message *m, const struct pvmi_traffic *t)
{
    const long values[] = {(long)t->tx_frames, (long)t->tx_bytes, (long)t->rx_frames, (long)t->rx_bytes};
    return pvmc_message_pack(m, PVM_LONG, values, 4, 1);
}

static int pack_peer(struct pvmc_message *m, const struct pvmi_peer *p)
{
    const int tid = (int)p->tid, counts[] = {(int)p->refusals, (int)p->links_opened, (int)p->links_lost};
    char route[ROUTE_BYTES];
    route_of(p, route);
    int rc = pvmc_message_pack(m, PVM_INT, &tid, 1, 1);
    rc = rc ? rc : pvmc_message_pack_string(m, route);
    rc = rc ? rc : pack_traffic(m, &p->direct);
    rc = rc ? rc : pack_traffic(m, &p->daemon);
    return rc ? rc : pvmc_message_pack(m, PVM_INT, counts, 3, 1);
}

static int pack_all(struct pvmc_message *m)
{
    const struct pvmi_peer *p;
    int n = 0;
    for (p = pvmi_peer_first(); p; p = p->hh.next)
        n += is_listed(p);
    int rc = pvmc_message_pack_string(m, pvmc_config_text(PVMC_SETTING_TRANSPORT));
    rc = rc ? rc : pvmc_message_pack(m, PVM_INT, &pvmi_options.route, 1, 1);
    rc = rc ? rc : pvmc_message_pack(m, PVM_INT, &n, 1, 1);
    for (p = pvmi_peer_first(); p && !rc; p = p->hh.next)
        if (is_listed(p))
            rc = pack_peer(m, p);
    return rc;
}

/* Reads the address for the answer: packed int context, int tag. */
static int read_address(struct pvmc_message *question, struct pvmc_message *answer)
{
    int address[2];
    int rc = pvmc_message_unpack(question, PVM_INT, address, 2, 1);
    if (rc || address[0] < 0 || address[1] < 0)
        return PVMC_EFORMAT;
    answer->ctx = (uint32_t)address[0];
    answer->tag = address[1];
    return 0;
}

/* By the daemon, so that a query opens no link. */
static int send_by_daemon(struct pvmc_message *m)
{
    int route = pvmi_options.route;
    pvmi_options.route = PvmDontRoute;
    int rc = pvmi_send_message(m);
    pvmi_options.route = route;
    return rc;
}

static void answer(struct pvmc_message *question)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return;
    m->src = pvmi_task.tid;
    m->dst = question->src;
    int rc = read_address(question, m);
    if (!rc)
        rc = pack_all(m);
    if (!rc)
        rc = send_by_daemon(m);
    if (rc)
        pvmc_log(PVMC_LOG_INFO, "cannot answer t%x about routes: %s", question->src, pvmc_error_text(rc));
    pvmc_message_unref(m);
}

void pvmi_routes_take(struct pvmc_message *m)
{
    pvmi_handler_later(m, answer);
}
