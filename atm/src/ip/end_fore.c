/* end_fore.c - an end on the Fore API: PDUs on a VC of the simulated network. See end.h. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "nodes/host.h"
#include "end.h"
#include "lan/fiber.h"

struct pdu {
    struct pdu *next;
    size_t length, read;
    uint8_t data[];
};

struct end_fore {
    struct pvma_end end;
    struct pvma_vc *vc;
    struct pdu *first, **last;          /* received and not yet read */
    struct pvma_fiber *reader, *writer; /* waiting fibers */
    bool called;                        /* the event that the writer waits for has happened */
};

static struct end_fore *fore_of(struct pvma_end *end)
{
    return PVMA_OF(end, struct end_fore, end);
}

static void wake(struct pvma_fiber **waiting)
{
    struct pvma_fiber *fiber = *waiting;

    *waiting = NULL;
    if (fiber)
        pvma_fiber_resume(fiber);
}

static void received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct end_fore *c = arg;
    struct pdu *pdu = pvma_new(sizeof *pdu + length);

    (void)vc;
    pdu->length = length;
    memcpy(pdu->data, data, length);
    *c->last = pdu;
    c->last = &pdu->next;
    wake(&c->reader);
}

static void taken(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    struct end_fore *c = arg;

    (void)vc;
    (void)cookie;
    c->called = true;
    wake(&c->writer);
}

static void room(void *arg, struct pvma_vc *vc)
{
    taken(arg, vc, 0);
}

static void dropped(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why)
{
    (void)why;
    taken(arg, vc, cookie);
}

static const struct pvma_vc_handler handler = {.received = received, .taken = taken, .dropped = dropped, .room = room};

static void wait_for_call(struct end_fore *c)
{
    while (!c->called) {
        c->writer = pvma_fiber_current();
        pvma_fiber_pause();
    }
    c->called = false;
}

/* atm_send(): returns when the processor has finished with the PDU; waits while the send queue is full. */
static void send_pdu(struct end_fore *c, const uint8_t *data, size_t length)
{
    c->called = false;
    while (pvma_vc_send(c->vc, data, length, 0) == PVMC_EAGAIN)
        wait_for_call(c);
    wait_for_call(c);
}

static void fore_send(struct pvma_end *end, const void *data, uint32_t length)
{
    struct end_fore *c = fore_of(end);
    size_t mtu = pvma_vc_mtu(c->vc);

    for (size_t at = 0; at < length; at += mtu)
        send_pdu(c, (const uint8_t *)data + at, length - at < mtu ? length - at : mtu);
}

static size_t read_pdu(struct end_fore *c, uint8_t *data, size_t length)
{
    struct pdu *pdu = c->first;
    size_t piece = pdu->length - pdu->read < length ? pdu->length - pdu->read : length;

    memcpy(data, pdu->data + pdu->read, piece);
    pdu->read += piece;
    if (pdu->read < pdu->length)
        return piece;
    c->first = pdu->next;
    if (!c->first)
        c->last = &c->first;
    free(pdu);
    return piece;
}

static void fore_receive(struct pvma_end *end, void *data, uint32_t length)
{
    struct end_fore *c = fore_of(end);
    size_t at = 0;

    while (at < length) {
        while (!c->first) {
            c->reader = pvma_fiber_current();
            pvma_fiber_pause();
        }
        at += read_pdu(c, (uint8_t *)data + at, length - at);
    }
}

static void fore_free(struct pvma_end *end)
{
    struct end_fore *c = fore_of(end);
    struct pdu *pdu;

    pvma_vc_handle(c->vc, &(struct pvma_vc_handler){0}, NULL);
    while ((pdu = c->first)) {
        c->first = pdu->next;
        free(pdu);
    }
    free(c);
}

static struct pvma_end *make(struct pvma_vc *vc)
{
    struct end_fore *c = pvma_new(sizeof *c);

    c->end = (struct pvma_end){fore_send, fore_receive, fore_free};
    c->vc = vc;
    c->last = &c->first;
    pvma_vc_handle(vc, &handler, c);
    return &c->end;
}

void pvma_end_fore(struct pvma_vc *vc_a, struct pvma_vc *vc_b, struct pvma_end **a, struct pvma_end **b)
{
    *a = make(vc_a);
    *b = make(vc_b);
}
