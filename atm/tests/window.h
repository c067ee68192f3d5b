/*
 * window.h - a sender with a window like TCP Tahoe's, just enough to show how cell loss affects packets: slow start,
 * linear growth above the threshold, and a single packet after a loss. The receiver acknowledges packets in order.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "lab.h"

struct window {
    struct pvma_sim *sim;
    struct pvma_vc *from, *to;
    struct pvma_event timer;
    pvma_ps timeout;
    uint32_t next, acknowledged,
        expected;           /* packets: next to send; after the last acknowledged; next at the receiver */
    double size, threshold; /* of the window, in packets */
    unsigned largest, sent, received;
    size_t bytes;
    bool stopped;
};

static inline void window_send(struct window *w)
{
    static uint8_t data[PVMA_PDU_MAX];
    if (w->stopped)
        return;
    while (w->next < w->acknowledged + (unsigned)w->size) {
        memcpy(data, &w->next, sizeof w->next);
        if (pvma_vc_send(w->from, data, w->bytes, 0))
            break;
        w->next++;
        w->sent++;
    }
    pvma_sim_after(w->sim, &w->timer, w->timeout);
}

/* Stops sending; packets in flight still arrive or are lost. */
static inline void window_stop(struct window *w)
{
    w->stopped = true;
    pvma_sim_cancel(w->sim, &w->timer);
}

static inline void window_timeout(struct pvma_event *event)
{
    struct window *w = PVMA_OF(event, struct window, timer);
    w->threshold = w->size / 2 > 2 ? w->size / 2 : 2;
    w->size = 1;
    w->next = w->acknowledged;
    window_send(w);
}

static inline void window_acknowledged(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct window *w = arg;
    uint32_t all_before;
    (void)vc, (void)length;
    memcpy(&all_before, data, sizeof all_before);
    if (all_before <= w->acknowledged)
        return;
    for (; w->acknowledged < all_before; w->acknowledged++)
        w->size += w->size < w->threshold ? 1 : 1 / w->size;
    w->size = w->size < w->largest ? w->size : w->largest;
    w->next = w->next > all_before ? w->next : all_before;
    window_send(w);
}

static inline void window_received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct window *w = arg;
    uint32_t number;
    (void)length;
    memcpy(&number, data, sizeof number);
    w->received++;
    w->expected += number == w->expected;
    pvma_vc_send(vc, &w->expected, sizeof w->expected, 0);
}

static inline void window_open(struct window *w, struct lab *lab, size_t pvc, size_t bytes, unsigned largest,
                               pvma_ps timeout)
{
    static const struct pvma_vc_handler sender = {.received = window_acknowledged};
    static const struct pvma_vc_handler receiver = {.received = window_received};
    *w = (struct window){.sim = lab->sim,
                         .from = pvma_net_pvc_end(lab->net, pvc, false),
                         .to = pvma_net_pvc_end(lab->net, pvc, true),
                         .timeout = timeout,
                         .size = 1,
                         .threshold = largest,
                         .largest = largest,
                         .bytes = bytes};
    pvma_event_init(&w->timer, PVMA_EVENT_USER, window_timeout);
    pvma_vc_handle(w->from, &sender, w);
    pvma_vc_handle(w->to, &receiver, w);
    window_send(w);
}

#endif
