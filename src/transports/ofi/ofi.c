/*
 * ofi.c - frames over libfabric: EFA, Slingshot, Omni-Path, verbs, and whatever else it reaches (see ofi_transport.h
 * for the parts).
 *
 * An offer is the address of the offering side's endpoint and a random number; the reply is the same from the joining
 * side, which sends nothing until it has heard from the offering side.
 */
#include <rdma/fi_cm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "ofi_transport.h"
#include "provider.h"
#include "variable.h"

#define COMPLETIONS    4096 /* entries of the completion queue */
#define EVENTS         16   /* completions read at once */
#define BATCHES_MAX    4    /* of completions, per progress() */
#define CALLS_PER_LOOK 1024 /* progress() calls of a polling task between two looks at its timer */
#define FAREWELL_US    500000
#define EAGER_BYTES    (OFI_MESSAGE_BYTES - OFI_PREFIX_BYTES - PVMC_FRAME_HEADER_BYTES)
#define INJECT_BYTES   2048 /* a provider that copies so much at once need not hold messages until they are received */
#define WHY_BYTES      512

static struct ofi_transport *transports; /* all that are open in this process: one in a task, more in tests */

static struct ofi_transport *of(const struct pvmt_transport *t)
{
    return (struct ofi_transport *)t;
}

static struct ofi_link *link_of(const struct pvmt_endpoint *ep)
{
    return (struct ofi_link *)ep;
}

static void ofi_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    const char *name = t ? of(t)->info->fabric_attr->prov_name : NULL;
    const struct pvmt_ofi_figures *f = pvmt_ofi_provider_figures(name);
    *out = (struct pvmt_attributes){.frame_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .copy_max = t ? of(t)->eager_bytes : EAGER_BYTES,
                                    .latency_ns = f->latency_ns,
                                    .bandwidth_mbs = f->bandwidth_mbs,
                                    .local_only = pvmt_ofi_provider_is_local(name),
                                    .by_name_only = !pvmt_ofi_provider_suits_auto(NULL),
                                    .secrecy = "in the clear",
                                    .end_unseen = true,
                                    .look_us = t && !of(t)->has_descriptor ? OFI_LOOK_MAX_US : 0};
}

/* ---- opening ---- */

