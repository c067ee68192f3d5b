/* outbox.c - see outbox.h. */
#include "outbox.h"
#include <string.h>
#include "../core/error.h"
#include "endpoint.h"

int pvmi_outbox_add(struct pvmi_endpoint *e, struct pvmi_parcel *parcel, size_t length)
{
    struct pvmi_outbox *o = &e->outbox;
    int rc = o->count == PVMI_OUTBOX_FRAMES ? pvmi_outbox_flush(e) : 0;
    if (rc)
        return rc;
    o->frames[o->count] = (struct iovec){parcel->frame, length};
    o->parcels[o->count++] = parcel;
    parcel->waiting++;
    return 0;
}

/* Takes the first n out. */
static void drop(struct pvmi_outbox *o, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        o->parcels[i]->waiting--;
    o->count -= n;
    memmove(o->frames, o->frames + n, o->count * sizeof *o->frames);
    memmove(o->parcels, o->parcels + n, o->count * sizeof *o->parcels);
}

int pvmi_outbox_flush(struct pvmi_endpoint *e)
{
    struct pvmi_outbox *o = &e->outbox;
    while (o->count) {
        int n = pvmi_dp_port_put_many(&e->port, o->frames, o->count);
        e->down = n == PVMI_EDOWN;
        if (n == PVMI_EAGAIN)
            return n;
        drop(o, n < 0 ? o->count : (unsigned)n);
        if (n < 0)
            return n;
    }
    return 0;
}

void pvmi_outbox_forget(struct pvmi_endpoint *e, const struct pvmi_parcel *parcel)
{
    struct pvmi_outbox *o = &e->outbox;
    unsigned kept = 0;
    for (unsigned i = 0; i < o->count; i++) {
        if (o->parcels[i] == parcel)
            continue;
        o->frames[kept] = o->frames[i];
        o->parcels[kept++] = o->parcels[i];
    }
    o->count = kept;
}
