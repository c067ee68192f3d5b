/* hop.c - see hop.h. */
#include "hop.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"

enum { BACKOFF_MAX = 4 }; /* the time between repetitions doubles so often */

static char releasing[1]; /* stands for a MID that the other end has not released yet */

/* ---- queues ---- */

static void queue_init(struct pvma_hop_queue *queue)
{
    *queue = (struct pvma_hop_queue){.tail = &queue->head};
}

static void queue_put(struct pvma_hop_queue *queue, struct pvma_hop_pdu *pdu)
{
    pdu->next = NULL;
    *queue->tail = pdu;
    queue->tail = &pdu->next;
    queue->length++;
}

static void queue_pop(struct pvma_hop_queue *queue)
{
    struct pvma_hop_pdu *pdu = queue->head;
    queue->head = pdu->next;
    if (!queue->head)
        queue->tail = &queue->head;
    queue->length--;
    free(pdu);
}

static struct pvma_hop_pdu *pdu_new(const void *data, size_t length)
{
    struct pvma_hop_pdu *pdu = pvma_new(sizeof *pdu + length);
    pdu->length = length;
    memcpy(pdu->data, data, length);
    return pdu;
}

/* ---- sending ---- */

static void drain(struct pvma_hop_end *end)
{
    while (end->waiting.head) {
        const struct pvma_hop_pdu *pdu = end->waiting.head;
        if (pvma_vc_send(end->vc, pdu->data, pdu->length, 0) == PVMC_EAGAIN)
            return;
        end->waiting_packets -= pdu->is_packet;
        queue_pop(&end->waiting);
    }
}

/* Keeps the order of all PDUs of this end. */
static void put(struct pvma_hop_end *end, const void *data, size_t length, bool is_packet)
{
    if (!end->waiting.head && pvma_vc_send(end->vc, data, length, 0) != PVMC_EAGAIN)
        return;
    struct pvma_hop_pdu *pdu = pdu_new(data, length);
    pdu->is_packet = is_packet;
    end->waiting_packets += is_packet;
    queue_put(&end->waiting, pdu);
}

static void put_message(struct pvma_hop_end *end, const struct pvma_overlay_message *m)
{
    uint8_t wire[PVMA_OVERLAY_MAX];
    put(end, wire, pvma_overlay_encode(m, wire), false);
}

static void start_retry(struct pvma_hop_end *end)
{
    unsigned doublings = end->tries < BACKOFF_MAX ? end->tries : BACKOFF_MAX;
    pvma_sim_after(end->hop->sim, &end->retry, end->hop->options->retry << doublings);
}

/* No acknowledgement has come. Messages that still wait for the driver are not sent a second time. */
static void send_again(struct pvma_event *event)
{
    struct pvma_hop_end *end = PVMA_OF(event, struct pvma_hop_end, retry);
    end->tries++;
    if (end->waiting.length == end->waiting_packets) {
        for (const struct pvma_hop_pdu *pdu = end->unacked.head; pdu; pdu = pdu->next) {
            end->hop->counters->repeated++;
            put(end, pdu->data, pdu->length, false);
        }
    }
    start_retry(end);
}

void pvma_hop_signal(struct pvma_hop_end *end, const struct pvma_overlay_message *m)
{
    if (end->hop->is_down || !end->user)
        return;
    uint8_t wire[PVMA_OVERLAY_MAX];
    struct pvma_overlay_message message = *m;
    message.epoch = end->hop->epoch;
    message.sequence = end->next++ & PVMA_OVERLAY_SEQUENCE;
    size_t length = pvma_overlay_encode(&message, wire);
    struct pvma_hop_pdu *pdu = pdu_new(wire, length);
    pdu->sequence = message.sequence;
    queue_put(&end->unacked, pdu);
    if (!pvma_event_is_scheduled(&end->retry))
        start_retry(end);
    end->hop->counters->messages++;
    put(end, wire, length, false);
}

bool pvma_hop_is_congested(const struct pvma_hop_end *end)
{
    return end->unacked.length >= PVMA_HOP_REQUESTS_MAX;
}

/* ---- packets ---- */

static uint8_t *frame(const struct pvma_hop_end *end, uint16_t mid, const void *data, size_t length)
{
    static uint8_t packet[PVMA_OVERLAY_MAX + PVMA_PDU_MAX];
    struct pvma_overlay_message header = {.type = PVMA_OVERLAY_DATA, .mid = mid, .epoch = end->hop->epoch};
    pvma_overlay_encode(&header, packet);
    if (length)
        memcpy(packet + PVMA_OVERLAY_HEADER, data, length);
    return packet;
}

int pvma_hop_send(struct pvma_hop_end *end, uint16_t mid, const void *data, size_t length, uint64_t cookie)
{
    if (end->waiting.head)
        return PVMC_EAGAIN;
    return pvma_vc_send(end->vc, frame(end, mid, data, length), PVMA_OVERLAY_HEADER + length, cookie);
}