static int open_queue(struct ofi_transport *t)
{
    struct fi_cq_attr attr = {.size = COMPLETIONS, .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
    int rc = fi_cq_open(t->domain, &attr, &t->cq, NULL);
    t->has_descriptor = !rc;
    attr.wait_obj = FI_WAIT_NONE;
    return rc ? fi_cq_open(t->domain, &attr, &t->cq, NULL) : 0;
}

static int open_endpoint(struct ofi_transport *t)
{
    struct fi_av_attr attr = {.type = t->info->domain_attr->av_type};
    int rc = fi_av_open(t->domain, &attr, &t->av, NULL);
    if (!rc)
        rc = fi_endpoint(t->domain, t->info, &t->ep, NULL);
    if (!rc)
        rc = fi_ep_bind(t->ep, &t->cq->fid, FI_TRANSMIT | FI_RECV);
    if (!rc)
        rc = fi_ep_bind(t->ep, &t->av->fid, 0);
    return rc ? rc : fi_enable(t->ep);
}

static int read_address(struct ofi_transport *t)
{
    size_t length = sizeof t->address;
    int rc = fi_getname(&t->ep->fid, t->address, &length);
    t->address_length = (unsigned)length;
    return rc;
}

/* 0, or an error of libfabric. */
static int open_objects(struct ofi_transport *t)
{
    int rc = t->lib->fabric(t->info->fabric_attr, &t->fabric, NULL);
    if (!rc)
        rc = fi_domain(t->fabric, t->info, &t->domain, NULL);
    if (!rc)
        rc = open_queue(t);
    if (!rc)
        rc = open_endpoint(t);
    return rc ? rc : read_address(t);
}

static void read_limits(struct ofi_transport *t)
{
    size_t inject = t->info->tx_attr->inject_size, most = OFI_MESSAGE_BYTES;
    if (inject >= INJECT_BYTES && inject < most)
        most = inject;
    t->eager_bytes = (unsigned)most - OFI_PREFIX_BYTES - PVMC_FRAME_HEADER_BYTES;
    t->ticks_limit = (unsigned)(pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / OFI_TICK_US);
}

static int set_up(struct ofi_transport *t)
{
    char why[WHY_BYTES];
    t->lib = pvmt_fabric_load(why, sizeof why);
    int rc = t->lib ? pvmt_ofi_provider_choose(t->lib, &t->info, why, sizeof why) : PVMC_EUNSUPPORTED;
    if (rc) {
        pvmc_log_once(PVMC_LOG_WARNING, "no direct ofi links: %s", why);
        return rc;
    }
    const char *name = t->info->fabric_attr->prov_name;
    read_limits(t);
    pvmt_ofi_variables_set(name);
    int failed = -open_objects(t);
    pvmt_ofi_variables_unset();
    if (failed) {
        pvmc_log(PVMC_LOG_WARNING, "no direct ofi links: %s on %s: %s", name, t->info->domain_attr->name,
                 t->lib->strerror(failed));
        return failed == FI_EMFILE || failed == FI_ENOMEM ? PVMC_ELIMIT : PVMC_ESYSTEM;
    }
    rc = pvmt_ofi_leases_open(t);
    if (!rc)
        rc = pvmt_ofi_slots_open(t);
    return rc ? rc : pvmt_ofi_wait_open(t);
}

/* ---- closing ---- */

static void close_object(struct fid *f)
{
    if (f)
        fi_close(f);
}

/* Frees everything but links. The objects of a `foreign` transport are the parent's, and stay. */
static void take_down(struct ofi_transport *t, bool foreign)
{
    if (!foreign)
        close_object(t->ep ? &t->ep->fid : NULL);
    pvmt_ofi_reads_close(t, foreign);
    pvmt_ofi_loans_close(t, foreign);
    pvmt_ofi_slots_close(t, foreign);
    pvmt_ofi_leases_close(t, foreign);
    pvmt_ofi_peers_close(t);
    pvmt_ofi_wait_close(t);
    if (!foreign) {
        close_object(t->av ? &t->av->fid : NULL);
        close_object(t->cq ? &t->cq->fid : NULL);
        close_object(t->domain ? &t->domain->fid : NULL);
        close_object(t->fabric ? &t->fabric->fid : NULL);
    }
    if (t->info)
        t->lib->freeinfo(t->info);
    free(t);
}

static int ofi_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out)
{
    extern const struct pvmt_transport_ops pvmt_ofi_ops;
    struct ofi_transport *t = address ? NULL : calloc(1, sizeof *t);
    if (!t)
        return address ? PVMC_EUNSUPPORTED : PVMC_ENOMEM; /* it connects by offer only */
    t->base = (struct pvmt_transport){.ops = &pvmt_ofi_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->epoll = t->timer = -1;
    int rc = set_up(t);
    if (rc)
        take_down(t, false);
    else
        DL_APPEND(transports, t);
    *out = rc ? NULL : &t->base;
    return rc;
}

static void tidy(struct ofi_transport *t)
{
    struct ofi_link *l, *next;
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        DL_DELETE(t->graveyard, l);
        free(l);
    }
}

/* Says goodbye on all links, and waits a short time for everything to leave. */
static void part_from_all(struct ofi_transport *t)
{
    struct ofi_link *l, *next;
    int64_t end_us = pvmc_clock_us() + FAREWELL_US;
    DL_FOREACH_SAFE (t->links, l, next)
        if (!l->parted)
            pvmt_ofi_link_part(l);
    while ((t->links || t->operations) && !t->dead && pvmc_clock_us() < end_us)
        t->base.ops->progress(&t->base);
    while (t->links)
        pvmt_ofi_link_bury(t->links);
    tidy(t);
}

