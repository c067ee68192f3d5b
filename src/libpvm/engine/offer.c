/* offer.c - see offer.h. */
#include "offer.h"
#include "core/message/dsig.h"
#include "arrivals.h"
#include "handler.h"
#include "libpvm/base/lock.h"

static struct {
    struct pvmc_mem mem; /* referenced while a message is being placed there */
    const void *thread;  /* the thread that waits in the receive */
} offer;

/* pvmc_mem.release: the message was received, or will never be complete. */
static void give_back(struct pvmc_mem *mem)
{
    (void)mem;
    if (pvmi_offer_receive)
        pvmi_offer_receive->body = NULL;
}

bool pvmi_offer_begin(struct pvmi_wanted *w, void *data, size_t size)
{
    if (pvmi_offer_receive || offer.mem.refs)
        return false;
    offer.mem = (struct pvmc_mem){.data = data, .capacity = size, .release = give_back};
    offer.thread = pvmi_lock_self();
    pvmi_offer_receive = w;
    return true;
}

void pvmi_offer_end(void)
{
    pvmi_offer_receive = NULL;
}

struct pvmc_mem *pvmi_offer_claim(const struct pvmc_frame_header *h)
{
    struct pvmi_wanted *w = pvmi_offer_receive;
    if (!w || pvmi_arrivals_count || h->dsig != pvmc_dsig_own() || !h->body_length ||
        h->body_length > offer.mem.capacity)
        return NULL;
    if (w->ctx != (int)h->ctx || pvmi_inbox_wanted((int)h->src, h->tag, (int)h->ctx) != w)
        return NULL;
    if (pvmi_handler_concerns((int)h->src, h->tag, (int)h->ctx))
        return NULL;
    offer.mem.refs = 1;
    w->body = &offer.mem;
    return &offer.mem;
}

void pvmi_offer_forget_others(void)
{
    if (pvmi_offer_receive && offer.thread != pvmi_lock_self())
        pvmi_offer_receive = NULL;
}
