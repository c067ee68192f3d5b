/* ip_atm.c - see ip_atm.h. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "lan/frames.h"
#include "ip_atm.h"

enum { LLC_BYTES = 8 };

static const uint8_t llc[LLC_BYTES] = {0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00}; /* SNAP, type IP */

struct attachment;

/* The connection from one station to another. */
struct way {
    struct attachment *from;
    struct pvma_vc *vc; /* NULL: none yet */
    struct pvma_frames waiting;
};

struct attachment {
    struct pvma_interface interface;
    struct pvma_ip_atm *ip;
    struct pvma_host *host;
    struct way ways[PVMA_IP_ATM_STATIONS_MAX];
};

struct pvma_ip_atm {
    struct pvma_net *net;
    uint32_t mtu;
    struct attachment *stations[PVMA_IP_ATM_STATIONS_MAX];
    unsigned count;
};

static void received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct way *way = arg;

    (void)vc;
    if (length > LLC_BYTES && memcmp(data, llc, LLC_BYTES) == 0 && way->from->interface.station)
        pvma_station_arrived(way->from->interface.station, data + LLC_BYTES, length - LLC_BYTES);
}

/* Sends waiting packets while the adapter has room. */
static void room(void *arg, struct pvma_vc *vc)
{
    struct way *way = arg;
    struct pvma_frame *frame;

    while ((frame = way->waiting.first) && pvma_vc_send(vc, frame->packet, frame->length, 0) != PVMC_EAGAIN)
        free(pvma_frames_take(&way->waiting));
}

static const struct pvma_vc_handler handler = {.received = received, .room = room};

static int make_vc(struct pvma_ip_atm *ip, unsigned a, unsigned b)
{
    struct way *out = &ip->stations[a]->ways[b], *back = &ip->stations[b]->ways[a];
    static const struct pvma_contract best_effort = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    int cause = pvma_net_pvc(ip->net, ip->stations[a]->host, ip->stations[b]->host, &best_effort, &out->vc, &back->vc);

    if (cause != 0) {
        pvmc_log(PVMC_LOG_ERROR, "no VC from station %u to station %u: %s", a + 1, b + 1, pvma_cause_text(cause));
        return -1;
    }
    pvma_vc_handle(out->vc, &handler, out);
    pvma_vc_handle(back->vc, &handler, back);
    return 0;
}

static void send(struct pvma_interface *interface, uint32_t to, const uint8_t *packet, uint32_t length)
{
    struct attachment *a = PVMA_OF(interface, struct attachment, interface);
    struct way *way;
    uint8_t *pdu;

    if (to < 1 || to > a->ip->count)
        return;
    way = &a->ways[to - 1];
    if (!way->vc && make_vc(a->ip, interface->station->number - 1, to - 1) < 0)
        return;
    pdu = pvma_new(LLC_BYTES + length);
    memcpy(pdu, llc, LLC_BYTES);
    memcpy(pdu + LLC_BYTES, packet, length);
    if (way->waiting.first || pvma_vc_send(way->vc, pdu, LLC_BYTES + length, 0) == PVMC_EAGAIN)
        if (!pvma_frames_put(&way->waiting, PVMA_IP_ATM_QUEUE, to, pdu, LLC_BYTES + length))
            interface->dropped++;
    free(pdu);
}

struct pvma_ip_atm *pvma_ip_atm_new(struct pvma_net *net, uint32_t mtu)
{
    struct pvma_ip_atm *ip = pvma_new(sizeof *ip);

    ip->net = net;
    ip->mtu = mtu;
    return ip;
}

void pvma_ip_atm_free(struct pvma_ip_atm *ip)
{
    for (unsigned i = 0; i < ip->count; i++) {
        for (unsigned j = 0; j < PVMA_IP_ATM_STATIONS_MAX; j++)
            pvma_frames_clear(&ip->stations[i]->ways[j].waiting);
        free(ip->stations[i]);
    }
    free(ip);
}

struct pvma_interface *pvma_ip_atm_join(struct pvma_ip_atm *ip, struct pvma_host *host)
{
    struct attachment *a;

    if (ip->count == PVMA_IP_ATM_STATIONS_MAX)
        return NULL;
    a = pvma_new(sizeof *a);
    a->ip = ip;
    a->host = host;
    a->interface.mtu = ip->mtu;
    a->interface.send = send;
    for (unsigned i = 0; i < PVMA_IP_ATM_STATIONS_MAX; i++) {
        a->ways[i].from = a;
        pvma_frames_init(&a->ways[i].waiting);
    }
    ip->stations[ip->count++] = a;
    return &a->interface;
}