void pvma_hop_relay(struct pvma_hop_end *end, uint16_t mid, const void *data, size_t length)
{
    if (end->hop->is_down || end->waiting_packets >= end->hop->options->queue)
        end->hop->counters->lost++;
    else
        put(end, frame(end, mid, data, length), PVMA_OVERLAY_HEADER + length, true);
}

/* ---- receiving ---- */

static void acknowledge(struct pvma_hop_end *end)
{
    struct pvma_overlay_message ack = {
        .type = PVMA_OVERLAY_ACK, .epoch = end->hop->epoch, .sequence = end->expected & PVMA_OVERLAY_SEQUENCE};
    put_message(end, &ack);
}

/* How far sequence number a is after b, modulo 2^24. */
static int32_t distance(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

static void take_ack(struct pvma_hop_end *end, uint32_t sequence)
{
    if (distance(sequence, end->next) > 0)
        return;
    bool progress = false;
    while (end->unacked.head && distance(sequence, end->unacked.head->sequence) > 0) {
        queue_pop(&end->unacked);
        progress = true;
    }
    if (!progress)
        return;
    end->tries = 0;
    pvma_sim_cancel(end->hop->sim, &end->retry);
    if (end->unacked.head)
        start_retry(end);
}

static void take_message(struct pvma_hop_end *end, const struct pvma_overlay_message *m)
{
    if (m->type == PVMA_OVERLAY_ACK) {
        take_ack(end, m->sequence);
        return;
    }
    bool is_next = !distance(m->sequence, end->expected);
    if (is_next && !end->user->signal(end->arg, end, m))
        return;
    end->expected += is_next;
    acknowledge(end);
}

static void received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct pvma_hop_end *end = arg;
    struct pvma_overlay_message m;
    (void)vc;
    if (!end->user || end->hop->is_down)
        return;
    if (pvma_overlay_decode(&m, data, length) || m.epoch != end->hop->epoch)
        end->hop->counters->malformed++;
    else if (m.type == PVMA_OVERLAY_DATA)
        end->user->packet(end->arg, end, m.mid, data + PVMA_OVERLAY_HEADER, length - PVMA_OVERLAY_HEADER);
    else
        take_message(end, &m);
}

static void taken(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    struct pvma_hop_end *end = arg;
    (void)vc;
    if (cookie && end->user && end->user->taken)
        end->user->taken(end->arg, cookie);
}

static void sent(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    struct pvma_hop_end *end = arg;
    (void)vc;
    if (cookie && end->user && end->user->sent)
        end->user->sent(end->arg, cookie);
}

static void dropped(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why)
{
    struct pvma_hop_end *end = arg;
    (void)vc;
    if (cookie && end->user && end->user->dropped)
        end->user->dropped(end->arg, cookie, why);
}

static void room(void *arg, struct pvma_vc *vc)
{
    struct pvma_hop_end *end = arg;
    (void)vc;
    drain(end);
    if (!end->waiting.head && end->user && end->user->room)
        end->user->room(end->arg, end);
}

/* ---- MIDs ---- */

static bool is_own(const struct pvma_hop_end *end, uint16_t mid)
{
    return mid && mid % 2 == (end != end->hop->end);
}

uint16_t pvma_hop_take_mid(struct pvma_hop_end *end, void *value)
{
    uint32_t limit = 2 * end->hop->options->mids + 1;
    if (end->hop->is_down || end->mids.used >= end->hop->options->mids)
        return 0;
    for (uint32_t tries = 0; tries <= limit; tries++) {
        end->last_mid = end->last_mid >= limit || end->last_mid == UINT16_MAX ? 1 : end->last_mid + 1;
        if (!is_own(end, end->last_mid) || pvma_vctable_get(&end->mids, 0, end->last_mid))
            continue;
        pvma_vctable_set(&end->mids, 0, end->last_mid, value);
        return end->last_mid;
    }
    return 0;
}

bool pvma_hop_note_mid(struct pvma_hop_end *end, uint16_t mid, void *value)
{
    if (!mid || is_own(end, mid) || pvma_vctable_get(&end->mids, 0, mid))
        return false;
    pvma_vctable_set(&end->mids, 0, mid, value);
    return true;
}

void *pvma_hop_mid(const struct pvma_hop_end *end, uint16_t mid)
{
    void *value = pvma_vctable_get(&end->mids, 0, mid);
    return value == releasing ? NULL : value;
}

void pvma_hop_forget_mid(struct pvma_hop_end *end, uint16_t mid)
{
    if (end->hop->is_down || !end->user)
        pvma_vctable_remove(&end->mids, 0, mid);
    else
        pvma_vctable_set(&end->mids, 0, mid, releasing);
}