/* In a forked child: frees what is in its own memory. */
static void forget_links(struct ofi_transport *t)
{
    struct ofi_link *l, *next;
    HASH_CLEAR(hh, t->by_key);
    DL_CONCAT(t->graveyard, t->links);
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        pvmt_ofi_loans_revoke(l, true);
        pvmt_ofi_drop_early(l);
        l->read = NULL; /* take_down() frees it */
        pvmt_ofi_read_orphan(l);
        free(l);
    }
}

static void ofi_close(struct pvmt_transport *base)
{
    struct ofi_transport *t = of(base), *other;
    bool foreign = t->pid != getpid();
    if (foreign)
        forget_links(t);
    else
        part_from_all(t);
    DL_DELETE(transports, t);
    DL_FOREACH (transports, other) /* shm would write to unmapped memory */
        if (!foreign)
            pvmt_ofi_peer_leaves(other, t->address);
    take_down(t, foreign);
}

void pvmt_ofi_device_lost(struct ofi_transport *t, int error)
{
    struct ofi_link *l;
    if (t->dead)
        return;
    pvmc_log(PVMC_LOG_WARNING, "ofi: %s has failed: %s; messages take other routes", t->info->fabric_attr->prov_name,
             t->lib->strerror(error));
    t->dead = PVMC_EUNREACHABLE;
    pvmt_ofi_wait_no_more(t);
    DL_FOREACH (t->links, l)
        pvmt_ofi_link_fail(l, PVMC_EDOWN, "the device has failed");
}

/* ---- connecting ---- */

/* Writes what the peer must know of a new link. Its length, or a PVMC_E code and no link. */
static int describe(struct ofi_link *l, uint8_t blob[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    int length = pvmt_ofi_link_describe(l, blob);
    *out = length < 0 ? NULL : &l->base;
    if (length < 0)
        pvmt_ofi_link_bury(l);
    return length;
}

static int ofi_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                     struct pvmt_endpoint **out)
{
    int rc;
    struct ofi_link *l = pvmt_ofi_link_new(of(base), owner, &rc);
    *fd = -1;
    return l ? describe(l, blob, out) : rc;
}

static int ofi_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                    uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    struct pvmt_ofi_offer peer;
    if (fd >= 0)
        close(fd);
    int rc = pvmt_ofi_offer_decode(blob, length, &peer);
    struct ofi_link *l = rc ? NULL : pvmt_ofi_link_new(of(base), owner, &rc);
    if (!l)
        return rc;
    rc = pvmt_ofi_link_connect(l, &peer);
    if (rc) {
        pvmt_ofi_link_bury(l);
        return rc;
    }
    l->state = OFI_JOINING;
    return describe(l, reply, out);
}

static int ofi_joined(struct pvmt_endpoint *ep, const uint8_t *reply, size_t length)
{
    struct ofi_link *l = link_of(ep);
    struct pvmt_ofi_offer peer;
    if (l->state != OFI_OFFERED || l->failed)
        return PVMC_EEXISTS;
    int rc = pvmt_ofi_offer_decode(reply, length, &peer);
    if (!rc)
        rc = pvmt_ofi_link_connect(l, &peer);
    if (rc)
        return rc;
    l->state = OFI_GREETING;
    l->news_due = true;
    of(ep->transport)->attention = true;
    return 0;
}

static void ofi_disconnect(struct pvmt_endpoint *ep)
{
    pvmt_ofi_link_part(link_of(ep));
}

static size_t ofi_pending(const struct pvmt_endpoint *ep)
{
    return link_of(ep)->sending;
}

/* A provider that emulates reads needs the lender's processor. */
static size_t ofi_unsent(const struct pvmt_endpoint *ep)
{
    return link_of(ep)->loan_count + link_of(ep)->sending;
}

