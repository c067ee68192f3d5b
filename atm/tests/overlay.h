/* overlay.h - for the tests of the overlay: a network with its servers, and programs that call each other. */
#ifndef OVERLAY_H
#define OVERLAY_H

#include "lab.h"
#include "atm/src/overlay/parts.h"

#define OVERLAY_SAP 7

struct site {
    struct lab lab;
    struct pvma_overlay *overlay;
};

static inline void site_open(struct site *site, const char *text)
{
    lab_open(&site->lab, text, 1);
    site->overlay = pvma_overlay_new(site->lab.net, &site->lab.topology);
    ck_assert_ptr_nonnull(site->overlay);
}

static inline void site_close(struct site *site)
{
    pvma_overlay_free(site->overlay);
    lab_close(&site->lab);
}

static inline struct pvma_host *site_host(struct site *site, const char *name)
{
    struct pvma_host *host = pvma_net_host(site->lab.net, name);
    ck_assert_ptr_nonnull(host);
    return host;
}

/* VCIs that the switched VCs and the VC to the server take at a host. */
static inline unsigned site_vcis(struct site *site, const char *name)
{
    const struct pvma_node *node = pvma_host_node(site_host(site, name));
    ck_assert_uint_eq(node->port[0].out->vci_count, node->port[0].in->vci_count);
    return node->port[0].out->vci_count;
}

/* One end of a call. */
struct end {
    struct pvma_call *call;
    struct pvma_vc *vc;
    int connected, ended, cause;
    bool echoes, refuses, waits;
    unsigned pdus, taken, sent;
    uint64_t bytes;
    uint8_t last[PVMA_PDU_MAX];
    size_t last_length;
    struct pvma_address caller;
    struct pvma_contract contract;
};

static inline void end_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct end *end = arg;
    end->pdus++;
    end->bytes += length;
    end->last_length = length;
    memcpy(end->last, data, length);
    if (end->echoes)
        pvma_vc_send(vc, data, length, 0);
}

static inline void end_taken(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    struct end *end = arg;
    (void)vc;
    ck_assert_uint_eq(cookie, end->taken++);
}

static inline void end_sent(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    struct end *end = arg;
    (void)vc;
    ck_assert_uint_eq(cookie, end->sent++);
}

static const struct pvma_vc_handler end_pdus = {.received = end_received, .taken = end_taken, .sent = end_sent};
static const struct pvma_vc_handler end_echo = {.received = end_received};

static inline void end_connected(void *arg, struct pvma_call *call, struct pvma_vc *vc,
                                 const struct pvma_contract *granted)
{
    struct end *end = arg;
    ck_assert_ptr_eq(pvma_call_vc(call), vc);
    end->connected++;
    end->vc = vc;
    end->contract = *granted;
    pvma_vc_handle(vc, &end_pdus, end);
}

static inline void end_ended(void *arg, struct pvma_call *call, int cause)
{
    struct end *end = arg;
    end->ended++;
    end->cause = cause;
    if (call != end->call)
        return; /* an earlier one, of a listener that takes several */
    end->call = NULL;
    end->vc = NULL;
}

static const struct pvma_call_handler end_calls = {.connected = end_connected, .ended = end_ended};

static inline void end_accept(struct end *end)
{
    end->vc = pvma_call_accept(end->call, NULL, &end_calls, end);
    end->connected++;
    pvma_vc_handle(end->vc, end->echoes ? &end_echo : &end_pdus, end);
}

static inline void end_offered(void *arg, struct pvma_call *call, struct pvma_address caller,
                               const struct pvma_contract *contract)
{
    struct end *end = arg;
    end->call = call;
    end->caller = caller;
    end->contract = *contract;
    if (end->refuses) {
        end->call = NULL;
        pvma_call_refuse(call, PVMA_CAUSE_BUSY);
    } else if (end->waits) {
        pvma_call_watch(call, &end_calls, end);
    } else {
        end_accept(end);
    }
}

static inline void end_listen(struct site *site, const char *host, struct end *end)
{
    ck_assert_int_eq(pvma_host_listen(site_host(site, host), OVERLAY_SAP, end_offered, end), 0);
}

static inline void end_call_as(struct site *site, const char *from, const char *to, struct end *end,
                               const struct pvma_contract *contract)
{
    end->call = pvma_call_open(site_host(site, from), pvma_host_address(site_host(site, to)), OVERLAY_SAP, contract,
                               &end_calls, end);
}

static inline void end_call(struct site *site, const char *from, const char *to, struct end *end)
{
    static const struct pvma_contract duplex = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    end_call_as(site, from, to, end, &duplex);
}

/* The program of an end leaves. */
static inline void end_leave(struct end *end)
{
    if (end->call)
        pvma_call_release(end->call);
    end->call = NULL;
    end->vc = NULL;
}

#endif