void pvma_hop_refuse_mid(struct pvma_hop_end *end, uint16_t mid, int cause)
{
    struct pvma_overlay_message release = {.type = PVMA_OVERLAY_RELEASE, .mid = mid, .cause = (uint8_t)cause};
    pvma_hop_signal(end, &release);
}

void pvma_hop_release_mid(struct pvma_hop_end *end, uint16_t mid, int cause)
{
    pvma_hop_forget_mid(end, mid);
    pvma_hop_refuse_mid(end, mid, cause);
}

void *pvma_hop_take_release(struct pvma_hop_end *end, const struct pvma_overlay_message *m)
{
    void *value = pvma_vctable_get(&end->mids, 0, m->mid);
    bool is_answer = m->type == PVMA_OVERLAY_RELEASED;
    if (!value || (is_answer && value != releasing))
        return NULL;
    pvma_vctable_remove(&end->mids, 0, m->mid);
    if (value == releasing) /* both ends have released it, and each takes the other's message for the answer */
        return NULL;
    struct pvma_overlay_message released = {.type = PVMA_OVERLAY_RELEASED, .mid = m->mid};
    pvma_hop_signal(end, &released);
    return value;
}

/* ---- failures ---- */

static void forget(struct pvma_hop_end *end)
{
    pvma_sim_cancel(end->hop->sim, &end->retry);
    while (end->unacked.head)
        queue_pop(&end->unacked);
    while (end->waiting.head)
        queue_pop(&end->waiting);
    end->waiting_packets = 0;
    end->next = end->expected = 0;
    end->tries = 0;
}

void pvma_hop_restart(struct pvma_hop *hop)
{
    hop->epoch++;
    for (int i = 0; i < 2; i++) {
        forget(&hop->end[i]);
        pvma_vctable_free(&hop->end[i].mids);
    }
    for (int i = 0; i < 2; i++) {
        struct pvma_hop_end *end = &hop->end[i];
        if (end->user)
            end->user->lost(end->arg, end);
    }
}

static void notice(struct pvma_event *event)
{
    struct pvma_hop *hop = PVMA_OF(event, struct pvma_hop, detect);
    hop->is_down = true;
    pvma_hop_restart(hop);
}

void pvma_hop_check(struct pvma_net *net, struct pvma_hop *hop)
{
    bool works = hop->end[0].user && hop->end[1].user && pvma_net_pvc_is_up(net, hop->pvc);
    if (works) {
        pvma_sim_cancel(hop->sim, &hop->detect);
        hop->is_down = false;
    } else if (!hop->is_down && !pvma_event_is_scheduled(&hop->detect)) {
        pvma_sim_after(hop->sim, &hop->detect, hop->options->detect);
    }
}

void pvma_hop_use(struct pvma_hop_end *end, const struct pvma_hop_user *user, void *arg)
{
    end->user = user;
    end->arg = arg;
    if (user)
        return;
    forget(end);
    pvma_vctable_free(&end->mids);
}

/* ---- life ---- */

static void end_init(struct pvma_hop_end *end, struct pvma_hop *hop)
{
    static const struct pvma_vc_handler handler = {
        .received = received, .taken = taken, .sent = sent, .dropped = dropped, .room = room};
    end->hop = hop;
    pvma_vctable_init(&end->mids);
    queue_init(&end->unacked);
    queue_init(&end->waiting);
    pvma_event_init(&end->retry, PVMA_EVENT_OVERLAY, send_again);
    size_t mtu = pvma_host_mtu(pvma_vc_host(end->vc)) + PVMA_OVERLAY_HEADER;
    pvma_vc_set_mtu(end->vc, mtu < PVMA_PDU_MAX ? mtu : PVMA_PDU_MAX);
    pvma_vc_handle(end->vc, &handler, end);
}

struct pvma_hop *pvma_hop_new(struct pvma_net *net, struct pvma_host *a, struct pvma_host *b, bool counts,
                              const struct pvma_topo_overlay *options, struct pvma_hop_counters *counters, int *cause)
{
    static const struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    struct pvma_hop *hop = pvma_new(sizeof *hop);
    *cause = pvma_net_pvc_watched(net, a, b, &contract, counts, &hop->end[0].vc, &hop->end[1].vc, &hop->pvc);
    if (*cause) {
        free(hop);
        return NULL;
    }
    hop->sim = pvma_net_sim(net);
    hop->options = options;
    hop->counters = counters;
    pvma_event_init(&hop->detect, PVMA_EVENT_OVERLAY, notice);
    for (int i = 0; i < 2; i++)
        end_init(&hop->end[i], hop);
    return hop;
}

void pvma_hop_free(struct pvma_hop *hop)
{
    pvma_sim_cancel(hop->sim, &hop->detect);
    for (int i = 0; i < 2; i++) {
        forget(&hop->end[i]);
        pvma_vc_handle(hop->end[i].vc, NULL, NULL);
        pvma_vctable_free(&hop->end[i].mids);
    }
    free(hop);
}