/* ---- progress ---- */

static void take_completion(struct ofi_transport *t, struct ofi_work *w, size_t length, int error)
{
    if (!w)
        return;
    if (w->task == OFI_SEND) {
        pvmt_ofi_sent(t, w, error);
    } else if (w->task == OFI_READ) {
        pvmt_ofi_read_done(t, w, error);
    } else {
        if (!error)
            pvmt_ofi_receive(t, w->data, length);
        pvmt_ofi_slot_free(t, w);
    }
}

/* An operation has failed. Returns the number of events. */
static int take_error(struct ofi_transport *t)
{
    struct fi_cq_err_entry e = {.err = 0};
    ssize_t rc = fi_cq_readerr(t->cq, &e, 0);
    if (rc == -FI_EAGAIN)
        return 0;
    if (rc < 0) {
        pvmt_ofi_device_lost(t, (int)-rc);
        return 0;
    }
    pvmc_log(PVMC_LOG_DEBUG, "ofi: an operation failed: %s", t->lib->strerror(e.err));
    take_completion(t, e.op_context, e.len, e.err ? e.err : FI_EOTHER);
    return 1;
}

static int take_batch(struct ofi_transport *t)
{
    struct fi_cq_msg_entry entries[EVENTS];
    ssize_t n = fi_cq_read(t->cq, entries, EVENTS);
    if (n == -FI_EAVAIL)
        return take_error(t);
    if (n < 0 && n != -FI_EAGAIN)
        pvmt_ofi_device_lost(t, (int)-n);
    for (ssize_t i = 0; i < n; i++)
        take_completion(t, entries[i].op_context, entries[i].len, 0);
    return n > 0 ? (int)n : 0;
}

static int attend_all(struct ofi_transport *t)
{
    struct ofi_link *l, *next;
    int n = 0;
    unsigned burials = t->burials;
    t->attention = false;
    DL_FOREACH_SAFE (t->links, l, next) {
        n += pvmt_ofi_link_attend(l);
        if (t->burials != burials) { /* the list has changed; the other links get their turn next time */
            t->attention = true;
            break;
        }
    }
    return n;
}

static int ofi_progress(struct pvmt_transport *base)
{
    struct ofi_transport *t = of(base);
    int n = 0, taken = EVENTS;
    if (t->slept || t->stuffed || ++t->turn % CALLS_PER_LOOK == 0) /* calls are slow while it refuses */
        pvmt_ofi_wait_look(t);
    t->slept = false;
    t->attention |= t->stuffed;
    t->stuffed = false;
    for (int i = 0; i < BATCHES_MAX && taken == EVENTS && !t->dead; i++) {
        taken = take_batch(t);
        n += taken;
    }
    if (t->idle_receives && !t->dead)
        pvmt_ofi_slots_post(t);
    if (t->attention)
        n += attend_all(t);
    if (t->graveyard)
        tidy(t);
    if (n)
        t->look_us = OFI_LOOK_MIN_US;
    return n;
}

static int ofi_fd(struct pvmt_transport *base)
{
    return of(base)->epoll;
}

const struct pvmt_transport_ops pvmt_ofi_ops = {
    .name = "ofi",
    .summary = "libfabric: EFA, Slingshot, Omni-Path, verbs and others",
    .available = pvmt_ofi_provider_available,
    .describe = pvmt_ofi_providers_describe,
    .open = ofi_open,
    .close = ofi_close,
    .query = ofi_query,
    .offer = ofi_offer,
    .join = ofi_join,
    .joined = ofi_joined,
    .disconnect = ofi_disconnect,
    .send = pvmt_ofi_send,
    .pending = ofi_pending,
    .unsent = ofi_unsent,
    .progress = ofi_progress,
    .fd = ofi_fd,
    .arm = pvmt_ofi_arm,
};
